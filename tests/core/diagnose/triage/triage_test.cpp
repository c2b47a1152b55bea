// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnose/triage/steplink.h"
#include "core/diagnose/triage/triage.h"

namespace nanscope {
namespace {

Scan scanWith(std::int64_t nan, std::int64_t zero = 0)
{
    Scan scan;
    scan.count = 100;
    scan.nan = nan;
    scan.zero = zero;
    scan.firstNonFinite = nan > 0 ? 0 : -1;
    scan.firstClass = nan > 0 ? ValueClass::nan : ValueClass::normal;
    return scan;
}

/// A run built line by line, the way a console would tell it.
class RunSummary
{
public:
    RunSummary& step(int rank, std::int64_t number)
    {
        auto& series = seriesOf(rank);
        series.points.push_back({number, 1.0, PointState::finite, ++m_line});
        return *this;
    }

    RunSummary& dump(const std::string& file, int rank, Scan in, Scan out, std::int64_t time)
    {
        Capture capture;
        capture.id = static_cast<std::int64_t>(run.captures.size()) + 1;
        capture.file = file;
        capture.rank = rank;
        capture.timestampMs = time;
        capture.input.shape = {1, 10, 10};
        capture.input.batches = {in};
        capture.output = CaptureTensor {{1, 10, 10}, DType::bfloat16, {out}};
        run.captures.push_back(capture);
        Event event;
        event.kind = EventKind::captureDumped;
        event.rank = rank;
        event.capture = file;
        event.source = "console.log";
        event.line = ++m_line;
        run.events.push_back(event);
        return *this;
    }

    RunSummary& part(const std::string& file, int rank, Scan in, Scan out, std::int64_t time)
    {
        dump(file, rank, in, out, time);
        run.captures.back().part = "a part of a DTensor 20x10, Shard(0) over dp";
        return *this;
    }

    CaptureVerdict verdictOf(const std::string& file) const
    {
        const auto verdicts = diagnose::triage(run);
        return *std::find_if(verdicts.begin(), verdicts.end(), [&](const auto& v) { return v.capture == file; });
    }

    RunData run;

private:
    Series& seriesOf(int rank)
    {
        for (auto& series : run.series) {
            if (series.rank == rank) {
                return series;
            }
        }
        Series series;
        series.name = "loss";
        series.rank = rank;
        series.source = "console.log";
        run.series.push_back(series);
        return run.series.back();
    }

    std::int64_t m_line = 0;
};

const Scan fine = scanWith(0);
const Scan damaged = scanWith(4);
const Scan allBad = scanWith(100);
const Scan zeros = scanWith(0, 100);

TEST(Triage, AnOutputThatCouldNotBeKeptIsABirthAllTheSame)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, fine, damaged, 10).step(0, 6).dump("b", 0, allBad, allBad, 20);
    auto& first = s.run.captures.front();
    first.output.reset();
    EXPECT_EQ(s.verdictOf("a").rule, RuleId::noOutput);
    EXPECT_EQ(s.verdictOf("a").role, Role::noOutput) << "nobody says what came out";
    EXPECT_EQ(s.verdictOf("b").role, Role::upstream);
    first.scene.outputBad = true;
    EXPECT_EQ(s.verdictOf("a").role, Role::birth);
    EXPECT_EQ(s.verdictOf("a").blame, Blame::undecided);
    EXPECT_EQ(s.verdictOf("b").role, Role::downstream);
    EXPECT_EQ(s.verdictOf("b").causedBy, "a");
    first.scene.calledAgain = 8;
    EXPECT_EQ(s.verdictOf("a").blame, Blame::nondeterministic);
    EXPECT_EQ(s.verdictOf("a").rule, RuleId::calledAgainFinite);
    first.scene.failedAgain = 8;
    EXPECT_EQ(s.verdictOf("a").blame, Blame::undecided);
    first.input.batches = {allBad};
    EXPECT_EQ(s.verdictOf("a").role, Role::upstream);
}

TEST(Triage, APartIsSpoiltByAnotherPartOfTheSameCall)
{
    RunSummary s;
    s.step(0, 3).part("a", 0, fine, allBad, 10).step(1, 3).part("b", 1, damaged, allBad, 11);
    const auto call = [&s](std::size_t i, std::int64_t step, std::int64_t index) {
        auto& scene = s.run.captures[i].scene;
        scene.function = "torch.optim._muon:f";
        scene.optimizerStep = step;
        scene.callIndex = index;
        scene.world = 2;
    };
    EXPECT_EQ(s.verdictOf("a").role, Role::birth) << "nobody counted calls";
    call(0, 3, 21);
    call(1, 3, 21);
    const auto spoilt = s.verdictOf("a");
    EXPECT_EQ(spoilt.role, Role::downstream);
    EXPECT_EQ(spoilt.causedBy, "b");
    EXPECT_THAT(spoilt.summary, testing::HasSubstr("what rank 1 held for the same call was not: its products mix"));
    EXPECT_EQ(s.verdictOf("b").blame, Blame::upstream);
    s.step(0, 4).part("c", 0, allBad, allBad, 30);
    EXPECT_EQ(s.verdictOf("c").causedBy, "b") << "and not a, which began nothing";
    for (const auto& [step, index] : {std::pair {3, 22}, {4, 21}}) {
        call(1, step, index);
        EXPECT_EQ(s.verdictOf("a").role, Role::birth) << "of another call";
    }
    call(1, 3, 21);
    s.run.captures[1].scene.function = "other:f";
    EXPECT_EQ(s.verdictOf("a").role, Role::birth);
    call(1, 3, 21);
    s.run.captures[1].scene.world = 4;
    EXPECT_EQ(s.verdictOf("a").role, Role::birth) << "two pairs of ranks may have made two calls";
    s.run.captures[0].scene.world = 4;
    s.run.captures[0].scene.mesh = s.run.captures[1].scene.mesh = "ranks 0 and 1";
    EXPECT_EQ(s.verdictOf("a").causedBy, "b");
    s.run.captures[1].scene.mesh = "ranks 1 and 2";
    EXPECT_EQ(s.verdictOf("a").role, Role::birth);
    s.run.captures[0].scene.mesh = s.run.captures[1].scene.mesh = {};
    s.run.captures[0].scene.world = 2;
    call(1, 3, 21);
    s.run.captures[1].input.batches = {fine};
    EXPECT_EQ(s.verdictOf("a").role, Role::birth) << "both came in finite";
}

