// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "tests/ui/samples.h"
#include "ui/captures/capturemodel.h"
#include "ui/captures/capturespane.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/paneframe.h"
#include "ui/shared/theme.h"
#include "ui/shell/parts/messagebar.h"
#include "ui/sweep/cellgridmodel.h"
#include "ui/sweep/sweeppane.h"
#include "ui/tensors/tensorspane.h"
#include "ui/verdict/verdictnow.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope {

namespace {

QToolButton* chip(const QWidget& pane, const char* text)
{
    for (auto* button : pane.findChildren<QToolButton*>(QStringLiteral("chip"))) {
        if (button->text() == QLatin1String(text)) {
            return button;
        }
    }
    return nullptr;
}

QAction* actionOf(const QWidget& widget, const char* text)
{
    const auto actions = widget.actions();
    const auto found = std::ranges::find(actions, QString::fromLatin1(text), &QAction::text);
    return found == actions.end() ? nullptr : *found;
}

} // namespace

TEST(PaneFrameTest, AHeaderThatHoldsNothingTakesNoRoom)
{
    PaneFrame pane(QStringLiteral("Pane"));
    auto* contents = new QWidget;
    pane.body()->addWidget(contents, 1);
    pane.resize(200, 200);
    pane.show();
    const int titled = contents->y();
    pane.setTitle({});
    ASSERT_TRUE(QTest::qWaitFor([&] { return contents->y() < titled; }, 5000)) << contents->y();
    pane.setNote(QStringLiteral("what it shows"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return contents->y() >= titled; }, 5000)) << contents->y();
}

TEST(CapturesPane, SelectsTheBirthWhenJudged)
{
    CapturesPane pane;
    QSignalSpy selected(&pane, &CapturesPane::captureSelected);
    pane.setRun(test::makeRun(), nullptr);
    EXPECT_EQ(pane.selectedCapture(), 0);
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    EXPECT_EQ(pane.selectedCapture(), 2);
    EXPECT_EQ(selected.last().first().toInt(), 2);
}

TEST(CapturesPane, KeepsWhatTheUserChose)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), nullptr);
    pane.view()->setFocus();
    QTest::keyClick(pane.view(), Qt::Key_Down);
    EXPECT_EQ(pane.selectedCapture(), 1);
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    EXPECT_EQ(pane.selectedCapture(), 1);
}

TEST(CapturesPane, EscapeClearsTheFilter)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    auto* box = pane.findChild<QLineEdit*>();
    QTest::keyClicks(box, QStringLiteral("rank:10"));
    EXPECT_EQ(pane.view()->model()->rowCount(), 1);
    QTest::keyClick(box, Qt::Key_Escape);
    EXPECT_EQ(pane.view()->model()->rowCount(), 3);
}

TEST(CapturesPane, FilterHidesTheSelectionButDoesNotChangeIt)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    QSignalSpy selected(&pane, &CapturesPane::captureSelected);
    auto* box = pane.findChild<QLineEdit*>();
    box->setText(QStringLiteral("downstream"));
    EXPECT_EQ(pane.selectedCapture(), 2);
    EXPECT_FALSE(pane.view()->currentIndex().isValid());
    EXPECT_EQ(pane.findChild<ElidedLabel*>(QStringLiteral("paneNote"))->fullText(), QStringLiteral("2 of 3 shown"));
    box->clear();
    EXPECT_EQ(pane.view()->currentIndex().row(), 0);
    EXPECT_EQ(selected.size(), 0);
}

TEST(CapturesPane, CopiesRowsWithTheirPaths)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    actionOf(*pane.view(), "Copy rows")->trigger();
    EXPECT_EQ(QGuiApplication::clipboard()->text(),
        QStringLiteral("Role\tRank\tStep\tShape\tVerdict\tFile\n"
                       "birth\t0\t5-6\t1x160x96\timplementation\t/nowhere/birth.pt\n"));
    pane.view()->selectAll();
    actionOf(*pane.view(), "Copy rows as JSON")->trigger();
    const QJsonArray rows = QJsonDocument::fromJson(QGuiApplication::clipboard()->text().toUtf8()).array();
    ASSERT_EQ(rows.size(), 3);
    EXPECT_EQ(rows[1].toObject()[QStringLiteral("rank")].toInt(), 10);
    actionOf(*pane.view(), "Copy path")->trigger();
    EXPECT_EQ(QGuiApplication::clipboard()->text(), QStringLiteral("/nowhere/birth.pt"));
}

