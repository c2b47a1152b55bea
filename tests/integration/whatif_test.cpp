// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace {

const std::string kempner =
    "[rank 0] INFO     [step 1] loss=2.5000 | lr=3.00e-04 | grad_norm=1.250 | step_time=1.25s\n"
    "[rank 0] WARNING  NaN/Inf loss at step 1 (consecutive=1, total=1, last_good_loss=2.5000 at "
    "step 0)\n"
    "[rank 0] WARNING  NaN/Inf loss at step 2 (consecutive=2, total=2, last_good_loss=2.5000 at "
    "step 0)\n"
    "[rank 0] INFO     [step 4] loss=2.2500 | lr=3.00e-04 | grad_norm=1.250 | step_time=1.25s\n";

bool sampleIsThere()
{
    return std::filesystem::exists(sample + "/expected.json");
}

} // namespace

TEST(WhatIf, TheDetectorsAnswerNamesStepAndLine)
{
    const WorkFolder folder;
    writeText(folder / "train.log", kempner);
    const auto done = run({"whatif", "detector", folder / "train.log", "--max-consecutive", "2"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "");
    EXPECT_THAT(done.out, HasSubstr("stops at step 2 [line 3]"));
    EXPECT_THAT(done.out, HasSubstr("a false alarm: finite again from step 3 (2.25) [line 4]"));
    EXPECT_THAT(done.out, HasSubstr("max_consecutive 1: step 1, 2: step 2, 3 and more: never"));
}

TEST(WhatIf, TheDetectorsJsonSaysTheSame)
{
    const WorkFolder folder;
    writeText(folder / "train.log", kempner);
    const auto done = run({"whatif", "detector", folder.path().string(), "--max-consecutive", "2", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto json = done.json();
    EXPECT_EQ(json["schema"], "nanscope.detector/1");
    EXPECT_EQ(json["settings"]["max_consecutive"], 2);
    ASSERT_THAT(json["runs"], SizeIs(1));
    const auto& log = json["runs"][0];
    EXPECT_EQ(log["stop"]["step"], 2);
    EXPECT_EQ(log["stop"]["source"], "train.log:3");
    EXPECT_EQ(
        log["stop"]["message"], "NaN/Inf loss at step 2 (consecutive=2, total=2, last_good_loss=2.5000 at step 0)");
    EXPECT_EQ(log["left_out"], 2);
    EXPECT_EQ(log["nan_steps"], Json({1, 2}));
    EXPECT_EQ(log["last_good"]["loss"], 2.5);
    EXPECT_EQ(log["afterwards"]["outcome"], "recovered");
    EXPECT_EQ(log["afterwards"]["steps_lost"], 1);
    EXPECT_EQ(log["printed_step_offset"], 1);
    EXPECT_EQ(log["stop_by_max_consecutive"], Json({1, 2, nullptr}));
    for (const auto* key : {"sources", "ranks", "checkable", "streaks", "suspected", "not_seen", "notes"}) {
        EXPECT_TRUE(log.contains(key)) << key;
    }
}

TEST(WhatIf, ASessionAnswersLikeItsFolder)
{
    const WorkFolder folder;
    writeText(folder / "train.log", kempner);
    const auto session = folder / "run.nanscope";
    const auto fresh = run({"whatif", "detector", folder / "train.log", "--max-consecutive", "2"});
    ASSERT_EQ(run({"import", folder / "train.log", "--session", session}).status, 0);
    const auto stored = run({"whatif", "detector", session, "--max-consecutive", "2"});
    EXPECT_EQ(stored.status, 0) << stored.err;
    EXPECT_EQ(stored.out, fresh.out);
}

TEST(WhatIf, AFiniteRunIsAnAnswer)
{
    const WorkFolder folder;
    writeText(folder / "train.log", kempner.substr(0, kempner.find('\n') + 1));
    const auto done = run({"whatif", "detector", folder / "train.log"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("no setting would have stopped this run"));
}

TEST(WhatIf, TheGuardsOfTheSample)
{
    if (!sampleIsThere()) {
        GTEST_SKIP() << "resources/sample has not been made";
    }
    const auto done = run({"whatif", "guard", sample, "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto json = done.json();
    EXPECT_EQ(json["schema"], "nanscope.guard/1");
    const auto& cause = json["updates"][0];
    EXPECT_EQ(cause["role"], "birth");
    EXPECT_EQ(cause["group"], "96x160 bf16");
    EXPECT_EQ(cause["step"], Json({5, 6}));
    EXPECT_EQ(cause["ranks"][0]["output"], "non-finite");
    bool drift = false;
    for (const auto& outcome : cause["outcomes"]) {
        ASSERT_THAT(outcome["decisions"], SizeIs(cause["ranks"].size()));
        if (outcome["guard"] == "full") {
            EXPECT_EQ(outcome["consequence"], "none") << outcome;
        }
        drift = drift || outcome["consequence"] == "drift";
    }
    EXPECT_TRUE(drift) << "a local guard does not agree on every layout";
    for (const auto* key : {"layouts", "layout_hints", "guard_lines_at_least", "notes", "rejected"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
}

TEST(WhatIf, TheGuardsTextHasOneTableForTheCause)
{
    if (!sampleIsThere()) {
        GTEST_SKIP() << "resources/sample has not been made";
    }
    const auto done = run({"whatif", "guard", sample, "--layout", "head-split", "--guard", "local"});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("2 updates went bad by themselves"));
    EXPECT_THAT(done.out, HasSubstr("drift: only rank 0 skips"));
    EXPECT_THAT(done.out, HasSubstr("local guard"));
    EXPECT_THAT(done.out, Not(HasSubstr("full guard")));
}

TEST(WhatIf, WhatIsMissingIsOneSentence)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    writeText(folder / "train.log", kempner);
    const auto noLoss = run({"whatif", "detector", capture});
    EXPECT_EQ(noLoss.status, 4);
    EXPECT_THAT(noLoss.errors(), SizeIs(1));
    EXPECT_THAT(noLoss.err, HasSubstr("Neither a loss nor a detector warning was found"));
    const auto noCapture = run({"whatif", "guard", folder / "train.log"});
    EXPECT_EQ(noCapture.status, 4);
    EXPECT_THAT(noCapture.errors(), SizeIs(1));
    EXPECT_THAT(noCapture.err, HasSubstr("No capture was found"));
}

TEST(WhatIf, RejectedFilesAreSaidAndTheAnswerComesAllTheSame)
{
    const WorkFolder folder;
    writeText(folder / "train.log", kempner);
    writeText(folder / "b.pt", "");
    const auto done = run({"whatif", "detector", folder.path().string(), "--json"});
    EXPECT_EQ(done.status, 3);
    EXPECT_THAT(done.json()["rejected"], SizeIs(1));
}

TEST(WhatIf, OptionsBelongToOneOfTheTwo)
{
    const WorkFolder folder;
    writeText(folder / "train.log", kempner);
    const auto log = folder / "train.log";
    const std::vector<std::string> cases[] = {{"whatif"}, {"whatif", "detector"}, {"whatif", log},
        {"whatif", "detectr", log}, {"whatif", "detector", log, "--max-consecutive", "0"},
        {"whatif", "detector", log, "--action", "rise"}, {"whatif", "detector", log, "--guard", "full"},
        {"whatif", "guard", log, "--max-consecutive", "3"}, {"whatif", "guard", log, "--layout", "ddp"},
        {"whatif", "guard", log, "--guard", "all"}, {"whatif", "guard", log, "--ranks", "0"}};
    for (const auto& arguments : cases) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 2) << arguments.back() << done.err;
        EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
        EXPECT_EQ(done.out, "");
    }
    EXPECT_THAT(run({"whatif", "detectr", log}).err, HasSubstr("detector"));
    EXPECT_THAT(run({"whatif", "guard", log, "--max-consecutive", "3"}).err, HasSubstr("nanscope whatif detector"));
}
