// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// `nanscope sweep --device cuda:0` with workers that are none: a script between it and `nanscope serve` that renames
// the device, and scripts that misbehave.
#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

namespace fs = std::filesystem;

namespace {

class Worker : public ::testing::Test
{
protected:
    void SetUp() override { m_capture = writeCapture(m_folder / "a.pt"); }

    /// Assignments for run() that name a worker of this script.
    std::string worker(const std::string& script) const
    {
        const auto path = m_folder / "worker";
        writeText(path, "#!/bin/sh\n" + script);
        fs::permissions(path, fs::perms::owner_all);
        return "NANSCOPE_WORKER='" + path + "' ";
    }

    /// One that computes: core's device under another name.
    std::string honestWorker() const
    {
        return worker(
            "sed -u 's/\"cuda:0\"/\"cpu\"/g' | '" NANSCOPE_PROGRAM "' serve | sed -u 's/\"cpu\"/\"cuda:0\"/g'\n");
    }

    /// One that answers hello and then does this.
    std::string fakeWorker(const std::string& then) const
    {
        return worker(
            "read -r line\necho '{\"id\":1,\"hello\":{\"engine\":\"fake\",\"devices\":[{\"name\":\"cuda:0\"}],"
            "\"notes\":[]}}'\n"
            + then + "\n");
    }

    std::vector<std::string> sweep(const std::string& devices, const std::vector<std::string>& more = {}) const
    {
        std::vector<std::string> arguments {
            "sweep", m_capture, "--device", devices, "--variant", "torch-muon", "--precision", "fp64,bf16", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }

    WorkFolder m_folder;
    std::string m_capture;
};

std::vector<std::string> devicesOf(const Finished& done)
{
    std::vector<std::string> devices;
    const auto answer = done.json();
    for (const auto& cell : answer["cells"]) {
        devices.push_back(cell["device"]);
    }
    return devices;
}

const std::vector<std::string> twoOfCpu {"cpu", "cpu"};

} // namespace

TEST_F(Worker, HelpIsOneTextWhateverItIsAskedOf)
{
    const std::string program = NANSCOPE_WORKER_PROGRAM;
    if (program.empty()) {
        GTEST_SKIP() << "nanscope-worker is not built";
    }
    const auto out = m_folder / "help";
    for (const auto* command : {"", "reach", "agree", "join", "serve"}) {
        EXPECT_EQ(std::system(("'" + program + "' " + command + " --help >'" + out + "' 2>&1").c_str()), 0) << command;
        EXPECT_THAT(contentsOf(out), ::testing::StartsWith("nanscope-worker: ")) << command;
    }
}

TEST_F(Worker, CellsOfBothPlacesComeInOneAnswer)
{
    const auto done = run(sweep("cpu,cuda:0"), honestWorker());
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "");
    EXPECT_EQ(devicesOf(done), (std::vector<std::string> {"cpu", "cpu", "cuda:0", "cuda:0"}));
    const auto cells = done.json()["cells"];
    for (const std::size_t i : {0U, 1U}) {
        EXPECT_EQ(cells[i]["environment"]["device"], "cpu");
        EXPECT_EQ(cells[i + 2]["environment"]["device"], "cuda:0");
        for (const auto* key : {"capture", "variant", "precision", "lowering", "epsilon", "outcome", "gauges"}) {
            EXPECT_EQ(cells[i][key], cells[i + 2][key]) << key;
        }
    }
}

TEST_F(Worker, OverridesReachIt)
{
    const auto done =
        run(sweep("cuda:0", {"--steps", "2", "--epsilon", "0.25", "--lowering", "fused"}), honestWorker());
    ASSERT_EQ(done.status, 0) << done.err;
    ASSERT_THAT(done.json()["cells"], SizeIs(2));
    const auto cell = done.json()["cells"][1];
    EXPECT_EQ(cell["epsilon"], 0.25);
    EXPECT_EQ(cell["lowering"], "fused");
    EXPECT_EQ(cell["gauges"].back()["iteration"], 2);
    EXPECT_EQ(run(sweep("cpu", {"--epsilon", "inf"})).status, 2);
}

TEST_F(Worker, TableNamesEveryPlace)
{
    const auto done = run({"sweep", m_capture, "--device", "cpu,cuda:0", "--variant", "torch-muon"}, honestWorker());
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr(", cpu ("));
    EXPECT_THAT(done.out, HasSubstr(", cuda:0 ("));
}

TEST_F(Worker, ProgressAndCellsAreReportedAlike)
{
    const auto done = run(sweep("cpu,cuda:0", {"--progress", "jsonl"}), honestWorker());
    EXPECT_EQ(done.status, 0) << done.err;
    std::vector<std::string> cells;
    for (const auto& line : done.errors()) {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        ASSERT_TRUE(json.is_object()) << line;
        EXPECT_TRUE(json["job"] == "import" || json["unit"] == "cells") << line;
        if (json["cell"].is_object()) {
            cells.push_back(json["cell"]["device"]);
        }
    }
    EXPECT_EQ(cells, devicesOf(done));
}

