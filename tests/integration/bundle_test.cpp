// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

namespace fs = std::filesystem;

namespace {

std::set<std::string> namesIn(const fs::path& folder)
{
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.insert(entry.path().filename().string());
    }
    return names;
}

} // namespace

TEST(Bundle, AFolderHoldsEveryFormOfTheReport)
{
    const WorkFolder folder;
    const auto done = run({"report", sample, "--bundle", folder / "b", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto names = namesIn(folder / "b");
    EXPECT_THAT(names, IsSupersetOf({"README.txt", "report.md", "report.html", "report.json", "report-1.png"}));
    EXPECT_EQ(done.json()["files"].size(), names.size());
    EXPECT_THAT(contentsOf(fs::path(folder / "b") / "README.txt"), HasSubstr("tensors may be private"));
    EXPECT_THAT(names, IsSupersetOf({"repro.py", "expected.json", "capture_min.pt"}));
    for (const auto& name : names) {
        EXPECT_EQ(fs::path(name).extension() == ".pt", name == "capture_min.pt") << name;
    }
    EXPECT_THAT(contentsOf(fs::path(folder / "b") / "README.txt"), HasSubstr("A synthetic twin"));
}

TEST(Bundle, TheCaptureComesAsItIsWhereAskedFor)
{
    const WorkFolder folder;
    ASSERT_EQ(run({"report", sample, "--bundle", folder / "b", "--with-capture"}).status, 0);
    std::size_t captures = 0;
    for (const auto& name : namesIn(folder / "b")) {
        if (fs::path(name).extension() != ".pt" || name == "capture_min.pt") {
            continue;
        }
        ++captures;
        for (const auto& entry : fs::recursive_directory_iterator(sample)) {
            if (entry.path().filename() == name) {
                EXPECT_EQ(contentsOf(fs::path(folder / "b") / name), contentsOf(entry.path()));
            }
        }
    }
    EXPECT_EQ(captures, 1U);
    EXPECT_EQ(run({"report", sample, "-o", folder / "r.md", "--with-capture"}).status, 2) << "there is no bundle";
}

TEST(Bundle, IsReadAsOneCaptureWithWhatItsSidecarSays)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    writeText(folder / "a.json", R"({"step": 41, "function": {"module": "mine", "qualname": "ns"}})");
    ASSERT_EQ(run({"report", capture, "--bundle", folder / "b", "--with-capture"}).status, 0);
    const auto done = run({"diagnose", folder / "b", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto answer = done.json();
    ASSERT_EQ(answer["captures"].size(), 1U);
    EXPECT_EQ(answer["captures"][0]["step"][0], 41);
    EXPECT_EQ(answer["captures"][0]["facts"]["scene"]["function"], "mine:ns");
}

TEST(Bundle, IsAboutTheCaptureThatWasAskedFor)
{
    const WorkFolder folder;
    const std::string second = "dion_nan_capture_rank1_shape1x160x96_pid41208_1792231455346.pt";
    const auto done = run({"report", sample, "--capture", "dion_nan_captures/" + second, "--bundle", folder / "b",
        "--with-capture", "-o", folder / "r.json"});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, Not(HasSubstr("It is about"))) << "who asked knows it";
    EXPECT_THAT(run({"report", sample, "-o", folder / "first.md"}).out,
        HasSubstr("_1792231455315.pt, the first of 2 births; --capture NAME takes another"));
    EXPECT_TRUE(fs::exists(folder / ("b/" + second)));
    EXPECT_THAT(contentsOf(folder / "b/repro.py"), HasSubstr("deepspeed-gram"));
    EXPECT_THAT(contentsOf(folder / "b/report.md"), HasSubstr("rank 1"));
    const auto report = nlohmann::json::parse(contentsOf(folder / "r.json"));
    EXPECT_EQ(report["about"], second);
    EXPECT_THAT(report["command_line"], HasSubstr(" --capture " + second));
    const auto wrong = run({"report", sample, "--capture", "none.pt", "-o", folder / "w.md"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.err, HasSubstr("There is no capture 'none.pt'"));
}

TEST(Bundle, AZipIsOneFileBesideOtherReports)
{
    const WorkFolder folder;
    const auto done = run({"report", sample, "--bundle", folder / "b.zip", "-o", folder / "r.html"});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(namesIn(folder.path()), IsSupersetOf({"b.zip", "r.html"}));
    EXPECT_EQ(contentsOf(folder / "b.zip").substr(0, 4), "PK\x03\x04");
    EXPECT_LE(fs::file_size(folder / "b.zip"), 25'000'000U);
    EXPECT_THAT(done.out, HasSubstr("b.zip"));
}

TEST(Bundle, ReplacesNothingButABundle)
{
    const WorkFolder folder;
    fs::create_directories(folder.path() / "run");
    writeText(folder / "run/expected.json", "mine");
    writeCapture(folder / "run/a.pt");
    const auto refused = run({"report", folder / "run", "--bundle", folder / "run"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("There are other files in this folder"));
    EXPECT_EQ(contentsOf(folder / "run/expected.json"), "mine");
    for (const auto* again : {"first", "again"}) {
        EXPECT_EQ(run({"report", folder / "run", "--bundle", folder / "run/b"}).status, 0) << again;
    }
    EXPECT_EQ(run({"list", folder / "run", "--json"}).json()["captures"].size(), 1U);
    fs::remove(folder / "run/b/report.json");
    EXPECT_EQ(run({"list", folder / "run", "--json"}).json()["captures"].size(), 1U) << "as one of some sections";
}

TEST(Bundle, GoesSomewhereOrIsWrongUsage)
{
    const WorkFolder folder;
    EXPECT_EQ(run({"report", sample}).status, 2);
    const auto nowhere = run({"report", sample, "--bundle", folder / "no/b.zip"});
    EXPECT_EQ(nowhere.status, 1);
    EXPECT_EQ(nowhere.errors().size(), 1U) << nowhere.err;
    EXPECT_THAT(nowhere.err, HasSubstr("no/b.zip"));
    EXPECT_TRUE(fs::is_empty(folder.path()));
}