TEST(CapturesPane, OnlyADescendantHasACauseToSelect)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    QAction* cause = actionOf(*pane.view(), "Select its cause");
    EXPECT_FALSE(cause->isEnabled());
    QSignalSpy wanted(&pane, &CapturesPane::causeRequested);
    pane.view()->selectRow(1);
    EXPECT_TRUE(cause->isEnabled());
    cause->trigger();
    EXPECT_EQ(wanted.size(), 1);
}

TEST(CapturesPane, NarrowListGivesItsShapesUpBeforeItCutsAVerdict)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    pane.resize(278, 300);
    pane.show();
    EXPECT_EQ(pane.view()->horizontalScrollBar()->maximum(), 0);
    EXPECT_TRUE(pane.view()->isColumnHidden(CaptureModel::ShapeColumn));
    const QString verdict = pane.view()->model()->index(0, CaptureModel::VerdictColumn).data().toString();
    EXPECT_GE(pane.view()->columnWidth(CaptureModel::VerdictColumn), pane.fontMetrics().horizontalAdvance(verdict));
    const int narrow = pane.view()->columnWidth(CaptureModel::RoleColumn);
    pane.resize(500, 300);
    EXPECT_GT(pane.view()->columnWidth(CaptureModel::RoleColumn), narrow);
    EXPECT_FALSE(pane.view()->isColumnHidden(CaptureModel::ShapeColumn));
}

TEST(CapturesPane, NarrowListGivesUpTheRankWhereThereIsOnlyOne)
{
    auto run = std::make_shared<RunData>(*test::makeRun());
    std::int64_t rows = 8;
    for (auto& capture : run->captures) {
        capture.rank = 0;
        capture.input.shape = {1, rows++, 16};
    }
    CapturesPane pane;
    pane.setRun(run, test::makeDiagnosis());
    pane.show();
    int width = 700;
    do {
        pane.resize(width -= 4, 300);
    } while (width > 200 && !pane.view()->isColumnHidden(CaptureModel::RankColumn));
    EXPECT_TRUE(pane.view()->isColumnHidden(CaptureModel::RankColumn));
    EXPECT_FALSE(pane.view()->isColumnHidden(CaptureModel::ShapeColumn));
    pane.resize(700, 300);
    EXPECT_FALSE(pane.view()->isColumnHidden(CaptureModel::RankColumn));
}

TEST(CapturesPane, TheVerdictIsReadAtTheWidthOfASmallWindow)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), test::makeDiagnosis());
    pane.resize(316, 300);
    pane.show();
    const QModelIndex at = pane.view()->model()->index(0, CaptureModel::VerdictColumn);
    const int room = pane.view()->columnWidth(CaptureModel::VerdictColumn);
    EXPECT_GE(room, pane.fontMetrics().horizontalAdvance(at.data().toString()) + 12)
        << at.data().toString().toStdString();
    EXPECT_EQ(at.siblingAtColumn(CaptureModel::ShapeColumn).data().toString(), QStringLiteral("160×96"));
    EXPECT_TRUE(at.data(Qt::ToolTipRole).toString().contains(QStringLiteral("1×160×96"))) << "told in full there";
}

TEST(CapturesPane, EmptyRunSelectsNothing)
{
    CapturesPane pane;
    pane.setRun(test::makeRun(), nullptr);
    QSignalSpy selected(&pane, &CapturesPane::captureSelected);
    pane.setRun(std::make_shared<RunData>(), nullptr);
    ASSERT_EQ(selected.size(), 1);
    EXPECT_EQ(selected.first().first().toInt(), -1);
}

