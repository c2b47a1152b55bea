// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <regex>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace {

constexpr const char* mine = R"([{"base": "gns-gram", "name": "mine", "restarts": [1]},
    {"name": "classic", "steps": [[2, -1.5, 0.5], [2, -1.5, 0.5]], "precision": "fp32"}])";

TEST(VariantFile, SweepsReplayItsVariantsByName)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    writeText(folder / "mine.json", mine);
    const auto done = run({"sweep", capture, "--variant-file", folder / "mine.json", "--variant", "mine,classic",
        "--precision", "fp64", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    std::vector<std::string> names;
    const auto answer = done.json();
    for (const auto& cell : answer["cells"]) {
        names.push_back(cell["variant"]);
        EXPECT_EQ(cell["gauges"].size(), cell["variant"] == "mine" ? 5U : 2U);
    }
    EXPECT_THAT(names, ElementsAre("mine", "classic"));
    EXPECT_EQ(run({"sweep", capture, "--variant", "mine"}).status, 2) << "known where it is given only";
}

TEST(VariantFile, DiagnosesTakeThemAsWhatRan)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    writeText(folder / "mine.json", mine);
    const auto done =
        run({"diagnose", capture, "--variant-file", folder / "mine.json", "--ran", "mine:bf16", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto variant = done.json()["captures"][0]["variant"];
    EXPECT_EQ(variant["how"], "given");
    EXPECT_THAT(variant["names"], ElementsAre("mine"));
}

/// "30 of 521 places".
std::pair<int, int> placesOf(const std::vector<std::string>& arguments)
{
    const auto done = run(arguments);
    EXPECT_EQ(done.status, 0) << done.err;
    auto text = std::regex_replace(done.out, std::regex("\\s+"), " ");
    std::smatch found;
    return std::regex_search(text, found, std::regex("(\\d+)\\s+of\\s+(\\d+)\\s+simulated"))
        ? std::pair(std::stoi(found[1]), std::stoi(found[2]))
        : std::pair(0, 0);
}

TEST(VariantFile, ATileCanHaveGoneBadInThemToo)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    writeText(folder / "mine.json", mine);
    const auto [published, of] = placesOf({"explain", capture});
    EXPECT_GT(published, 0);
    const auto [withOwn, ofThese] = placesOf({"explain", capture, "--variant-file", folder / "mine.json"});
    EXPECT_GT(withOwn, published);
    EXPECT_GT(ofThese, of);
    // What ran is known here, so that the others do not count.
    const auto ran = placesOf({"diagnose", capture, "--variant-file", folder / "mine.json", "--ran", "classic"});
    EXPECT_EQ(ran.second, 6);
    EXPECT_GT(ran.first, 0);
}

TEST(VariantFile, CommandsToCopyRepeatIt)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const auto file = folder / "it is mine.json";
    writeText(file, mine);
    const auto quoted = "--variant-file '" + file + "'";
    const auto explained = run({"explain", capture, "--variant-file", file, "--json"}).json();
    EXPECT_THAT(explained["text"].get<std::string>(), HasSubstr("it is mine.json"));
    const auto advice = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"diagnose", capture, "--json"});
        return run(arguments).json()["captures"][0]["next"][0].get<std::string>();
    };
    const std::string command = "nanscope diagnose PATH --ran VARIANT[:PRECISION]";
    EXPECT_EQ(advice({"--variant-file", file}), command + " " + quoted + ": say which function ran");
    EXPECT_EQ(advice({}), command + ": say which function ran");
}

TEST(VariantFile, AReportRepeatsItWithoutItsFolder)
{
    const WorkFolder folder;
    const WorkFolder elsewhere;
    writeCapture(folder / "a.pt");
    const auto file = elsewhere / "mine.json";
    writeText(file, mine);
    const std::vector<std::string> arguments {
        "report", folder.path().string(), "--variant-file", file, "--ran", "mine", "-o", "-"};
    const auto redacted = run(arguments);
    ASSERT_EQ(redacted.status, 0) << redacted.err;
    EXPECT_THAT(redacted.out, Not(HasSubstr(elsewhere.path().string())));
    EXPECT_THAT(redacted.out, HasSubstr(" --variant-file mine.json --ran mine\n"));
    EXPECT_THAT(redacted.out, HasSubstr("--capture a.pt --variant-file mine.json --variant mine --precision"));
    auto open = arguments;
    open.emplace_back("--no-redact");
    EXPECT_THAT(run(open).out, HasSubstr("nanscope diagnose " + folder.path().string() + " --variant-file " + file));
    // The command that is suggested finds what the report found.
    const auto pasted = run({"diagnose", folder.path().string(), "--variant-file", file, "--ran", "mine", "--json"});
    EXPECT_EQ(pasted.json()["captures"][0]["variant"]["names"][0], "mine");
}

