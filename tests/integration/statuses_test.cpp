// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Statuses, HelpAndVersionAreNoErrors)
{
    const auto version = run({"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.out, HasSubstr("nanscope "));
    const auto help = run({"--help"});
    EXPECT_EQ(help.status, 0);
    for (const auto* command : {"explain", "import", "list", "inspect", "diff", "sweep", "diagnose", "report", "sql",
             "export", "capture", "doctor", "env", "serve", "whatif", "spread", "watch"}) {
        EXPECT_THAT(help.out, HasSubstr(command));
    }
}

TEST(Statuses, TheCaptureHelperIsPrintedToTheByte)
{
    std::ifstream file(std::filesystem::path(NANSCOPE_SAMPLE) / "../python/nanscope_capture.py", std::ios::binary);
    const std::string source {std::istreambuf_iterator<char>(file), {}};
    ASSERT_GT(source.size(), 10000U);
    EXPECT_EQ(run({"capture", "--print"}).out, source);
    EXPECT_THAT(run({"capture"}).out, HasSubstr("nanscope capture --print >nanscope_capture.py"));
}

TEST(Statuses, UnknownNamesAreUsageErrorsThatNameTheNearest)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const struct
    {
        std::vector<std::string> arguments;
        const char* nearest;
    } cases[] = {{{"diagnoze", capture}, "diagnose"},
        {{"sweep", capture, "--variant", "keller-jordon"}, "keller-jordan"},
        {{"sweep", capture, "--precision", "fp61"}, "fp64"}, {{"sweep", capture, "--lowering", "fusd"}, "fused"},
        {{"list", capture, "serie"}, "series"}, {{"diagnose", capture, "--fail-on", "numeric"}, "numerics"},
        {{"diagnose", capture, "--ran", "torch-moun"}, "torch-muon"},
        {{"diagnose", capture, "--spike-rule", "olmoe"}, "olmo"}, {{"diagnose", capture, "--silence", "P1,P20"}, "P2"},
        {{"agree", capture, "--variant", "gns-gram", "--precision", "fp12"}, "fp16"},
        {{"agree", capture, "--variant", "gns"}, "gns-standard"},
        {{"spread", capture, "--variant", "gns-gram", "--op", "gramm", "--iteration", "1"}, "gram"},
        {{"list", capture, "--log-level", "warn"}, "warning"}, {{"sweep", capture, "--capture", "b.pt"}, "a.pt"},
        {{"diagnose", capture, "--rann", "x"}, "the nearest are --ran,"},
        {{"measure", "repeat", capture, "--piethon", "x"}, "--python"}};
    for (const auto& [arguments, nearest] : cases) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 2) << arguments[0] << " " << arguments.back();
        EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
        EXPECT_THAT(done.err, HasSubstr(nearest));
        EXPECT_EQ(done.out, "");
    }
}

TEST(Statuses, WrongUsageIsOneSentence)
{
    const std::vector<std::string> cases[] = {{}, {"explain"}, {"sweep", ".", "--no-such-option"}, {"diff", "a.pt"},
        {"sweep", ".", "--device", "cuda:99"}, {"report", ".", "-o", "out.pdf"}, {"sweep", ".", "--steps", "many"},
        {"sweep", ".", "--steps", "1000000"}, {"sweep", ".", "--steps", "0"}, {"sweep", ".", "--epsilon", "-1"},
        {"diagnose", ""}, {"explain", ""}, {"diff", "", ""}, {"watch", ""}, {"diagnose", ".", "--session", ""},
        {"sweep", ".", "--device", ""}, {"sweep", ".", "--job", ""}, {"whatif", "guard", ".", "--ranks", "4097"}};
    for (const auto& arguments : cases) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 2) << (arguments.empty() ? "" : arguments.front());
        EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
        EXPECT_EQ(done.out, "");
    }
}

TEST(Statuses, AnOptionThatWouldBeIgnoredIsRefused)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const auto name = [&](const char* ending) { return folder / ending; };
    const struct
    {
        std::vector<std::string> arguments;
        const char* refused;
    } cases[] = {{{"spread", capture, "--like-dump", "--op", "q"}, "--op is an option of"},
        {{"measure", "scale", capture, "--variant", "gns-gram", "-n", "3"}, "--calls is an option of"},
        {{"measure", "repeat", capture, "--variant", "gns-gram", "--round-to", "bf16"}, "--round-to is an option of"},
        {{"measure", "repeat", capture, "--variant", "gns-gram", "-o", name("b.pt")}, "-o is an option of"},
        {{"measure", "repeat", capture, "--impl", "python:m:f", "--steps", "3"}, "--steps is an option of"},
        {{"measure", "repeat", capture, "--impl", "python:m:f", "--show", "--json"}, "--json is an option of"},
        {{"sweep", capture, "--impl", "python:m:f", "--show", "--json"}, "--json is an option of"},
        {{"diff", capture, capture, "--shift", "1"}, "--shift is an option of"},
        {{"diff", capture, capture, "--map", "loss=x"}, "--map is an option of"},
        {{"report", capture, "-o", name("r.json"), "--section", "claim"}, "--section is an option of"},
        {{"report", capture, "-o", "-", "--json"}, "name a file"},
        {{"report", capture, "--bundle", name("b.tar")}, "as .zip, or as a folder"},
        {{"report", capture, "-o", name("r.md"), "--redact", "=x"}, "TEXT is empty"},
        {{"whatif", "guard", sample, "--ranks", "1"}, "less than the 2 ranks"},
        {{"whatif", "guard", sample, "--action", "skip"}, "--action is an option of `nanscope whatif detector`"},
        {{"export", sample, "--series", "loss", "--json", "--format", "csv"}, "contradict"},
        {{"capture", "--json"}, "--json is an option of"},
        {{"diagnose", capture, "--as-told", "--fail-on", "machine"}, "--fail-on is an option of"},
        {{"diagnose", capture, "--tried", "kernels-off=gone"}, "clean hours"},
        {{"diagnose", capture, "--tried", "swap-gpus=moves"}, "number of swaps"},
        {{"diagnose", capture, "--tried", "kernels-off=stays:3"}, "nothing of other outcomes"}};
    for (const auto& [arguments, refused] : cases) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 2) << arguments[0] << " " << arguments.back();
        EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
        EXPECT_THAT(done.err, HasSubstr(refused));
        EXPECT_EQ(done.out, "");
    }
}