TEST(VerdictPane, ShowsCountsAndOpensLists)
{
    VerdictPane pane;
    pane.resize(900, 700);
    const auto run = test::makeRun();
    const auto diagnosis = test::makeDiagnosis();
    pane.showVerdict(run->captures[2], diagnosis->captures[0]);
    EXPECT_EQ(pane.headline(), QStringLiteral("Implementation"));
    EXPECT_EQ(pane.kind(), QStringLiteral("Kernel or launch order"));
    EXPECT_TRUE(pane.listText().isEmpty()) << "the answer comes first";
    chip(pane, "for 2")->click();
    EXPECT_TRUE(pane.listText().contains(QStringLiteral("console.log:21")));
    EXPECT_TRUE(pane.listText().contains(QStringLiteral("<calm>"))) << "log text is never taken for HTML";
    ASSERT_NE(chip(pane, "for 2"), nullptr);
    EXPECT_FALSE(chip(pane, "against 0")->isEnabled());
    chip(pane, "try next 1")->click();
    EXPECT_TRUE(pane.listText().contains(QStringLiteral("run it again")));
    EXPECT_FALSE(chip(pane, "for 2")->isChecked());
    chip(pane, "try next 1")->click();
    EXPECT_EQ(pane.listText(), QString());
}

TEST(VerdictPane, SaysWhatWentWrongFirstAndWhatFollows)
{
    VerdictPane pane;
    const auto run = test::makeRun();
    const auto diagnosis = test::makeDiagnosis();
    CaptureVerdict birth = diagnosis->captures[0];
    birth.facts.damage.count = 6;
    birth.facts.damage.nan = 6;
    pane.setConsequences({true, 1, {}, {}, 2, 3});
    pane.showVerdict(run->captures[2], birth);
    EXPECT_TRUE(pane.place().startsWith(QStringLiteral("First NaN: rank 0"))) << pane.place().toStdString();
    EXPECT_TRUE(pane.place().endsWith(QStringLiteral("2 of the 3 captures follow from it.")))
        << pane.place().toStdString();
    birth.facts.damage.nan = 0;
    pane.setConsequences({false, 2, QStringLiteral("rank 1"), {}, 0, 3});
    pane.showVerdict(run->captures[2], birth);
    EXPECT_TRUE(pane.place().startsWith(QStringLiteral("Inf: rank 0"))) << "of two births only one is the first";
    EXPECT_FALSE(pane.place().contains(QStringLiteral("follow")));
}

TEST(VerdictPane, SaysWhatToDoNowAndCopiesIt)
{
    VerdictPane pane;
    pane.show();
    CaptureVerdict birth = test::makeDiagnosis()->captures[0];
    birth.next = {{"kernels-off", "use_triton=False", "gone: a kernel", {Seen::gone}, {}}};
    pane.showVerdict(test::makeRun()->captures[2], birth);
    EXPECT_EQ(pane.now()->text(), QStringLiteral("Next test: use_triton=False"));
    Rollback rollback;
    rollback.tonight = "use_triton=False, resume from checkpoint 4";
    pane.setRollback(rollback);
    EXPECT_TRUE(pane.now()->isVisible());
    QSignalSpy copied(&pane, &VerdictPane::nowCopied);
    pane.now()->copyButton()->click();
    const QString lines =
        QStringLiteral("Tonight: use_triton=False, resume from checkpoint 4\nNext test: use_triton=False");
    ASSERT_EQ(copied.size(), 1);
    EXPECT_EQ(copied.first().first().toString(), QStringLiteral("Copied what to do now")) << "for the status bar";
    EXPECT_EQ(QGuiApplication::clipboard()->text(), lines);
    QGuiApplication::clipboard()->clear();
    pane.setRollback(std::nullopt, QStringLiteral("switch kernels off; then go on"));
    EXPECT_TRUE(pane.now()->text().startsWith(QStringLiteral("Tonight: switch kernels off; then go on\n")))
        << "also where nothing is to be gone back from";
    VerdictPane::Consequences consequences;
    consequences.causes = {QStringLiteral("implementation"), QStringLiteral("numerics")};
    pane.setConsequences(consequences);
    EXPECT_TRUE(pane.now()->text().startsWith(
        QStringLiteral("Tonight, against all that began in this run (implementation, numerics): switch kernels off")))
        << qPrintable(pane.now()->text());
    pane.showMessage(QStringLiteral("Judging…"), {});
    EXPECT_FALSE(pane.now()->isVisible()) << "nothing is advised before anything is known";
}

