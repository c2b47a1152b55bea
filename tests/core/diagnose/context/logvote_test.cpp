// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "core/diagnose/context/logvote.h"
#include "core/model/verdict.h"

namespace nanscope {
namespace {

Series seriesOf(const std::vector<double>& values, std::optional<int> rank = 0, const std::string& source = "a.log")
{
    Series series;
    series.name = "grad_norm";
    series.rank = rank;
    series.source = source;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        series.points.push_back({number, values[i], stateOf(values[i]), 100 + number});
    }
    return series;
}

diagnose::LogVote vote(const std::vector<Series>& series, const CaptureVerdict& verdict = {})
{
    RunData run;
    run.series = series;
    return diagnose::voteOf(run, "grad_norm", verdict);
}

/// Ten values, rising in all but `falls` places, from 1 to `last`.
std::vector<double> climb(std::size_t falls, double last)
{
    std::vector<double> values;
    for (int i = 0; i < 10; ++i) {
        values.push_back(std::pow(last, i / 9.0));
    }
    for (std::size_t i = 0; i < falls; ++i) {
        values[2 * i + 1] = values[2 * i] * 0.999;
    }
    return values;
}

TEST(LogVoteRule, EightRisesOfTenAndAFactorOfFourAreAClimb)
{
    EXPECT_EQ(vote({seriesOf(climb(0, 4))}).kind, diagnose::LogVote::Kind::climbing);
    EXPECT_EQ(vote({seriesOf(climb(1, 100))}).kind, diagnose::LogVote::Kind::climbing);
    EXPECT_NE(vote({seriesOf(climb(2, 100))}).kind, diagnose::LogVote::Kind::climbing)
        << "seven rises of nine are noise";
    EXPECT_NE(vote({seriesOf(climb(0, 3.99))}).kind, diagnose::LogVote::Kind::climbing);
}

TEST(LogVoteRule, FewerThanTenPointsCannotClimb)
{
    EXPECT_EQ(vote({seriesOf({1, 2, 4, 8, 16, 32, 64, 128, 256})}).kind, diagnose::LogVote::Kind::silent);
    EXPECT_EQ(vote({seriesOf({1, 2, 4, 8, 16, 32, 64, 128, 256, 512})}).kind, diagnose::LogVote::Kind::climbing);
}

TEST(LogVoteRule, OnlyTheLastTenCount)
{
    std::vector<double> values(1000, 1e6);
    values.insert(values.end(), 10, 1.0);
    const auto calm = vote({seriesOf(values)});
    EXPECT_EQ(calm.kind, diagnose::LogVote::Kind::calm);
    EXPECT_NE(calm.line.text.find("over the 10 lines of steps 1000 to 1009"), std::string::npos) << calm.line.text;
    EXPECT_EQ(calm.line.source, "a.log:1109");
}

TEST(LogVoteRule, CalmMeansWithinTwiceTheMedianEitherWay)
{
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 2, 0.5})}).kind, diagnose::LogVote::Kind::calm);
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 2.01})}).kind, diagnose::LogVote::Kind::silent);
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 0.49})}).kind, diagnose::LogVote::Kind::silent);
    EXPECT_EQ(vote({seriesOf({1, 1, 1})}).kind, diagnose::LogVote::Kind::silent) << "three points say nothing";
}

TEST(LogVoteRule, ATraceWithValuesThatAreNotFiniteIsNotSteady)
{
    EXPECT_EQ(vote({seriesOf({1, 1, 1, INFINITY, INFINITY, 1, 1, 1})}).kind, diagnose::LogVote::Kind::silent);
    EXPECT_EQ(vote({seriesOf({NAN, 1, 1, 1, 1})}).kind, diagnose::LogVote::Kind::calm)
        << "before all that is looked at";
    const auto ends = seriesOf({1, 1, 1, 1, NAN});
    EXPECT_EQ(vote({ends}).kind, diagnose::LogVote::Kind::calm) << "it may be the birth's own doing";
    CaptureVerdict verdict;
    verdict.step = std::pair(std::int64_t {4}, std::int64_t {5});
    EXPECT_EQ(vote({ends}, verdict).kind, diagnose::LogVote::Kind::silent) << "it came before the birth";
}

TEST(LogVoteRule, AClimbSaysWhichOfItsLinesAreNotFinite)
{
    auto values = climb(0, 512);
    values.insert(values.begin() + 5, {NAN, INFINITY});
    EXPECT_EQ(vote({seriesOf(values)}).line.text,
        "grad_norm climbs 512-fold over the 10 finite lines of steps 0 to 11, to 512; 2 more not finite");
}

TEST(LogVoteRule, LinesAreNoSteps)
{
    auto sparse = seriesOf({1, 1, 1, 1, 1, 1});
    for (auto& point : sparse.points) {
        point.step *= 10;
    }
    EXPECT_EQ(vote({sparse}).line.text,
        "grad_norm stays within 2x of its median over the 6 lines of steps 0 to 50 (1 at the last)");
}

TEST(LogVoteRule, AnotherRanksTraceDoesNotVote)
{
    CaptureVerdict verdict;
    verdict.rank = 0;
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 1}, 1)}, verdict).kind, diagnose::LogVote::Kind::silent);
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 1}, std::nullopt)}, verdict).kind, diagnose::LogVote::Kind::calm)
        << "a trace without a rank is everybody's";
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 1}, 1)}).kind, diagnose::LogVote::Kind::calm)
        << "a capture without a rank takes any";
}