TEST(Statuses, AnOptionThatIsReadIsTaken)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    for (const auto& arguments :
        {std::vector<std::string> {"measure", "repeat", capture, "--variant", "gns-gram", "-n", "2"},
            {"report", capture, "-o", folder / "r.json", "-o", folder / "r.md", "--section", "claim"},
            {"report", capture, "--bundle", folder / "b.v2"}, {"export", sample, "--series", "loss", "--json"},
            {"whatif", "guard", sample, "--ranks", "2"}, {"diff", sample, sample, "--shift", "1"}}) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 0) << arguments[0] << ": " << done.err;
    }
}

TEST(Statuses, NothingUsableIsFour)
{
    const WorkFolder folder;
    writeText(folder / "empty.pt", "");
    writeText(folder / "notes.txt", "hello\n");
    const std::vector<std::string> cases[] = {{"diagnose", folder / "missing"}, {"explain", folder / "missing.pt"},
        {"explain", folder / "empty.pt"}, {"inspect", folder / "empty.pt"}, {"diagnose", folder / "empty.pt"},
        {"list", folder / "notes.txt"}, {"explain", folder.path().string()}, {"env", "--python", folder / "bin/python"},
        {"env", "--python", folder.path().string()}};
    for (const auto& arguments : cases) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 4) << arguments[0] << " " << arguments[1] << "\n" << done.err;
        EXPECT_EQ(done.out, "");
        EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
        EXPECT_THAT(done.err, HasSubstr(folder.path().string())) << "the path comes last";
    }
}

TEST(Statuses, FailOnIsSix)
{
    const WorkFolder folder;
    writeCapture(folder / "a.pt", {24, 40, true, true});
    EXPECT_EQ(run({"diagnose", folder / "a.pt", "--fail-on", "upstream"}).status, 6);
    EXPECT_EQ(run({"diagnose", folder / "a.pt", "--fail-on", "machine"}).status, 0);
}

TEST(Statuses, InterruptCancelsWithFiveAndKeepsWhatWasDone)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "big.pt", {1024, 1024, false, true});
    const std::vector<std::string> sweep {
        "sweep", capture, "--variant", "all", "--lowering", "eager,fused", "--json", "--progress", "jsonl"};
    // On a busy machine the first signal may come before the first cell.
    for (const auto* patience : {"1", "4", "16"}) {
        const auto done = run(sweep, std::string("timeout --preserve-status -k 60 -s INT ") + patience);
        ASSERT_EQ(done.status, 5) << done.err << done.seconds << " s";
        if (done.err.find("\"cell\":{") == std::string::npos) {
            continue;
        }
        EXPECT_EQ(done.json()["schema"], "nanscope.sweep/1");
        EXPECT_GE(done.json()["cells"].size(), 1U);
        EXPECT_LT(done.json()["cells"].size(), 90U);
        return;
    }
    FAIL() << "no cell in 16 s";
}

TEST(Statuses, ProgressLinesAreJson)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const auto done = run({"sweep", capture, "--variant", "torch-muon", "--progress", "jsonl", "--json"});
    EXPECT_EQ(done.status, 0) << done.err;
    int cells = 0;
    for (const auto& line : done.errors()) {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        ASSERT_TRUE(json.is_object()) << line;
        for (const auto* key : {"job", "phase", "done", "total", "unit", "eta_s", "message", "cell"}) {
            EXPECT_TRUE(json.contains(key)) << key;
        }
        cells += json["cell"].is_object() ? 1 : 0;
    }
    EXPECT_EQ(cells, 5);
}

TEST(Statuses, ProgressStaysSilentInPipes)
{
    const WorkFolder folder;
    const auto done = run({"diagnose", writeCapture(folder / "a.pt")});
    EXPECT_EQ(done.err, "");
}

TEST(Statuses, UnwritableReportIsOneAndLeavesNothing)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const auto done = run({"report", capture, "-o", folder / "no/such/folder/r.md"});
    EXPECT_EQ(done.status, 1);
    EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
}

TEST(Statuses, ATimeLimitPrintsWhatIsKnownAndIsNoFullAnswer)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const auto stopped = run({"diagnose", capture, "--json", "--time-limit", "1e-9"});
    EXPECT_EQ(stopped.status, 5);
    const auto answer = stopped.json();
    EXPECT_EQ(answer["stopped"], "the time limit of 1e-09 s");
    EXPECT_THAT(answer["captures"], SizeIs(1));
    const auto whole = run({"diagnose", capture, "--json", "--time-limit", "3600"});
    EXPECT_EQ(whole.status, 0);
    EXPECT_TRUE(whole.json()["stopped"].is_null());
    const auto none = run({"diagnose", capture, "--time-limit", "0"});
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(none.err, "--time-limit takes a number of seconds above 0\n");
}
