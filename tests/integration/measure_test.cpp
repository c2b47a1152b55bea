// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope;
using namespace nanscope::testing;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace {

/// A sound capture of values around `scale`.
std::string writeSound(
    const std::filesystem::path& path, float scale, const std::optional<double>& epsilon = std::optional(1e-7))
{
    const Shape shape {1, 12, 20};
    std::vector<float> values;
    for (int i = 0; i < 240; ++i) {
        values.push_back(scale * std::sin(1.7F * static_cast<float>(i)));
    }
    tensorfile::TensorToWrite input {
        "input", DType::float32, shape, std::vector<std::byte>(values.size() * sizeof(float))};
    std::memcpy(input.bytes.data(), values.data(), input.bytes.size());
    std::vector<std::pair<std::string, tensorfile::ValueToWrite>> entries {{"input", input}};
    if (epsilon) {
        entries.emplace_back("epsilon", *epsilon);
    }
    EXPECT_TRUE(tensorfile::writePt(path, entries));
    return path.string();
}

std::string writeFunction(const WorkFolder& folder)
{
    writeText(folder / "kernels.py",
        "import time\n"
        "def good(X, epsilon):\n    return [[[v * 2 for v in r] for r in m] for m in X]\n"
        "def bad(X, epsilon):\n    raise ValueError('no luck')\n"
        "def slow(X, epsilon):\n    time.sleep(600)\n");
    return "python:" + (folder / "kernels.py");
}

} // namespace

TEST(Measure, TheOnlySingularValueHasAllOfTheNorm)
{
    const WorkFolder folder;
    const auto row = writeCapture(folder / "row.pt", {.rows = 1});
    const auto done = run({"measure", "spectrum", row, "--variant", "gns-gram"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr(" 100 % "));
    EXPECT_THAT(done.out, ::testing::Not(HasSubstr("e+02 %")));
}

TEST(Measure, ScaleEdgesOfAReplayAreInTextAndJson)
{
    const WorkFolder folder;
    const auto capture = writeSound(folder / "a.pt", 1);
    const auto text = run({"measure", "scale", capture, "--variant", "dion-ns5", "--precision", "fp16"});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.err, IsEmpty());
    EXPECT_THAT(text.out, HasSubstr("zero to nan, up"));
    EXPECT_THAT(text.out, HasSubstr("binades"));
    const auto done = run({"measure", "scale", capture, "--variant", "dion-ns5", "--precision", "fp16", "--json"});
    const auto json = done.json();
    EXPECT_EQ(json["schema"], "nanscope.measure/1");
    EXPECT_EQ(json["instrument"], "scale");
    EXPECT_EQ(json["subject"]["kind"], "cell");
    EXPECT_EQ(json["answer"]["rounded_to"], nullptr);
    const auto& last = json["answer"]["edges"].back();
    EXPECT_EQ(last["to"], "nan");
    EXPECT_NEAR(last["absmax"].get<double>() / 65520, 1, 1e-5);
}

TEST(Measure, SaysWhatIsMissingOrImpossible)
{
    const WorkFolder folder;
    const auto capture = writeSound(folder / "a.pt", 1);
    const auto said = [&](std::vector<std::string> arguments, int status) {
        arguments.insert(arguments.begin(), "measure");
        const auto done = run(arguments);
        EXPECT_EQ(done.status, status) << done.err;
        EXPECT_THAT(done.errors(), SizeIs(1));
        return done.err;
    };
    EXPECT_THAT(said({"scales", capture}, 2), HasSubstr("the nearest"));
    EXPECT_THAT(said({"scale", capture}, 2), HasSubstr("name one with --variant"));
    EXPECT_THAT(said({"minimise", capture, "--variant", "dion-ns5"}, 2), HasSubstr("-o FILE"));
    EXPECT_THAT(said({"storm", capture, "--variant", "dion-ns5"}, 2), HasSubstr("test Nanscope, not your kernel"));
    EXPECT_THAT(said({"scale", capture, "--impl", "mine"}, 2), HasSubstr("python:MODULE:FUNCTION"));
    EXPECT_THAT(said({"minimise", capture, "--variant", "dion-ns5", "-o", folder / "b.pt"}, 2),
        HasSubstr("The outcome is finite"));
    EXPECT_THAT(
        said({"repeat", capture, "--variant", "dion-ns5", "--steps", "1000000"}, 2), HasSubstr("give 1 to 100"));
    EXPECT_THAT(said({"scale", folder / "none.pt", "--variant", "dion-ns5"}, 4), HasSubstr("none.pt"));
}

