// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/diagnose/whatif/whatifwords.h"
#include "tests/core/diagnose/whatif/kempnerlog.h"

namespace nanscope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const diagnose::AnswerFact* factOf(const std::vector<diagnose::AnswerFact>& facts, std::string_view label)
{
    const auto found = std::ranges::find(facts, label, &diagnose::AnswerFact::label);
    return found == facts.end() ? nullptr : &*found;
}

TEST(DetectorWords, EveryFactHasItsLineAndTheStepThatTheLogPrints)
{
    const auto all = diagnose::replayDetector(threeBad().run(), {{.maxConsecutive = 2}});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(diagnose::detectorTitle(all[0]), "train.log, rank 0, steps 0-9");
    const auto facts = diagnose::detectorFacts(all[0]);
    ASSERT_FALSE(facts.empty());
    EXPECT_EQ(facts[0].label, "answer");
    EXPECT_EQ(facts[0].text, "stops at step 4");
    EXPECT_EQ(facts[0].source, "train.log:5");
    EXPECT_EQ(facts[0].step, 5) << "metrics are printed behind the increment";
    const auto* after = factOf(facts, "but then");
    ASSERT_NE(after, nullptr);
    EXPECT_EQ(after->text, "a false alarm: finite again from step 6 (2.75)");
    EXPECT_EQ(after->tail, " for 4 steps; 5 later steps of this run would not have been made");
    const auto* row = factOf(facts, "in the log");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->text, "3-5: 3 in a row, rank 0");
    EXPECT_EQ(row->source, "train.log:4");
    EXPECT_THAT(diagnose::detectorSilence(all), IsEmpty());
}

TEST(DetectorWords, WarnSaysThatItLeavesOutWhatSkipDoes)
{
    const auto leftOut = [](probe::NanAction action) {
        const auto all = diagnose::replayDetector(threeBad().run(), {{.action = action, .maxConsecutive = 5}});
        const auto facts = diagnose::detectorFacts(all.at(0));
        const auto* fact = factOf(facts, "left out");
        return fact == nullptr ? std::string() : fact->text;
    };
    EXPECT_EQ(leftOut(probe::NanAction::skip), "3 updates: 3-5");
    EXPECT_EQ(leftOut(probe::NanAction::warn), "3 updates: 3-5 (warn leaves them out as skip does)");
}

TEST(DetectorWords, AFiniteRunAndAnEmptyOneSaySo)
{
    KempnerLog log;
    log.good(0).good(1);
    const auto all = diagnose::replayDetector(log.run(), {});
    EXPECT_EQ(diagnose::detectorSilence(all), "every loss in 1 log is finite: no setting would have stopped this run");
    EXPECT_FALSE(diagnose::detectorSpeaks(all[0]));
    EXPECT_EQ(diagnose::nothingToReplay({}), "neither a loss nor a detector warning was found");
}

TEST(DetectorWords, RangesAreShort)
{
    EXPECT_EQ(diagnose::stepRanges({37, 38, 39, 150}), "37-39, 150");
    EXPECT_EQ(diagnose::stepRanges({1, 3, 5, 7, 9, 11, 13, 15, 17}), "1, 3, 5, 7, 9, 11, 13, 15, …");
    EXPECT_EQ(diagnose::detectorSettings({{.action = probe::NanAction::skip, .maxConsecutive = 3}, true}),
        "action=skip, max_consecutive=3, gradients checked");
    EXPECT_EQ(diagnose::detectorSettings({{.action = probe::NanAction::raise}, false}), "action=raise");
}

TEST(DetectorWords, TheJsonHasWhatTheWordsSay)
{
    const auto all = diagnose::replayDetector(threeBad().run(), {{.maxConsecutive = 2}, true});
    const auto json = diagnose::detectorJson(all, {{.maxConsecutive = 2}, true});
    EXPECT_EQ(json["settings"]["check_gradients"], true);
    EXPECT_EQ(json["runs"][0]["first_action"]["step"], 3);
    EXPECT_EQ(json["runs"][0]["first_action"]["source"], "train.log:4");
    EXPECT_EQ(json["runs"][0]["stop"]["step"], 4);
    EXPECT_EQ(json["runs"][0]["left_out_by_gradients"], nlohmann::ordered_json::array());
}

TEST(GuardWords, NothingCapturedIsASentence)
{
    EXPECT_THAT(diagnose::guardHeadline({}), HasSubstr("no guard would have skipped"));
    EXPECT_FALSE(diagnose::asksForLayout({}));
    EXPECT_EQ(diagnose::guardScopes().size(), 3U);
    EXPECT_THAT(diagnose::noCaptureToGuard(), HasSubstr("no capture was found"));
}

TEST(GuardWords, OutcomesNameWhoSkips)
{
    diagnose::GuardStep step;
    step.group = "160x96 bf16";
    step.ranks = {{0, probe::Sight::nonFinite}, {1, probe::Sight::finite}, {std::nullopt, probe::Sight::unknown}};
    diagnose::GuardOutcome outcome;
    outcome.agreement = probe::Agreement::split;
    outcome.consequence = diagnose::Consequence::drift;
    outcome.decisions = {probe::Decision::skip, probe::Decision::apply, probe::Decision::apply};
    EXPECT_EQ(diagnose::guardOutcome(step, outcome), "drift: only rank 0 skips");
    outcome.consequence = diagnose::Consequence::torn;
    outcome.decisions = {probe::Decision::skip, probe::Decision::skip, probe::Decision::apply};
    EXPECT_EQ(diagnose::guardOutcome(step, outcome), "torn: only ranks 0, 1 skip");
    outcome.agreement = probe::Agreement::unknown;
    outcome.decisions = {probe::Decision::unknown, probe::Decision::skip, probe::Decision::unknown};
    EXPECT_EQ(diagnose::guardOutcome(step, outcome), "rank 1 skips, others unknown");
    outcome.decisions = {probe::Decision::skip, probe::Decision::skip, probe::Decision::unknown};
    EXPECT_EQ(diagnose::guardOutcome(step, outcome), "ranks 0, 1 skip, others unknown");
    step.outcomes = {outcome};
    step.momentumBad = true;
    const auto after = diagnose::guardAfter(step);
    EXPECT_NE(factOf(after, "a skip"), nullptr);
    EXPECT_EQ(after.back().text, "here that gradient or the momentum was not finite, so the next update is not either");
}

TEST(GuardWords, UpdatesThatFollowAreBetweenTheLinesAroundThemAll)
{
    diagnose::GuardWhatIf whatIf;
    const auto add = [&](const char* group, std::int64_t first, std::int64_t last) {
        auto& step = whatIf.steps.emplace_back();
        step.group = group;
        step.role = Role::downstream;
        step.step = {first, last};
    };
    add("160x96 bf16", 6, 7);
    add("160x96 bf16", 7, 8);
    add("32x32 bf16", 9, 9);
    const auto facts = diagnose::guardContaminated(whatIf);
    ASSERT_EQ(facts.size(), 2U);
    EXPECT_EQ(facts[0].text, "160x96 bf16: 2 updates between the log lines of steps 6 and 8");
    EXPECT_EQ(facts[1].text, "32x32 bf16: 1 update at step 9");
}

} // namespace
} // namespace nanscope
