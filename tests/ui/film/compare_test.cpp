// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QComboBox>
#include <QPushButton>
#include <QSlider>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "tests/ui/windowtest.h"
#include "ui/captures/capturespane.h"
#include "ui/film/cellchooser.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/film/framepane.h"
#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"
#include "ui/sweep/cellgridmodel.h"
#include "ui/sweep/sweeppane.h"

namespace nanscope {

namespace {

class CompareTest : public test::SampleSessionWindow
{
protected:
    FilmStrip& first() { return *window.panes().film->strip(); }
    FilmStrip& second() { return *window.panes().beside->strip(); }
    FramePane& frame() { return *window.panes().frame; }

    bool compare()
    {
        window.actions().compare->trigger();
        return waitForSecond([](const Film&) { return true; });
    }
    bool choose(const replay::CellRequest& cell)
    {
        Q_EMIT window.panes().beside->cellWanted();
        auto* chooser = window.findChild<CellChooser*>();
        if (!chooser) {
            return false;
        }
        chooser->choose(cell);
        chooser->accept();
        return waitForSecond([&](const Film& film) {
            return film.cell.variant == cell.variant && film.cell.precision == cell.precision
                && film.cell.lowering == cell.lowering;
        });
    }
    bool waitForSecond(const std::function<bool(const Film&)>& condition)
    {
        return waitUntil([&] { return second().film() && condition(*second().film()); }) && settle();
    }
    static const FilmFrame& current(const FilmStrip& strip)
    {
        return strip.film()->frames.at(static_cast<std::size_t>(strip.current()));
    }

    /// The last frame of the film has the values that core computes, as far as a
    /// tile holds them.
    void expectOutput(const Film& film, const replay::CellRequest& cell)
    {
        const std::vector<double> expected = replayedOutput(cell);
        const MatrixPicture& picture = *lastReplayed(film).picture;
        ASSERT_EQ(lastReplayed(film).name, OpName::output);
        ASSERT_EQ(picture.tiles.max.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(picture.tiles.max[i], static_cast<float>(expected[i])) << i;
        }
    }
};

} // namespace

TEST_F(CompareTest, ASecondCellIsShownOnlyWhenItIsAskedFor)
{
    EXPECT_FALSE(window.actions().compare->isChecked());
    EXPECT_FALSE(window.actions().swapCells->isEnabled());
    EXPECT_FALSE(window.panes().beside->isVisible());
    EXPECT_FALSE(frame().map(Side::second)->isVisible());
    EXPECT_FALSE(frame().factsText().contains(QStringLiteral(" | ")));
    ASSERT_TRUE(compare());
    EXPECT_TRUE(window.panes().beside->isVisible());
    EXPECT_TRUE(frame().map(Side::second)->isVisible());
    EXPECT_TRUE(window.actions().swapCells->isEnabled());
    window.actions().compare->trigger();
    EXPECT_FALSE(window.panes().beside->isVisible());
    EXPECT_FALSE(frame().map(Side::second)->isVisible());
    EXPECT_EQ(second().film(), nullptr);
    EXPECT_NE(first().film(), nullptr);
}

TEST_F(CompareTest, TheSecondIsWhatTheFirstShouldHaveBeen)
{
    ASSERT_NE(first().film()->cell.precision, Precision::fp64);
    ASSERT_TRUE(compare());
    replay::CellRequest exact = first().film()->request.cell;
    exact.precision = Precision::fp64;
    EXPECT_EQ(second().film()->cell.precision, Precision::fp64);
    EXPECT_EQ(second().film()->cell.variant, exact.variant);
    expectOutput(*second().film(), exact);
    expectOutput(*first().film(), first().film()->request.cell);
}

TEST_F(CompareTest, AnyCellCanBeTheSecond)
{
    ASSERT_TRUE(compare());
    const Lowering other = first().film()->cell.lowering == Lowering::eager ? Lowering::fused : Lowering::eager;
    const replay::CellRequest cell = test::cellRequest("torch-muon", Precision::bf16, other);
    const auto before = window.workspace().cells().size();
    ASSERT_TRUE(choose(cell));
    expectOutput(*second().film(), second().film()->request.cell);
    EXPECT_EQ(window.workspace().cells().size(), before) << "what is only looked at is not stored";
    const QString facts = frame().factsText();
    EXPECT_TRUE(facts.contains(QStringLiteral(" | torch-muon"))) << qPrintable(facts);
    EXPECT_TRUE(facts.contains(QStringLiteral(" | bf16 · ") + qstr(name(other)))) << qPrintable(facts);
    EXPECT_TRUE(facts.contains(QStringLiteral(" | all finite"))) << "of its end no more is known than its frames show\n"
                                                                 << qPrintable(facts);
}

TEST_F(CompareTest, AClickInTheSweepChoosesTheSideThatIsSaid)
{
    SweepPane& sweep = *window.panes().sweep;
    const auto click = [&](const replay::CellRequest& cell) {
        const QModelIndex index = sweep.model()->indexOf(cell);
        EXPECT_TRUE(index.isValid());
        sweep.view()->setCurrentIndex(index);
        Q_EMIT sweep.view()->clicked(index);
        return index;
    };
    window.findChild<QTabWidget*>()->setCurrentWidget(&sweep);
    EXPECT_FALSE(sweep.sideBox()->isVisible());
    ASSERT_TRUE(compare());
    EXPECT_TRUE(sweep.sideBox()->isVisible());
    const replay::CellRequest before = first().film()->request.cell;
    EXPECT_EQ(sweep.model()->indexOf(before).data(SideRole).toString(), QStringLiteral("A"));
    replay::CellRequest wanted = before;
    wanted.precision = Precision::bf16;
    const QModelIndex at = click(wanted);
    ASSERT_TRUE(waitForSecond([](const Film& film) { return film.cell.precision == Precision::bf16; }));
    EXPECT_EQ(first().film()->request.cell, before);
    EXPECT_EQ(at.data(SideRole).toString(), QStringLiteral("B"));
    sweep.sideBox()->setCurrentIndex(0);
    wanted.precision = Precision::fp32;
    click(wanted);
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.cell.precision == Precision::fp32; }));
    EXPECT_EQ(second().film()->cell.precision, Precision::bf16);
    window.actions().compare->trigger();
    EXPECT_EQ(at.data(SideRole).toString(), QString());
}