TEST(TensorsPane, TellsTheExactValuesUnderTheCursor)
{
    TensorsPane pane;
    MatrixPicture input = test::makePicture(8, 4);
    test::setElement(input, 3, 2, 1.5e-5F);
    MatrixPicture output = test::makePicture(8, 4);
    test::setElement(output, 3, 2, std::numeric_limits<float>::quiet_NaN());
    TensorPictures pictures;
    pictures.input = std::make_shared<const MatrixPicture>(std::move(input));
    pictures.output = std::make_shared<const MatrixPicture>(std::move(output));
    pane.setPictures(pictures);
    QSignalSpy readout(&pane, &TensorsPane::readoutChanged);
    pane.view()->setCursor({2.5 / 4, 3.5 / 8});
    ASSERT_EQ(readout.size(), 1);
    const QString text = readout.first().first().toString();
    const QString exact = QString::number(static_cast<double>(1.5e-5F), 'g', 17);
    EXPECT_TRUE(text.contains(QStringLiteral("captured input [3, 2] = ")));
    EXPECT_EQ(text.section(QStringLiteral("= "), 1).section(QLatin1Char(','), 0, 0).toDouble(), exact.toDouble());
    EXPECT_TRUE(text.contains(QStringLiteral("captured output [3, 2] = NaN")));
    pane.view()->clearCursor();
    EXPECT_EQ(readout.last().first().toString(), QString());
}

TEST(TensorsPane, MissingOutputSaysWhy)
{
    TensorsPane pane;
    TensorPictures pictures;
    pictures.input = std::make_shared<const MatrixPicture>(test::makePicture(2, 2));
    pictures.outputMissing = QStringLiteral("This file holds no output");
    pane.setPictures(pictures);
    EXPECT_EQ(pane.outputMap()->accessibleDescription(), pictures.outputMissing);
    EXPECT_EQ(pane.outputMap()->picture(), nullptr);
}

TEST(SweepPane, AClickOnAnEmptyCellAsksForItsReplay)
{
    SweepPane pane;
    pane.setGrid(test::makeGrid({QStringLiteral("gns-gram"), QStringLiteral("keller-jordan")}, 1, sweepPrecisions(),
        {QStringLiteral("cuda:0")}));
    std::vector<replay::CellRequest> asked;
    QObject::connect(
        &pane, &SweepPane::replayRequested, &pane, [&](const replay::CellRequest& cell) { asked.push_back(cell); });
    const QModelIndex place = pane.model()->index(1, 4);
    Q_EMIT pane.view()->clicked(place);
    ASSERT_EQ(asked.size(), 1U);
    Cell cell = test::makeCell("keller-jordan", sweepPrecisions()[4], Outcome::finite);
    cell.device = "cuda:0";
    EXPECT_EQ(asked[0], test::askedFor(cell));
    pane.putCell(cell, asked[0]);
    Q_EMIT pane.view()->clicked(place);
    EXPECT_EQ(asked.size(), 1U) << "it is there";
    pane.setRunning(true);
    Q_EMIT pane.view()->clicked(pane.model()->index(0, 0));
    EXPECT_EQ(asked.size(), 2U) << "who replays says why it has to wait";
}

TEST(SweepPane, GettingTheFocusChoosesNoCell)
{
    SweepPane pane;
    pane.setGrid(test::makeGrid({QStringLiteral("gns-gram")}));
    std::vector<replay::CellRequest> places;
    for (const Precision precision : {sweepPrecisions()[0], sweepPrecisions()[1]}) {
        const Cell cell = test::makeCell("gns-gram", precision, Outcome::finite);
        places.push_back(test::askedFor(cell));
        pane.putCell(cell, places.back());
    }
    QSignalSpy selected(&pane, &SweepPane::cellSelected);
    // As QAbstractItemView does in focusInEvent().
    pane.view()->setCurrentIndex(pane.model()->index(0, 0));
    EXPECT_EQ(selected.size(), 0);
    pane.markShown(places[1]);
    EXPECT_EQ(pane.view()->currentIndex(), pane.model()->index(0, 1)) << "the cell whose film is seen";
    EXPECT_EQ(selected.size(), 0);
    pane.view()->setCurrentIndex(pane.model()->index(0, 0));
    EXPECT_EQ(selected.size(), 1) << "by the keyboard";
    Q_EMIT pane.view()->clicked(pane.model()->index(0, 0));
    EXPECT_EQ(selected.size(), 1) << "once";
    Q_EMIT pane.view()->clicked(pane.model()->index(0, 1));
    EXPECT_EQ(selected.size(), 2);
}

