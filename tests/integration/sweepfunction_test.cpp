// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A function of the user's beside the replays of a sweep.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope;
using namespace nanscope::testing;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

namespace {

// What it does is told by the first element it is given, so that one sweep meets all of it.
constexpr auto behaviours = R"(
import os, sys, time

def zero(X, keep=lambda v: 0.0):
    return [[[keep(v) for v in row] for row in m] for m in X]

def forked(pids):
    child = os.fork()
    if child == 0:
        time.sleep(3600)
    with open(pids, "w") as file:
        file.write(f"{os.getpid()} {child}")

def f(X, epsilon):
    what = round(X[0][0][0] * 1000)
    if what == 1:
        print("x" * 1000000)
        sys.stderr.write("\x1b[31mnoise\n" * 1000)
        os.write(1, b'{"ok": true}\n')
    if what == 2 and os.fork() == 0:
        return X
    if what == 3:
        return X[:1]
    if what == 4:
        os.kill(os.getpid(), 11)
    if what == 5:
        forked(PIDS)
        time.sleep(3600)
    if what == 6:
        return zero(X, lambda v: float("nan"))
    if what == 7:
        X[0][1][2] = 5.0
        return X
    if what == 8:
        forked(PIDS + "8")
        os._exit(3)
    if what == 9:
        raise ValueError("no \x1b[31mluck\n")
    return zero(X)
)";

/// A sound capture of [2, 6, 10] whose first element tells what is to happen.
void writeTelling(const WorkFolder& folder, int what)
{
    const Shape shape {2, 6, 10};
    std::vector<float> values;
    for (int i = 0; i < 120; ++i) {
        values.push_back(std::sin(1.7F * static_cast<float>(i * i))); // of full rank
    }
    values[0] = static_cast<float>(what) / 1000;
    tensorfile::TensorToWrite input {
        "input", DType::float32, shape, std::vector<std::byte>(values.size() * sizeof(float))};
    std::memcpy(input.bytes.data(), values.data(), input.bytes.size());
    auto output = input;
    output.name = "output";
    const auto name = "dion_nan_capture_rank0_shape2x6x10_pid7_" + std::to_string(1795234414600 + what) + ".pt";
    EXPECT_TRUE(tensorfile::writePt(folder / name, {{"input", input}, {"output", output}, {"epsilon", 1e-7}}));
}

Json rowOf(const Json& answer, int what)
{
    for (const auto& cell : answer["cells"]) {
        const auto file = cell["capture"].get<std::string>();
        if (cell.contains("function") && file.ends_with(std::to_string(1795234414600 + what) + ".pt")) {
            return cell;
        }
    }
    ADD_FAILURE() << "no row of the function for " << what;
    return Json::object();
}

/// False for a zombie, too: nobody may be there to reap an orphan.
bool runs(int process)
{
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    return (stat >> number >> name >> state) && state != "Z";
}

void expectGone(const std::string& pidFile)
{
    std::ifstream pids(pidFile);
    int function = 0;
    int fork = 0;
    ASSERT_TRUE(pids >> function >> fork);
    for (int i = 0; i < 100 && (runs(function) || runs(fork)); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_FALSE(runs(function));
    EXPECT_FALSE(runs(fork));
}

class SweptFunctions : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (!std::filesystem::exists(systemPython)) {
            GTEST_SKIP() << "there is no python3 on this machine";
        }
        if (std::system((systemPython + " -c 'import torch' 2>/dev/null").c_str()) == 0) {
            GTEST_SKIP() << "the system's Python has torch: this is about one without";
        }
        writeText(kernels, "PIDS = '" + (outside / "pids") + "'\n" + behaviours);
    }
    std::vector<std::string> sweep(std::vector<std::string> more, const std::string& function = "f") const
    {
        std::vector<std::string> all {"sweep", folder.path().string(), "--variant", "torch-muon", "--precision",
            "fp64,bf16", "--impl", "python:" + kernels + ":" + function, "--python", systemPython};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    WorkFolder folder;
    WorkFolder outside;
    std::string kernels = outside / "kernels.py";
};

} // namespace