TEST_F(CompareTest, ValuesOfBothSidesHaveRoomBelowTheirMaps)
{
    constexpr qsizetype longest = 16; // digits of fp64 are more
    ASSERT_TRUE(compare());
    QCoreApplication::processEvents();
    int whole = 0;
    for (const ElidedLabel* value : frame().findChildren<ElidedLabel*>()) {
        if (value->isVisible() && value->fullText().size() <= longest
            && frame().factsText().contains(value->fullText())) {
            EXPECT_FALSE(value->text().contains(QChar(0x2026))) << value->fullText().toStdString();
            ++whole;
        }
    }
    EXPECT_GE(whole, 12);
}

TEST_F(CompareTest, FramesFollowEachOther)
{
    ASSERT_TRUE(compare());
    const int wanted = frameOf(*first().film(), 2, OpName::q);
    ASSERT_GE(wanted, 0);
    window.panes().film->slider()->setValue(wanted);
    EXPECT_EQ(current(second()).name, OpName::q);
    EXPECT_EQ(current(second()).iteration, 2);
    EXPECT_EQ(frame().map(Side::second)->frame()->iteration, 2);
    second().setCurrent(frameOf(*second().film(), 3, OpName::q));
    EXPECT_EQ(current(first()).name, OpName::q);
    EXPECT_EQ(current(first()).iteration, 3);
    EXPECT_EQ(window.panes().film->slider()->value(), first().current());
    window.panes().frameView->setCursor({0.5, 0.5});
    const auto left = frame().map(Side::first)->cursorElement();
    const auto right = frame().map(Side::second)->cursorElement();
    ASSERT_TRUE(left && right);
    EXPECT_EQ(left->row, right->row);
    EXPECT_EQ(left->col, right->col);
    EXPECT_EQ(frame().map(Side::first)->scale(), frame().map(Side::second)->scale())
        << "colours beside each other mean the same";
}