TEST(Measure, MinimisesWithoutTouchingTheOriginal)
{
    const WorkFolder folder;
    const auto capture = writeSound(folder / "a.pt", 60000);
    const auto wrong =
        run({"measure", "minimise", capture, "--variant", "dion-ns5", "--precision", "fp16", "-o", capture});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.err, HasSubstr("never written over"));
    const auto done = run({"measure", "minimise", capture, "--variant", "dion-ns5", "--precision", "fp16", "-o",
        folder / "small.pt", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto answer = done.json()["answer"];
    EXPECT_EQ(done.json()["written"], folder / "small.pt");
    const auto told = run(
        {"measure", "minimise", capture, "--variant", "dion-ns5", "--precision", "fp16", "-o", folder / "small.pt"});
    EXPECT_THAT(told.out, HasSubstr("written: " + folder / "small.pt"));
    EXPECT_EQ(answer["outcome"], "zero");
    EXPECT_LT(answer["non_zero"].get<int>(), 20);
    const auto again = run({"sweep", folder / "small.pt", "--variant", "dion-ns5", "--precision", "fp16", "--json"});
    EXPECT_EQ(again.json()["cells"][0]["outcome"], "zero");
}

TEST(Measure, AFunctionIsShownBeforeItRuns)
{
    if (!std::filesystem::exists(systemPython)) {
        GTEST_SKIP() << "there is no " << systemPython;
    }
    const WorkFolder folder;
    const auto capture = writeSound(folder / "a.pt", 1);
    const auto impl = writeFunction(folder);
    const auto shown =
        run({"measure", "repeat", capture, "--impl", impl + ":good", "--python", systemPython, "--show"});
    EXPECT_EQ(shown.status, 0);
    EXPECT_THAT(shown.out, HasSubstr("# /usr/bin/python3 -u nanscope_impl.py "));
    EXPECT_THAT(shown.out, HasSubstr("def burst(engine, function, request):"));
    const auto done =
        run({"measure", "repeat", capture, "--impl", impl + ":good", "--python", systemPython, "-n", "20"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("Runs /usr/bin/python3 -u nanscope_impl.py "));
    EXPECT_THAT(done.out, HasSubstr("Not reproduced in this setting: none of 20 calls differs"));
}

TEST(Measure, CallsThatFailAreSaidAndCounted)
{
    if (!std::filesystem::exists(systemPython)) {
        GTEST_SKIP() << "there is no " << systemPython;
    }
    const WorkFolder folder;
    const auto capture = writeSound(folder / "a.pt", 1);
    const auto impl = writeFunction(folder);
    const auto done = run({"measure", "epsilon", capture, "--impl", impl + ":bad", "--python", systemPython, "--json"});
    EXPECT_EQ(done.status, 4);
    const auto json = done.json();
    EXPECT_EQ(json["failed"], json["calls"]);
    EXPECT_EQ(json["complaints"], Json({"the function raised ValueError: no luck"}));
    EXPECT_EQ(json["answer"]["epsilons"][0]["outcome"], nullptr);
    const auto unknown =
        run({"measure", "epsilon", capture, "--impl", impl + ":none", "--python", systemPython, "--json"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("there is no none in"));
}

TEST(Measure, AFunctionThatRequiresAnEpsilonIsNotCalledWithoutOne)
{
    if (!std::filesystem::exists(systemPython)) {
        GTEST_SKIP() << "there is no " << systemPython;
    }
    const WorkFolder folder;
    const auto capture = writeSound(folder / "a.pt", 1, std::nullopt);
    const auto impl = writeFunction(folder) + ":good";
    for (const auto* instrument : {"repeat", "storm", "epsilon", "input", "scale"}) {
        const auto refused = run({"measure", instrument, capture, "--impl", impl, "--python", systemPython});
        EXPECT_EQ(refused.status, 2) << instrument;
        EXPECT_THAT(
            refused.err, HasSubstr("it requires an epsilon (its argument epsilon), and the capture holds none"));
        EXPECT_THAT(refused.out, IsEmpty()) << instrument;
    }
    const auto told =
        run({"measure", "repeat", capture, "--impl", impl, "--python", systemPython, "-n", "5", "--epsilon", "1e-7"});
    EXPECT_EQ(told.status, 0) << told.err;
    const auto swept =
        run({"sweep", capture, "--impl", impl, "--python", systemPython, "--variant", "dion-ns5", "--json"});
    const auto cells = swept.json()["cells"];
    EXPECT_THAT(cells.dump(), HasSubstr("was not called: it requires an epsilon"));
}

TEST(Measure, CtrlCEndsACallThatIsUnderWay)
{
    if (!std::filesystem::exists(systemPython)) {
        GTEST_SKIP() << "there is no " << systemPython;
    }
    const WorkFolder folder;
    const auto capture = writeSound(folder / "a.pt", 1);
    const auto impl = writeFunction(folder);
    const auto done =
        run({"measure", "repeat", capture, "--impl", impl + ":slow", "--python", systemPython}, "timeout -s INT 3");
    EXPECT_THAT(done.status, ::testing::AnyOf(5, 124));
    EXPECT_THAT(done.err, HasSubstr("cancelled"));
    EXPECT_LT(done.seconds, 30);
}
