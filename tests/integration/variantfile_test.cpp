// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

} // namespace
