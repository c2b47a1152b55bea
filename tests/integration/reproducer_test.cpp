// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// A bundle on somebody else's machine: only its folder, an isolated Python with torch, and what repro.py ends with.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>

#include "core/platform/platform.h"
#include "core/tensorfile/capture/capturefile.h"
#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

namespace {

const std::string python = NANSCOPE_PYTHON;

struct Ended
{
    int status = -1;
    std::string text;
};

/// With an empty environment and in the folder, isolated from what else is installed for this user.
Ended runPython(const std::string& folder, const std::string& arguments, const std::string& interpreter = python)
{
    const auto command = "cd " + nanscope::platform::shellQuoted(folder) + " && env -i "
        + nanscope::platform::shellQuoted(interpreter) + " -I " + arguments + " >out.txt 2>&1";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contentsOf(fs::path(folder) / "out.txt")};
}

bool haveTorch()
{
    const auto command = "env -i " + nanscope::platform::shellQuoted(python) + " -I -c 'import torch' 2>/dev/null";
    return std::system(command.c_str()) == 0;
}

void writeTensors(const std::string& path, std::int64_t rows, std::int64_t cols, const std::vector<float>& input,
    const std::optional<double>& epsilon = std::optional(1e-8))
{
    const std::vector<float> output(input.size(), std::nanf(""));
    const auto tensor = [&](const char* name, const std::vector<float>& values) {
        const auto bytes = std::as_bytes(std::span(values));
        return nanscope::tensorfile::TensorToWrite {
            name, nanscope::DType::float32, {1, rows, cols}, {bytes.begin(), bytes.end()}};
    };
    std::vector<std::pair<std::string, nanscope::tensorfile::ValueToWrite>> entries {
        {"input", tensor("input", input)}, {"output", tensor("output", output)}, {"rank", std::int64_t {0}}};
    if (epsilon) {
        entries.emplace_back("epsilon", *epsilon);
    }
    const auto done = nanscope::tensorfile::writePt(path, entries);
    ASSERT_TRUE(done) << (done ? "" : nanscope::sentence(done.error()));
}

/// Entries of about `size`, and an output that is all NaN.
void writeDump(const std::string& path, float size)
{
    constexpr std::int64_t rows = 24;
    constexpr std::int64_t cols = 40;
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, size);
    std::vector<float> input(rows * cols);
    std::generate(input.begin(), input.end(), [&] { return normal(random); });
    writeTensors(path, rows, cols, input);
}

/// One entry beyond fp16, where no half of rows and columns has it at its corner, among small ones.
void writeSpike(const std::string& path)
{
    constexpr std::int64_t rows = 96;
    constexpr std::int64_t cols = 160;
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0, 300);
    std::vector<float> input(rows * cols);
    std::generate(input.begin(), input.end(), [&] { return normal(random); });
    input[32 * cols + 80] = 80000;
    writeTensors(path, rows, cols, input);
}

/// Entries beyond fp16: a function that casts first ends all NaN, on any machine.
void writeTooLarge(const std::string& path)
{
    writeDump(path, 1e5F);
}

class Reproducer : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (!haveTorch()) {
            GTEST_SKIP() << "no torch in " << python;
        }
    }

    /// Makes the bundle and says where.
    std::string bundleOf(const std::string& source, std::vector<std::string> more = {})
    {
        auto folder = m_folder / "bundle";
        std::vector<std::string> arguments {"report", source, "--bundle", folder};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 0) << done.err;
        return folder;
    }

    WorkFolder m_folder;
};

} // namespace

TEST_F(Reproducer, NumbersThatBlowUpAreReproducedOnAnyMachine)
{
    const auto dump = m_folder / "dump.pt";
    writeTooLarge(dump);
    const auto folder = bundleOf(dump, {"--ran", "deepspeed-gram", "--with-capture"});
    const auto ended = runPython(folder, "repro.py");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("Reproduced: deepspeed-gram in fp16 ends as the dump did"));
    EXPECT_THAT(ended.text, HasSubstr("finite")) << "the fp64 row is beside it";
    EXPECT_THAT(ended.text, Not(HasSubstr("not as expected")));
    EXPECT_THAT(contentsOf(folder + "/README.txt"), HasSubstr("Expected is 0"));
}

