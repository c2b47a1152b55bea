// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// One truth, three faces: what the golden run is known to hold stands in Markdown, JSON and HTML alike.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

std::string between(const std::string& text, const std::string& begin, const std::string& end)
{
    const auto from = text.find(begin);
    const auto to = text.find(end, from + begin.size());
    return from == std::string::npos || to == std::string::npos
        ? std::string {}
        : text.substr(from + begin.size(), to - from - begin.size());
}

/// A word of a code span or of a table, whatever stands around it.
std::string plain(const std::string& markdown)
{
    std::string result;
    for (const auto byte : markdown) {
        result += byte == '\\' ? std::string {} : std::string(1, byte);
    }
    return result;
}

std::string hexOfBase64(const std::string& text)
{
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::string hex = "0123456789abcdef";
    std::string result;
    unsigned bits = 0;
    int held = 0;
    for (const auto digit : text) {
        const auto value = digits.find(digit);
        if (value == std::string::npos) {
            break;
        }
        bits = bits << 6U | static_cast<unsigned>(value);
        for (held += 6; held >= 4; held -= 4) {
            result += hex[bits >> static_cast<unsigned>(held - 4) & 15U];
        }
    }
    return result.substr(0, 64);
}

} // namespace

TEST(HtmlReport, TellsTheGoldenRunAsTheOtherFacesDo)
{
    std::ifstream file(sample + "/expected.json");
    ASSERT_TRUE(file);
    const auto expected = Json::parse(file);
    const WorkFolder folder;
    const auto done = run({"report", sample, "-o", folder / "r.md", "-o", folder / "r.html", "-o", folder / "r.json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto markdown = plain(contentsOf(folder / "r.md"));
    const auto html = contentsOf(folder / "r.html");
    const auto json = Json::parse(contentsOf(folder / "r.json"));
    const auto& birth = expected["birth"];
    std::vector<std::string> facts {birth["capture"], birth["verdict"], "rank 0", "10 captures, 2 births",
        "between the log lines of steps 5 and 6", "rows 32–63 × columns 64–127", "2,048 NaN", "8 downstream",
        "1x96x160"};
    for (const auto& name : birth["variant"]["names"]) {
        facts.push_back(name);
    }
    for (const auto& capture : expected["captures"]) {
        facts.push_back(capture["capture"]);
    }
    for (const auto& fact : facts) {
        EXPECT_THAT(markdown, HasSubstr(fact));
        EXPECT_THAT(html, HasSubstr(fact));
    }
    EXPECT_EQ(json["diagnosis"]["triage"], expected["triage"]);
    const auto& verdict = json["diagnosis"]["captures"][0];
    EXPECT_EQ(verdict["capture"], birth["capture"]);
    EXPECT_EQ(verdict["verdict"], birth["verdict"]);
    EXPECT_EQ(verdict["damage"]["rows"], birth["damage"]["rows"]);
    EXPECT_THAT(html, HasSubstr(verdict["damage"]["text"].get<std::string>()));
    EXPECT_THAT(markdown, HasSubstr(verdict["damage"]["text"].get<std::string>()));
}

TEST(HtmlReport, StyleIsWhatThePolicyAllows)
{
    const WorkFolder folder;
    ASSERT_EQ(run({"report", sample, "-o", folder / "r.html"}).status, 0);
    const auto html = contentsOf(folder / "r.html");
    writeText(folder / "style.css", between(html, "<style>", "</style>"));
    const auto command = "sha256sum '" + (folder / "style.css") + "' > '" + (folder / "sum") + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(hexOfBase64(between(html, "style-src 'sha256-", "'")), contentsOf(folder / "sum").substr(0, 64));
}

TEST(HtmlReport, DigestIsThatOfTheCaptureAndNoKey)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const auto done = run({"report", capture, "-o", folder / "r.json", "-o", folder / "r.md"});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "") << "it is not hidden as what looks like a key";
    const auto command = "sha256sum '" + capture + "' > '" + (folder / "sum") + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    const auto digest = contentsOf(folder / "sum").substr(0, 64);
    EXPECT_EQ(Json::parse(contentsOf(folder / "r.json"))["measures"]["sha256"], digest);
    EXPECT_THAT(contentsOf(folder / "r.md"), HasSubstr(digest));
}

