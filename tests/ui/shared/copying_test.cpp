// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/copying.h"
#include "ui/sweep/cellgridmodel.h"

namespace nanscope {

namespace {

const QString numberSheet = QStringLiteral("iteration\tabsmax\tnote\n1\t0.5\tfine\n2\tNaN\t\n3\t1e3\tlarge\n");

QJsonArray rowsOf(const QString& json)
{
    return QJsonDocument::fromJson(json.toUtf8()).array();
}

} // namespace

TEST(Copying, JsonKeepsNumbersNullsAndWhatIsNotFinite)
{
    const QJsonArray rows = rowsOf(asJson(tableFromTsv(numberSheet)));
    ASSERT_EQ(rows.size(), 3);
    EXPECT_EQ(rows[0].toObject()[QStringLiteral("iteration")], QJsonValue(1));
    EXPECT_EQ(rows[1].toObject()[QStringLiteral("absmax")], QJsonValue(QStringLiteral("nan")));
    EXPECT_TRUE(rows[1].toObject()[QStringLiteral("note")].isNull());
    EXPECT_EQ(rows[2].toObject()[QStringLiteral("absmax")], QJsonValue(1000.0));
}

TEST(Copying, TsvHasOneLineForEachRowWhateverIsInACell)
{
    const TextTable table {
        {QStringLiteral("a"), QStringLiteral("b")}, {{QStringLiteral("x\ty\nz"), QStringLiteral("−")}}};
    EXPECT_EQ(asTsv(table), QStringLiteral("a\tb\nx y z\t−\n"));
    EXPECT_EQ(asTsv(tableFromTsv(numberSheet)).count(QLatin1Char('\n')), 4);
}

TEST(Copying, SweepGridCarriesItsVariants)
{
    CellGridModel grid;
    grid.setGrid(test::makeGrid({QStringLiteral("gns-gram")}));
    Cell cell = test::makeCell("gns-gram", Precision::fp16, Outcome::nan);
    cell.firstNonFinite = cell.birth = NonFinite {3, OpName::gram, {0, 0, 0}, ValueClass::nan, 4};
    grid.putCell(cell, test::askedFor(cell));
    const TextTable table = tableOf(grid, {0});
    EXPECT_EQ(table.columns.front(), QString());
    EXPECT_EQ(table.rows.front(),
        QStringList({QStringLiteral("gns-gram"), QString(), QString(), QString(), QString(),
            QStringLiteral("NaN in step 3 gram"), QString()}));
}

TEST(Copying, CopyKeyPutsTheSelectedRowsIntoTheClipboard)
{
    QWidget window;
    QTableView* table = showTable(window, QStringLiteral("Numbers"), tableFromTsv(numberSheet));
    table->selectRow(2);
    table->setFocus();
    ASSERT_TRUE(QTest::qWaitForWindowActive(table->window()));
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QGuiApplication::clipboard()->text(), QStringLiteral("iteration\tabsmax\tnote\n3\t1e3\tlarge\n"));
}

TEST(Copying, TableSortsNumbersAsNumbers)
{
    QWidget window;
    QTableView* table = showTable(window, QStringLiteral("Numbers"), tableFromTsv(numberSheet));
    table->sortByColumn(1, Qt::DescendingOrder);
    const QStringList order {QStringLiteral("nan"), QStringLiteral("1e3"), QStringLiteral("0.5")};
    for (int row = 0; row < order.size(); ++row) {
        EXPECT_EQ(table->model()->index(row, 1).data().toString(), order[row]);
    }
}

TEST(Copying, PlotGivesValuesByKeyAndMenu)
{
    QWidget plot;
    const PlotCopies copies {QStringLiteral("Plot"), [] { return numberSheet; }, [&plot] { return pictureOf(plot); }};
    makeCopyable(plot, copies);
    ASSERT_EQ(plot.actions().size(), 3);
    plot.actions().first()->trigger();
    EXPECT_EQ(QGuiApplication::clipboard()->text(), numberSheet);
    QMenu menu;
    addCopyEntries(menu, plot, copies);
    ASSERT_EQ(menu.actions().size(), 6);
    menu.actions()[1]->trigger();
    EXPECT_EQ(rowsOf(QGuiApplication::clipboard()->text()).size(), 3);
    menu.actions()[2]->trigger();
    const QSize copied = QGuiApplication::clipboard()->image().size();
    EXPECT_EQ(copied.width(), 2 * plot.width());
    EXPECT_GT(copied.height(), 2 * plot.height()) << "the caption above it";
}

TEST(Copying, HeatMapGivesWhatIsInSight)
{
    HeatView view;
    HeatMap map(&view);
    map.resize(200, 100);
    auto picture = test::makePicture(100, 200);
    test::setElement(picture, 50, 100, std::numeric_limits<float>::quiet_NaN());
    map.setPicture(std::make_shared<const MatrixPicture>(std::move(picture)));
    EXPECT_EQ(visibleValues(map).count(QLatin1Char('\n')), 1) << "20,000 are too many";
    view.setCursor({100.5 / 200, 50.5 / 100});
    EXPECT_EQ(visibleValues(map), QStringLiteral("row\tcol\tvalue\n50\t100\tNaN\n"));
    view.setView({100.5 / 200, 50.5 / 100}, 20);
    const TextTable near = tableFromTsv(visibleValues(map));
    EXPECT_GE(near.rows.size(), 50U);
    EXPECT_LE(near.rows.size(), 100U);
    EXPECT_TRUE(std::ranges::find(near.rows, QStringList({"50", "100", "nan"})) != near.rows.end());
}

} // namespace nanscope