TEST_F(SweptFunctions, EachThatFailsIsARowWithItsReasonAndTheSweepGoesOn)
{
    for (int what = 0; what < 10; ++what) {
        writeTelling(folder, what);
    }
    const auto done = run(sweep({"--timeout", "2", "--json"}));
    EXPECT_EQ(done.status, 3) << done.err;
    EXPECT_THAT(done.err, IsEmpty()) << "nothing of what it prints";
    const auto answer = done.json();
    EXPECT_THAT(answer["cells"], SizeIs(30));
    const auto outcome = [&](int what) { return rowOf(answer, what)["outcome"]; };
    const auto error = [&](int what) {
        EXPECT_EQ(outcome(what), nullptr);
        return rowOf(answer, what)["error"].get<std::string>();
    };
    EXPECT_EQ(outcome(0), "zero");
    EXPECT_EQ(outcome(1), "zero") << "what is printed is no answer";
    EXPECT_EQ(outcome(2), "zero") << "the fork does not answer a second time";
    EXPECT_THAT(error(3), HasSubstr("another shape"));
    EXPECT_THAT(error(4), HasSubstr("was ended by signal 11 (segmentation fault)"));
    EXPECT_THAT(error(5), HasSubstr("did not return within 2 s and was killed (--timeout)"));
    EXPECT_GE(rowOf(answer, 5)["seconds"].get<double>(), 2);
    EXPECT_EQ(outcome(6), "nan");
    EXPECT_THAT(error(8), HasSubstr("ended with status 3"));
    EXPECT_THAT(error(9), HasSubstr("ValueError: no"));
    EXPECT_EQ(rowOf(answer, 7)["function"]["input_changed"], 1);
    EXPECT_EQ(rowOf(answer, 7)["function"]["shares_storage"], true);
    EXPECT_EQ(rowOf(answer, 0)["function"]["input_changed"], 0);
    expectGone(outside / "pids");
    expectGone(outside / "pids8");
}

TEST_F(SweptFunctions, ARowHasTheKeysOfACellAndWhatIsOfFunctionsAlone)
{
    writeTelling(folder, 6);
    const auto answer = run(sweep({"--json"})).json();
    ASSERT_THAT(answer["cells"], SizeIs(3));
    const auto& replayed = answer["cells"][0];
    const auto& row = answer["cells"][2];
    EXPECT_FALSE(replayed.contains("function"));
    for (const auto& [key, value] : replayed.items()) {
        EXPECT_TRUE(row.contains(key)) << key;
    }
    EXPECT_EQ(row["variant"], "python:" + kernels + ":f");
    EXPECT_EQ(row["precision"], "own");
    EXPECT_EQ(row["epsilon"], 1e-7);
    const Json first {{"iteration", nullptr}, {"op", "output"}, {"index", {0, 0, 0}}, {"kind", "nan"}, {"count", 60}};
    EXPECT_EQ(row["first_nonfinite"], first);
    EXPECT_EQ(row["birth"], first);
    ASSERT_THAT(row["batches"], SizeIs(2));
    EXPECT_EQ(row["batches"][1]["outcome"], "nan");
    EXPECT_EQ(row["batches"][1]["first_nonfinite"]["index"], Json({1, 0, 0}));
    EXPECT_THAT(row["function"]["command"].get<std::string>(), HasSubstr("nanscope_impl.py"));
    EXPECT_EQ(row["function"]["called_as"], "f(X, epsilon=epsilon)");
    EXPECT_EQ(row["function"]["distance_to_fp64"], nullptr);
}

