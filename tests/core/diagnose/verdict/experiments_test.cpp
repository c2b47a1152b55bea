// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/experiments.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "tests/core/diagnose/madefacts.h"
#include "tests/core/diagnose/says.h"

namespace nanscope {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr FailureRate threeInFour {3, 4.2};
constexpr auto everythingOpen = "kernel, launch order, aliasing or communication";

CaptureVerdict accused()
{
    test::MadeFacts made;
    made.member("gns-gram");
    return made.judged();
}

CaptureVerdict overflowed()
{
    test::MadeFacts made;
    made.facts.inputAbsmax = 80384;
    made.member("deepspeed-gram", 0, 8);
    return made.judged();
}

std::vector<std::string> whatNext(const Scene& scene)
{
    auto verdict = accused();
    verdict.facts.scene = scene;
    std::vector<std::string> list;
    for (const auto& next : diagnose::nextExperiments(verdict)) {
        list.push_back(next.what);
    }
    return list;
}

TEST(Experiments, FollowWhatTheHelperSaw)
{
    const auto sanitizer = Contains(HasSubstr("compute-sanitizer"));
    EXPECT_THAT(whatNext({}),
        testing::AllOf(Contains("use_triton=False in the optimizer"), sanitizer,
            Contains("swap two GPUs between ranks"), Not(Contains(HasSubstr("nanscope measure")))));
    Scene scene;
    scene.world = 1;
    EXPECT_THAT(whatNext(scene), Not(Contains("swap two GPUs between ranks"))) << "there is one process";
    scene.onCpu = true;
    EXPECT_THAT(whatNext(scene), testing::ElementsAre("torch.use_deterministic_algorithms(True)"));
    scene.onCpu = false;
    scene.function = "muon:zeropower";
    EXPECT_THAT(whatNext(scene).front(), testing::EndsWith("--impl python:muon:zeropower"));
    EXPECT_THAT(whatNext(scene), Contains(HasSubstr("repro.py --impl muon:zeropower --n 1")));
    scene.arguments = R"({"steps":6})";
    EXPECT_THAT(whatNext(scene).front(), testing::EndsWith(R"(--impl 'python:muon:zeropower {"steps":6}')"));
    EXPECT_THAT(whatNext(scene), Contains(HasSubstr(R"(repro.py --impl 'muon:zeropower {"steps":6}' --n 1)")));
    for (const auto* own : {"__main__:f", "train:step.<locals>.f"}) {
        scene.function = own;
        EXPECT_THAT(whatNext(scene), Not(Contains(HasSubstr("nanscope measure")))) << "it cannot be imported";
    }
}

CaptureVerdict ranAway()
{
    test::MadeFacts made;
    made.member("deepspeed-gram", 0, 8);
    return made.judged();
}

CaptureVerdict open()
{
    test::MadeFacts made;
    made.member("gns-gram");
    made.facts.damageOnZeros = true;
    return made.judged();
}

CaptureVerdict corrupted()
{
    test::MadeFacts made;
    made.finiteOutput();
    made.facts.nothingElse = true;
    made.facts.identified.names = {"gns-gram"};
    made.facts.identified.fit = 0.004;
    made.facts.fit = {true, true, "gns-gram", 1, 0, 0};
    return made.judged();
}

/// The lines that speak of what was tried, of one side.
std::vector<EvidenceLine> ofTried(std::vector<EvidenceLine> lines)
{
    std::erase_if(lines, [](const EvidenceLine& line) { return line.source != "experiment"; });
    return lines;
}

CaptureVerdict seen(const CaptureVerdict& verdict, const TriedExperiment& tried)
{
    return diagnose::withObservations(verdict, {threeInFour, {tried}});
}

std::string problemOf(const Observations& observed)
{
    const auto fine = diagnose::check(observed);
    return fine ? std::string() : fine.error().what;
}

std::vector<std::string> lines(const CaptureVerdict& verdict, bool asksName = false)
{
    std::vector<std::string> lines;
    for (const auto& experiment : diagnose::nextExperiments(verdict, asksName)) {
        lines.push_back(lineOf(experiment));
    }
    return lines;
}

} // namespace