TEST(Triage, OfOneUpdateTheRankWhoseGradientWasBadComesFirst)
{
    RunSummary s;
    s.step(0, 3).dump("a", 0, damaged, allBad, 10).step(1, 3).dump("b", 1, damaged, allBad, 11);
    const auto first = [&s] { return diagnose::triage(s.run).front().capture; };
    EXPECT_EQ(first(), "a");
    s.run.captures[0].scene.parameters = ParameterState {2, 0, 2, 0, "", ParameterCoverage {2, 2, true, true}};
    s.run.captures[1].scene.parameters = ParameterState {2, 1, 2, 0, "w", ParameterCoverage {2, 2, true, true}};
    EXPECT_EQ(first(), "b") << "a was gathered from what other ranks hold, too";
    auto& scene = s.run.captures[0].scene;
    scene.parameters->coverage->shards = false;
    EXPECT_EQ(first(), "a");
    scene.parameters->momentaBefore = 2;
    scene.weightsBefore = WeightsBefore {2, 0, "", false};
    EXPECT_EQ(first(), "a") << "its own optimizer made them";
    scene.world = 2;
    EXPECT_EQ(first(), "b");
}

TEST(Triage, CountsAloneTellWhereItBeganAndAccuseNobody)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, fine, damaged, 10).step(0, 6).dump("b", 0, allBad, allBad, 20);
    auto& first = s.run.captures.front();
    first.scene.withheld = Withheld::byPrivacy;
    const auto verdict = s.verdictOf("a");
    EXPECT_EQ(verdict.role, Role::birth);
    EXPECT_EQ(verdict.blame, Blame::undecided);
    EXPECT_NE(verdict.summary.find("NANSCOPE_CAPTURE_PRIVACY=fingerprint"), std::string::npos) << verdict.summary;
    EXPECT_NE(verdict.question.find("NANSCOPE_CAPTURE_PRIVACY=rotate"), std::string::npos) << verdict.question;
    EXPECT_EQ(s.verdictOf("b").causedBy, "a") << "a birth all the same";
    first.output->batches = {fine};
    EXPECT_EQ(s.verdictOf("a").role, Role::healthy);
    first.scene.outputBad = true;
    EXPECT_EQ(s.verdictOf("a").role, Role::birth) << "in a matrix that was not counted";
    first.scene.calledAgain = 8;
    EXPECT_EQ(s.verdictOf("a").blame, Blame::nondeterministic) << "the calls at the scene tell as always";
    auto bad = allBad;
    bad.firstNonFinite = -1;
    first.input.batches = {bad};
    first.output->batches = {allBad};
    EXPECT_EQ(s.verdictOf("a").role, Role::upstream);
    EXPECT_NE(s.verdictOf("a").summary.find("100 of the 100 input values that were counted"), std::string::npos)
        << s.verdictOf("a").summary;
}

TEST(Triage, OfAnInputThatNobodyKnowsNothingDescends)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, fine, damaged, 10).step(0, 6).dump("b", 0, allBad, allBad, 20);
    auto& first = s.run.captures.front();
    first.scene.withheld = Withheld::inputLost;
    first.scene.outputBad = true;
    first.input.batches.clear();
    EXPECT_EQ(s.verdictOf("a").role, Role::birth);
    EXPECT_EQ(s.verdictOf("a").blame, Blame::undecided);
    EXPECT_EQ(s.verdictOf("b").causedBy, "a") << "its output was bad, whatever made it so";
    const auto scene = first.scene;
    s.dump("c", 0, fine, damaged, 30);
    EXPECT_EQ(s.verdictOf("a").role, Role::birth) << "of a later update";
    auto& last = s.run.captures.back();
    last.input.batches.clear();
    last.scene = scene;
    EXPECT_EQ(s.verdictOf("c").role, Role::downstream) << "something damaged can have reached it";
    EXPECT_EQ(s.verdictOf("c").blame, Blame::undecided);
    last.scene.outputBad = false;
    last.scene.exception = "ValueError: no";
    EXPECT_EQ(s.verdictOf("c").role, Role::noOutput);
    EXPECT_EQ(s.verdictOf("c").summary, "the call raised ValueError: no");
}

TEST(Triage, TurnedTensorsAreHeldAgainstNobody)
{
    RunSummary s;
    s.dump("a", 0, fine, damaged, 10);
    s.run.captures.front().scene.rotated = true;
    const auto verdict = s.verdictOf("a");
    EXPECT_EQ(verdict.role, Role::birth);
    EXPECT_EQ(verdict.blame, Blame::undecided);
    EXPECT_NE(verdict.summary.find("turned at random"), std::string::npos) << verdict.summary;
    EXPECT_FALSE(verdict.notTestable.empty());
}

TEST(Triage, ACallThatRaisedSaysSo)
{
    RunSummary s;
    s.dump("a", 0, fine, damaged, 10);
    auto& capture = s.run.captures.front();
    capture.output.reset();
    capture.scene.exception = "OutOfMemoryError: CUDA";
    EXPECT_EQ(s.verdictOf("a").summary, "the call raised OutOfMemoryError: CUDA: there is no output to judge");
    EXPECT_EQ(s.verdictOf("a").role, Role::noOutput) << "which is not healthy";
    EXPECT_EQ(s.verdictOf("a").rule, RuleId::callRaised);
    EXPECT_EQ(s.verdictOf("a").kind, "the call raised an exception");
}