TEST_F(Worker, CellsAreStoredOnceAndWithTheirOps)
{
    const auto session = m_folder / "s.nanscope";
    for (int i = 0; i < 2; ++i) {
        const auto done = run(sweep("cuda:0", {"--session", session}), honestWorker());
        ASSERT_EQ(done.status, 0) << done.err;
    }
    EXPECT_THAT(run({"list", session, "cells", "--json"}).json()["cells"], SizeIs(2));
    const auto tiles = run({"sql", session, "select count(*) from op_tiles", "--json"});
    EXPECT_GT(tiles.json()["rows"][0][0], 0) << tiles.out << tiles.err;
}

TEST_F(Worker, WithoutOneTheCellsOfTheCpuStillCome)
{
    const std::string nobody = "NANSCOPE_WORKER='" + (m_folder / "nobody") + "'";
    const auto both = run(sweep("cuda:0,cpu"), nobody);
    EXPECT_EQ(both.status, 3);
    EXPECT_THAT(both.errors(), SizeIs(1)) << both.err;
    EXPECT_THAT(both.err, StartsWith("There is no nanscope-worker, which 'cuda:0' needs"));
    EXPECT_THAT(both.err, HasSubstr(": " + (m_folder / "nobody") + "\n"));
    EXPECT_EQ(devicesOf(both), twoOfCpu);
    const auto alone = run(sweep("cuda:0"), nobody);
    EXPECT_EQ(alone.status, 2);
    EXPECT_EQ(alone.err, both.err);
    EXPECT_EQ(alone.out, "");
}

TEST_F(Worker, ADeviceItHasNotIsSaidWithItsNotes)
{
    const auto poor =
        worker("read -r line\necho '{\"id\":1,\"hello\":{\"engine\":\"fake\",\"devices\":[{\"name\":\"cpu\"}],"
               "\"notes\":[\"no GPU: the driver reports none\"]}}'\nread -r line\n");
    const auto both = run(sweep("cpu,cuda:0,cuda:1"), poor);
    EXPECT_EQ(both.status, 3);
    EXPECT_EQ(both.err,
        "The worker has no device 'cuda:0', 'cuda:1', only 'cpu' (no GPU: the driver reports none): "
            + (m_folder / "worker") + "\n");
    EXPECT_EQ(devicesOf(both), twoOfCpu);
    EXPECT_EQ(run(sweep("cuda:0"), poor).status, 2);
}

TEST_F(Worker, WhatItHasIsReplayedThoughOtherDevicesAreMissing)
{
    const auto done = run(sweep("cuda:7,cuda:0"), honestWorker());
    EXPECT_EQ(done.status, 3);
    EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
    EXPECT_EQ(devicesOf(done), (std::vector<std::string> {"cuda:0", "cuda:0"}));
}

TEST_F(Worker, TheRealOneSaysWhichDevicesItHas)
{
    const auto real = fs::path(NANSCOPE_PROGRAM).parent_path() / "nanscope-worker";
    if (!fs::exists(real)) {
        GTEST_SKIP() << "built without the worker";
    }
    const auto done = run(sweep("cpu,cuda:99"), "NANSCOPE_WORKER='" + real.string() + "'");
    EXPECT_EQ(done.status, 3) << done.err;
    EXPECT_THAT(done.err, StartsWith("The worker has no device 'cuda:99', only 'cpu'"));
    EXPECT_EQ(devicesOf(done), twoOfCpu);
}

TEST_F(Worker, OneThatNeverServesIsOneSentence)
{
    const struct
    {
        const char* script;
        const char* why;
    } cases[] = {{"echo 'cannot find its torch' >&2\nexit 7", "ended with status 7 (\"cannot find its torch\")"},
        {"exec yes", "sends what is no answer"}, {"exec cat /dev/zero", "sends a line without end"}};
    for (const auto& [script, why] : cases) {
        const auto both = run(sweep("cpu,cuda:0"), worker(script));
        EXPECT_EQ(both.status, 3);
        EXPECT_THAT(both.errors(), SizeIs(1)) << both.err;
        EXPECT_THAT(both.err, HasSubstr(why));
        EXPECT_EQ(devicesOf(both), twoOfCpu);
        const auto alone = run(sweep("cuda:0"), worker(script));
        EXPECT_EQ(alone.status, 4) << why;
        EXPECT_EQ(alone.err, both.err);
    }
    writeText(m_folder / "text", "no program");
    const auto text = run(sweep("cuda:0"), "NANSCOPE_WORKER='" + (m_folder / "text") + "'");
    EXPECT_EQ(text.status, 4);
    EXPECT_THAT(text.err, StartsWith("The program cannot be started, permission is denied"));
}

