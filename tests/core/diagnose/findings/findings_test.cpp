// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <set>
#include <sstream>

#include "core/diagnose/findings/cards.h"
#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Event lineOf(EventKind kind, std::int64_t line, std::optional<int> rank = {}, std::optional<std::int64_t> step = {})
{
    auto event = eventOf(kind, step, "text of line " + std::to_string(line), line);
    event.rank = rank;
    return event;
}

std::vector<std::string> firedIds(const RunData& run, const diagnose::FindingChoices& choices = {})
{
    std::vector<std::string> ids;
    for (const auto& finding : diagnose::findingsOf(run, {}, choices)) {
        if (finding.state == FindingState::fired) {
            ids.push_back(finding.id);
        }
    }
    return ids;
}

/// Each with its state, in order.
std::vector<std::string> wordsOf(const std::vector<Finding>& findings)
{
    std::vector<std::string> words;
    for (const auto& finding : findings) {
        words.push_back(finding.id + " " + std::string(name(finding.state)) + " " + finding.reason);
    }
    return words;
}

TEST(Cards, EachHasItsWordsAndAnIdOfItsOwn)
{
    std::set<std::string_view> ids;
    for (const auto& card : diagnose::cards::allCards()) {
        EXPECT_TRUE(ids.insert(card.id).second) << card.id;
        EXPECT_FALSE(card.title.empty()) << card.id;
        EXPECT_FALSE(card.advice.empty()) << card.id;
        EXPECT_TRUE(card.severity == "info" || card.severity == "warning" || card.severity == "error") << card.id;
    }
    for (int i = 1; i <= 19; ++i) {
        EXPECT_EQ(ids.count("P" + std::to_string(i)), 1U) << i;
    }
    for (const auto* id : {"machine", "infrastructure", "diagnostic-failed", "log-nan-filter", "log-interval"}) {
        EXPECT_EQ(ids.count(id), 1U) << id;
    }
}

TEST(Cards, EachSaysItsRuleAndWhereThatComesFrom)
{
    for (const auto& finding : diagnose::findingsOf({}, {})) {
        EXPECT_FALSE(finding.threshold.empty()) << finding.id;
        EXPECT_FALSE(finding.reason.empty()) << finding.id;
        EXPECT_TRUE(finding.confidence.empty()) << finding.id << " did not fire";
    }
}

TEST(Cards, EachHasItsRowInTheDocs)
{
    std::ostringstream docs;
    docs << std::ifstream(std::string(NANSCOPE_SAMPLE) + "/../../docs/findings.md").rdbuf();
    for (const auto& card : diagnose::cards::allCards()) {
        EXPECT_THAT(docs.str(), HasSubstr("\n| " + std::string(card.id) + " ")) << card.id;
    }
    for (const auto& rule : diagnose::cards::spikeRules()) {
        EXPECT_THAT(docs.str(), HasSubstr("\n| `" + std::string(rule.name) + "`")) << rule.name;
    }
}

TEST(Findings, OfNothingNothingFires)
{
    const auto findings = diagnose::findingsOf({}, {});
    EXPECT_EQ(findings.size(), diagnose::cards::allCards().size());
    for (const auto& finding : findings) {
        EXPECT_EQ(finding.state, FindingState::notCheckable) << finding.id;
    }
}

TEST(Findings, ConsequencesAndNanLossesAreNoCardsOfTheInfrastructure)
{
    RunData run;
    for (const auto kind : {EventKind::captureDumped, EventKind::nanLoss, EventKind::optimizerStop,
             EventKind::traceback, EventKind::terminated, EventKind::collective, EventKind::other}) {
        run.events.push_back(lineOf(kind, 1));
    }
    for (const auto& finding : diagnose::earlyFindings(run)) {
        EXPECT_EQ(finding.state, FindingState::clear) << finding.id;
    }
}

TEST(Findings, TheWorstComesFirstWhateverTheOrderOfTheLog)
{
    RunData run;
    run.events = {
        lineOf(EventKind::diagnosticFailed, 3), lineOf(EventKind::infrastructure, 5), lineOf(EventKind::machine, 9)};
    EXPECT_THAT(firedIds(run), ElementsAre("machine", "infrastructure", "diagnostic-failed", "log-anomaly-mode"));
    const auto findings = diagnose::findingsOf(run, {});
    EXPECT_EQ(findings[0].severity, "error");
    EXPECT_EQ(findings[1].severity, "warning");
    EXPECT_EQ(findings[2].severity, "info");
    EXPECT_EQ(findings[4].id, "P1") << "then the others, as they are listed";
}

TEST(Findings, BeforeThePointsAreReadOnlyEventsAreAsked)
{
    auto loss = seriesOf("loss", 1, constant(100, 1));
    loss.points.clear();
    const auto run = runWith({loss}, {lineOf(EventKind::infrastructure, 5)});
    const auto findings = diagnose::earlyFindings(run);
    ASSERT_EQ(findings.size(), 3U);
    EXPECT_EQ(findings[0].id, "infrastructure");
    EXPECT_EQ(findings[0].state, FindingState::fired);
    EXPECT_EQ(findings[1].state, FindingState::clear);
    EXPECT_EQ(cardOf(run, "P12").reason, "the points of loss were not read here")
        << "which is not the same as a loss that is not logged";
}