TEST(Triage, OneFaultLeavesOneBirthAndItsDescendants)
{
    RunSummary s;
    s.step(0, 5)
        .step(1, 5)
        .dump("a", 0, fine, damaged, 10)
        .step(1, 6)
        .dump("b", 1, allBad, allBad, 20)
        .step(0, 6)
        .dump("c", 0, allBad, allBad, 21);
    EXPECT_EQ(s.verdictOf("a").role, Role::birth);
    EXPECT_EQ(s.verdictOf("b").role, Role::downstream);
    EXPECT_EQ(s.verdictOf("b").causedBy, "a");
    EXPECT_EQ(s.verdictOf("c").role, Role::downstream);
    EXPECT_EQ(diagnose::triage(s.run).front().capture, "a");
}

TEST(Triage, UpdatesOrderRanksWhoseClocksDisagree)
{
    // Rank 1's clock runs a minute behind: by time its victim would come before the birth.
    RunSummary s;
    s.step(0, 5)
        .step(1, 5)
        .dump("birth", 0, fine, damaged, 100000)
        .step(0, 6)
        .step(1, 6)
        .dump("victim", 1, allBad, allBad, 40000);
    EXPECT_EQ(s.verdictOf("birth").role, Role::birth);
    EXPECT_EQ(s.verdictOf("victim").role, Role::downstream);
}

TEST(Triage, OfTwoBirthsOfOneUpdateEachRankDescendsFromItsOwn)
{
    RunSummary s;
    s.step(0, 5)
        .step(1, 5)
        .dump("first", 0, fine, damaged, 10)
        .dump("second", 1, fine, damaged, 20)
        .step(0, 6)
        .step(1, 6)
        .step(2, 6)
        .dump("a", 0, allBad, allBad, 30)
        .dump("b", 1, allBad, allBad, 40)
        .dump("c", 2, allBad, allBad, 50);
    EXPECT_EQ(s.verdictOf("a").causedBy, "first");
    EXPECT_EQ(s.verdictOf("b").causedBy, "second");
    EXPECT_EQ(s.verdictOf("c").causedBy, "first") << "no birth of its own";
}

TEST(Triage, ABirthOfAnEarlierUpdateComesBeforeOneOfTheOwnRank)
{
    RunSummary s;
    s.step(0, 5)
        .dump("first", 0, fine, damaged, 10)
        .step(1, 6)
        .dump("second", 1, fine, damaged, 20)
        .step(1, 7)
        .dump("victim", 1, allBad, allBad, 30);
    EXPECT_EQ(s.verdictOf("victim").causedBy, "second") << "what is logged is finite long after the first";
    s.run.series.clear();
    for (auto& capture : s.run.captures) {
        capture.step = capture.file == "first" ? 5 : capture.file == "second" ? 6 : 7;
    }
    EXPECT_EQ(s.verdictOf("victim").causedBy, "first");
}

TEST(Triage, DamagedInputOfTheSameUpdateOnAnotherRankIsUpstream)
{
    RunSummary s;
    s.step(0, 5).step(1, 5).dump("birth", 0, fine, damaged, 10).dump("other", 1, damaged, allBad, 20);
    EXPECT_EQ(s.verdictOf("other").role, Role::upstream);
}

TEST(Triage, ClocksOfTwoRanksOrderNothingWithinAMinute)
{
    RunSummary s;
    s.dump("victim", 0, scanWith(100), scanWith(100), 1000).dump("born", 1, scanWith(0), scanWith(1), 6000);
    EXPECT_EQ(s.verdictOf("victim").blame, Blame::upstream) << "the times of files are of whoever copied them";
    for (auto& capture : s.run.captures) {
        capture.timestampFromName = true;
    }
    const auto v = s.verdictOf("victim");
    EXPECT_EQ(v.role, Role::upstream);
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
    EXPECT_NE(v.question.find("which update"), std::string::npos);
    s.run.captures.back().timestampMs = 100'000;
    EXPECT_EQ(s.verdictOf("victim").blame, Blame::upstream);
    s.run.captures.back().timestampMs = 6000;
    s.run.captures.back().rank = 0;
    EXPECT_EQ(s.verdictOf("victim").blame, Blame::upstream) << "one clock";
    s.dump("later", 1, scanWith(0), scanWith(1), 7000);
    s.run.captures.back().timestampFromName = true;
    EXPECT_EQ(s.verdictOf("victim").blame, Blame::undecided) << "another of its own rank hides nothing";
}

TEST(Triage, NothingReachesAnotherRankWithinMilliseconds)
{
    for (const std::int64_t later : {13, 20}) {
        RunSummary s;
        s.dump("birth", 0, fine, damaged, 10).dump("other", 1, damaged, allBad, later);
        EXPECT_EQ(s.verdictOf("other").role, later == 13 ? Role::upstream : Role::downstream);
    }
}

TEST(Triage, APartOfATensorAccusesNobodyAlone)
{
    RunSummary s;
    s.step(0, 5).part("part", 0, fine, damaged, 10);
    const auto verdict = s.verdictOf("part");
    EXPECT_EQ(verdict.role, Role::birth);
    EXPECT_EQ(verdict.blame, Blame::undecided);
    EXPECT_NE(verdict.summary.find("20x10"), std::string::npos) << verdict.summary;
    EXPECT_NE(verdict.summary.find("--stitch"), std::string::npos) << verdict.summary;
}

TEST(Triage, APartIsNoVictimOfWhatMayBeTheSameCall)
{
    // Two ranks, two layers of one shape, all in one update: only the damaged inputs are told, and by themselves.
    RunSummary s;
    s.step(0, 5)
        .step(1, 5)
        .part("a0", 0, fine, allBad, 10)
        .part("a1", 1, fine, allBad, 11)
        .part("b0", 0, fine, allBad, 60)
        .part("b1", 1, damaged, allBad, 61);
    EXPECT_EQ(s.verdictOf("a0").role, Role::birth);
    EXPECT_EQ(s.verdictOf("a1").role, Role::birth);
    EXPECT_EQ(s.verdictOf("b0").role, Role::birth);
    EXPECT_EQ(s.verdictOf("b0").causedBy, "");
    RunSummary unknown;
    unknown.part("fine", 0, fine, allBad, 10).part("bad", 1, damaged, allBad, 11);
    EXPECT_EQ(unknown.verdictOf("bad").role, Role::upstream) << "a millisecond between two clocks is no cause";
    EXPECT_NE(unknown.verdictOf("bad").summary.find("of this rank's part"), std::string::npos);
    RunSummary later;
    later.step(0, 5).part("first", 0, fine, allBad, 10).step(0, 6).step(1, 6).part("next", 1, damaged, allBad, 20);
    EXPECT_EQ(later.verdictOf("next").causedBy, "first");
}