TEST_F(Worker, WhatItDidBeforeItDiedIsKept)
{
    writeCapture(m_folder / "b.pt", {24, 48});
    const auto dying =
        fakeWorker("read -r line\necho '{\"id\":2,\"cell\":{\"capture\":\"a.pt\",\"variant\":\"torch-muon\","
                   "\"device\":\"cuda:0\",\"outcome\":\"nan\"}}'\nexit 9");
    auto arguments = sweep("cpu,cuda:0");
    arguments[1] = m_folder.path().string();
    const auto both = run(arguments, dying);
    EXPECT_EQ(both.status, 3);
    EXPECT_EQ(both.err, "The worker ended with status 9: " + (m_folder / "worker") + "\n");
    EXPECT_EQ(devicesOf(both), (std::vector<std::string> {"cpu", "cpu", "cuda:0", "cpu", "cpu"}));
    const auto none = run(sweep("cuda:0"), fakeWorker("exit 9"));
    EXPECT_EQ(none.status, 4);
    EXPECT_EQ(none.out, "");
}

TEST_F(Worker, AGpuThatFaultsLeavesTheOthersTheirCells)
{
    const auto two = worker(
        "while read -r line; do case \"$line\" in *'\"devices\":[\"cuda:0\"]'*) exit 9;; esac; printf '%s\\n' "
        "\"$line\"; "
        "done | sed -u 's/\"cuda:1\"/\"cpu\"/g' | '" NANSCOPE_PROGRAM "' serve | sed -u -e 's/\"cpu\"/\"cuda:1\"/g' -e "
        "'s/\"devices\":\\[{/\"devices\":[{\"name\":\"cuda:0\",\"hardware\":\"x\"},{/'\n");
    writeCapture(m_folder / "b.pt", {24, 48});
    auto arguments = sweep("cuda:0,cuda:1");
    arguments[1] = m_folder.path().string();
    const auto done = run(arguments, two);
    EXPECT_EQ(done.status, 3) << done.err;
    EXPECT_THAT(done.errors(), SizeIs(1)) << "said once, not for each capture: " << done.err;
    EXPECT_THAT(done.err, HasSubstr("uda:0 is done without: the worker ended"));
    EXPECT_EQ(devicesOf(done), (std::vector<std::string> {"cuda:1", "cuda:1", "cuda:1", "cuda:1"}));
}

TEST_F(Worker, GpusThatGaveNothingToCompareAreNamed)
{
    const auto saying = [](const std::string& firstHashes) {
        return R"(echo '{"agree":null,"odd":[],"text":"cuda:1 gave nothing","nccl":null,"notes":["cuda:1: it is full"],)"
               R"("devices":[{"name":"cuda:0","hardware":"H100","uuid":"GPU-1","hashes":[)"
            + firstHashes + R"(]},{"name":"cuda:1","hardware":"H100","uuid":null,"hashes":[]}]}')";
    };
    const std::vector<std::string> agree {"agree", m_capture, "--variant", "gns-gram"};
    const auto one = run(agree, worker(saying(R"("5e")")));
    EXPECT_EQ(one.status, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("cuda:0  H100 (GPU-1)  1       5e"));
    EXPECT_THAT(one.out, HasSubstr("cuda:1  H100          -       -"));
    EXPECT_THAT(one.out, HasSubstr("cuda:1: it is full"));
    const auto none = run(agree, worker(saying("")));
    EXPECT_EQ(none.status, 4) << none.err;
    EXPECT_THAT(none.out, HasSubstr("cuda:1: it is full"));
}

TEST_F(Worker, InterruptCancelsWithFiveAndKeepsWhatWasDone)
{
    m_capture = writeCapture(m_folder / "big.pt", {1024, 1024, false, true});
    const std::vector<std::string> all {"sweep", m_capture, "--device", "cuda:0", "--variant", "all", "--lowering",
        "eager,fused", "--json", "--progress", "jsonl"};
    // On a busy machine the first signal may come before the first cell.
    for (const auto* patience : {"2", "8", "32"}) {
        const auto done = run(all, honestWorker() + "timeout --preserve-status -k 60 -s INT " + patience);
        ASSERT_EQ(done.status, 5) << done.err << done.seconds << " s";
        if (done.err.find("\"cell\":{") == std::string::npos) {
            continue;
        }
        EXPECT_GE(done.json()["cells"].size(), 1U);
        EXPECT_THAT(done.errors().back(), StartsWith("The sweep was cancelled"));
        return;
    }
    FAIL() << "no cell in 32 s";
}

TEST_F(Worker, OneThatHangsDoesNotHoldUpTheEnd)
{
    const auto hanging = fakeWorker("trap '' INT TERM\necho $$ >'" + (m_folder / "pid") + "'\nsleep 1000");
    const auto done = run(sweep("cuda:0"), hanging + "timeout --preserve-status -k 60 -s INT 1");
    EXPECT_EQ(done.status, 5) << done.err;
    EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
    EXPECT_NE(std::system(("kill -0 $(cat '" + (m_folder / "pid") + "') 2>/dev/null").c_str()), 0);
}