TEST_F(Reproducer, ATwinShowsTheSameAndSharesNoNumber)
{
    const auto dump = m_folder / "dump.pt";
    writeTooLarge(dump);
    const auto folder = bundleOf(dump, {"--ran", "deepspeed-gram", "--no-minimise"});
    const auto ended = runPython(folder, "repro.py");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("a synthetic twin"));
    std::ofstream(folder + "/twin.py") << "import sys, torch\n"
                                          "a = torch.load(sys.argv[1], weights_only=True)['input'].double()\n"
                                          "b = torch.load('capture_min.pt', weights_only=True)\n"
                                          "assert list(b) == ['input', 'shape', 'dtype', 'epsilon'], list(b)\n"
                                          "t = b['input'].double()\n"
                                          "s, r = torch.linalg.svdvals(a), torch.linalg.svdvals(t)\n"
                                          "print('off', float((s - r).abs().max() / s.max()))\n"
                                          "assert float((s - r).abs().max()) <= 1e-6 * float(s.max())\n"
                                          "u = torch.linalg.svd(a[0])[0][:, 0] @ torch.linalg.svd(t[0])[0][:, 0]\n"
                                          "assert abs(float(u)) < 0.9, float(u)\n"
                                          "assert not (a == t).any()\n";
    const auto twin = runPython(folder, "twin.py " + nanscope::platform::shellQuoted(dump));
    EXPECT_EQ(twin.status, 0) << twin.text;
}

TEST_F(Reproducer, TheLeastThatShowsItIsInTheBundle)
{
    const auto dump = m_folder / "dump.pt";
    writeSpike(dump);
    const std::string entries = "import torch\n"
                                "x = torch.load('capture_min.pt', weights_only=True)['input']\n"
                                "print('entries', [float(v) for v in x.flatten() if v != 0])\n";
    const auto captured = bundleOf(dump, {"--ran", "deepspeed-gram", "--with-capture"});
    std::ofstream(captured + "/entries.py") << entries;
    auto ended = runPython(captured, "repro.py");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("1x24x40 float32, sha256 as packed, cut from the captured input of 1x96x160"));
    EXPECT_THAT(ended.text, Not(HasSubstr("not as expected")));
    EXPECT_THAT(runPython(captured, "entries.py").text, HasSubstr("entries [80000.0]"));

    // Spread over random directions no entry would be beyond fp16.
    const auto twin = bundleOf(dump, {"--ran", "deepspeed-gram"});
    std::ofstream(twin + "/entries.py") << entries;
    ended = runPython(twin, "repro.py");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("cut from a synthetic twin of 1x96x160"));
    const auto made = runPython(twin, "entries.py").text;
    EXPECT_THAT(made, AllOf(HasSubstr("entries ["), Not(HasSubstr("80000.0")), Not(HasSubstr(","))));
}

TEST_F(Reproducer, AFunctionIsCalledWithTheWholeWhereMoreThanTheNumbersMayBeAtFault)
{
    const auto dump = m_folder / "dump.pt";
    writeSpike(dump);
    const auto folder = bundleOf(dump, {"--ran", "deepspeed-gram", "--ran", "nanochat"});
    std::ofstream(folder + "/mine.py")
        << "import runpy, torch\n"
           "own = runpy.run_path('repro.py')\n"
           "def f(X, steps):\n"
           "    assert X.shape == (1, 96, 160) and steps == 5\n"
           "    return own['run_program']('bf16', own['WHOLE_PROGRAMS']['nanochat', 'bf16'], X)[0]\n";
    const auto numbers = runPython(folder, "repro.py");
    EXPECT_EQ(numbers.status, 0) << numbers.text;
    EXPECT_THAT(
        numbers.text, AllOf(HasSubstr("undecided. capture_min.pt: 1x24x40"), Not(HasSubstr("not as expected"))));
    const auto mine = runPython(folder, "repro.py --impl mine:f --n 2 --device cpu");
    EXPECT_EQ(mine.status, 1) << mine.text;
    EXPECT_THAT(
        mine.text, AllOf(HasSubstr("capture_whole.pt: 1x96x160"), HasSubstr("nearest to nanochat in bf16, 0 % off")));
}

