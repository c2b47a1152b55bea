// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>
#include <fstream>
#include <limits>

#include <QSpinBox>
#include <QTableView>
#include <QTest>

#include "tests/ui/openwindow.h"
#include "ui/runcomparison/runcomparison.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope {

namespace {

RunData runOf(const std::string& name, std::int64_t first, const std::vector<double>& losses)
{
    RunData run;
    run.name = name;
    Series& series = run.series.emplace_back();
    series.name = "loss";
    series.source = name + ".log";
    for (const double loss : losses) {
        series.points.push_back({first + static_cast<std::int64_t>(series.points.size()), loss, stateOf(loss), 10});
    }
    series.pointCount = static_cast<std::int64_t>(losses.size());
    run.settings = {{"lr", name == "a" ? "3e-4" : "6e-4", {}, name + ".log", 1}};
    return run;
}

QString cell(const QTableView& view, int row, int column)
{
    return view.model()->index(row, column).data().toString();
}

class RunComparisonTest : public test::OpenWindow
{ };

} // namespace

TEST(RunComparison, NamesTheFirstStepThatDiffers)
{
    RunComparisonWindow window;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    window.setRuns(comparedRuns(runOf("a", 1, {3, 2.5, 2}), runOf("b", 1, {3, 2.5, nan}), 0));
    EXPECT_EQ(window.headline(),
        QStringLiteral("Loss first differs at step 3: 2 in a, NaN in b; only b logs values that are not finite: Loss "
                       "is NaN at step 3"));
    RunData damaged = runOf("a", 1, {3, 2.5, 2});
    damaged.captures.emplace_back().output.emplace().batches = {Scan {.count = 4, .nan = 1}};
    window.setRuns(comparedRuns(damaged, runOf("b", 1, {3, 2.5, nan}), 0));
    EXPECT_TRUE(window.headline().endsWith(QStringLiteral("Loss is NaN at step 3; a has a damaged capture")));
    window.setRuns(comparedRuns(runOf("a", 1, {3, nan, nan}), runOf("b", 1, {3, 2.5, nan}), 0));
    EXPECT_EQ(window.headline(),
        QStringLiteral("Loss first differs at step 2: NaN in a, 2.5 in b; both become non-finite: Loss is NaN at "
                       "step 2 in a, Loss is NaN at step 3 in b"));
    RunData withNorm = runOf("b", 1, {3, 2.5});
    withNorm.series.push_back(withNorm.series[0]);
    withNorm.series[1].name = "grad_norm";
    withNorm.series[1].points[0] = {1, nan, PointState::nan, 10};
    window.setRuns(comparedRuns(runOf("a", 1, {3, nan}), withNorm, 0));
    EXPECT_TRUE(window.headline().contains(QStringLiteral("Gradient norm is NaN at step 1 in b")))
        << "in what one of them logs alone";
    RunData itself = runOf("a", 1, {3, nan});
    itself.root = "/runs/a";
    window.setRuns(comparedRuns(itself, itself, 0));
    EXPECT_EQ(window.headline(), QStringLiteral("Both are the same folder: there is nothing to compare"));
    RunData namesake = runOf("a", 1, {3, 2});
    namesake.root = "/others/a";
    EXPECT_EQ(comparedRuns(itself, namesake, 0)->nameA, "runs/a");
    EXPECT_EQ(comparedRuns(itself, namesake, 0)->nameB, "others/a");
    window.setRuns(comparedRuns(runOf("a", 1, {3, 2.5, 2}), runOf("b", 1, {3, 2.5, nan}), 0));
    EXPECT_EQ(cell(*window.series(), 0, 0), QStringLiteral("Loss"));
    EXPECT_EQ(cell(*window.series(), 0, 1), QStringLiteral("1 of 3"));
    EXPECT_EQ(cell(*window.series(), 0, 9), QStringLiteral("b.log:10"));
    EXPECT_EQ(cell(*window.series(), 0, 6), QString());
    EXPECT_EQ(cell(*window.series(), 0, 7), QStringLiteral("NaN at step 3"));
    EXPECT_EQ(cell(*window.settings(), 0, 2), QStringLiteral("6e-4"));
    EXPECT_EQ(window.timeline()->view()->cursor(), 3.0);
}

TEST(RunComparison, ARankThatOnlyOneRunHasIsSeenWhereItGoesBad)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    RunData two = runOf("two", 1, {3, 2.5, 2});
    two.series[0].rank = 0;
    Series rank1 = runOf("two", 1, {3, nan, nan}).series[0];
    rank1.rank = 1;
    two.series.push_back(rank1);
    RunComparisonWindow window;
    window.setRuns(comparedRuns(runOf("one", 1, {3, 2.5, 2}), two, 0));
    EXPECT_EQ(window.headline(),
        QStringLiteral("No value differs at the steps that both logs have; "
                       "only two logs values that are not finite: Loss of rank 1 is NaN at step 2"));
    EXPECT_EQ(cell(*window.series(), 1, 0), QStringLiteral("Loss of rank 1"));
    EXPECT_EQ(cell(*window.series(), 1, 6), QStringLiteral("not logged"));
    EXPECT_EQ(cell(*window.series(), 1, 7), QStringLiteral("NaN at step 2"));
    EXPECT_EQ(cell(*window.series(), 1, 9), QStringLiteral("two.log:10"));
    const auto& lines = window.timeline()->chart("loss")->lines();
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[2].label, QStringLiteral("two, rank 1"));
}

