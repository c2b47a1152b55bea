// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/diagnose/triage/triage.h"
#include "core/model/verdict.h"

namespace nanscope {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Births
{
public:
    Births& add(int rank, std::int64_t step, Blame blame = Blame::implementation,
        DamageShape pattern = DamageShape::rows, const Shape& shape = {1, 512, 1408})
    {
        Capture capture;
        capture.file = fmt::format("{}.pt", run.captures.size());
        capture.input.shape = shape;
        capture.rank = rank;
        capture.pid = pid;
        capture.timestampMs = time;
        CaptureVerdict verdict;
        verdict.capture = capture.file;
        verdict.role = Role::birth;
        verdict.rank = rank;
        verdict.step = std::pair(step, step + 1);
        verdict.blame = blame;
        verdict.facts.damage.shape = pattern;
        verdict.facts.damage.text = "the whole of rows 32-63 is NaN";
        run.captures.push_back(std::move(capture));
        verdicts.push_back(std::move(verdict));
        return *this;
    }

    /// What is added from here on is dumped by this process, then.
    Births& in(int process, std::int64_t seconds)
    {
        pid = process;
        time = 1000 * seconds;
        return *this;
    }

    std::vector<Cluster> clusters() const { return diagnose::clustersOf(run, verdicts); }

    RunData run;
    std::vector<CaptureVerdict> verdicts;

private:
    std::optional<int> pid;
    std::int64_t time = 0;
};

TEST(Clusters, OneBirthIsNone)
{
    EXPECT_THAT(Births().add(0, 5).clusters(), IsEmpty());
    Births two;
    two.add(0, 5).add(0, 6);
    two.verdicts[1].role = Role::downstream;
    EXPECT_THAT(two.clusters(), IsEmpty());
}

TEST(Clusters, OneRankAndNearStepsAreOneCause)
{
    const auto clusters = Births().add(0, 5).add(0, 900).add(3, 901).clusters();
    ASSERT_EQ(clusters.size(), 1U);
    EXPECT_EQ(clusters[0].text,
        "3 births, ranks 0, 3, steps 5-902, 1x512x1408, the whole of rows 32-63 is NaN: implementation");
    EXPECT_THAT(clusters[0].captures, ElementsAre("0.pt", "1.pt", "2.pt"));
}

TEST(Clusters, FarStepsOfOtherRanksAreAnother)
{
    const auto clusters = Births().add(0, 5).add(1, 8).clusters();
    ASSERT_EQ(clusters.size(), 2U);
    EXPECT_EQ(
        clusters[0].text, "1 birth, rank 0, steps 5-6, 1x512x1408, the whole of rows 32-63 is NaN: implementation");
}

TEST(Clusters, ThousandsOfUpdatesApartAreAnotherCauseAndSaySo)
{
    const auto near = Births().add(0, 5).add(0, 1005).add(0, 2005).clusters();
    EXPECT_EQ(near.size(), 1U) << "each is at most a thousand updates after the one before";
    const auto far = Births().add(0, 5).add(0, 1006).clusters();
    ASSERT_EQ(far.size(), 2U);
    EXPECT_THAT(far[0].text, Not(HasSubstr("also on")));
    EXPECT_THAT(far[1].text, EndsWith(": implementation; also on rank 0, more than 1000 updates apart"));
}

TEST(Clusters, AttemptsOfARunAreApartAndSaySo)
{
    Births births;
    births.in(100, 10).add(0, 5).in(101, 10).add(1, 5);
    births.in(200, 500).add(0, 5).in(201, 400).add(1, 6);
    const auto clusters = births.clusters();
    ASSERT_EQ(clusters.size(), 2U);
    EXPECT_THAT(clusters[0].captures, ElementsAre("0.pt", "1.pt"));
    EXPECT_THAT(clusters[1].captures, ElementsAre("2.pt", "3.pt"));
    EXPECT_THAT(clusters[0].text, HasSubstr("2 births, ranks 0, 1, attempt 1 of 2, steps 5-6, "));
    EXPECT_THAT(clusters[1].text, HasSubstr("attempt 2 of 2"));
    EXPECT_THAT(clusters[1].text, EndsWith("; also on rank 0, in another attempt"));
}

TEST(Clusters, WhichAttemptAnotherRankWasInMayNotBeKnown)
{
    Births births;
    births.in(100, 10).add(0, 5).in(200, 500).add(0, 900).in(201, 501).add(1, 900);
    EXPECT_EQ(births.clusters().size(), 3U) << "no clock of another rank says that rank 1 dumped in the second";
}

TEST(Clusters, TwoGroupsMayShareARankAtOneTime)
{
    Births births;
    births.in(100, 10).add(0, 5).in(300, 12).add(0, 5);
    const auto clusters = births.clusters();
    ASSERT_EQ(clusters.size(), 1U);
    EXPECT_THAT(clusters[0].text, Not(HasSubstr("attempt")));
}

TEST(Clusters, OtherVerdictsPatternsAndShapesAreApart)
{
    EXPECT_EQ(Births().add(0, 5).add(0, 5, Blame::numerics).clusters().size(), 2U);
    EXPECT_EQ(Births().add(0, 5).add(0, 5, Blame::implementation, DamageShape::rectangle).clusters().size(), 2U);
    EXPECT_EQ(Births().add(0, 5).add(0, 5, Blame::implementation, DamageShape::rows, {64, 64}).clusters().size(), 2U);
}

TEST(Clusters, UnknownStepsAreNotNear)
{
    Births births;
    births.add(0, 5).add(1, 5);
    births.verdicts[0].step.reset();
    EXPECT_EQ(births.clusters().size(), 2U);
}

TEST(Clusters, ThousandsTakeNoTime)
{
    Births births;
    for (int i = 0; i < 20'000; ++i) {
        births.add(i % 1000, 10 * (i / 1000));
    }
    EXPECT_EQ(births.clusters().size(), 1U);
}

} // namespace
} // namespace nanscope