TEST_F(Reproducer, TakesANormInFp64WhereTheVariantDoes)
{
    // Beyond and below what has a square in fp32; what is compared with shares no code with Nanscope.
    const std::string compare =
        "import json, sys, runpy, torch\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from project_variants import PROJECTS\n"
        "own = runpy.run_path('repro.py')\n"
        "x = torch.load('capture_min.pt', weights_only=True)['input']\n"
        "for form, kind in (('fp32', torch.float32), ('fp64', torch.float64)):\n"
        "    y, first = own['run_program'](form, own['PROGRAMS']['emerging-double-norm', form], x)\n"
        "    twin = PROJECTS['emerging-double-norm'](x, dtype=kind)\n"
        "    far = float((y.double() - twin.double()).norm() / twin.double().norm())\n"
        "    assert first is None and far < 1e-5, (form, first, far)\n";
    for (const float size : {1e25F, 1e-25F}) {
        const auto dump = m_folder / "dump.pt";
        writeDump(dump, size);
        const auto folder = bundleOf(dump, {"--ran", "emerging-double-norm", "--with-capture"});
        std::ofstream(folder + "/compare.py") << compare;
        const auto reference = fs::path(NANSCOPE_TEST_DATA).parent_path().string();
        const auto compared = runPython(folder, "compare.py " + nanscope::platform::shellQuoted(reference));
        EXPECT_EQ(compared.status, 0) << size << ": " << compared.text;
        const auto ended = runPython(folder, "repro.py");
        EXPECT_EQ(ended.status, 1) << ended.text;
        EXPECT_THAT(ended.text, Not(HasSubstr("not as expected"))) << size;
    }
}

TEST_F(Reproducer, AFaultOfAKernelIsNotInTheNumbers)
{
    const auto folder = bundleOf(sample, {"--with-capture"});
    const auto ended = runPython(folder, "repro.py --cpu");
    EXPECT_EQ(ended.status, 1) << ended.text;
    EXPECT_THAT(ended.text,
        AllOf(HasSubstr("Not reproduced by the published numbers; run --impl"), Not(HasSubstr("not as expected"))));
    EXPECT_THAT(contentsOf(folder + "/README.txt"), HasSubstr("Expected is 1"));
}

TEST_F(Reproducer, AFunctionIsCalledAndItsFailuresCounted)
{
    const auto folder = bundleOf(sample, {"--with-capture"});
    std::ofstream(folder + "/mine.py") << "import torch\n"
                                          "calls = 0\n"
                                          "def good(X, epsilon):\n"
                                          "    return X / (X.norm() + epsilon)\n"
                                          "def bad(X, epsilon):\n"
                                          "    global calls\n"
                                          "    calls += 1\n"
                                          "    Y = good(X, epsilon)\n"
                                          "    if calls % 3 == 0:\n"
                                          "        Y[..., 2, 5] = float('nan')\n"
                                          "    return Y\n"
                                          "def unwritten(X):\n"
                                          "    return torch.empty_like(X)\n";
    const auto good = runPython(folder, "repro.py --impl mine:good --n 10 --device cpu");
    EXPECT_EQ(good.status, 1) << good.text;
    EXPECT_THAT(good.text, AllOf(HasSubstr("0 of 10"), HasSubstr("fewer than 30 %")));
    EXPECT_THAT(runPython(folder, "repro.py --impl mine:good --n 2 --device cpu").text, HasSubstr("fewer than 100 %"));
    for (const auto* noted : {"python:mine:good", "mine.py:good", "python:./mine.py:good"}) {
        const auto same = runPython(folder, std::string("repro.py --n 2 --device cpu --impl ") + noted);
        EXPECT_EQ(same.status, 1) << noted << ": " << same.text;
        EXPECT_THAT(same.text, HasSubstr("0 of 2"));
    }
    const auto bad = runPython(folder, "repro.py --impl mine:bad --n 10 --device cpu");
    EXPECT_EQ(bad.status, 0) << bad.text;
    EXPECT_THAT(bad.text,
        AllOf(HasSubstr("3 of 10 results are not finite; 2 distinct"), HasSubstr("First: call 3, index [0, 2, 5]")));
    const auto storm = runPython(folder, "repro.py --storm --impl mine:unwritten --n 3 --device cpu");
    EXPECT_EQ(storm.status, 0) << storm.text;
    EXPECT_THAT(storm.text, AllOf(HasSubstr("skipped without a GPU"), HasSubstr("3 of 3")));
}

