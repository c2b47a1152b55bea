// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/diagnose/whatif/detectorwords.h"
#include "core/diagnose/whatif/guardwords.h"
#include "core/diagnose/whatif/whatifjson.h"
#include "tests/core/diagnose/kempnerlog.h"

namespace nanscope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

KempnerLog threeBad()
{
    KempnerLog log;
    log.good(0).good(1).good(2, 2.25);
    log.nan(3, 1, 1, "2.2500", 2).nan(4, 2, 2, "2.2500", 2).nan(5, 3, 3, "2.2500", 2);
    return log.good(6, 2.75).good(7).good(8).good(9);
}

const AnswerFact* factOf(const std::vector<AnswerFact>& facts, std::string_view label)
{
    const auto found = std::ranges::find(facts, label, &AnswerFact::label);
    return found == facts.end() ? nullptr : &*found;
}

TEST(DetectorWords, EveryFactHasItsLineAndTheStepThatTheLogPrints)
{
    const auto all = replayDetector(threeBad().run(), {{.maxConsecutive = 2}});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(detectorTitle(all[0]), "train.log, rank 0, steps 0-9");
    const auto facts = detectorFacts(all[0]);
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
    EXPECT_THAT(detectorSilence(all), IsEmpty());
}

TEST(DetectorWords, AFiniteRunAndAnEmptyOneSaySo)
{
    KempnerLog log;
    log.good(0).good(1);
    const auto all = replayDetector(log.run(), {});
    EXPECT_EQ(detectorSilence(all), "every loss in 1 log is finite: no setting would have stopped this run");
    EXPECT_FALSE(detectorSpeaks(all[0]));
    EXPECT_EQ(nothingToReplay({}), "no loss and no detector's warning was found");
}

TEST(DetectorWords, RangesAreShort)
{
    EXPECT_EQ(stepRanges({37, 38, 39, 150}), "37-39, 150");
    EXPECT_EQ(stepRanges({1, 3, 5, 7, 9, 11, 13, 15, 17}), "1, 3, 5, 7, 9, 11, 13, 15, …");
    EXPECT_EQ(detectorSettings({{.action = NanAction::skip, .maxConsecutive = 3}, true}),
        "action=skip, max_consecutive=3, gradients checked");
    EXPECT_EQ(detectorSettings({{.action = NanAction::raise}, false}), "action=raise");
}

TEST(DetectorWords, TheJsonHasWhatTheWordsSay)
{
    const auto all = replayDetector(threeBad().run(), {{.maxConsecutive = 2}, true});
    const auto json = detectorJson(all, {{.maxConsecutive = 2}, true});
    EXPECT_EQ(json["settings"]["check_gradients"], true);
    EXPECT_EQ(json["runs"][0]["first_action"]["step"], 3);
    EXPECT_EQ(json["runs"][0]["first_action"]["source"], "train.log:4");
    EXPECT_EQ(json["runs"][0]["stop"]["step"], 4);
    EXPECT_EQ(json["runs"][0]["left_out_by_gradients"], nlohmann::ordered_json::array());
}

TEST(GuardWords, NothingCapturedIsASentence)
{
    EXPECT_THAT(guardHeadline({}), HasSubstr("no guard would have skipped"));
    EXPECT_FALSE(asksForLayout({}));
    EXPECT_EQ(guardScopes().size(), 3U);
    EXPECT_THAT(noCaptureToGuard(), HasSubstr("no capture was found"));
}

TEST(GuardWords, OutcomesNameWhoSkips)
{
    GuardStep step;
    step.group = "160x96 bf16";
    step.ranks = {{0, Sight::nonFinite}, {1, Sight::finite}, {std::nullopt, Sight::unknown}};
    GuardOutcome outcome;
    outcome.agreement = Agreement::split;
    outcome.consequence = Consequence::drift;
    outcome.decisions = {Decision::skip, Decision::apply, Decision::apply};
    EXPECT_EQ(guardOutcome(step, outcome), "drift: only rank 0 skips");
    outcome.consequence = Consequence::torn;
    outcome.decisions = {Decision::skip, Decision::skip, Decision::apply};
    EXPECT_EQ(guardOutcome(step, outcome), "torn: only ranks 0, 1 skip");
    outcome.agreement = Agreement::unknown;
    outcome.decisions = {Decision::unknown, Decision::skip, Decision::unknown};
    EXPECT_EQ(guardOutcome(step, outcome), "rank 1 skips, others unknown");
    step.outcomes = {outcome};
    step.momentumBad = true;
    const auto after = guardAfter(step);
    EXPECT_NE(factOf(after, "a skip"), nullptr);
    EXPECT_EQ(after.back().text, "here that gradient or the momentum was not finite, so the next update is not either");
}

} // namespace
} // namespace nanscope