TEST(Triage, APartWhoseBatchIsPartlyDamagedIsUpstream)
{
    RunSummary s;
    s.step(0, 5).part("batch", 0, damaged, allBad, 10);
    s.run.captures[0].input.batches = {damaged, fine};
    s.run.captures[0].output->batches = {allBad, allBad};
    EXPECT_EQ(s.verdictOf("batch").role, Role::upstream);
    EXPECT_EQ(s.verdictOf("batch").causedBy, "");
}

TEST(Triage, APartOfZerosIsNoPadding)
{
    RunSummary s;
    s.step(0, 5).part("written", 0, zeros, fine, 10).part("broken", 0, zeros, allBad, 20);
    EXPECT_EQ(s.verdictOf("written").role, Role::healthy) << "the whole need not be zero";
    EXPECT_EQ(s.verdictOf("broken").role, Role::birth);
}

TEST(Triage, OfDamagedInputsTheLogTellsWhatWentBadFirst)
{
    RunSummary s;
    s.step(0, 3).dump("first", 0, damaged, allBad, 10).step(0, 4).dump("second", 0, allBad, allBad, 20);
    const auto saysLogs = [&](const char* file) {
        const auto lines = s.verdictOf(file).speaksFor;
        return std::ranges::any_of(lines,
            [](const EvidenceLine& line) { return line.text.find("the forward pass was sound") != std::string::npos; });
    };
    EXPECT_FALSE(saysLogs("first"));
    Series norm = s.run.series.front();
    norm.name = "grad_norm";
    norm.points[1].state = PointState::nan;
    s.run.series.push_back(norm);
    EXPECT_TRUE(saysLogs("first"));
    EXPECT_FALSE(saysLogs("second")) << "which follows from the first";
}

TEST(Triage, NoBirthAtAllIsANormalResult)
{
    RunSummary s;
    s.step(0, 3).dump("first", 0, damaged, allBad, 10).step(0, 4).dump("second", 0, allBad, allBad, 20);
    const auto first = s.verdictOf("first");
    EXPECT_EQ(first.role, Role::upstream);
    EXPECT_EQ(first.blame, Blame::upstream);
    ASSERT_FALSE(first.speaksFor.empty());
    EXPECT_NE(first.speaksFor[0].text.find("the input has "), std::string::npos);
    EXPECT_EQ(first.speaksFor[0].source, "input");
    EXPECT_FALSE(first.notTestable.empty());
    EXPECT_NE(first.summary.find("4 of 100"), std::string::npos) << first.summary;
    EXPECT_EQ(s.verdictOf("second").role, Role::downstream);
    EXPECT_EQ(s.verdictOf("second").causedBy, "first");
}

TEST(Triage, CountsBadGradientsAndMomentaAndAcquitsNeither)
{
    const auto upstream = [](const std::optional<ParameterState>& state) {
        RunSummary s;
        s.step(0, 3).dump("first", 0, damaged, allBad, 10);
        s.run.captures.front().scene.parameters = state;
        auto verdict = s.verdictOf("first");
        EXPECT_EQ(verdict.role, Role::upstream);
        EXPECT_NE(verdict.summary.find("this call did not make them"), std::string::npos);
        return verdict;
    };
    const auto unknown = upstream({});
    EXPECT_NE(unknown.notTestable.front().text.find("in no dump"), std::string::npos);
    const auto both = upstream(ParameterState {4, 1, 4, 2, "blocks.3.q"});
    EXPECT_EQ(both.speaksFor.back().text,
        "among the parameters of this shape that the helper looked at, 1 of 4 gradients and 2 of 4 momenta were not "
        "finite, first of blocks.3.q");
    for (const auto& state : {ParameterState {64, 0, 64, 0, ""}, ParameterState {4, 0, 0, 0, ""}}) {
        const auto neither = upstream(state);
        EXPECT_EQ(neither.speaksFor.size(), unknown.speaksFor.size());
        EXPECT_NE(neither.notTestable.back().text.find("it may have missed the one of this call"), std::string::npos);
    }
    EXPECT_EQ(
        upstream(ParameterState {64, 3, 64, 0, "blocks.3.q", ParameterCoverage {70, 64, false}}).speaksFor.back().text,
        "among the 64 of 70 parameters of this shape that the helper looked at, 3 of 64 gradients and 0 of 64 momenta "
        "were not finite, first of blocks.3.q");
    EXPECT_EQ(upstream(ParameterState {0, 0, 1, 1, "head", ParameterCoverage {1, 1, true}}).speaksFor.back().text,
        "of the only parameter of this shape, 1 of 1 momentum were not finite in "
        "what this rank holds of them, first of head; of 1 the gradient is not known");
    EXPECT_THAT(upstream(ParameterState {4, 1, 0, 0, "", ParameterCoverage {4, 4, false}}).speaksFor.back().text,
        testing::HasSubstr("among all 4 parameters of this shape, 1 of 4 gradients were not finite"));
    const auto missed = [&](std::int64_t gradients, const ParameterCoverage& coverage) {
        const auto verdict = upstream(ParameterState {gradients, 0, 1, 0, "", coverage});
        EXPECT_EQ(verdict.speaksFor.size(), unknown.speaksFor.size());
        return verdict.notTestable.back().text;
    };
    EXPECT_THAT(missed(64, {70, 64, false}), testing::HasSubstr("it may have missed the one of this call"));
    EXPECT_THAT(missed(2, {2, 2, true}), testing::HasSubstr("other ranks hold the other parts of them"));
    EXPECT_THAT(missed(2, {2, 2, false}), testing::HasSubstr("another optimizer, or what lies between"));
    EXPECT_THAT(missed(1, {2, 2, false}), testing::HasSubstr("it may have missed the one of this call"));
}