TEST(NextExperiments, FitTheVerdict)
{
    CaptureVerdict v;
    v.blame = Blame::undecided;
    EXPECT_THAT(lines(v, true).front(), HasSubstr("--ran VARIANT[:PRECISION]"));
    EXPECT_THAT(lines(v, true), Contains(HasSubstr("use_triton=False")));
    EXPECT_THAT(lines(v), Not(Contains(HasSubstr("--ran")))) << "it is not what is asked";
    v.blame = Blame::implementation;
    EXPECT_THAT(lines(v).front(), HasSubstr("use_triton=False"));
    EXPECT_THAT(lines(v), Not(Contains(HasSubstr("--ran"))));
    v.rule = RuleId::inputMayBeResult;
    v.blame = Blame::undecided;
    EXPECT_THAT(lines(v), ElementsAre(HasSubstr("dump input.clone(), taken before the call")));
    v.blame = Blame::numerics;
    v.rule = RuleId::castOverflows;
    EXPECT_THAT(lines(v).front(), HasSubstr("normalise in fp32"));
    v.rule = RuleId::replaysEndAlike;
    EXPECT_THAT(lines(v).front(), HasSubstr("nanscope sweep")) << "other variants stay finite, or other coefficients";
    EXPECT_THAT(lines(v), Contains(HasSubstr("normalise in fp32")));
    v.facts.inputZero = true;
    EXPECT_THAT(lines(v), ElementsAre(HasSubstr("add an epsilon")));
    v.facts.inputZero = false;
    EXPECT_THAT(lines(v), Not(Contains(HasSubstr("use_triton"))));
    v.blame = Blame::upstream;
    EXPECT_THAT(lines(v).front(), HasSubstr("gradient and momentum"));
    v.facts.scene.weightsBefore = WeightsBefore {2, 1, "b", false};
    EXPECT_THAT(lines(v).front(), HasSubstr("check b right after each step")) << "a bad gradient follows from a weight";
    v.facts.scene.weightsBefore.reset();
    v.facts.scene.parameters = ParameterState {2, 0, 2, 1, "a", ParameterCoverage {2, 2, false, true}};
    v.facts.scene.parameters->momentaBefore = 2;
    EXPECT_THAT(lines(v).front(), HasSubstr("check that the momentum of a, and what else"));
    v.facts.scene.parameters->gradients = 1;
    EXPECT_THAT(lines(v).front(), HasSubstr("gradient and momentum")) << "of one the gradient is not known";
    v.facts.scene.weightsBefore = WeightsBefore {2, 0, "", false};
    v.facts.scene.parameters->badMomenta = 0;
    v.facts.scene.parameters->badGradients = 1;
    EXPECT_THAT(lines(v).front(), HasSubstr("count of the gradient of a each step"));
    v.facts.scene.parameters->gradients = 2;
    v.facts.scene.parameters->badGradients = 0;
    EXPECT_THAT(lines(v), ElementsAre(HasSubstr("the gradients of all parameters"), HasSubstr("after each line of")));
    v.facts.scene.world = 2;
    EXPECT_THAT(lines(v).front(), HasSubstr("look for a bad gradient on the other ranks"));
    v.facts.scene = {};
    v.blame = Blame::nondeterministic;
    v.role = Role::birth;
    EXPECT_THAT(lines(v), Contains(HasSubstr("use_deterministic_algorithms"))) << "memory that was never written";
    EXPECT_THAT(lines(v), Not(Contains(HasSubstr("NANSCOPE_CAPTURE_KEEP=1"))));
    v.rule = RuleId::calledAgainFinite;
    EXPECT_THAT(lines(v), Contains(HasSubstr("NANSCOPE_CAPTURE_KEEP=1"))) << "nothing holds the output";
    v.facts.damage.count = 1;
    EXPECT_THAT(lines(v), Not(Contains(HasSubstr("NANSCOPE_CAPTURE_KEEP=1"))));
    v.rule = {};
    v.facts.damage = {};
    v.blame = Blame::undecided;
    v.role = Role::upstream;
    EXPECT_THAT(lines(v), Not(Contains(HasSubstr("use_triton")))) << "it is asked what came before";
    v.role = Role::downstream;
    v.blame = Blame::downstream;
    EXPECT_TRUE(lines(v).empty()) << "a victim needs no experiment of its own";
}

