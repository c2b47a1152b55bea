// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The program beside a worker that has a GPU, which standingpu.cpp stands in for: what is computed there has core's own
// bits, so that every answer has to be the CPU's.
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::Not;

namespace nanscope {

namespace {

/// On such a GPU (standingpu.cpp).
Finished runOn(const std::string& gpu, const std::vector<std::string>& arguments)
{
    return run(arguments, "STANDIN_GPU=" + gpu + " NANSCOPE_WORKER='" NANSCOPE_STANDIN_GPU "' ");
}

/// With what the answer says of the device apart.
nlohmann::ordered_json verdictsOf(nlohmann::ordered_json answer)
{
    answer.erase("replayed_on");
    return answer;
}

std::string replayedOn(const Finished& finished)
{
    return finished.json()["replayed_on"].get<std::string>();
}

TEST(Gpu, JudgesARunAsTheCpuDoes)
{
    const auto here = run({"diagnose", sample, "--json"});
    const auto there = runOn("cold=100", {"diagnose", sample, "--device", "cuda:0", "--json"});
    EXPECT_EQ(there.status, here.status) << there.err;
    EXPECT_THAT(replayedOn(there), HasSubstr("cuda:0 (Stand-in GPU sm_90)"));
    EXPECT_TRUE(verdictsOf(there.json()) == verdictsOf(here.json()));
}

TEST(Gpu, StartsSlowlyBeforeALongJudgement)
{
    // Of a size whose judgement is announced with how long it will take, as measured on the device before.
    const WorkFolder folder;
    writeCapture(folder / "a.pt", {384, 384});
    const std::vector<std::string> diagnose {"diagnose", folder / "a.pt", "--json", "--progress", "jsonl"};
    const auto here = run(diagnose);
    auto onGpu = diagnose;
    onGpu.insert(onGpu.end(), {"--device", "cuda:0"});
    const auto there = runOn("cold=300", onGpu);
    EXPECT_EQ(there.status, here.status);
    EXPECT_THAT(there.err, HasSubstr("FLOP")) << "else this judgement is not a long one";
    const auto expected = here.json()["captures"][0];
    const auto found = there.json()["captures"][0];
    for (const auto* key : {"verdict", "rule", "role", "variant"}) {
        EXPECT_EQ(found[key].dump().substr(0, 60), expected[key].dump().substr(0, 60)) << key;
    }
}

TEST(Gpu, LeavesToTheCpuWhatItHasNoFormatOrMemoryFor)
{
    const auto here = run({"diagnose", sample, "--json"});
    for (const auto& [gpu, why] : {std::pair {"sm=70", "1 capture on the CPU instead (cuda:0 does not compute in bf16"},
             std::pair {"largest=2000", "2 captures on the CPU instead (cuda:0 has not enough memory"}}) {
        const auto there = runOn(gpu, {"diagnose", sample, "--device", "cuda:0", "--json"});
        EXPECT_EQ(there.status, here.status) << there.err;
        EXPECT_THAT(replayedOn(there), HasSubstr(why));
        EXPECT_TRUE(verdictsOf(there.json()) == verdictsOf(here.json())) << gpu;
    }
}

TEST(Gpu, GoesOnOnTheCpuAfterAKernelFaults)
{
    const auto here = run({"diagnose", sample, "--json"});
    const auto there = runOn("fault=300", {"diagnose", sample, "--device", "cuda:0", "--json"});
    EXPECT_EQ(there.status, here.status) << there.err;
    EXPECT_THAT(replayedOn(there), HasSubstr("illegal memory access"));
    EXPECT_THAT(replayedOn(there), HasSubstr("the others on the CPU"));
    EXPECT_TRUE(verdictsOf(there.json()) == verdictsOf(here.json()));
}

TEST(Gpu, LeavesToTheCpuWhatItFailsAtInAJob)
{
    const std::string worker = NANSCOPE_WORKER_PROGRAM;
    if (worker.empty()) {
        GTEST_SKIP() << "nanscope-worker is not built";
    }
    const WorkFolder folder;
    const std::vector<std::string> diagnose {
        "diagnose", sample, "--job", folder / "job", "--processes", "1", "--device", "cuda"};
    const auto join = [&](const std::string& device) {
        return std::system(("STANDIN_GPU=fault=500 NANSCOPE_WORKER='" NANSCOPE_STANDIN_GPU "' '" + worker + "' join '"
            + folder / "job" + "' --device " + device + " >/dev/null")
                               .c_str());
    };
    runOn("", diagnose);
    join("cuda:0");
    const auto some = runOn("", diagnose);
    EXPECT_THAT(some.out, HasSubstr("9 of 10 captures of the job judged"));
    EXPECT_THAT(some.out, HasSubstr("What a GPU fails at, the CPU of one machine does:"));
    EXPECT_THAT(some.out, HasSubstr("join " + folder / "job" + " --device cpu"));
    EXPECT_EQ(join("cpu"), 0);
    auto whole = diagnose;
    whole.emplace_back("--json");
    const auto there = runOn("", whole).json();
    const auto here = run({"diagnose", sample, "--json"}).json();
    ASSERT_EQ(there["captures"].size(), here["captures"].size());
    for (std::size_t i = 0; i < here["captures"].size(); ++i) {
        EXPECT_EQ(there["captures"][i]["summary"], here["captures"][i]["summary"]);
    }
    ASSERT_EQ(there["job"]["parts"].size(), 2U);
    EXPECT_EQ(there["job"]["parts"][0]["hardware"], "Stand-in GPU sm_90");
    EXPECT_EQ(there["job"]["parts"][0]["captures"], 9);
    EXPECT_EQ(there["job"]["parts"][1]["device"], "cpu");
    EXPECT_EQ(there["job"]["parts"][1]["captures"], 1);
}

TEST(Gpu, SaysOfEachCellThatItCannotComputeWhy)
{
    const WorkFolder folder;
    writeCapture(folder / "a.pt");
    const auto cells = [&](const std::string& device, const std::string& gpu) {
        const auto swept =
            runOn(gpu, {"sweep", folder / "a.pt", "--variant", "torch-muon", "--device", device, "--json"});
        return swept.json()["cells"];
    };
    const auto here = cells("cpu", "sm=70");
    const auto there = cells("cuda:0", "sm=70");
    ASSERT_EQ(there.size(), here.size());
    int failed = 0;
    for (std::size_t i = 0; i < there.size(); ++i) {
        const bool lacks = there[i]["precision"] == "bf16" || there[i]["precision"] == "tf32";
        failed += lacks ? 1 : 0;
        EXPECT_EQ(there[i]["error"].is_string(), lacks);
        EXPECT_EQ(there[i]["arithmetic"], lacks ? nlohmann::ordered_json() : nlohmann::ordered_json("native"));
        EXPECT_EQ(there[i]["outcome"], lacks ? nlohmann::ordered_json() : here[i]["outcome"]);
    }
    EXPECT_EQ(failed, 2);
    const auto status = [&](const char* precisions) {
        return runOn("sm=70",
            {"sweep", folder / "a.pt", "--variant", "torch-muon", "--device", "cuda:0", "--precision", precisions})
            .status;
    };
    EXPECT_EQ(status("fp32"), 0);
    EXPECT_EQ(status("fp32,bf16"), 3) << "some failed";
    EXPECT_EQ(status("bf16,tf32"), 4) << "all failed";
}

TEST(Gpu, IsMeasuredItselfOnlyWhereItCanBe)
{
    const WorkFolder folder;
    writeCapture(folder / "a.pt");
    const auto measured = [&](const std::string& gpu, const std::string& instrument) {
        return runOn(gpu, {"measure", instrument, folder / "a.pt", "--variant", "torch-muon", "--device", "cuda:0"});
    };
    EXPECT_THAT(measured("cold=300", "scale").out, Not(HasSubstr("on the CPU")));
    EXPECT_THAT(measured("sm=70", "scale").out, HasSubstr("Measured on the CPU, since cuda:0 failed"));
    // A question about the device.
    const auto repeat = measured("sm=70", "repeat");
    EXPECT_NE(repeat.status, 0);
    EXPECT_THAT(repeat.err, HasSubstr("is not answered by another"));
}

} // namespace

} // namespace nanscope