TEST(Triage, SaysWhereTheWeightsWereBadBeforeTheStep)
{
    RunSummary s;
    s.step(0, 3).dump("first", 0, damaged, allBad, 10);
    auto& scene = s.run.captures.front().scene;
    scene.weightsBefore = WeightsBefore {2, 1, "b", false};
    const auto bad = s.verdictOf("first");
    EXPECT_EQ(bad.blame, Blame::upstream);
    EXPECT_EQ(bad.kind, "weights that were bad before");
    EXPECT_THAT(bad.summary,
        testing::HasSubstr("before the step began, 1 of 2 weights that calls are made for was not finite, first b, so "
                           "that this call did not make them: an earlier update"));
    scene.weightsBefore = WeightsBefore {2, 0, "", true};
    const auto good = s.verdictOf("first");
    EXPECT_EQ(good.kind, "");
    EXPECT_THAT(good.summary, testing::HasSubstr("with the gradient, the momentum or weights"));
    EXPECT_EQ(good.speaksFor.back().text,
        "before the step began, none of 2 weights that calls are made for, as far as this rank holds them, was not "
        "finite");
    const auto maySpoil = testing::Contains(testing::Field(&EvidenceLine::text, testing::HasSubstr("may have spoilt")));
    EXPECT_THAT(good.notTestable, maySpoil);
    scene.weightsBefore->shards = false;
    EXPECT_THAT(s.verdictOf("first").notTestable, testing::Not(maySpoil));
    scene.parameters = ParameterState {2, 0, 2, 1, "a", ParameterCoverage {2, 2, false, true}};
    EXPECT_THAT(s.verdictOf("first").summary, testing::HasSubstr("the gradient, the momentum or weights"))
        << "the momentum was looked at after the step, which may have brought them";
    scene.parameters->momentaBefore = 2;
    EXPECT_THAT(s.verdictOf("first").summary,
        testing::HasSubstr("what the optimizer keeps was not finite (first of a), and gradients of this shape were"));
    scene.parameters->coverage->transposes = false;
    EXPECT_THAT(s.verdictOf("first").summary,
        testing::HasSubstr("the gradient, the momentum or weights that were bad already (first of a), so that"))
        << "the call may have been of a parameter that nobody counted";
}

TEST(Triage, SaysThatAStepBeganWithFiniteValues)
{
    RunSummary s;
    s.step(0, 3).dump("first", 0, damaged, allBad, 10);
    auto& scene = s.run.captures.front().scene;
    scene.weightsBefore = WeightsBefore {2, 0, "", false};
    scene.parameters = ParameterState {2, 0, 2, 0, "", ParameterCoverage {2, 2, false, true}};
    scene.parameters->momentaBefore = 2;
    const auto verdict = s.verdictOf("first");
    EXPECT_EQ(verdict.blame, Blame::upstream);
    EXPECT_THAT(verdict.summary,
        testing::HasSubstr("weights, gradients and momenta of this shape were finite when the step began, so that "
                           "something else brought them: another parameter or buffer, or what the step did"));
    EXPECT_THAT(verdict.speaksFor,
        testing::Contains(testing::Field(&EvidenceLine::text,
            "among all 2 parameters of this shape or its transpose, 0 of 2 gradients and 0 of 2 optimizer "
            "states were not finite when the step began")));
    scene.world = 2;
    EXPECT_THAT(
        s.verdictOf("first").summary, testing::HasSubstr("buffer, values of other ranks, or what the step did"));
    scene.parameters->badGradients = 1;
    EXPECT_THAT(s.verdictOf("first").summary,
        testing::HasSubstr("a gradient was not finite, and weights and momenta of this shape were"));
    const auto notKnown = testing::HasSubstr("the gradient, the momentum or weights");
    for (const auto& unknown : {ParameterState {1, 0, 2, 0}, ParameterState {2, 0, 1, 0}}) {
        auto some = unknown;
        some.coverage = ParameterCoverage {2, 2, false, true};
        some.momentaBefore = some.momenta;
        scene.parameters = some;
        EXPECT_THAT(s.verdictOf("first").summary, notKnown);
    }
    scene.parameters->momenta = scene.parameters->momentaBefore = 2;
    scene.weightsBefore.reset();
    EXPECT_THAT(s.verdictOf("first").summary, notKnown);
}

TEST(Triage, DamageOnAnAllZeroMatrixIsPadding)
{
    RunSummary s;
    s.step(0, 3).dump("pad", 0, zeros, damaged, 10);
    EXPECT_EQ(s.verdictOf("pad").role, Role::padding);
}

TEST(Triage, ABadMatrixThatSpoiltAllOfItsCallCameFromBefore)
{
    RunSummary s;
    s.dump("a", 0, scanWith(1), scanWith(100), 0);
    auto& call = s.run.captures.back();
    call.input.shape = call.output->shape = {2, 10, 10};
    call.input.batches.push_back(scanWith(0));
    call.output->batches.push_back(scanWith(100));
    EXPECT_EQ(s.verdictOf("a").role, Role::upstream) << "one norm over both, or a view, takes them together";
    call.output->batches.back() = scanWith(99);
    EXPECT_EQ(s.verdictOf("a").role, Role::birth) << "an iteration hands NaN to every value of its matrix";
}

TEST(Triage, ABadMatrixBesideDamagedPaddingCameFromBefore)
{
    RunSummary s;
    s.dump("a", 0, scanWith(1), scanWith(100), 0);
    auto& call = s.run.captures.back();
    call.input.shape = call.output->shape = {3, 10, 10};
    call.input.batches.insert(call.input.batches.end(), {scanWith(0), scanWith(0, 100)});
    call.output->batches.insert(call.output->batches.end(), {scanWith(0), scanWith(100)});
    EXPECT_EQ(s.verdictOf("a").role, Role::upstream);
    call.input.batches.front() = scanWith(0);
    call.output->batches.front() = scanWith(0);
    EXPECT_EQ(s.verdictOf("a").role, Role::padding);
}

