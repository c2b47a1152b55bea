// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/verdict.h"
#include "core/workflow/userfiles.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variantjson.h"
#include "tests/core/session/temporaryfolder.h"

using testing::HasSubstr;

namespace nanscope {

namespace {

namespace fs = std::filesystem;

/// A folder for files and a configuration folder of its own.
class UserFilesTest : public testing::Test
{
protected:
    UserFilesTest()
    {
        fs::create_directories(m_folder / "config" / "nanscope");
        setenv("XDG_CONFIG_HOME", (m_folder / "config").c_str(), 1);
    }

    std::string write(const std::string& name, const std::string& text) const
    {
        std::ofstream(m_folder / name) << text;
        return (m_folder / name).string();
    }

    TemporaryFolder m_folder;
};

std::string variantText(const std::string& name, const std::string& precision = "fp16")
{
    return R"({"base": "keller-jordan", "name": ")" + name + R"(", "precision": ")" + precision + R"("})";
}

replay::Catalogue keptAs(const std::string& definition)
{
    replay::Catalogue kept;
    EXPECT_TRUE(kept.add(replay::variantsFromText(definition, {}).value().front()));
    return kept;
}

std::string advisoryText(const std::string& id)
{
    return R"({"schema": "nanscope.advisories/1", "dated": "2026-08-20", "advisories": [{"id": ")" + id
        + R"(", "status": "suspected", "title": "Our kernel skips a column", "text": "One sentence.",
            "link": "https://example.org/3", "packages": [{"name": "our-kernels", "versions": "*"}]}]})";
}

std::vector<std::string> idsOf(const std::vector<diagnose::Advisory>& advisories)
{
    std::vector<std::string> ids;
    for (const auto& advisory : advisories) {
        ids.push_back(advisory.id);
    }
    return ids;
}

CaptureVerdict verdictWithNext()
{
    CaptureVerdict verdict;
    verdict.next = {
        {{}, "nanscope diagnose PATH --ran X", {}, {}, {}}, {"kernels-off", "use_triton=False", {}, {}, {}}};
    return verdict;
}

} // namespace

TEST_F(UserFilesTest, OfSomeKindsThereIsOneOfOthersSeveral)
{
    workflow::UserFiles files;
    for (const auto* path : {"a", "b", "a"}) {
        for (const auto kind : workflow::everyUserFileKind) {
            files = workflow::withFile(files, kind, path);
        }
    }
    EXPECT_EQ(files.variants, (std::vector<std::string> {"a", "b"}));
    EXPECT_EQ(files.advisories, (std::vector<std::string> {"a", "b"}));
    EXPECT_EQ(files.environment, "a");
    EXPECT_EQ(files.parameters, "a");
    EXPECT_EQ(workflow::withoutFile(files, workflow::UserFileKind::parameters, "b").parameters, "a")
        << "it is another one by now";
    for (const auto kind : workflow::everyUserFileKind) {
        files = workflow::withoutFile(workflow::withoutFile(files, kind, "a"), kind, "b");
    }
    EXPECT_TRUE(files.empty());
}

TEST_F(UserFilesTest, MoreGoesOverWhatThereIs)
{
    const workflow::UserFiles before {"env", {"x"}, "params", {"v"}};
    const auto both = workflow::joined(before, {"other", {"x", "y"}, {}, {"w"}});
    EXPECT_EQ(both, (workflow::UserFiles {"other", {"x", "y"}, "params", {"v", "w"}}));
}

TEST_F(UserFilesTest, VariantsAreThoseOfTheFilesAsTheyAreNow)
{
    const auto path = write("mine.json", "[" + variantText("known-a", "fp16") + "," + variantText("known-b") + "]");
    const auto known = workflow::readUserFiles({{}, {}, {}, {path}}, {});
    ASSERT_EQ(known.files.size(), 1U);
    EXPECT_EQ(known.files[0].holds, "2 variants: known-a, known-b");
    EXPECT_EQ((*known.catalogue.find("known-a"))->precision, Precision::fp16);
    write("mine.json", variantText("known-a", "bf16"));
    const auto edited = workflow::readUserFiles({{}, {}, {}, {path}}, {});
    EXPECT_FALSE(edited.firstProblem());
    EXPECT_EQ((*edited.catalogue.find("known-a"))->precision, Precision::bf16);
    EXPECT_EQ(edited.catalogue.added().size(), 1U);
    EXPECT_EQ((*known.catalogue.find("known-b"))->name, "known-b") << "who replays it may go on";
    EXPECT_TRUE(workflow::readUserFiles({}, {}).catalogue.added().empty());
}

TEST_F(UserFilesTest, AVariantMayBeBasedOnOneOfAnEarlierFile)
{
    const auto first = write("first.json", variantText("known-a", "fp64"));
    const auto second = write("second.json", R"({"base": "known-a", "name": "known-b"})");
    const auto known = workflow::readUserFiles({{}, {}, {}, {first, second}}, {});
    EXPECT_EQ(known.firstProblem(), nullptr);
    EXPECT_EQ((*known.catalogue.find("known-b"))->precision, Precision::fp64);
}

TEST_F(UserFilesTest, AFileTellsOfWhatASessionKeeps)
{
    const auto kept = keptAs(variantText("known-kept"));
    EXPECT_TRUE(workflow::readUserFiles({}, kept).catalogue.find("known-kept")) << "without its file";
    auto told = *kept.added().front();
    told.title = "as the file tells it";
    const auto path = write("mine.json", replay::variantToJson(told).dump());
    const auto known = workflow::readUserFiles({{}, {}, {}, {path}}, kept);
    EXPECT_FALSE(known.firstProblem());
    EXPECT_EQ((*known.catalogue.find("known-kept"))->title, "as the file tells it");
    EXPECT_EQ(known.kept, kept);
}