/// Which tool of compute-sanitizer is offered; empty where none is.
std::string sanitizerOf(const CaptureVerdict& verdict)
{
    std::string tool;
    for (const auto& experiment : diagnose::nextExperiments(verdict)) {
        const auto at = experiment.what.find("--tool ");
        if (at != std::string::npos) {
            EXPECT_EQ(tool, "") << "one line is enough";
            EXPECT_THAT(experiment.what, HasSubstr(" python repro.py --impl MODULE:FUNCTION --n 1"));
            EXPECT_TRUE(experiment.outcomes.empty());
            tool = experiment.what.substr(at + 7, experiment.what.find(' ', at + 7) - at - 7);
        }
    }
    return tool;
}

TEST(NextExperiments, OfferTheSanitizersToolThatFitsTheDamage)
{
    CaptureVerdict v;
    v.blame = Blame::implementation;
    EXPECT_EQ(sanitizerOf(v), "memcheck");
    v.facts.damage.shape = DamageShape::scattered;
    EXPECT_EQ(sanitizerOf(v), "memcheck");
    v.facts.damage.shape = DamageShape::rectangle;
    EXPECT_EQ(sanitizerOf(v), "initcheck") << "a tile that was not written";
    v.facts.misplaced = true;
    EXPECT_EQ(sanitizerOf(v), "memcheck") << "what is there belongs to a neighbour";
    v = {};
    v.blame = Blame::implementation;
    v.facts.fit.leftover = Leftover::zeros;
    EXPECT_EQ(sanitizerOf(v), "initcheck");
    v.facts.fit.leftover = Leftover::elsewhere;
    EXPECT_EQ(sanitizerOf(v), "memcheck");
    v = {};
    v.blame = Blame::implementation;
    v.facts.outputOfEarlier = "earlier.pt";
    EXPECT_EQ(sanitizerOf(v), "initcheck");
    v.facts.damage.shape = DamageShape::rectangle;
    v.blame = Blame::nondeterministic;
    EXPECT_EQ(sanitizerOf(v), "racecheck");
    EXPECT_THAT(lines(v), ElementsAre(HasSubstr("racecheck"), HasSubstr("use_deterministic_algorithms")));
    for (const auto blame : {Blame::undecided, Blame::numerics, Blame::upstream, Blame::downstream, Blame::machine}) {
        v.blame = blame;
        EXPECT_EQ(sanitizerOf(v), "") << name(blame);
    }
}

TEST(CleanHours, FollowTheRuleOfThree)
{
    // e^(-T k/t) = 0.05, solved by hand for 3 failures in 4.2 h.
    EXPECT_NEAR(diagnose::cleanHours(threeInFour), 1.4 * 2.995732273553991, 1e-12);
    EXPECT_NEAR(std::exp(-diagnose::cleanHours({7, 11}) * 7 / 11), 0.05, 1e-12);
    EXPECT_EQ(lineOf({"x", "do this", "so", {Seen::gone}, diagnose::cleanHours(threeInFour)}),
        "do this: so (4.2 clean hours for 95 %)");
}

TEST(CleanHours, StandOnlyWhereAnOutcomeIsAskedFor)
{
    const auto verdict = diagnose::withObservations(accused(), {threeInFour, {}});
    ASSERT_GE(verdict.next.size(), 2U);
    EXPECT_TRUE(verdict.next[0].cleanHours);
    EXPECT_FALSE(verdict.next[1].cleanHours) << "one call under a sanitizer takes no time";
}

TEST(Tried, TooFewCleanHoursSayNothing)
{
    const auto verdict = seen(accused(), {"kernels-off", Seen::gone, 4.1});
    EXPECT_THAT(ofTried(verdict.notTestable), says("4.1 h clean, of the 4.2 h"));
    EXPECT_THAT(ofTried(verdict.speaksFor), IsEmpty());
    EXPECT_THAT(ofTried(seen(accused(), {"kernels-off", Seen::gone, 4.2}).speaksFor), says("4.2 h clean"));
    const TriedExperiment exactly {"kernels-off", Seen::gone, diagnose::cleanHours(threeInFour)};
    EXPECT_THAT(ofTried(seen(accused(), exactly).notTestable), IsEmpty());
}