TEST(Triage, PaddingOfUpdateAfterUpdateIsNotACauseOfWhatFollows)
{
    RunSummary s;
    s.step(0, 3).dump("pad", 0, zeros, damaged, 10).step(0, 4).dump("next", 0, allBad, allBad, 20);
    EXPECT_EQ(s.verdictOf("next").causedBy, "pad") << "the first zero matrix that came out damaged";
    EXPECT_NE(s.verdictOf("next").summary.find("unless that matrix is padding"), std::string::npos);
    RunSummary often;
    often.step(0, 2)
        .dump("pad", 0, zeros, damaged, 5)
        .step(0, 3)
        .dump("pad again", 0, zeros, damaged, 10)
        .step(0, 4)
        .dump("next", 0, allBad, allBad, 20);
    EXPECT_EQ(often.verdictOf("next").role, Role::upstream) << "the first of them did no harm";
    RunSummary late;
    late.step(0, 3).dump("pad", 0, zeros, damaged, 10).step(0, 40).dump("next", 0, allBad, allBad, 20);
    EXPECT_EQ(late.verdictOf("next").role, Role::upstream);
}

TEST(Triage, WhatIsFiniteSinceWasNotReached)
{
    RunSummary s;
    s.step(0, 3).dump("birth", 0, fine, damaged, 10);
    for (int step = 4; step <= 400; ++step) {
        s.step(0, step);
    }
    s.dump("other", 0, damaged, allBad, 20);
    const auto other = s.verdictOf("other");
    ASSERT_EQ(other.role, Role::upstream) << "an update that was left out reaches nothing";
    ASSERT_GE(other.speaksFor.size(), 2U);
    EXPECT_NE(other.speaksFor[1].text.find("birth was damaged at step 3"), std::string::npos)
        << other.speaksFor[1].text;
    RunSummary soon;
    soon.step(0, 3).dump("birth", 0, fine, damaged, 10).step(0, 4).dump("other", 0, damaged, allBad, 20);
    EXPECT_EQ(soon.verdictOf("other").causedBy, "birth") << "the line may be of the loss before the update";
}

TEST(Triage, CallsOfOneUpdateDoNotReachEachOther)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, fine, damaged, 10).dump("b", 0, damaged, allBad, 20).step(0, 6);
    EXPECT_EQ(s.verdictOf("a").role, Role::birth);
    EXPECT_EQ(s.verdictOf("b").role, Role::upstream) << "its gradient was there before the first call";
    RunSummary sparse;
    sparse.step(0, 10).dump("a", 0, fine, damaged, 10).dump("b", 0, damaged, allBad, 20).step(0, 20);
    EXPECT_EQ(sparse.verdictOf("b").causedBy, "a") << "of ten updates these need not be one";
}

TEST(Triage, WhetherAStepIsOneUpdateIsAskedWhereNoHelperCounted)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, fine, damaged, 10).dump("b", 0, allBad, allBad, 60).step(0, 6);
    const auto asked = s.verdictOf("b");
    EXPECT_EQ(asked.role, Role::upstream);
    EXPECT_EQ(asked.blame, Blame::undecided);
    EXPECT_THAT(asked.question, testing::HasSubstr("is step 5 one call of optimizer.step()?"));
    EXPECT_THAT(asked.summary, testing::HasSubstr("a, which has the same step, was damaged 50 ms before"));
    auto& a = s.run.captures[0];
    auto& b = s.run.captures[1];
    a.pid = 7;
    b.pid = 7;
    a.scene.optimizerStep = 12;
    b.scene.optimizerStep = 12;
    EXPECT_EQ(s.verdictOf("b").blame, Blame::upstream) << "one step() of one optimizer";
    a.scene.optimizerStep.reset();
    b.input.batches = {damaged};
    EXPECT_EQ(s.verdictOf("b").blame, Blame::upstream) << "a damaged weight leaves no value of the next gradient";
    b.input.batches = {allBad};
    b.timestampMs = 15;
    EXPECT_EQ(s.verdictOf("b").blame, Blame::upstream) << "no forward and backward pass lies between them";
}

TEST(Triage, AFiniteOutputRefutesADamagedInput)
{
    for (const auto& output : {fine, damaged}) {
        RunSummary s;
        s.step(0, 5).dump("a", 0, damaged, output, 10);
        EXPECT_EQ(s.verdictOf("a").rule, RuleId::inputMayBeResult);
        EXPECT_EQ(s.verdictOf("a").blame, Blame::undecided);
        EXPECT_NE(s.verdictOf("a").question.find("nan_to_num"), std::string::npos);
    }
}

TEST(Triage, SoundMatricesBesideADamagedOneAreSaidNotToBeJudged)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, allBad, allBad, 10);
    EXPECT_THAT(s.verdictOf("a").notTestable,
        testing::Not(testing::Contains(testing::Field(&EvidenceLine::text, testing::HasSubstr("came in finite")))));
    auto& capture = s.run.captures.back();
    capture.input.batches = {allBad, fine, fine};
    capture.output->batches = {allBad, fine, fine};
    const auto v = s.verdictOf("a");
    EXPECT_EQ(v.role, Role::upstream);
    EXPECT_THAT(v.notTestable,
        testing::Contains(testing::Field(&EvidenceLine::text, testing::StartsWith("2 of 3 matrices came in finite"))));
}

