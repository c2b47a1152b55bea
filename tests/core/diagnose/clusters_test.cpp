// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/diagnose/clusters.h"

namespace nanscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Births
{
public:
    Births& add(int rank, std::int64_t step, Blame blame = Blame::implementation, const std::string& pattern = "rows",
        const Shape& shape = {1, 512, 1408})
    {
        Capture capture;
        capture.file = fmt::format("{}.pt", run.captures.size());
        capture.input.shape = shape;
        CaptureVerdict verdict;
        verdict.capture = capture.file;
        verdict.role = Role::birth;
        verdict.rank = rank;
        verdict.step = std::pair(step, step + 1);
        verdict.blame = blame;
        verdict.damage.name = pattern;
        verdict.damage.text = "the whole of rows 32-63 is NaN";
        run.captures.push_back(std::move(capture));
        verdicts.push_back(std::move(verdict));
        return *this;
    }

    std::vector<Cluster> clusters() const { return clustersOf(run, verdicts); }

    RunData run;
    std::vector<CaptureVerdict> verdicts;
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

TEST(Clusters, OtherVerdictsPatternsAndShapesAreApart)
{
    EXPECT_EQ(Births().add(0, 5).add(0, 5, Blame::numerics).clusters().size(), 2U);
    EXPECT_EQ(Births().add(0, 5).add(0, 5, Blame::implementation, "rectangle").clusters().size(), 2U);
    EXPECT_EQ(Births().add(0, 5).add(0, 5, Blame::implementation, "rows", {64, 64}).clusters().size(), 2U);
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