TEST(Tried, CleanHoursOfAnUnknownRateSayNothing)
{
    const auto verdict = diagnose::withObservations(accused(), {std::nullopt, {{"kernels-off", Seen::gone, 1000}}});
    EXPECT_THAT(ofTried(verdict.notTestable), says("how often the fault comes without it is not known"));
    EXPECT_THAT(ofTried(verdict.speaksFor), IsEmpty());
}

TEST(Experiments, AloneOnACpuACallHasNeitherLaunchesNorPeers)
{
    test::MadeFacts made;
    made.member("gns-gram");
    EXPECT_EQ(made.judged().kind, everythingOpen);
    made.facts.scene.onCpu = true;
    EXPECT_EQ(made.judged().kind, "kernel, aliasing or communication");
    made.facts.scene.world = 1;
    const auto alone = made.judged();
    EXPECT_EQ(alone.kind, "kernel or aliasing");
    EXPECT_THAT(alone.notTestable,
        Contains(testing::Field(&EvidenceLine::text, HasSubstr("fails again, here or on another machine"))));
}

TEST(Tried, WhatCameAgainNarrowsAnAccusation)
{
    EXPECT_EQ(seen(accused(), {"kernels-off", Seen::stays}).kind,
        "torch's own kernels, launch order, aliasing or communication");
    EXPECT_EQ(seen(accused(), {"launch-blocking", Seen::stays}).kind, "kernel, aliasing or communication");
    const auto both =
        diagnose::withObservations(accused(), {{}, {{"kernels-off", Seen::stays}, {"launch-blocking", Seen::stays}}});
    EXPECT_EQ(both.kind, "torch's own kernels, aliasing or communication");
    EXPECT_EQ(ofTried(both.speaksAgainst).size(), 2U);
    EXPECT_EQ(both.blame, Blame::implementation);
}

TEST(Tried, AnAccusationThatIsFinerStays)
{
    const auto corrupt = corrupted();
    EXPECT_EQ(seen(corrupt, {"kernels-off", Seen::stays}).kind, "finite corruption");
}

TEST(Tried, WhatStayedAwayNarrowsNothing)
{
    EXPECT_EQ(seen(accused(), {"kernels-off", Seen::gone, 1000}).kind, everythingOpen);
    EXPECT_EQ(seen(accused(), {"launch-blocking", Seen::gone, 1000}).kind, everythingOpen);
}

TEST(Tried, OneMoveWithTheCardIsNoProofAndTwoAre)
{
    const auto once = seen(accused(), {"swap-gpus", Seen::moves, 0, 1});
    EXPECT_EQ(once.blame, Blame::implementation);
    EXPECT_THAT(ofTried(once.speaksAgainst), says("1 swap:"));
    const auto twice = seen(accused(), {"swap-gpus", Seen::moves, 0, 2});
    EXPECT_EQ(twice.blame, Blame::machine);
    EXPECT_THAT(ofTried(twice.speaksFor), says("2 swaps"));
    EXPECT_THAT(twice.summary, HasSubstr("the one plausible variant stays finite on it"));
    EXPECT_EQ(seen(open(), {"swap-gpus", Seen::moves, 0, 2}).blame, Blame::machine);
}

TEST(Tried, AFaultThatStaysWithItsRankIsNotTheCard)
{
    const auto verdict = seen(accused(), {"swap-gpus", Seen::stays, 0, 5});
    EXPECT_EQ(verdict.blame, Blame::implementation);
    EXPECT_THAT(ofTried(verdict.speaksFor), says("not the card"));
}

TEST(Tried, UnwrittenMemorySpeaksOnlyWhereItComesMoreOften)
{
    EXPECT_THAT(ofTried(seen(accused(), {"fill-nan", Seen::oftener}).speaksFor), says("never written"));
    const auto same = seen(accused(), {"fill-nan", Seen::stays});
    EXPECT_THAT(ofTried(same.speaksFor), IsEmpty());
    EXPECT_THAT(ofTried(same.speaksAgainst), IsEmpty());
    EXPECT_THAT(ofTried(same.notTestable), says("filled with NaN"));
}