TEST(Triage, AFiniteLossDoesNotShowAWeightThatTakesNoPart)
{
    RunSummary s;
    s.step(0, 4).dump("birth", 0, fine, damaged, 10);
    for (int step = 5; step <= 9; ++step) {
        s.step(0, step);
    }
    s.dump("later", 0, allBad, allBad, 20);
    const auto asked = s.verdictOf("later");
    EXPECT_EQ(asked.role, Role::upstream);
    EXPECT_EQ(asked.blame, Blame::undecided);
    EXPECT_THAT(asked.question, testing::HasSubstr("was the update of step 4 left out"));
    ASSERT_EQ(asked.notTestable.size(), 1U);
    EXPECT_THAT(asked.notTestable[0].text, testing::HasSubstr("losses that are finite since show only weights"));
    auto& known = s.run.captures.back().scene.parameters;
    known = ParameterState {1, 1, 1, 1, "experts.3", ParameterCoverage {1, 1, false}, 1, 1};
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided) << "a weight is looked at once the step has begun";
    known->weightsBefore = 1;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided) << "no process says that it is the same weight";
    for (auto& capture : s.run.captures) {
        capture.pid = 7;
    }
    s.run.captures[0].scene.optimizerStep = 4;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided) << "nor that it was updated since";
    s.run.captures[1].scene.optimizerStep = 9;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::upstream) << "what was damaged before did not reach the only weight";
    known->badWeightsBefore = 1;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided) << "it was bad when the step began";
    known->weightsBefore = known->badWeightsBefore = known->badWeights = 0;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::upstream) << "it is sound after the step";
    for (auto& capture : s.run.captures) {
        capture.input.shape = capture.output->shape = {1, 5, 20};
    }
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided) << "nobody counted one of 20 × 5, whose call it may be";
    known->coverage->transposes = true;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::upstream);
    known->coverage->all = 2;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided) << "nor is anything known of the other one";
    known->coverage->all = 1;
    auto early = s.run.captures[1];
    early.file = "early";
    early.input.batches = early.output->batches = {fine};
    early.scene.optimizerStep = 3;
    known.reset();
    s.run.captures.push_back(early);
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided) << "it was sound before it was damaged";
}

TEST(Triage, OneTensorAloneIsNoInputYet)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, allBad, allBad, 10);
    auto& capture = s.run.captures.front();
    capture.output.reset();
    EXPECT_EQ(s.verdictOf("a").blame, Blame::upstream);
    capture.scene.loneTensor = true;
    const auto v = s.verdictOf("a");
    EXPECT_EQ(v.blame, Blame::undecided);
    EXPECT_EQ(v.rule, RuleId::inputMayBeResult);
    EXPECT_THAT(v.question, testing::HasSubstr("is it what went in or what came out?"));
}

TEST(Triage, TheLogOfAnAttemptThatWasOverShowsNothingOfALaterOne)
{
    RunSummary s;
    s.step(0, 300).dump("birth", 0, fine, damaged, 10);
    for (int step = 301; step <= 700; ++step) {
        s.step(0, step);
    }
    s.dump("later", 0, allBad, allBad, 20);
    EXPECT_EQ(s.verdictOf("later").blame, Blame::upstream);
    auto old = s.run.series.front();
    old.source = "yesterday.log";
    old.points = {{249, 1.0, PointState::finite, 1}, {250, 1.0, PointState::finite, 2}};
    s.run.series.push_back(old);
    EXPECT_EQ(s.verdictOf("later").blame, Blame::upstream);
}

TEST(Triage, AHelperOrdersTheStepsOfSeveralOptimizers)
{
    // A GAN: the gradient of the generator goes through the discriminator that was updated before.
    RunSummary s;
    s.dump("discriminator", 0, fine, damaged, 10).dump("generator", 0, allBad, allBad, 50);
    for (auto& capture : s.run.captures) {
        capture.pid = 7;
    }
    auto& first = s.run.captures.front();
    auto& second = s.run.captures.back();
    first.step = 14;
    second.step = 2;
    EXPECT_EQ(s.verdictOf("generator").role, Role::upstream);
    first.scene.optimizerStep = 27;
    second.scene.optimizerStep = 28;
    EXPECT_EQ(s.verdictOf("generator").causedBy, "discriminator");
    second.scene.optimizerStep = 27;
    EXPECT_EQ(s.verdictOf("generator").role, Role::upstream) << "calls of one step do not reach each other";
    first.step = 1;
    second.scene.optimizerStep = 26;
    EXPECT_EQ(s.verdictOf("generator").role, Role::upstream) << "it came before";
}

TEST(Triage, WhatAnotherProcessLeftIsAQuestion)
{
    RunSummary s;
    s.dump("yesterday", 0, fine, damaged, 10).dump("today", 0, allBad, allBad, 86'400'000);
    s.run.captures.front().step = 3;
    s.run.captures.back().step = 6;
    EXPECT_EQ(s.verdictOf("today").causedBy, "yesterday") << "no name says of which process they are";
    s.run.captures.front().pid = 990;
    s.run.captures.back().pid = 4711;
    const auto asked = s.verdictOf("today");
    EXPECT_EQ(asked.role, Role::upstream);
    EXPECT_EQ(asked.blame, Blame::undecided);
    EXPECT_THAT(asked.question, testing::HasSubstr("begin with weights that were written after yesterday"));
    s.run.captures.back().step = 0;
    EXPECT_EQ(s.verdictOf("today").blame, Blame::undecided) << "its steps may begin anew";
    s.run.captures.back().timestampMs = 20;
    EXPECT_EQ(s.verdictOf("today").blame, Blame::undecided) << "two runs at once";
    s.run.captures.back().timestampMs = 5;
    EXPECT_EQ(s.verdictOf("today").blame, Blame::upstream) << "it came before";
}

TEST(Triage, ADamagedCallThatCannotBeReadIsNoneThatDidNotHappen)
{
    const std::string cut = "dion_nan_capture_rank0_shape10x10_pid7_1000.pt";
    RunSummary s;
    s.dump("later", 0, allBad, allBad, 1600);
    s.run.captures.back().pid = 7;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::upstream);
    s.run.rejected = {{cut, "it ends early"}};
    const auto asked = s.verdictOf("later");
    EXPECT_EQ(asked.blame, Blame::undecided);
    EXPECT_THAT(asked.question, testing::HasSubstr("what does " + cut + " hold?"));
    s.run.captures.back().timestampMs = 900;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::upstream) << "it came before";
    s.run.rejected.clear();
    s.run.captures.back().timestampMs = 1600;
    Event line;
    line.kind = EventKind::captureDumped;
    line.capture = cut;
    line.source = "console.log";
    line.line = 1;
    s.run.events.push_back(line);
    EXPECT_THAT(s.verdictOf("later").summary, testing::HasSubstr("is named by a log and is not here"));
}