TEST_F(SweptFunctions, WhatWentInDamagedIsNoBirthOfTheFunction)
{
    writeCapture(folder / "damaged.pt", {6, 10, true, true});
    const auto done = run(sweep({"--capture", "all", "--json"}));
    EXPECT_EQ(done.status, 0) << done.err;
    const auto row = done.json()["cells"].back();
    ASSERT_TRUE(row.contains("function"));
    EXPECT_EQ(row["outcome"], "zero") << "what f makes of it";
    EXPECT_EQ(row["first_nonfinite"]["op"], "input");
    EXPECT_EQ(row["first_nonfinite"]["iteration"], 0);
    EXPECT_EQ(row["birth"], nullptr);
}

TEST_F(SweptFunctions, WhatLeavesTheRangeOfTheVariantsBesideItIsDegenerate)
{
    writeTelling(folder, 7); // returns its input, whose signal directions are far from 1
    const auto range = [this](const char* variants) {
        const auto done = run({"sweep", folder.path().string(), "--variant", variants, "--precision", "fp64", "--impl",
            "python:" + kernels + ":f", "--python", systemPython, "--json"});
        EXPECT_EQ(done.status, 0) << done.err;
        return done.json()["cells"].back();
    };
    const auto judged = range("torch-muon");
    EXPECT_EQ(judged["outcome"], "degenerate");
    EXPECT_EQ(judged["function"]["nearest_variant"], "torch-muon");
    EXPECT_EQ(judged["gauges"], Json::array());
    // turbo-muon scales rows, so that no direction of the input is followed.
    EXPECT_EQ(range("torch-muon,turbo-muon")["outcome"], "finite");
}

TEST_F(SweptFunctions, TheTextNamesTheReasonInTheRowAndShowsTheProgramBefore)
{
    writeTelling(folder, 0);
    writeTelling(folder, 9);
    const auto done = run(sweep({}));
    EXPECT_EQ(done.status, 3);
    EXPECT_THAT(done.err, HasSubstr("Runs " + systemPython + " -u nanscope_impl.py"));
    EXPECT_THAT(done.out,
        HasSubstr("python:kernels.py:f  own        -           -         cpu     failed   the "
                  "function raised ValueError: no"));
    EXPECT_THAT(done.out, HasSubstr("f: 2 calls in"));
    EXPECT_THAT(done.out, HasSubstr("; no output in 1\n"));
    EXPECT_THAT(done.out + done.err, Not(HasSubstr("\x1b[31m")));
    const auto shown = run(sweep({"--show"}));
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("def answer_to(line, engine, function):"));
    EXPECT_THAT(shown.err, IsEmpty());
}

TEST_F(SweptFunctions, CapturesOfOneNameHaveTheirOwnRows)
{
    std::filesystem::create_directories(folder.path() / "rank0");
    std::filesystem::create_directories(folder.path() / "rank1");
    writeCapture(folder / "rank0/input.pt");
    writeCapture(folder / "rank1/input.pt", {48, 24});
    const auto done = run(sweep({}));
    EXPECT_EQ(done.status, 0) << done.err;
    for (const auto* head : {"rank0/input.pt  1x24x40", "rank1/input.pt  1x48x24"}) {
        const auto at = done.out.find(head);
        ASSERT_NE(at, std::string::npos) << done.out;
        const auto own = done.out.substr(at, done.out.find("\n\n", at) - at);
        EXPECT_EQ(std::count(own.begin(), own.end(), '\n'), 4) << own;
    }
}

TEST_F(SweptFunctions, OneThatCannotBeLoadedIsToldBeforeAnythingIsReplayed)
{
    writeTelling(folder, 0);
    const auto missing = run(sweep({}, "g"));
    EXPECT_EQ(missing.status, 2);
    EXPECT_THAT(missing.err, HasSubstr("there is no g in"));
    EXPECT_EQ(missing.out, "");
    EXPECT_EQ(run({"sweep", folder.path().string(), "--timeout", "3"}).status, 2) << "a word about no function";
    EXPECT_EQ(run({"sweep", folder.path().string(), "--impl", "kernels:f"}).status, 2);
}