TEST_F(Reproducer, AFunctionThatRequiresAnEpsilonIsNotCalledWithoutOne)
{
    const std::vector<float> ones(24 * 40, 1);
    writeTensors(m_folder / "none.pt", 24, 40, ones, std::nullopt);
    const auto folder = bundleOf(m_folder / "none.pt");
    std::ofstream(folder + "/mine.py") << "def keyword(X, *, epsilon):\n"
                                          "    return X + epsilon\n"
                                          "def second(X, e):\n"
                                          "    return X + e\n"
                                          "def optional(X, eps=1e-7):\n"
                                          "    return X + eps\n"
                                          "def placed(X, eps, /):\n"
                                          "    return X + eps\n"
                                          "def switched(X, transpose=False):\n"
                                          "    return X / 0 if transpose else X\n"
                                          "def steps(X, coefficients, steps, eps=1e-7):\n"
                                          "    return X / (steps - 6) * coefficients[1]\n";
    for (const auto& [function, argument] : {std::pair("keyword", "epsilon"), {"second", "e"}}) {
        const auto call = std::string("repro.py --n 2 --device cpu --impl mine:") + function;
        const auto refused = runPython(folder, call);
        EXPECT_EQ(refused.status, 2) << refused.text;
        EXPECT_THAT(refused.text, HasSubstr(std::string("requires an epsilon (its argument ") + argument + ")"));
        EXPECT_THAT(refused.text, AllOf(HasSubstr("--epsilon 1e-7"), Not(HasSubstr("TypeError"))));
        const auto told = runPython(folder, call + " --epsilon 1e-7");
        EXPECT_EQ(told.status, 1) << told.text;
    }
    EXPECT_EQ(runPython(folder, "repro.py --n 2 --device cpu --impl mine:optional").status, 1);
    for (const auto* function : {"placed", "switched"}) {
        const auto done =
            runPython(folder, std::string("repro.py --n 2 --epsilon 1e-7 --device cpu --impl mine:") + function);
        EXPECT_EQ(done.status, 1) << done.text;
    }
    const auto given =
        runPython(folder, R"(repro.py --n 2 --device cpu --impl 'mine:steps {"steps": 6, "coefficients": [2, 1]}')");
    EXPECT_THAT(given.text, HasSubstr("2 of 2 results are not finite")) << "six steps, and not the usual five";
    const auto lacks = runPython(folder, "repro.py --n 2 --device cpu --impl mine:steps");
    EXPECT_EQ(lacks.status, 2);
    EXPECT_THAT(lacks.text, HasSubstr("also needs coefficients: give them as JSON behind its name"));
    for (const auto* wrong : {"--impl 'mine:steps {6}'", "--epsilon 1e-7", "--impl mine:second --epsilon nan",
             "--impl mine:second --epsilon -1"}) {
        EXPECT_EQ(runPython(folder, std::string("repro.py ") + wrong).status, 2) << wrong;
    }
}

TEST_F(Reproducer, AFunctionThatEndsItsProcessReproducesNothing)
{
    const auto folder = bundleOf(sample);
    std::ofstream(folder + "/mine.py") << "import os, signal, sys\n"
                                          "def leave(X):\n"
                                          "    os._exit(0)\n"
                                          "def ask(X):\n"
                                          "    sys.exit(0)\n"
                                          "def die(X):\n"
                                          "    os.kill(os.getpid(), signal.SIGKILL)\n";
    for (const auto& [function, words] :
        {std::pair("leave", "ended its process (status 0)"), std::pair("die", "ended its process (signal 9)"),
            std::pair("ask", "the function failed (SystemExit: 0)")}) {
        const auto ended = runPython(folder, std::string("repro.py --n 1 --device cpu --impl=mine:") + function);
        EXPECT_EQ(ended.status, 2) << ended.text;
        EXPECT_THAT(ended.text, HasSubstr(words));
    }
}

TEST_F(Reproducer, WhatCannotRunSaysSoAndEndsWithTwo)
{
    const auto folder = bundleOf(sample);
    EXPECT_EQ(runPython(folder, "repro.py --impl nowhere:f").status, 2);
    EXPECT_EQ(runPython(folder, "repro.py --impl python:nowhere.py:f").status, 2);
    EXPECT_EQ(runPython(folder, "repro.py --impl os:nothing").status, 2);
    EXPECT_EQ(runPython(folder, "repro.py --n 0").status, 2);
    const auto onGpu = runPython(folder, "repro.py --device cuda");
    EXPECT_EQ(onGpu.status, 2) << onGpu.text;
    const auto raising = runPython(folder, "repro.py --impl math:sqrt --n 1 --device cpu");
    EXPECT_EQ(raising.status, 2) << raising.text;
    std::fstream(folder + "/capture_min.pt", std::ios::in | std::ios::out | std::ios::binary).seekp(900).put('!');
    const auto tampered = runPython(folder, "repro.py");
    EXPECT_EQ(tampered.status, 2);
    EXPECT_THAT(tampered.text, HasSubstr("is not the file that was packed"));
    fs::remove(folder + "/expected.json");
    const auto missing = runPython(folder, "repro.py");
    EXPECT_EQ(missing.status, 2);
    EXPECT_THAT(missing.text, AllOf(HasSubstr("Cannot run: "), Not(HasSubstr("Traceback"))));
}