TEST(VariantFile, SpreadsAndInstrumentsKnowThem)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const auto file = folder / "mine.json";
    writeText(file, mine);
    const auto spread = run({"spread", capture, "--like-dump", "--variant", "mine", "--variant-file", file});
    ASSERT_EQ(spread.status, 0) << spread.err;
    EXPECT_THAT(spread.out, HasSubstr(" --variant mine --op "));
    EXPECT_THAT(spread.out, HasSubstr(" --variant-file " + file + "\n"));
    const auto measured =
        run({"measure", "epsilon", capture, "--variant", "classic", "--variant-file", file, "--json"});
    EXPECT_EQ(measured.status, 0) << measured.err;
    EXPECT_EQ(measured.json()["subject"]["variant"], "classic");
}

TEST(VariantFile, WhatIsWrongWithAFileIsOneSentenceThatEndsInItsPath)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    const struct
    {
        const char* text;
        const char* said;
    } cases[] = {{"{", "not JSON at byte"}, {R"({"name": "m", "stepps": []})", "steps"},
        {R"({"base": "gns-gram", "name": "dion-ns5"})", "Nanscope has itself"}, {R"({"base": "gns-gram"})", "name"}};
    for (const auto& [text, said] : cases) {
        writeText(folder / "bad.json", text);
        const auto done = run({"sweep", capture, "--variant-file", folder / "bad.json"});
        EXPECT_EQ(done.status, 2) << text;
        ASSERT_THAT(done.errors(), SizeIs(1)) << done.err;
        EXPECT_THAT(done.err, HasSubstr(said));
        EXPECT_THAT(done.err, HasSubstr(folder / "bad.json"));
    }
    EXPECT_EQ(run({"explain", capture, "--variant-file", folder / "missing.json"}).status, 4);
}

/// A session that was swept with the user's own variants.
class KeptVariants : public ::testing::Test
{
protected:
    void SetUp() override
    {
        std::filesystem::create_directories(m_folder / "run");
        m_capture = writeCapture(m_folder / "run/a.pt");
        writeText(m_folder / "mine.json", mine);
        const auto swept = sweep({"--variant-file", m_folder / "mine.json"}, m_folder / "run");
        ASSERT_EQ(swept.status, 0) << swept.err;
    }

    Finished sweep(std::vector<std::string> more, const std::string& source) const
    {
        std::vector<std::string> arguments {
            "sweep", source, "--session", m_session, "--variant", "mine", "--precision", "fp64", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }

    WorkFolder m_folder;
    std::string m_capture;
    std::string m_session = m_folder / "s.nanscope";
};

TEST_F(KeptVariants, AreKnownToWhoeverReadsTheSession)
{
    const auto judged = run({"diagnose", m_session, "--ran", "mine:bf16", "--json"});
    ASSERT_EQ(judged.status, 0) << judged.err;
    EXPECT_THAT(judged.json()["captures"][0]["variant"]["names"], ElementsAre("mine"));
    EXPECT_EQ(sweep({}, m_session).status, 0);
    EXPECT_EQ(sweep({}, m_folder / "run").status, 0);
    EXPECT_EQ(run({"diagnose", m_folder / "run", "--session", m_session, "--ran", "classic"}).status, 0);
    EXPECT_THAT(
        run({"report", m_session, "--ran", "mine", "-o", "-"}).out, HasSubstr("1 of 1 cell finite: mine (fp64)."));
    const auto spread = run({"spread", m_capture, "--session", m_session, "--variant", "mine", "--op", "gram",
        "--iteration", "1", "--tile", "0,0,4,4"});
    EXPECT_EQ(spread.status, 0) << spread.err;
    EXPECT_EQ(run({"measure", "repeat", m_capture, "--session", m_session, "--variant", "mine", "-n", "2"}).status, 0);
    EXPECT_GT(placesOf({"explain", m_capture, "--session", m_session}).second, placesOf({"explain", m_capture}).second);
    EXPECT_EQ(run({"explain", m_capture, "--session", m_folder / "none.nanscope"}).status, 4);
}

TEST_F(KeptVariants, AnotherOfTheNameIsRefusedWithWhatDiffers)
{
    writeText(m_folder / "other.json", R"({"base": "gns-gram", "name": "mine", "restarts": [2]})");
    for (const auto& source : {m_session, m_folder / "run"}) {
        const auto refused = sweep({"--variant-file", m_folder / "other.json"}, source);
        EXPECT_EQ(refused.status, 2);
        ASSERT_THAT(refused.errors(), SizeIs(1)) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr("another variant 'mine' (restarts differs)"));
    }
    EXPECT_EQ(sweep({"--variant-file", m_folder / "mine.json"}, m_session).status, 0);
    EXPECT_THAT(run({"list", m_session, "cells", "--json"}).json()["cells"], SizeIs(1));
}

TEST_F(KeptVariants, AFileMayBeGivenAnyway)
{
    const auto said = run({"diagnose", m_session, "--variant-file", m_folder / "mine.json", "--ran", "mine"});
    EXPECT_EQ(said.status, 0) << said.err;
    EXPECT_THAT(said.err, Not(HasSubstr("mine")));
}

} // namespace