TEST(HtmlReport, LeavesTheSessionItReadsAsItIs)
{
    const WorkFolder folder;
    const auto session = folder / "s.nanscope";
    ASSERT_EQ(run({"import", sample, "--session", session}).status, 0);
    const auto before = contentsOf(session);
    const auto written = std::filesystem::last_write_time(session);
    for (const auto* name : {"r.md", "r.html", "r.json", "b.zip"}) {
        const auto* option = std::string_view(name) == "b.zip" ? "--bundle" : "-o";
        ASSERT_EQ(run({"report", session, option, folder / name}).status, 0) << name;
    }
    EXPECT_EQ(contentsOf(session), before);
    EXPECT_EQ(std::filesystem::last_write_time(session), written);
    EXPECT_FALSE(std::filesystem::exists(session + "-wal"));
}

TEST(HtmlReport, HoldsThePicturesOfTheRun)
{
    const WorkFolder folder;
    ASSERT_EQ(run({"sweep", sample, "--session", folder / "s.nanscope"}).status, 0);
    ASSERT_EQ(run({"report", folder / "s.nanscope", "-o", folder / "r.html"}).status, 0);
    const auto html = contentsOf(folder / "r.html");
    for (const auto* id : {"figure-loss", "figure-output", "figure-gauges", "figure-faults", "class=\"birthline\"",
             "class=\"damage\"", "class=\"mark nan\""}) {
        EXPECT_THAT(html, HasSubstr(id));
    }
    EXPECT_LT(html.size(), 400'000U);
    ASSERT_EQ(run({"report", folder / "s.nanscope", "-o", folder / "bare.html", "--no-images"}).status, 0);
    EXPECT_THAT(contentsOf(folder / "bare.html"), Not(HasSubstr("<svg")));
}

TEST(HtmlReport, MarkdownHasItsPicturesBesideIt)
{
    const WorkFolder folder;
    const auto done = run({"report", sample, "-o", folder / "r.md", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto markdown = contentsOf(folder / "r.md");
    EXPECT_LE(markdown.size(), 65536U);
    std::vector<std::string> files;
    const auto answer = done.json();
    ASSERT_EQ(run({"report", sample, "-o", folder / "r.json"}).status, 0);
    EXPECT_EQ(answer["about"], nlohmann::ordered_json::parse(contentsOf(folder / "r.json"))["about"]);
    EXPECT_TRUE(answer["about"].is_string());
    for (const auto& written : answer["files"]) {
        const auto path = written["file"].get<std::string>();
        files.push_back(std::filesystem::path(path).filename().string());
        EXPECT_EQ(std::filesystem::file_size(path), written["bytes"]);
    }
    EXPECT_THAT(files, ::testing::ElementsAre("r.md", "r-1.png", "r-2.png", "r-3.png"));
    for (const auto* link : {"](r-1.png)", "](r-2.png)", "](r-3.png)"}) {
        EXPECT_THAT(markdown, HasSubstr(link));
    }
    EXPECT_THAT(run({"report", sample, "-o", folder / "r.md"}).out, HasSubstr("drag the .png files into it"));
    const auto bare = run({"report", sample, "-o", folder / "bare.md", "--no-images"});
    ASSERT_EQ(bare.status, 0);
    EXPECT_THAT(bare.out, Not(HasSubstr("drag")));
    EXPECT_THAT(contentsOf(folder / "bare.md"), Not(HasSubstr(".png")));
    EXPECT_FALSE(std::filesystem::exists(folder / "bare-1.png"));
    EXPECT_THAT(run({"report", sample, "-o", "-"}).out, Not(HasSubstr(".png")));
}

TEST(HtmlReport, SectionsAreChosenByName)
{
    const auto only = run({"report", sample, "-o", "-", "--section", "claim,ask"}).out;
    EXPECT_THAT(only, HasSubstr("**Result.**"));
    EXPECT_THAT(only, HasSubstr("**Next**"));
    EXPECT_THAT(only, Not(HasSubstr("**Evidence")));
    EXPECT_THAT(only, Not(HasSubstr("Appendix")));
    const auto without =
        run({"report", sample, "-o", "-", "--no-section", "console,against", "--no-section", "captures"}).out;
    EXPECT_THAT(without, HasSubstr("**Result"));
    EXPECT_THAT(without, HasSubstr("Appendix"));
    for (const auto* gone : {"**Evidence", "**Console", "**Captures"}) {
        EXPECT_THAT(without, Not(HasSubstr(gone)));
    }
    const auto wrong = run({"report", sample, "-o", "-", "--section", "clam"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.err, HasSubstr("claim"));
}

TEST(HtmlReport, WhatTheUserHidesDoesNotComeBackInTheCommandLine)
{
    const WorkFolder folder;
    ASSERT_EQ(run({"report", sample, "-o", folder / "r.html", "-o", folder / "r.md", "-o", folder / "r.json",
                      "--redact", "gns-gram=our-kernel", "--redact", "pid41207"})
                  .status,
        0);
    for (const auto* name : {"r.html", "r.md", "r.json"}) {
        const auto text = contentsOf(folder / name);
        EXPECT_THAT(text, Not(HasSubstr("gns-gram"))) << name;
        EXPECT_THAT(text, Not(HasSubstr("pid41207"))) << name;
        EXPECT_THAT(plain(text), HasSubstr("our-kernel")) << name;
    }
}

TEST(HtmlReport, WhatLooksLikeAKeyIsHiddenUntilTheUserKeepsIt)
{
    const WorkFolder folder;
    const std::string name = "dion_nan_capture_rank0_shape1x24x40_pid7_1795234396390.pt";
    const std::string key = "q7Xv2LmB9sTzR4kWcN8yHdJ3pGfA6uEo";
    std::filesystem::create_directory(folder / "run");
    writeCapture(folder / ("run/" + name));
    writeText(folder / "run/console.log",
        "Step 1: train_loss=1.5\n[dion NaN capture] non-finite Newton-Schulz output on rank 0, shape (1, 24, 40); "
        "dumped to ./"
            + name + " by " + key + "\nStep 2: train_loss=nan\n");
    const auto asked = run({"report", folder / "run", "-o", folder / "r.json", "--json"});
    ASSERT_EQ(asked.status, 0) << asked.err;
    const auto suspicious = asked.json()["suspicious"];
    ASSERT_EQ(suspicious.size(), 1U);
    EXPECT_EQ(suspicious[0]["masked"], "q7Xv...Eo");
    EXPECT_EQ(suspicious[0]["characters"], 32);
    EXPECT_GE(suspicious[0]["count"], 1);
    EXPECT_EQ(suspicious[0]["where"], "console.log:2");
    EXPECT_THAT(asked.err, HasSubstr("q7Xv...Eo, 32 characters"));
    EXPECT_THAT(asked.err, HasSubstr("console.log:2"));
    EXPECT_THAT(asked.out + asked.err + contentsOf(folder / "r.json"), Not(HasSubstr(key)));
    for (const auto& word : {key, std::string("q7Xv...Eo")}) {
        const auto kept = run({"report", folder / "run", "-o", folder / "r.json", "--keep", word});
        EXPECT_EQ(kept.err, "");
        EXPECT_THAT(contentsOf(folder / "r.json"), HasSubstr(" by " + key));
        EXPECT_THAT(contentsOf(folder / "r.json"), HasSubstr("--keep ...\""));
    }
}

TEST(HtmlReport, AWordTheUserKeepsMayStandInTheReproducer)
{
    const WorkFolder folder;
    const auto kept = run({"report", sample, "--bundle", folder / "kept", "--keep", "Arithmetic"});
    EXPECT_EQ(kept.status, 0) << kept.err;
    EXPECT_TRUE(std::filesystem::exists(folder / "kept/repro.py"));
}

TEST(HtmlReport, ADamagedCaptureNobodyCanReadAnyMoreOnlyCostsItsPicture)
{
    const WorkFolder folder;
    writeCapture(folder / "a.pt");
    ASSERT_EQ(run({"import", folder / "a.pt", "--session", folder / "s.nanscope"}).status, 0);
    ASSERT_EQ(run({"report", folder / "s.nanscope", "-o", folder / "with.html"}).status, 0);
    EXPECT_THAT(contentsOf(folder / "with.html"), HasSubstr("figure-output"));
}