TEST_F(SweptFunctions, OneThatLoadsButOnceLosesItsOwnRowsAlone)
{
    writeTelling(folder, 0);
    writeTelling(folder, 4);
    writeTelling(folder, 9);
    writeText(kernels,
        "import os\nimport time\n"
        "def f(X, epsilon):\n    os.kill(os.getpid(), 9)\n"
        "if os.path.exists(__file__ + '.loaded'):\n    raise RuntimeError('only once')\n"
        "open(__file__ + '.loaded', 'w').close()\n");
    const auto done = run(sweep({"--json"}));
    EXPECT_EQ(done.status, 3) << done.err;
    const auto answer = done.json();
    EXPECT_THAT(answer["cells"], SizeIs(9));
    EXPECT_THAT(rowOf(answer, 0)["error"].get<std::string>(), HasSubstr("ended by signal 9"));
    EXPECT_THAT(rowOf(answer, 4)["error"].get<std::string>(), HasSubstr("could not be loaded: RuntimeError: only"));
    EXPECT_EQ(rowOf(answer, 9)["error"], rowOf(answer, 4)["error"]);
}

TEST_F(SweptFunctions, ACancelEndsItWithWhatItForked)
{
    writeTelling(folder, 0);
    writeTelling(folder, 5);
    const auto done = run(sweep({"--json"}), "timeout -s INT 4");
    EXPECT_EQ(done.status, 124) << "timeout says that it sent its signal";
    EXPECT_THAT(done.out, HasSubstr("nanscope.sweep/1")) << "what was done until then";
    EXPECT_LT(done.seconds, 30);
    expectGone(outside / "pids");
}

TEST_F(SweptFunctions, OneThatNeverReturnsEndsWithAProgramThatWasKilled)
{
    writeTelling(folder, 5);
    const auto done = run(sweep({}), "timeout -s KILL 3");
    EXPECT_EQ(done.status, 137);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    expectGone(outside / "pids");
}

TEST_F(SweptFunctions, ASessionKeepsTheReplaysAlone)
{
    writeTelling(folder, 0);
    const auto session = outside / "s.nanscope";
    const auto done = run(sweep({"--session", session}));
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("The session keeps the replays, not what the function gives"));
    EXPECT_THAT(run({"list", session, "cells", "--json"}).json()["cells"], SizeIs(2));
}

TEST(SweptTorchFunctions, TorchsOwnMuonIsNearestToItsReplay)
{
    if (!std::filesystem::exists(NANSCOPE_PYTHON)) {
        GTEST_SKIP() << "there is no Python with torch: bootstrap makes it";
    }
    const WorkFolder folder;
    const WorkFolder outside;
    writeTelling(folder, 300);
    writeText(outside / "mine.py",
        "from torch.optim._muon import _zeropower_via_newtonschulz\n"
        "def f(X, epsilon):\n"
        "    import torch\n"
        "    return torch.stack([_zeropower_via_newtonschulz(m, (3.4445, -4.7750, 2.0315), 5, epsilon) for m in X])\n");
    const auto done =
        run({"sweep", folder.path().string(), "--variant", "torch-muon,gns-standard,dion-polar-express", "--precision",
            "fp64,bf16", "--impl", "python:" + (outside / "mine.py") + ":f", "--python", NANSCOPE_PYTHON, "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto answer = done.json();
    const auto row = rowOf(answer, 300);
    const auto& replayed = answer["cells"][1];
    ASSERT_EQ(replayed["precision"], "bf16");
    EXPECT_EQ(row["outcome"], "finite");
    EXPECT_EQ(row["function"]["nearest_variant"], "torch-muon");
    EXPECT_NEAR(
        row["function"]["distance_to_fp64"].get<double>() / replayed["gauges"].back()["distance_to_fp64"].get<double>(),
        1, 0.5);
    EXPECT_EQ(row["function"]["output_dtype"], "bf16");
    EXPECT_THAT(row["environment"]["engine"].get<std::string>(), HasSubstr("torch 2"));
}