TEST(Findings, WhatWasSilencedStaysQuietAndIsStillTold)
{
    const auto run = runWith({}, {lineOf(EventKind::diagnosticFailed, 3)});
    const diagnose::FindingChoices choices {{"diagnostic-failed", "P12"}};
    EXPECT_THAT(firedIds(run, choices), ElementsAre("log-anomaly-mode"));
    EXPECT_EQ(cardOf(run, "diagnostic-failed", {}, choices).state, FindingState::silenced);
    EXPECT_FALSE(cardOf(run, "diagnostic-failed", {}, choices).evidence.empty());
    EXPECT_EQ(cardOf(run, "P12", {}, choices).state, FindingState::notCheckable) << "only what fired can be silenced";
}

TEST(Findings, UnknownNamesAreRefused)
{
    EXPECT_TRUE(diagnose::checked({{"P13"}, "olmo"}));
    const auto card = diagnose::checked({{"P20"}, {}});
    ASSERT_FALSE(card);
    EXPECT_EQ(card.error().kind, ErrorKind::usage);
    EXPECT_EQ(card.error().what, "there is no card 'P20'; the nearest are P2, P10, P1");
    const auto rule = diagnose::checked({{}, "olmoe"});
    ASSERT_FALSE(rule);
    EXPECT_THAT(rule.error().what, HasSubstr("there is no spike rule 'olmoe'; the nearest are olmo, "));
}

TEST(Findings, TheSameChoicesAreEqualHoweverTheyAreWritten)
{
    EXPECT_EQ(*diagnose::checked({{"P3", "P12", "P3"}, "llm-foundry"}), *diagnose::checked({{"P12", "P3"}, ""}));
    EXPECT_NE(*diagnose::checked({{"P12"}, "olmo"}), *diagnose::checked({{"P12"}, ""}));
    EXPECT_EQ(diagnose::withoutUnknown({{"P99", "P3"}, "olmo"}), (diagnose::FindingChoices {{"P3"}, "olmo"}));
    EXPECT_EQ(diagnose::withoutUnknown({{"P3"}, "gone"}), (diagnose::FindingChoices {{"P3"}, ""}));
}

TEST(Findings, SilencedLaterTheyAreAsIfTheyHadBeenAskedSo)
{
    const auto run = runWith({}, {lineOf(EventKind::diagnosticFailed, 3), lineOf(EventKind::infrastructure, 5)});
    const diagnose::FindingChoices choices {{"diagnostic-failed", "P12"}};
    auto findings = diagnose::findingsOf(run, {});
    diagnose::silence(findings, choices.silenced);
    EXPECT_EQ(wordsOf(findings), wordsOf(diagnose::findingsOf(run, {}, choices)));
    diagnose::silence(findings, {});
    EXPECT_EQ(wordsOf(findings), wordsOf(diagnose::findingsOf(run, {}))) << "told again, in its old place";
}

TEST(Findings, AFailedCheckerIsNeverReportedAsNan)
{
    const auto finding = cardOf(runWith({}, {lineOf(EventKind::diagnosticFailed, 3)}), "diagnostic-failed");
    EXPECT_THAT(finding.title, HasSubstr("not a NaN"));
    EXPECT_THAT(finding.advice[0], HasSubstr("no evidence of NaN"));
    EXPECT_THAT(finding.advice[1], HasSubstr("check_nan=False"));
    EXPECT_THAT(finding.advice[2], HasSubstr("sum reduction"));
    EXPECT_THAT(finding.threshold, HasSubstr("2.15.0"));
}

TEST(Findings, EvidenceLeadsBackToTheLineAndRepeatsStopAtThree)
{
    RunData run;
    for (std::int64_t line = 10; line < 1010; ++line) {
        run.events.push_back(lineOf(EventKind::machine, line, 2, 7));
    }
    run.events.front().copies = 5;
    const auto finding = cardOf(run, "machine");
    ASSERT_EQ(finding.evidence.size(), 3U);
    EXPECT_EQ(finding.evidence[0].file, "train.log");
    EXPECT_EQ(finding.evidence[0].line, 10);
    EXPECT_EQ(finding.evidence[2].line, 12);
    EXPECT_EQ(finding.evidence[0].text, "text of line 10");
    EXPECT_THAT(finding.reason, HasSubstr("1004 lines")) << "with the copies";
    EXPECT_EQ(finding.confidence, "high");
}

TEST(Findings, AnXidThatIsNoHardwareErrorIsNamedWithoutFiring)
{
    auto xid = lineOf(EventKind::other, 4);
    xid.text = "[81233.410021] NVRM: Xid (PCI:0000:61:00): 63, pid='<unknown>', Row Remapper: New row marked";
    xid.facts = logtext::factsIn(xid.text);
    RunData run;
    run.events = {xid};
    const auto named = cardOf(run, "machine");
    EXPECT_EQ(named.state, FindingState::clear);
    EXPECT_THAT(named.reason, HasSubstr("Xid 63 (train.log:4)"));
    EXPECT_THAT(named.reason, HasSubstr("alone it changes no value that was computed"));
    run.events.push_back(lineOf(EventKind::machine, 5));
    EXPECT_EQ(cardOf(run, "machine").state, FindingState::fired);
    EXPECT_EQ(cardOf(run, "machine").evidence.front().line, 5);
}

TEST(Findings, RankAndStepAreThoseOfTheFirstLine)
{
    RunData run;
    run.events = {lineOf(EventKind::machine, 1, 3, 41), lineOf(EventKind::machine, 2, 0, 42)};
    EXPECT_EQ(cardOf(run, "machine").rank, 3);
    EXPECT_EQ(cardOf(run, "machine").step, 41);
    run.events = {lineOf(EventKind::machine, 1), lineOf(EventKind::machine, 2, 0, 42)};
    EXPECT_FALSE(cardOf(run, "machine").rank) << "a line without a rank is not given another line's";
}

} // namespace
} // namespace nanscope
