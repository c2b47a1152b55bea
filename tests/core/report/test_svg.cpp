// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Pictures: nothing that is not finite goes without its own mark, no extreme is lost, no file is large.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "core/report/pictures/decimate.h"
#include "core/report/pictures/pictures.h"
#include "core/report/pictures/svg.h"
#include "handmade.h"
#include "wellformed.h"

using namespace nanscope;
using namespace nanscope::report;
using nanscope::handmade::markupOf;
using nanscope::handmade::readMarkup;
using testing::HasSubstr;
using testing::Not;

namespace {

const double notANumber = std::numeric_limits<double>::quiet_NaN();

Point point(std::int64_t step, double value)
{
    return {step, value, stateOf(value), step};
}

Series seriesOf(const std::string& name, std::optional<int> rank, std::vector<Point> points)
{
    Series series;
    series.name = name;
    series.rank = rank;
    series.points = std::move(points);
    return series;
}

RunData runOf(std::vector<Series> series)
{
    RunData run;
    run.series = std::move(series);
    return run;
}

/// A million points with one spike, one dip, and one of each class that is not finite.
std::vector<Point> millionPoints()
{
    std::vector<Point> points;
    points.reserve(1'000'000);
    for (std::int64_t step = 0; step < 1'000'000; ++step) {
        points.push_back(point(step, 2 + std::sin(static_cast<double>(step))));
    }
    points[123'457] = point(123'457, 50);
    points[765'433] = point(765'433, -40);
    points[200'001] = point(200'001, notANumber);
    points[400'001] = point(400'001, INFINITY);
    points[600'001] = point(600'001, -INFINITY);
    return points;
}

} // namespace