TEST_F(UserFilesTest, AFileGivesAKeptNameToNoOther)
{
    const auto path = write("mine.json", "[" + variantText("known-a") + "," + variantText("known-kept", "bf16") + "]");
    const auto known = workflow::readUserFiles({{}, {}, {}, {path}}, keptAs(variantText("known-kept", "fp16")));
    ASSERT_NE(known.firstProblem(), nullptr);
    EXPECT_THAT(
        known.firstProblem()->problem->what, HasSubstr("keeps another variant 'known-kept' (precision differs)"));
    EXPECT_EQ((*known.catalogue.find("known-kept"))->precision, Precision::fp16);
    EXPECT_FALSE(known.catalogue.find("known-a"));
}

TEST_F(UserFilesTest, OfAFileThatCannotBeUsedNothingIsTaken)
{
    const auto bad = write("bad.json", "[" + variantText("known-a") + "," + variantText("gns-gram") + "]");
    const auto good = write("good.json", variantText("known-b"));
    const workflow::UserFiles files {{}, {}, (m_folder / "missing.json").string(), {bad, good}};
    const auto known = workflow::readUserFiles(files, {});
    ASSERT_EQ(known.files.size(), 3U);
    ASSERT_TRUE(known.files[0].problem);
    EXPECT_THAT(known.files[0].problem->what, HasSubstr("gns-gram"));
    EXPECT_EQ(known.files[0].problem->path, bad);
    EXPECT_FALSE(known.catalogue.find("known-a"));
    EXPECT_TRUE(known.catalogue.find("known-b"));
    ASSERT_TRUE(known.files[2].problem);
    EXPECT_EQ(known.files[2].problem->path, files.parameters);
    EXPECT_FALSE(known.parameters);
    const auto strict = workflow::requireUserFiles(files, {});
    ASSERT_FALSE(strict);
    EXPECT_EQ(strict.error().path, bad);
}

TEST_F(UserFilesTest, EveryKindSaysWhatItHolds)
{
    const workflow::UserFiles files {write("env.json", R"({"schema": "nanscope.env/1", "python": "3.12.3",
        "packages": {"torch": "2.11.0", "our-kernels": "1.3"}})"),
        {write("more.json", advisoryText("our-kernel-3"))}, write("params.txt", "a.weight [4, 8]\nb.weight [8, 8]\n"),
        {}};
    const auto known = workflow::readUserFiles(files, {});
    ASSERT_EQ(known.firstProblem(), nullptr) << sentence(*known.firstProblem()->problem);
    ASSERT_EQ(known.files.size(), 3U);
    EXPECT_EQ(known.files[0].holds, "1 advisory");
    EXPECT_EQ(known.files[1].kind, workflow::UserFileKind::environment);
    EXPECT_THAT(known.files[1].holds, testing::EndsWith(" facts"));
    EXPECT_EQ(known.files[2].holds, "2 parameters");
    EXPECT_THAT(idsOf(known.advisories), testing::ElementsAre("our-kernel-3"));
    RunData run;
    workflow::addEnvironment(run, known);
    EXPECT_EQ(run.settings.size(), known.environment.size());
    const auto none = workflow::readUserFiles({write("empty.json", "{}"), {}, {}, {}}, {});
    ASSERT_NE(none.firstProblem(), nullptr);
    EXPECT_THAT(sentence(*none.firstProblem()->problem), HasSubstr("nanscope env --json"));
}

TEST_F(UserFilesTest, AdvisoriesOfTheConfigurationFolderAreAlwaysInForce)
{
    write("config/nanscope/advisories.json", advisoryText("house-1"));
    const auto known = workflow::readUserFiles({}, {});
    EXPECT_THAT(idsOf(known.advisories), testing::ElementsAre("house-1"));
    ASSERT_EQ(known.files.size(), 1U);
    EXPECT_TRUE(known.files[0].always);
    EXPECT_THAT(workflow::stampOf({}), HasSubstr("advisories.json"));
}

TEST_F(UserFilesTest, TheStampChangesWithAFile)
{
    EXPECT_EQ(workflow::stampOf({}), "");
    const auto path = write("mine.json", variantText("known-a"));
    const workflow::UserFiles files {{}, {}, {}, {path}};
    const auto before = workflow::stampOf(files);
    EXPECT_EQ(workflow::stampOf(files), before);
    write("mine.json", variantText("known-longer"));
    EXPECT_NE(workflow::stampOf(files), before);
    fs::remove(path);
    EXPECT_THAT(workflow::stampOf(files), HasSubstr("missing"));
}

TEST_F(UserFilesTest, CommandsRepeatTheVariantsOnce)
{
    const workflow::UserFiles files {{}, {}, {}, {"/somewhere/my own.json"}};
    auto verdict = verdictWithNext();
    workflow::repeatVariantFiles(verdict, files, true);
    workflow::repeatVariantFiles(verdict, files, false);
    EXPECT_EQ(verdict.next[0].what, "nanscope diagnose PATH --ran X --variant-file 'my own.json'");
    EXPECT_EQ(verdict.next[1].what, "use_triton=False");
}

} // namespace nanscope
