// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/workflow/openrun.h"

namespace nanscope {

namespace {

Series countedSeries(const char* name, std::int64_t points)
{
    Series series;
    series.name = name;
    series.pointCount = points;
    return series;
}

TEST(JudgingPoints, AreAllOfARunWhoseJudgedSeriesFit)
{
    RunData run;
    run.series = {countedSeries("loss", workflow::mostJudgingPoints / 2),
        countedSeries("grad_norm", workflow::mostJudgingPoints / 2),
        countedSeries("logits", workflow::mostJudgingPoints)};
    EXPECT_EQ(workflow::newestJudgingPoints(run), std::nullopt) << "what no verdict is weighed with does not count";
    run.series[0].missing = 1;
    EXPECT_EQ(workflow::newestJudgingPoints(run), workflow::mostJudgingPoints / 2);
}

TEST(JudgingPoints, OfALargeRunInMemoryAreTheNewestOfEachJudgedSeries)
{
    RunData run;
    run.series = {
        countedSeries("loss", workflow::mostJudgingPoints), countedSeries("lr", 3), countedSeries("logits", 2)};
    run.series[0].points.resize(workflow::mostJudgingPoints);
    run.series[0].points.back().step = 7;
    run.series[1].points.resize(3);
    run.series[2].points.resize(2);
    workflow::keepJudgingPoints(run);
    ASSERT_EQ(run.series[0].points.size(), workflow::mostJudgingPoints / 2);
    EXPECT_EQ(run.series[0].points.back().step, 7);
    EXPECT_EQ(run.series[0].pointCount, workflow::mostJudgingPoints) << "how many there are is still said";
    EXPECT_EQ(run.series[1].points.size(), 3U);
    EXPECT_TRUE(run.series[2].points.empty());
}

TEST(JudgingPoints, OfASmallRunStay)
{
    RunData run;
    run.series = {countedSeries("loss", 2), countedSeries("logits", 2)};
    run.series[0].points.resize(2);
    run.series[1].points.resize(2);
    workflow::keepJudgingPoints(run);
    EXPECT_EQ(run.series[0].points.size(), 2U);
    EXPECT_EQ(run.series[1].points.size(), 2U);
}

} // namespace

} // namespace nanscope