TEST(LogVoteRule, TheSourceWithMostPointsSpeaks)
{
    const auto some = seriesOf({1, 1, 1, 1}, 0, "short.log");
    const auto more = seriesOf({1, 1, 1, 1, 1}, 0, "long.log");
    EXPECT_EQ(vote({some, more}).line.source, "long.log:104");
    EXPECT_EQ(vote({more, some}).line.source, "long.log:104");
}

TEST(LogVoteRule, TheStepOfTheBirthStillCountsTheNextDoesNot)
{
    CaptureVerdict verdict;
    verdict.step = std::pair(std::int64_t {3}, std::int64_t {4});
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 1, 1e9})}, verdict).kind, diagnose::LogVote::Kind::calm);
    verdict.step = std::pair(std::int64_t {4}, std::int64_t {5});
    EXPECT_EQ(vote({seriesOf({1, 1, 1, 1, 1e9})}, verdict).kind, diagnose::LogVote::Kind::silent);
}

TEST(LogVoteRule, ASentenceNamesFactorSpanAndLastValue)
{
    const auto line = vote({seriesOf(climb(0, 512))}).line;
    EXPECT_EQ(line.text, "grad_norm climbs 512-fold over the 10 lines of steps 0 to 9, to 512");
    EXPECT_EQ(line.source, "a.log:109");
}

TEST(BeyondGradients, AnInputThatNoMomentumMakesOfTheLoggedNorms)
{
    CaptureVerdict verdict;
    verdict.step = std::pair(std::int64_t {3}, std::int64_t {4});
    RunData run;
    run.series = {seriesOf({0.5, 2, 1, 1, NAN})};
    EXPECT_FALSE(diagnose::beyondGradients(run, verdict, 2000));
    const auto line = diagnose::beyondGradients(run, verdict, 2001);
    ASSERT_TRUE(line);
    EXPECT_NE(line->text.find("the input reaches 2001, and the largest grad_norm"), std::string::npos) << line->text;
    EXPECT_EQ(line->source, "a.log:101") << "the largest, not the last";
}

TEST(BeyondGradients, TheNormOfThisUpdateMayBeLoggedBehindIt)
{
    CaptureVerdict verdict;
    verdict.step = std::pair(std::int64_t {3}, std::int64_t {4});
    RunData run;
    run.series = {seriesOf({1, 1, 1, 1, 1e5})};
    EXPECT_FALSE(diagnose::beyondGradients(run, verdict, 121344));
    run.series = {seriesOf({1, 1, 1, 1, 1, 1e5})};
    EXPECT_TRUE(diagnose::beyondGradients(run, verdict, 121344)) << "that one is of the next update";
}

TEST(BeyondGradients, WithoutNormsNothingIsSaid)
{
    EXPECT_FALSE(diagnose::beyondGradients({}, {}, 1e30));
    RunData run;
    run.series = {seriesOf({0, 0, 0, 0})};
    EXPECT_FALSE(diagnose::beyondGradients(run, {}, 1e30)) << "a norm of 0 was not measured";
}

RunData runWith(const std::vector<double>& losses, const std::vector<double>& norms)
{
    RunData run;
    run.series = {seriesOf(losses), seriesOf(norms)};
    run.series[0].name = "loss";
    return run;
}

std::string wentBad(const RunData& run, std::int64_t step, std::optional<int> rank = 0)
{
    CaptureVerdict verdict;
    verdict.rank = rank;
    verdict.step = {step, step};
    const auto line = diagnose::wentBadFirst(run, verdict);
    return line ? line->source + " " + line->text : std::string();
}

TEST(WentBadFirst, AFiniteLossBesideABadNormClearsTheForwardPass)
{
    const auto run = runWith({3, 2.5, 2, NAN, NAN}, {1, 1, INFINITY, NAN, NAN});
    EXPECT_EQ(wentBad(run, 2),
        "a.log:102 grad_norm is Inf at step 2, where the loss is still 2: as far as that shows, the forward pass was "
        "sound and what follows it was not (the backward pass, the loss scale, a reduction)");
    EXPECT_EQ(wentBad(run, 1), wentBad(run, 2)) << "the helper may count from 0 where the trainer counts from 1";
    EXPECT_EQ(wentBad(run, 0), "") << "what came later says nothing of this call";
    EXPECT_EQ(wentBad(run, 2, 1), "") << "another rank's";
}

TEST(WentBadFirst, ABadLossIsOfTheForwardPass)
{
    const auto run = runWith({3, 2.5, NAN, NAN}, {1, 1, NAN, NAN});
    EXPECT_EQ(wentBad(run, 2).substr(0, 65), "a.log:102 the loss itself is NaN at step 2, and no gradient norm ");
    EXPECT_EQ(wentBad(runWith({3, 2.5, NAN}, {1, 1, 1}), 2), wentBad(run, 2));
}

TEST(WentBadFirst, ALossOfTheNextStepMayFollowFromTheCall)
{
    auto run = runWith({3, 2.5, NAN}, {1, 1, NAN});
    EXPECT_EQ(wentBad(run, 1), "");
    run.series[0].points.erase(run.series[0].points.begin() + 1);
    EXPECT_NE(wentBad(run, 1), "") << "the log has nothing of that step";
}

TEST(WentBadFirst, WhereTheLossOfTheStepIsNotThereNothingIsSaid)
{
    auto run = runWith({3, 2.5, 2, 2}, {1, 1, NAN, NAN});
    run.series[0].points.erase(run.series[0].points.begin() + 2);
    EXPECT_EQ(wentBad(run, 2), "");
    run.series[0].source = "b.log";
    EXPECT_EQ(wentBad(run, 3), "") << "logs that count otherwise are not held together";
    EXPECT_EQ(wentBad(runWith({3, 2}, {1, 1}), 1), "");
}

} // namespace
} // namespace nanscope