TEST(RunComparison, ReturnInTheShiftShiftsAndClosesNothing)
{
    RunComparisonWindow window;
    window.show();
    auto* shift = window.findChild<QSpinBox*>();
    shift->setEnabled(true);
    shift->setFocus();
    QTest::keyClick(shift, Qt::Key_Return);
    EXPECT_TRUE(window.isVisible());
    window.setRuns(comparedRuns(runOf("a", 0, {3, 2}), runOf("b", 1, {3, 4}), 1));
    EXPECT_EQ(window.headline(), QStringLiteral("Loss first differs at step 1 (step 2 of b): 2 in a, 4 in b"));
}

TEST(RunComparison, ColumnsBearTheNamesOfTheRuns)
{
    RunComparisonWindow window;
    window.setRuns(comparedRuns(runOf("a", 1, {3, 2}), runOf("b", 1, {3, 2}), 0));
    const QAbstractItemModel* series = window.series()->model();
    EXPECT_EQ(series->headerData(3, Qt::Horizontal).toString(), QStringLiteral("a"));
    EXPECT_EQ(series->headerData(9, Qt::Horizontal).toString(), QStringLiteral("Line of b"));
    EXPECT_EQ(window.settings()->model()->headerData(2, Qt::Horizontal).toString(), QStringLiteral("b"));
}

TEST(RunComparison, BothCurvesAreOnOneAxisUnderTheirNames)
{
    RunComparisonWindow window;
    const auto shifted = comparedRuns(runOf("a", 0, {3, 2, 1}), runOf("b", 1, {3, 2, 1}), 1);
    ASSERT_EQ(shifted->both.series.size(), 2U);
    EXPECT_EQ(shifted->both.series[1].firstStep, 0);
    window.setRuns(shifted);
    const auto& lines = window.timeline()->chart("loss")->lines();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].label, QStringLiteral("a"));
    EXPECT_EQ(lines[1].label, QStringLiteral("b"));
    EXPECT_TRUE(window.headline().contains(QStringLiteral("No value differs")));
}

TEST(RunComparison, DrawsHowFarTheRunsAreApart)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    RunComparisonWindow window;
    const auto runs = comparedRuns(runOf("a", 0, {3, 2.2734, 1.5, nan}), runOf("b", 1, {3, 2.25, 1, 1}), 1);
    window.setRuns(runs);
    ASSERT_EQ(runs->both.series.size(), 3U);
    const Series& difference = runs->both.series[2];
    EXPECT_EQ(difference.name, differenceName("loss"));
    ASSERT_EQ(difference.points.size(), 3U) << "of NaN and a number there is none";
    EXPECT_EQ(difference.points[1].value, 0.0234) << "and not 0.023399999999999976";
    EXPECT_EQ(difference.points[2].value, 0.5);
    EXPECT_EQ(difference.points[2].step, 2);
    const auto charts = window.timeline()->visibleCharts();
    ASSERT_EQ(charts.size(), 2U);
    EXPECT_EQ(charts[1]->name(), "Loss: difference");
    EXPECT_EQ(charts[1]->lines()[0].label, QStringLiteral("|a − b|"));
}

TEST(RunComparison, SaysWhichRunShowsNoSettingsInsteadOfAnEmptyTable)
{
    RunComparisonWindow window;
    const auto a = runOf("a", 1, {3, 2});
    auto b = runOf("b", 1, {3, 2});
    window.setRuns(comparedRuns(a, b, 0));
    EXPECT_EQ(window.settingsSentence(), QStringLiteral("1 setting differs, none is equal"));
    EXPECT_FALSE(window.settings()->isHidden());
    b.settings.clear();
    window.setRuns(comparedRuns(a, b, 0));
    EXPECT_TRUE(window.settingsSentence().startsWith(QStringLiteral("Settings are not compared: b records none")))
        << window.settingsSentence().toStdString();
    EXPECT_TRUE(window.settingsSentence().contains(QStringLiteral("would show them")));
    EXPECT_TRUE(window.settings()->isHidden());
}

TEST_F(RunComparisonTest, ReadsTheOtherRunBesideTheOpenOne)
{
    start();
    ASSERT_TRUE(open(copySample()));
    const std::filesystem::path other = folder / "other";
    std::filesystem::create_directories(other);
    std::ofstream(other / "console.log") << "[default0]:Step 0: train_loss=1.5591, grad_norm=0.2596\n"
                                            "[default0]:Step 1: train_loss=1.6000, grad_norm=0.2511\n";
    auto* comparison = window->compareWith(QString::fromStdString(other.string()));
    ASSERT_TRUE(waitUntil([&] { return !comparison->comparer().busy(); }));
    EXPECT_TRUE(comparison->headline().startsWith(QStringLiteral("Loss of rank 0 first differs at step 1: 1.5381")))
        << comparison->headline().toStdString();
    comparison->shiftBox()->setValue(100);
    ASSERT_TRUE(waitUntil([&] { return comparison->headline().contains(QStringLiteral("no step of any series")); }));
}

} // namespace nanscope
