// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The table of rules as a document, and an example of each rule.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "tests/core/diagnose/madefacts.h"

namespace nanscope {
namespace {

using test::MadeFacts;

std::string document()
{
    std::string text = "| rule | holds when | verdict | what answers its question |\n|---|---|---|---|\n";
    for (const auto& rule : diagnose::verdict::rules()) {
        text += fmt::format("| {} | {} | {} | {} |\n", name(rule.id), rule.holdsWhen, name(rule.blame),
            rule.answers == diagnose::verdict::Answers::nothing ? "" : diagnose::verdict::name(rule.answers));
    }
    text += "\nThen, of what these say:\n\n| refinement | of | holds when | verdict |\n|---|---|---|---|\n";
    for (const auto& one : diagnose::verdict::refinements()) {
        text += fmt::format("| {} | {} | {} | {} |\n", name(one.id), name(one.from), one.holdsWhen, name(one.to));
    }
    return text;
}

MadeFacts calm(DamageShape shape = DamageShape::wholeElement)
{
    MadeFacts made(shape);
    made.member("gns-gram");
    return made;
}

MadeFacts finite()
{
    MadeFacts made;
    made.finiteOutput();
    made.facts.role = Role::healthy;
    made.facts.identified.names = {"gns-gram"};
    made.facts.identified.all = {{"gns-gram", 0.004}};
    made.facts.identified.fit = 0.004;
    made.facts.identified.how = IdentifiedBy::fit;
    made.facts.fit.compared = true;
    return made;
}

MadeFacts off()
{
    auto made = finite();
    made.facts.fit = {true, true, "gns-gram", 1, 0, 0};
    return made;
}

MadeFacts besideItsControl()
{
    auto made = finite();
    made.facts.identified.how = IdentifiedBy::given;
    made.facts.identified.fit = 0.4;
    made.facts.control = ControlCall {"control.pt", false, 1, finite().facts.identified, {}};
    return made;
}

MadeFacts allZero(int reproducing)
{
    auto made = finite();
    made.facts.outputZero = true;
    made.member("gns-gram", 8, reproducing);
    return made;
}

template <class Change>
Facts with(MadeFacts made, Change change)
{
    change(made);
    return made.facts;
}

/// Facts for which each rule speaks.
std::map<RuleId, Facts> examples()
{
    using M = MadeFacts&;
    const auto duplicate = [](bool sameProcess) { return DuplicateInput {"other.pt", sameProcess, 1, {}, {}, true}; };
    const auto zero = [](M m) { m.zeroInput(); };
    return {
        {RuleId::duplicateMayHaveOtherState,
            with(calm(),
                [&](M m) {
                    m.facts.duplicate = duplicate(true);
                    m.facts.dumpedByWrapper = false;
                })},
        {RuleId::duplicateOfTheProcess, with(calm(), [&](M m) { m.facts.duplicate = duplicate(true); })},
        {RuleId::duplicateOnAnotherRank,
            with(calm(),
                [&](M m) {
                    m.facts.duplicate = duplicate(false);
                    m.facts.nothingElse = true;
                })},
        {RuleId::nothingToCompare, MadeFacts().facts},
        {RuleId::calledAgainFinite,
            with(calm(),
                [](M m) {
                    m.facts.calledAgain = {{"", 3, 200, true, ""}};
                })},
        {RuleId::nameContradicted,
            with(calm(DamageShape::rectangle),
                [](M m) {
                    m.facts.identified.how = IdentifiedBy::given;
                    m.facts.identified.fit = 0.2;
                    m.facts.fit.compared = true;
                })},
        {RuleId::dependsOnEpsilon, with(calm(), [](M m) { m.member("gns-gram", 0, 8).recordedEpsilon = true; })},
        {RuleId::someReplaysFail,
            with(MadeFacts(),
                [](M m) {
                    m.facts.identified.how = IdentifiedBy::given;
                    m.member("gns-gram", 7, 0);
                })},
        {RuleId::functionUnknown, with(calm(), [](M m) { m.facts.identified.how = IdentifiedBy::unknown; })},
        {RuleId::damageOnZeros, with(calm(), [](M m) { m.facts.damageOnZeros = true; })},
        {RuleId::dependsOnFunction, with(calm(), [](M m) { m.member("keller-jordan", 0, 8); })},
        {RuleId::castOverflows,
            with(MadeFacts(),
                [](M m) {
                    m.facts.inputAbsmax = 80384;
                    m.member("deepspeed-gram", 0, 8);
                })},
        {RuleId::replaysEndAlike, with(MadeFacts(), [](M m) { m.member("deepspeed-gram", 0, 8); })},
        {RuleId::zeroInAllBadOut, with(calm(), zero)},
        {RuleId::matricesTakenTogether,
            with(calm(),
                [](M m) {
                    m.facts.takenTogether = true;
                    m.facts.control.reset();
                })},
        {RuleId::zeroInSomethingOut, with(calm(DamageShape::rectangle), zero)},
        {RuleId::noKnownVariant,
            with(calm(),
                [](M m) {
                    m.facts.identified.matchesNone = true;
                    m.facts.identified.all = {{"gns-gram", 0.9}};
                })},
        {RuleId::lostAmongLargest, with(calm(), [](M m) { m.facts.damageAmongLargest = true; })},
        {RuleId::normMayVanish, with(calm(), [](M m) { m.facts.normMayVanish = true; })},
        {RuleId::edgeInOnePlace,
            with(calm(DamageShape::rectangle), [](M m) { m.facts.members[0].slackPercent = 0.5; })},
        {RuleId::atTheEdge, with(calm(), [](M m) { m.facts.members[0].absmaxQ = 8500; })},
        {RuleId::failsWithoutKernels,
            with(calm(),
                [](M m) {
                    m.facts.members[0].slackPercent = 0.5;
                    m.facts.calledAgain = {{"birth.pt", 20, 20, true, "kernels-off"}};
                })},
        {RuleId::withoutMargin, with(calm(), [](M m) { m.facts.members[0].slackPercent = 0.5; })},
        {RuleId::inputMayBeLate,
            with(calm(),
                [](M m) {
                    m.facts.dumpedByWrapper = false;
                    m.facts.logs = {{false, true, {"grad_norm is inf at step 5", "a.log:6"}}};
                })},
        {RuleId::codeBesides, with(calm(), [](M m) { m.facts.dumpedByWrapper = false; })},
        {RuleId::noReplayEndsLikeThis, calm().facts},
        {RuleId::somethingForNothing,
            with(finite(),
                [](M m) {
                    m.zeroInput();
                    m.facts.dumpedByWrapper = false;
                })},
        {RuleId::zeroInFiniteOut, with(finite(), zero)},
        {RuleId::zeroInZeroOut,
            with(finite(),
                [](M m) {
                    m.zeroInput();
                    m.facts.outputZero = true;
                })},
        {RuleId::allZero, allZero(0).facts},
        {RuleId::allZeroOfSome, with(allZero(8), [](M m) { m.member("keller-jordan"); })},
        {RuleId::allZeroOfAll, allZero(8).facts},
        {RuleId::outputOfEarlierCall, with(finite(), [](M m) { m.facts.outputOfEarlier = "a.pt"; })},
        {RuleId::staleOutput,
            with(finite(),
                [](M m) {
                    m.facts.outputOfEarlier = "a.pt";
                    m.facts.nothingElse = true;
                })},
        {RuleId::unlikeItsControl, besideItsControl().facts},
        {RuleId::wrongBesideItsControl, with(besideItsControl(), [](M m) { m.facts.nothingElse = true; })},
        {RuleId::finiteOfNoKnownVariant, with(finite(), [](M m) { m.facts.identified.matchesNone = true; })},
        {RuleId::notWhatWasSaid,
            with(finite(),
                [](M m) {
                    m.facts.identified.how = IdentifiedBy::sidecar;
                    m.facts.identified.fit = 0.16;
                })},
        {RuleId::offUnlessAnotherForm, with(off(), [](M m) { m.facts.fit.unlessRan = {"gram-no-restart"}; })},
        {RuleId::zeroInPlaces, with(off(), [](M m) { m.facts.zeroInPlaces = true; })},
        {RuleId::offByTermOrFactor, with(off(), [](M m) { m.facts.termOrFactor = true; })},
        {RuleId::offInPlaces, off().facts},
        {RuleId::finiteCorruption, with(off(), [](M m) { m.facts.misplaced = true; })},
        {RuleId::fitsInPart, with(finite(), [](M m) { m.facts.fit.unjudged.count = 1; })},
        {RuleId::fits, finite().facts},
        {RuleId::tooLittleToCompare, with(finite(), [](M m) { m.facts.fit.compared = false; })},
        {RuleId::hardwareErrorLogged,
            with(calm(),
                [](M m) {
                    m.facts.hardwareError = EvidenceLine {"Xid 79", "dmesg"};
                })},
        {RuleId::rankWrongAgain,
            with(calm(),
                [&](M m) {
                    m.facts.duplicate = duplicate(false);
                    m.facts.nothingElse = true;
                    m.facts.wrongBesideOtherRanks = 2;
                })},
        {RuleId::cameAgainWithoutTheCast,
            with(MadeFacts(),
                [](M m) {
                    m.facts.inputAbsmax = 80384;
                    m.member("deepspeed-gram", 0, 8);
                    m.facts.tried = {{"fp32-norm", Seen::stays, 0, 1}};
                })},
        {RuleId::movesWithTheCard,
            with(calm(),
                [](M m) {
                    m.facts.tried = {{"swap-gpus", Seen::moves, 0, 2}};
                })},
    };
}

CaptureVerdict judged(const Facts& facts)
{
    CaptureVerdict verdict;
    verdict.facts = facts;
    diagnose::verdict::judgeAgain(verdict);
    return verdict;
}

Blame blameOf(RuleId rule)
{
    for (const auto& one : diagnose::verdict::rules()) {
        if (one.id == rule) {
            return one.blame;
        }
    }
    const auto refinements = diagnose::verdict::refinements();
    return std::ranges::find(refinements, rule, &diagnose::verdict::Refinement::id)->to;
}

TEST(RuleTable, IsThatOfTheDocument)
{
    std::ifstream file(NANSCOPE_DOCS "/verdicts.md");
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_NE(text.str().find(document()), std::string::npos) << "docs/verdicts.md does not hold this table:\n"
                                                              << document();
}

TEST(RuleTable, EveryRuleHasAnExample)
{
    const auto known = examples();
    for (int i = 0; i <= static_cast<int>(lastRule); ++i) {
        const auto rule = static_cast<RuleId>(i);
        // Those are given by triage, which replays nothing.
        const std::set byTriage {RuleId::unjudged, RuleId::noOutput, RuleId::callRaised, RuleId::inputMayBeResult,
            RuleId::damagedInput, RuleId::contaminated};
        EXPECT_NE(byTriage.contains(rule), known.contains(rule)) << name(rule);
    }
    for (const auto& [rule, facts] : known) {
        const auto verdict = judged(facts);
        EXPECT_EQ(verdict.rule, rule) << name(rule) << " is " << name(verdict.rule);
        EXPECT_EQ(verdict.blame, blameOf(rule)) << name(rule);
        EXPECT_FALSE(verdict.kind.empty() || verdict.summary.empty()) << name(rule);
    }
}

TEST(RuleTable, AQuestionIsAskedWhereSomethingAnswersIt)
{
    for (const auto& [rule, facts] : examples()) {
        if (diagnose::verdict::asks(rule)) {
            EXPECT_FALSE(judged(facts).question.empty()) << name(rule);
            EXPECT_EQ(judged(facts).blame, Blame::undecided) << name(rule);
        }
    }
}

TEST(RuleTable, OnlyWhatIsDecidedLeavesOutTheQuestion)
{
    for (const auto& [rule, facts] : examples()) {
        const auto verdict = judged(facts);
        if (verdict.blame != Blame::undecided) {
            EXPECT_THAT(verdict.question, testing::IsEmpty()) << name(rule);
        }
    }
}

TEST(RuleTable, JudgingAgainChangesNothing)
{
    for (const auto& [rule, facts] : examples()) {
        auto verdict = judged(facts);
        const auto before = verdict;
        diagnose::verdict::judgeAgain(verdict);
        EXPECT_EQ(verdict.summary, before.summary) << name(rule);
        EXPECT_EQ(verdict.speaksFor.size(), before.speaksFor.size()) << name(rule);
        EXPECT_EQ(verdict.next.size(), before.next.size()) << name(rule);
    }
}

} // namespace
} // namespace nanscope