TEST(Triage, CallsThatAHelperDidNotWriteAreAsked)
{
    RunSummary s;
    s.dump("later", 0, allBad, allBad, 1600);
    auto& scene = s.run.captures.back().scene;
    scene.notLookedAt = 49;
    EXPECT_EQ(s.verdictOf("later").blame, Blame::undecided);
    EXPECT_THAT(s.verdictOf("later").question, testing::HasSubstr("NANSCOPE_CAPTURE_EVERY=1"));
    scene.badNotWritten = 1;
    EXPECT_EQ(s.verdictOf("later").kind, "earlier damaged calls were not written");
}

TEST(Triage, BadGradientsOfAllItsParametersTellOfAnInputThatWasLost)
{
    RunSummary s;
    s.dump("lost", 0, fine, allBad, 10);
    auto& capture = s.run.captures.back();
    capture.input.batches.clear();
    capture.output.reset();
    capture.scene.withheld = Withheld::inputLost;
    capture.scene.outputBad = true;
    EXPECT_EQ(s.verdictOf("lost").role, Role::birth);
    capture.scene.parameters = ParameterState {1, 1, 1, 1, "w", ParameterCoverage {1, 1, false}};
    EXPECT_EQ(s.verdictOf("lost").role, Role::upstream);
    EXPECT_EQ(s.verdictOf("lost").blame, Blame::upstream);
    capture.input.shape = {1, 5, 20};
    EXPECT_EQ(s.verdictOf("lost").blame, Blame::undecided) << "nobody counted one of 20 × 5";
    capture.input.shape = {1, 10, 10};
    capture.scene.parameters->coverage->all = 2;
    EXPECT_EQ(s.verdictOf("lost").blame, Blame::undecided) << "it may have been of the other one";
}

TEST(Triage, FiniteInAndOutIsHealthy)
{
    RunSummary s;
    s.dump("control", 0, fine, fine, 10);
    EXPECT_EQ(s.verdictOf("control").role, Role::healthy);
}

TEST(StepLink, ComesFromTheStepLinesAroundTheDump)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, fine, damaged, 10).step(1, 9).step(0, 6);
    const auto link = diagnose::StepLinks(s.run).of(s.run.captures[0]);
    ASSERT_TRUE(link.between);
    EXPECT_EQ(*link.between, std::pair(std::int64_t {5}, std::int64_t {6}));
    EXPECT_EQ(link.source, StepSource::console);
}

/// Of its first cause by design section 6, asked of every pair; of those of one update, the first of its own rank.
/// Index of the capture, or none.
std::optional<std::size_t> firstThatReaches(const RunData& run, std::size_t to, const std::vector<bool>& bad)
{
    const auto& b = run.captures[to];
    const auto order = [&](std::size_t i) {
        const auto& capture = run.captures[i];
        const bool elsewhere = capture.step && capture.rank != b.rank;
        return std::tuple(capture.step.value_or(std::numeric_limits<std::int64_t>::max()), elsewhere,
            *capture.timestampMs, *capture.rank);
    };
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < run.captures.size(); ++i) {
        const auto& a = run.captures[i];
        const bool dated = a.step && b.step;
        const bool sameRank = a.rank == b.rank;
        const bool apart = dated && a.step != b.step;
        const bool byTime = *a.timestampMs + (sameRank ? 0 : 10) <= *b.timestampMs && !dated;
        const bool oneCall = !a.part.empty() && !b.part.empty() && !apart && !sameRank;
        const bool reaches = i != to && bad[i] && !oneCall && (apart ? *a.step < *b.step : byTime);
        if (reaches && (!first || order(i) < order(*first))) {
            first = i;
        }
    }
    return first;
}

TEST(Triage, WhatReachesWhatIsTheSameAskedOfEveryPair)
{
    std::mt19937 random(20261123);
    const auto upTo = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
    for (int round = 0; round < 300; ++round) {
        RunSummary s;
        std::vector<bool> births;
        for (int i = 0; i < 14; ++i) {
            const bool birth = upTo(3) == 0;
            const auto in = birth ? fine : upTo(1) == 0 ? damaged : allBad;

            s.dump(std::to_string(i), upTo(2), in, birth ? damaged : allBad, upTo(60));
            s.run.captures.back().part = upTo(2) == 0 ? "a part" : "";
            s.run.captures.back().step = upTo(2) == 0 ? std::nullopt : std::optional<std::int64_t>(upTo(3));
            births.push_back(birth);
        }
        s.run.events.clear();
        const auto verdicts = diagnose::triage(s.run);
        for (const auto& verdict : verdicts) {
            const auto at = static_cast<std::size_t>(std::stoi(verdict.capture));
            const auto cause = births[at] ? std::nullopt : firstThatReaches(s.run, at, births);
            if (cause) {
                EXPECT_EQ(verdict.role, Role::downstream) << "round " << round << ", capture " << at;
                EXPECT_EQ(verdict.causedBy, std::to_string(*cause)) << "round " << round << ", capture " << at;
            } else if (!births[at]) {
                EXPECT_TRUE(verdict.role == Role::upstream || std::stoul(verdict.causedBy) != at);
            }
        }
    }
}

TEST(StepLink, LastLineOfARankClosesNothing)
{
    RunSummary s;
    s.step(0, 7).dump("a", 0, fine, damaged, 10);
    const auto link = diagnose::StepLinks(s.run).of(s.run.captures[0]);
    EXPECT_FALSE(link.closed);
}

TEST(StepLink, ARestartInBetweenSaysNothing)
{
    RunSummary s;
    s.step(0, 900).dump("a", 0, fine, damaged, 10).step(0, 1);
    const auto link = diagnose::StepLinks(s.run).of(s.run.captures[0]);
    EXPECT_FALSE(link.between);
    EXPECT_EQ(link.source, StepSource::mtime);
}

TEST(StepLink, SidecarWins)
{
    RunSummary s;
    s.step(0, 5).dump("a", 0, fine, damaged, 10).step(0, 6);
    s.run.captures[0].step = 41;
    const auto link = diagnose::StepLinks(s.run).of(s.run.captures[0]);
    EXPECT_EQ(link.source, StepSource::capture);
    EXPECT_EQ(link.between->first, 41);
}

} // namespace
} // namespace nanscope