TEST(Picture, TextIsEscapedEvenInAttributes)
{
    EXPECT_EQ(report::escaped("<a href=\"x\" b='y'>&amp;"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
    report::Svg svg(10, 10);
    svg.text({1, 2}, "</text><script>\"'&");
    svg.mark(PointState::nan, {3, 4}, "</title>\"");
    const auto picture = readMarkup(svg.inlined("\" onload=\"x"));
    EXPECT_EQ(picture.error, "");
    EXPECT_THAT(picture.text, HasSubstr("</text><script>\"'&"));
    EXPECT_EQ(picture.count("script"), 0);
}

TEST(Decimate, KeepsExtremesAndMarks)
{
    const auto points = millionPoints();
    const report::Columns columns {0, 999'999, 400};
    const auto result = report::decimate(points, columns, {0, 999'999, 90});
    std::size_t kept = 0;
    double low = INFINITY;
    double high = -INFINITY;
    for (const auto& line : result.lines) {
        kept += line.size();
        for (const auto& spot : line) {
            low = std::min(low, spot.y);
            high = std::max(high, spot.y);
        }
    }
    EXPECT_LE(kept, 1620U);
    EXPECT_EQ(low, -40);
    EXPECT_EQ(high, 50);
    ASSERT_EQ(result.marks.size(), 3U);
    EXPECT_EQ(result.marks[0].firstStep, 200'001);
    EXPECT_EQ(result.marks[1].state, PointState::posInf);
    EXPECT_EQ(result.lines.size(), 4U) << "a gap wherever a value is not finite";
}

TEST(Decimate, FewPointsStayAsTheyAre)
{
    const std::vector<Point> points {point(0, 3), point(1, 1), point(2, 2)};
    const auto result = report::decimate(points, {0, 2, 3}, {0, 2, 3});
    ASSERT_EQ(result.lines.size(), 1U);
    ASSERT_EQ(result.lines[0].size(), 3U);
    EXPECT_EQ(result.lines[0][1].y, 1);
}

TEST(Decimate, AMissingValueIsNoGapAndNoMark)
{
    std::vector<Point> points {point(0, 3), {1, 0, PointState::reported, 1}, point(2, 2)};
    const auto result = report::decimate(points, {0, 2, 3}, {0, 2, 3});
    EXPECT_EQ(result.lines.size(), 1U);
    EXPECT_TRUE(result.marks.empty());
}

TEST(Decimate, ARestartBeginsANewLine)
{
    const std::vector<Point> points {point(0, 3), point(1, 1), point(0, 2), point(1, 2)};
    EXPECT_EQ(report::decimate(points, {0, 1, 2}, {0, 1, 2}).lines.size(), 2U);
}

TEST(Decimate, OneStepIsOneColumn)
{
    const report::Columns columns {5, 5, 100};
    EXPECT_EQ(columns.of(5), 0);
    const report::Columns whole {
        std::numeric_limits<std::int64_t>::min() / 2, std::numeric_limits<std::int64_t>::max() / 2, 10};
    EXPECT_EQ(whole.of(std::numeric_limits<std::int64_t>::max() / 2), 9);
}

TEST(Axis, IsLogarithmicOnlyWhereItCanBe)
{
    EXPECT_TRUE(report::valueAxis(0.001, 10, 0, 1).logarithmic);
    EXPECT_FALSE(report::valueAxis(0, 10, 0, 1).logarithmic);
    EXPECT_FALSE(report::valueAxis(1, 2, 0, 1).logarithmic);
    EXPECT_THAT(report::ticks(report::valueAxis(1, 1000, 0, 1), 4), testing::ElementsAre(1, 10, 100, 1000));
    EXPECT_EQ(report::tickText(-0.0), "0");
}

TEST(Axis, TakesAnyFiniteRange)
{
    const auto largest = std::numeric_limits<double>::max();
    for (const auto& [low, high] : {std::pair {-largest, largest}, std::pair {0.0, 0.0}, std::pair {5e-324, largest},
             std::pair {-1e-310, 1e-310}, std::pair {3.0, 3.0}}) {
        const auto axis = report::valueAxis(low, high, 100, 0);
        for (const auto value : {low, high}) {
            EXPECT_GE(axis.at(value), 0);
            EXPECT_LE(axis.at(value), 100);
        }
        EXPECT_LE(report::ticks(axis, 4).size(), 32U);
    }
}

TEST(Timeline, MarksEveryClassAboveTheCurves)
{
    const auto run =
        runOf({seriesOf("loss", 0, {point(1, 2), point(2, notANumber), point(3, INFINITY), point(4, -INFINITY)}),
            seriesOf("grad_norm", 0, {point(1, 2), point(2, 3), point(3, INFINITY), point(4, 5)})});
    const auto picture = markupOf(report::timelinePicture(run, {}));
    EXPECT_EQ(picture.countClass("mark"), 4);
    EXPECT_EQ(picture.countClass("nan"), 1);
    EXPECT_EQ(picture.countClass("posinf"), 2);
    EXPECT_EQ(picture.countClass("neginf"), 1);
    for (const auto* word : {"NaN", "+Inf", "−Inf", "loss", "grad_norm", "rank 0", "NaN from step 2, 1 point"}) {
        EXPECT_THAT(picture.text, HasSubstr(word));
    }
}

TEST(Timeline, MillionsOfPointsMakeASmallPicture)
{
    const auto run = runOf({seriesOf("loss", 0, millionPoints()), seriesOf("grad_norm", 0, millionPoints())});
    const auto svg = report::timelinePicture(run, {}).inlined("x");
    EXPECT_LT(svg.size(), 100'000U);
    const auto picture = readMarkup(svg);
    EXPECT_EQ(picture.countClass("mark"), 6);
    EXPECT_EQ(report::timelinePoints(run), 2'000'000);
}

TEST(Timeline, ALossThatIsNeverFiniteStillHasAPicture)
{
    std::vector<Point> points;
    for (int step = 0; step < 100'000; ++step) {
        points.push_back(point(step, notANumber));
    }
    const auto svg = report::timelinePicture(runOf({seriesOf("loss", 0, points)}), {});
    EXPECT_LT(svg.inlined("x").size(), 40'000U);
    const auto picture = markupOf(svg);
    EXPECT_GT(picture.countClass("nan"), 50);
    EXPECT_THAT(picture.text, HasSubstr("no finite value"));
}

TEST(Timeline, ManyRanksBecomeABandThatKeepsTheirMarks)
{
    std::vector<Series> series;
    for (int rank = 0; rank < 512; ++rank) {
        series.push_back(seriesOf("loss", rank, {point(1, 2), point(2, 3.0 + rank)}));
    }
    series[300].points.push_back(point(3, INFINITY));
    const auto svg = report::timelinePicture(runOf(series), {});
    EXPECT_LT(svg.inlined("x").size(), 40'000U);
    const auto picture = markupOf(svg);
    EXPECT_EQ(picture.countClass("band"), 1);
    EXPECT_EQ(picture.countClass("posinf"), 1);
    EXPECT_THAT(picture.text, HasSubstr("512 ranks"));
}

TEST(Timeline, MoreThanTwelveRanksAreTooManyToTellApart)
{
    std::vector<Series> series;
    for (int rank = 0; rank < 13; ++rank) {
        series.push_back(seriesOf("loss", rank, {point(1, 2), point(2, 3)}));
    }
    EXPECT_EQ(markupOf(report::timelinePicture(runOf(series), {})).countClass("band"), 1);
    series.pop_back();
    EXPECT_EQ(markupOf(report::timelinePicture(runOf(series), {})).countClass("band"), 0);
}

TEST(Timeline, RanksDifferInColourAndInDashes)
{
    std::vector<Series> series;
    for (int rank = 0; rank < 12; ++rank) {
        series.push_back(seriesOf("loss", rank, {point(1, 2), point(2, 3.0 + rank)}));
    }
    const auto picture = markupOf(report::timelinePicture(runOf(series), {}));
    EXPECT_EQ(picture.countClass("s0"), 2 * 2) << "curve and legend of ranks 0 and 6";
    EXPECT_EQ(picture.countClass("d1"), 3 * 2);
}

TEST(Timeline, BirthsSideBySideShareALabelAndTheirPixel)
{
    auto diagnosis = handmade::diagnosis();
    auto run = handmade::run();
    run.series[0].points.push_back(point(1'000'000, 1));
    auto birth = diagnosis.captures[0];
    for (int i = 0; i < 5000; ++i) {
        birth.step = {i, i + 1};
        diagnosis.captures.push_back(birth);
    }
    const auto picture = markupOf(report::timelinePicture(run, diagnosis));
    EXPECT_LE(picture.countClass("birthline"), 5);
    EXPECT_THAT(picture.text, HasSubstr("5001 births"));
    EXPECT_THAT(picture.text, Not(HasSubstr("birth, rank")));
}

TEST(Timeline, DrawsALineAtEveryBirth)
{
    auto diagnosis = handmade::diagnosis();
    const auto run = handmade::run();
    const auto picture = markupOf(report::timelinePicture(run, diagnosis));
    EXPECT_EQ(picture.countClass("birthline"), 1);
    EXPECT_THAT(picture.text, HasSubstr("birth, rank 0"));
    diagnosis.captures.push_back(diagnosis.captures[0]);
    diagnosis.captures.back().step = {5, 5};
    const auto two = markupOf(report::timelinePicture(run, diagnosis));
    EXPECT_EQ(two.countClass("birthline"), 2);
    for (auto& verdict : diagnosis.captures) {
        verdict.step.reset();
    }
    EXPECT_EQ(markupOf(report::timelinePicture(run, diagnosis)).countClass("birthline"), 0);
    EXPECT_TRUE(report::timelinePicture({}, diagnosis).empty());
}