TEST_F(Reproducer, WithoutTorchItSaysSo)
{
    const auto folder = bundleOf(sample);
    std::ofstream(folder + "/without.py") << "import runpy, sys\n"
                                             "sys.modules['torch'] = None\n"
                                             "sys.argv = ['repro.py']\n"
                                             "runpy.run_path('repro.py', run_name='__main__')\n";
    const auto ended = runPython(folder, "without.py");
    EXPECT_EQ(ended.status, 2) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("torch cannot be imported"));
}

TEST_F(Reproducer, NoFileOfTheZipHoldsAPlaceOrANumberOfTheTensor)
{
    fs::create_directories(m_folder / "client-9917/run");
    const auto dump = m_folder / "client-9917/run/dump.pt";
    writeSpike(dump);
    const auto zip = m_folder / "client-9917/report.zip";
    ASSERT_EQ(run({"report", m_folder / "client-9917/run", "--ran", "deepspeed-gram", "--bundle", zip}).status, 0);
    std::ofstream(m_folder / "look.py")
        << "import re, socket, struct, sys, torch, zipfile\n"
           "bundle = zipfile.ZipFile(sys.argv[1])\n"
           "x = torch.load(sys.argv[2], weights_only=True)['input'].flatten().abs().tolist()\n"
           "bits = {struct.pack('<f', sign * v) for v in x for sign in (1, -1)}\n"
           "digits = {repr(v) for v in x} | {str(int(v)) for v in x if v > 65504}\n"
           "assert 'repro.py' in bundle.namelist() and len(digits) > 10000\n"
           "for name in bundle.namelist():\n"
           "    data = bundle.read(name)\n"
           "    for place in (b'client-9917', sys.argv[3].encode(), b'/tmp/', b'/home/'):\n"
           "        assert place not in name.encode() + data, (name, place)\n"
           "    assert not re.search(rb'\\b' + re.escape(socket.gethostname().encode()) + rb'\\b', data), name\n"
           "    if name.endswith('.pt'):\n"
           "        found = [i for i in range(len(data) - 3) if data[i:i + 4] in bits]\n"
           "        assert not found, (name, found)\n"
           "    elif not name.startswith('report'):\n"
           "        words = set(re.findall(r'[0-9.]+(?:e[-+]?[0-9]+)?', data.decode()))\n"
           "        assert not words & digits, (name, words & digits)\n";
    const auto looked = runPython(m_folder.path().string(),
        "look.py " + nanscope::platform::shellQuoted(zip) + " " + nanscope::platform::shellQuoted(dump) + " "
            + nanscope::platform::shellQuoted(m_folder.path().string()));
    EXPECT_EQ(looked.status, 0) << looked.text;
}

TEST_F(Reproducer, NothingInItTellsWhereItWasMade)
{
    const auto folder = bundleOf(sample);
    for (const auto* name : {"repro.py", "expected.json", "README.txt"}) {
        const auto text = contentsOf(fs::path(folder) / name);
        EXPECT_THAT(text, Not(HasSubstr("/home"))) << name;
        EXPECT_THAT(text, Not(HasSubstr(fs::path(sample).parent_path().string()))) << name;
        EXPECT_THAT(text, Not(HasSubstr(m_folder.path().string()))) << name;
    }
    for (const auto* name : {"report.md", "report.html", "report.json"}) {
        EXPECT_THAT(contentsOf(fs::path(folder) / name), Not(HasSubstr(m_folder.path().string()))) << name;
        EXPECT_THAT(contentsOf(fs::path(folder) / name), Not(HasSubstr(fs::path(sample).parent_path().string())))
            << name;
    }
    // A word the reporter hides may be one the code needs.
    const auto hidden = run({"report", sample, "--bundle", m_folder / "hidden", "--redact", "Arithmetic"});
    EXPECT_EQ(hidden.status, 0) << hidden.err;
    EXPECT_FALSE(fs::exists(m_folder / "hidden/repro.py"));
    EXPECT_THAT(
        contentsOf(m_folder / "hidden/README.txt"), HasSubstr("There is no repro.py: a text that is to be hidden"));
}