TEST(Experiments, OfNumbersChangeSomethingOfWhatRan)
{
    auto verdict = overflowed();
    ASSERT_EQ(verdict.blame, Blame::numerics);
    const auto idsOf = [](const CaptureVerdict& judged) {
        std::vector<std::string> ids;
        for (const auto& next : diagnose::nextExperiments(judged)) {
            ids.push_back(next.id);
        }
        return ids;
    };
    auto& member = verdict.members.front();
    member.precision = "fp16";
    member.castsFirst = true;
    EXPECT_THAT(idsOf(verdict), testing::ElementsAre("fp32-norm", "bf16"));
    member.castsFirst = false;
    EXPECT_THAT(idsOf(verdict), testing::ElementsAre("bf16"));
    member.precision = "bf16";
    EXPECT_THAT(idsOf(verdict), testing::ElementsAre("")) << "a sweep shows what stays finite";
    verdict.members.clear();
    EXPECT_THAT(idsOf(verdict), testing::ElementsAre("fp32-norm", "bf16")) << "nothing is known of what ran";
}

TEST(Tried, NumbersThatWereMendedAndFailedAgainAreInDoubt)
{
    const auto verdict = seen(overflowed(), {"fp32-norm", Seen::stays});
    EXPECT_EQ(verdict.blame, Blame::undecided);
    EXPECT_THAT(ofTried(verdict.speaksAgainst), says("came again"));
    EXPECT_THAT(verdict.question, Not(IsEmpty()));
    const auto gone = seen(overflowed(), {"fp32-norm", Seen::gone, 5});
    EXPECT_EQ(gone.blame, Blame::numerics);
    EXPECT_THAT(ofTried(gone.speaksFor), says("5.0 h clean"));
}

TEST(Tried, AScheduleMayFailInAnyFormat)
{
    const auto verdict = seen(ranAway(), {"bf16", Seen::stays});
    EXPECT_EQ(verdict.blame, Blame::numerics);
    EXPECT_THAT(ofTried(verdict.speaksAgainst), IsEmpty());
    EXPECT_THAT(ofTried(verdict.notTestable), says("any format"));
}

TEST(Tried, WhatBelongsToAnotherVerdictIsLeftOut)
{
    const auto verdict = seen(accused(), {"bf16", Seen::stays});
    EXPECT_EQ(verdict.kind, everythingOpen);
    EXPECT_THAT(ofTried(verdict.speaksFor), IsEmpty());
    EXPECT_THAT(ofTried(verdict.speaksAgainst), IsEmpty());
    EXPECT_THAT(ofTried(verdict.notTestable), IsEmpty());
}

TEST(Tried, NothingObservedChangesNothing)
{
    const auto before = accused();
    const auto after = diagnose::withObservations(before, {});
    EXPECT_EQ(after.kind, before.kind);
    EXPECT_EQ(after.summary, before.summary);
    EXPECT_EQ(after.next.size(), before.next.size());
    EXPECT_THAT(ofTried(after.notTestable), IsEmpty());
}

TEST(Tried, WhatCannotBeIsOneSentence)
{
    EXPECT_EQ(problemOf({threeInFour, {{"swap-gpus", Seen::moves, 0, 2}}}), "");
    EXPECT_THAT(problemOf({FailureRate {0, 4}, {}}), HasSubstr("at least one failure"));
    EXPECT_THAT(problemOf({FailureRate {1, -1}, {}}), HasSubstr("above zero hours"));
    EXPECT_THAT(problemOf({FailureRate {1, NAN}, {}}), HasSubstr("above zero hours"));
    EXPECT_THAT(problemOf({{}, {{"pray", Seen::gone}}}), HasSubstr("no experiment is called pray; there are"));
    EXPECT_THAT(problemOf({{}, {{"kernels-off", Seen::moves}}}), HasSubstr("cannot end as moves"));
    EXPECT_THAT(problemOf({{}, {{"kernels-off", Seen::gone, -1}}}), HasSubstr("zero or more"));
}

TEST(Tried, EveryOutcomeOfEveryExperimentIsArguedWith)
{
    for (const auto id : diagnose::experimentIds()) {
        for (const auto outcome : diagnose::findExperiment(id)->outcomes) {
            bool said = false;
            for (const auto& verdict : {accused(), overflowed()}) {
                const auto after = seen(verdict, {std::string(id), outcome, 100, 1});
                said |= ofTried(after.speaksFor).size() + ofTried(after.speaksAgainst).size()
                        + ofTried(after.notTestable).size()
                    == 1;
            }
            EXPECT_TRUE(said) << id << " " << name(outcome);
        }
    }
}

} // namespace nanscope