TEST(SweepPane, FillsWhileRunningAndCanBeCancelled)
{
    SweepPane pane;
    pane.setGrid(test::makeGrid({QStringLiteral("gns-gram")}));
    pane.setRunning(true);
    EXPECT_EQ(pane.model()->doneCount(), 0);
    const Cell cell = test::makeCell("gns-gram", Precision::fp16, Outcome::nan);
    pane.putCell(cell, test::askedFor(cell));
    EXPECT_EQ(pane.model()->doneCount(), 1);
    QSignalSpy cancel(&pane, &SweepPane::cancelRequested);
    pane.findChild<QPushButton*>()->click();
    EXPECT_EQ(cancel.size(), 1);
    pane.setRunning(false);
    EXPECT_EQ(pane.model()->doneCount(), 1) << "what was finished stays";
}

TEST(ElidedLabel, KeepsTheWholeTextAsToolTip)
{
    ElidedLabel label;
    label.resize(60, 20);
    label.setFullText(QStringLiteral("a sentence that is longer than sixty pixels"));
    EXPECT_TRUE(label.text().endsWith(QStringLiteral("…")));
    EXPECT_EQ(label.toolTip(), label.fullText());
}

TEST(ElidedLabel, IsAsHighAsItsPaddingNeeds)
{
    ElidedLabel label;
    label.setStyleSheet(QStringLiteral("padding: 4px"));
    label.setFullText(QStringLiteral("gap"));
    label.resize(200, 40);
    EXPECT_GE(label.sizeHint().height(), label.fontMetrics().height() + 8);
    EXPECT_EQ(label.minimumSizeHint().height(), label.sizeHint().height());
}

TEST(ElidedLabel, BreaksBetweenWordsBeforeItElides)
{
    ElidedLabel label;
    const int line = label.sizeHint().height();
    label.resize(label.fontMetrics().horizontalAdvance(QStringLiteral("largest bound ")), 40);
    label.setFullText(QStringLiteral("largest bound limit"));
    EXPECT_TRUE(label.text().endsWith(QStringLiteral("…")));
    label.setLines(2);
    EXPECT_EQ(label.sizeHint().height(), 2 * line);
    EXPECT_EQ(label.text(), QStringLiteral("largest bound\nlimit"));
    EXPECT_EQ(label.toolTip(), QString());
    label.setFullText(QStringLiteral("largest bound limit that nobody sees"));
    EXPECT_TRUE(label.text().endsWith(QStringLiteral("…")));
    EXPECT_EQ(label.toolTip(), label.fullText());
}

// A count of nothing is told as well as any other: 4.5 to 1, as text is asked to be (WCAG 2.2, 1.4.3).
TEST(Chips, ACountOfNothingCanBeRead)
{
    const auto luminance = [](const QColor& color) {
        const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
        return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
    };
    for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
        const QString sheet = styleSheet(*theme);
        const QRegularExpression rule(
            QStringLiteral("QToolButton#chip:disabled \\{ color: (#\\w+); background: transparent"));
        const auto found = rule.match(sheet);
        ASSERT_TRUE(found.hasMatch());
        const double text = luminance(QColor(found.captured(1)));
        const double ground = luminance(theme->surface);
        EXPECT_GE((std::max(text, ground) + 0.05) / (std::min(text, ground) + 0.05), 4.5) << theme->dark;
    }
}

TEST(MessageBar, ShowsDetailsOnDemand)
{
    QWidget parent;
    MessageBar bar(&parent);
    EXPECT_EQ(bar.sentence(), QString());
    bar.showMessage(QStringLiteral("2 files could not be used"), {QStringLiteral("cut off: a.pt")});
    EXPECT_EQ(bar.sentence(), QStringLiteral("2 files could not be used"));
}

} // namespace nanscope