TEST_F(CompareTest, BothAreOnOneScaleUntilOneIsADifferenceOrGone)
{
    EXPECT_FALSE(first().isShared());
    const FilmScales alone = first().ownScales();
    ASSERT_TRUE(compare());
    ASSERT_TRUE(first().isShared() && second().isShared());
    const auto both = [this](const FilmFrame& op) {
        return std::pair {first().scaleOfFrame(frameOf(*first().film(), op.iteration, op.name)),
            second().scaleOfFrame(frameOf(*second().film(), op.iteration, op.name))};
    };
    for (const FilmFrame& op : first().film()->frames) {
        const auto [here, there] = both(op);
        EXPECT_EQ(here, there);
        EXPECT_LE(here.low, ownScale(op).value_or(here).low);
    }
    EXPECT_EQ(frame().scaleBar()->note(), QStringLiteral("for both"));
    EXPECT_TRUE(frame().scaleBar(Side::second)->isHidden());

    auto* mode = window.panes().beside->modeBox();
    mode->setCurrentIndex(mode->findData(static_cast<int>(FilmMode::againstOutput)));
    ASSERT_TRUE(waitForSecond([](const Film& film) { return film.mode == FilmMode::againstOutput; }));
    EXPECT_FALSE(first().isShared() || second().isShared());
    EXPECT_EQ(frame().scaleBar()->note(), QString());
    mode->setCurrentIndex(mode->findData(static_cast<int>(FilmMode::values)));
    ASSERT_TRUE(waitForSecond([](const Film& film) { return film.mode == FilmMode::values; }));
    EXPECT_TRUE(first().isShared());
    window.actions().compare->trigger();
    EXPECT_FALSE(first().isShared());
    EXPECT_EQ(first().ownScales(), alone);
    EXPECT_EQ(frame().scaleBar()->note(), QString());
}

TEST_F(CompareTest, AnOpThatTheOtherCellLacksHasNoFrameThere)
{
    ASSERT_TRUE(compare());
    ASSERT_TRUE(choose(test::cellRequest("keller-jordan", Precision::bf16, Lowering::eager)));
    const Film& film = *first().film();
    int lacking = -1;
    for (int i = 0; i < static_cast<int>(film.frames.size()); ++i) {
        const FilmFrame& each = film.frames[static_cast<std::size_t>(i)];
        lacking = frameOf(*second().film(), each.iteration, each.name) < 0 ? i : lacking;
    }
    ASSERT_GE(lacking, 0) << "the Gram form has ops that the plain one has not";
    first().setCurrent(lacking);
    EXPECT_EQ(second().current(), -1);
    EXPECT_EQ(frame().map(Side::second)->frame(), nullptr);
    EXPECT_EQ(first().current(), lacking);
    first().setCurrent(0);
    EXPECT_EQ(second().current(), 0);
}

TEST_F(CompareTest, SwappingKeepsTheOpAndIsUndoneByItself)
{
    ASSERT_TRUE(compare());
    const replay::CellRequest a = first().film()->request.cell;
    const replay::CellRequest b = second().film()->request.cell;
    first().setCurrent(frameOf(*first().film(), 2, OpName::q));
    QTest::keyClick(&window, Qt::Key_X);
    ASSERT_TRUE(settle());
    EXPECT_EQ(first().film()->request.cell, b);
    EXPECT_EQ(second().film()->request.cell, a);
    EXPECT_EQ(current(first()).iteration, 2);
    EXPECT_EQ(current(first()).name, OpName::q);
    EXPECT_EQ(current(second()).iteration, 2);
    EXPECT_TRUE(frame().factsText().contains(QStringLiteral("Format: %1 · ").arg(qstr(name(b.precision)))));
    window.actions().swapCells->trigger();
    ASSERT_TRUE(settle());
    EXPECT_EQ(first().film()->request.cell, a);
    EXPECT_EQ(second().film()->request.cell, b);
}

TEST_F(CompareTest, OfAnotherCaptureTheSameCellIsCompared)
{
    ASSERT_TRUE(compare());
    const replay::CellRequest cell = test::cellRequest("torch-muon", Precision::fp32, Lowering::eager);
    ASSERT_TRUE(choose(cell));
    const std::string before = window.workspace().capture()->file;
    const int elsewhere = window.workspace().selected() == 0 ? 1 : 0;
    window.panes().captures->selectCapture(elsewhere);
    ASSERT_NE(window.workspace().capture()->file, before);
    window.workspace().sweepSelected();
    ASSERT_TRUE(waitUntil([this] { return !window.workspace().sweeping() && first().film(); }));
    ASSERT_TRUE(waitForSecond([](const Film& film) { return film.cell.variant == "torch-muon"; }));
    EXPECT_EQ(second().film()->request.capture.path, window.workspace().capture()->path);
}

TEST(CompareSettings, ANewWindowComparesNothing)
{
    WindowOptions options = test::quietOptions();
    options.remember = true;
    {
        MainWindow window(options);
        EXPECT_FALSE(window.actions().compare->isEnabled()) << "no run is open";
        window.actions().compare->setChecked(true);
        EXPECT_FALSE(window.panes().beside->isHidden());
    }
    MainWindow window(options);
    EXPECT_FALSE(window.actions().compare->isChecked()) << "the next run may be another";
    EXPECT_TRUE(window.panes().beside->isHidden());
}

} // namespace nanscope
