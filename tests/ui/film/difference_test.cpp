// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QComboBox>
#include <QListWidget>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include "core/replay/variants/variant.h"
#include "tests/ui/samples.h"
#include "tests/ui/windowtest.h"
#include "ui/captures/capturespane.h"
#include "ui/film/cellchooser.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framepane.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

using test::SampleSessionWindow;

/// Compares every tile of one element with the difference of two replays that know nothing of films.
void expectDifference(const MatrixPicture& picture, const std::vector<double>& ours, const std::vector<double>& theirs)
{
    ASSERT_EQ(ours.size(), theirs.size());
    ASSERT_EQ(static_cast<std::size_t>(picture.tiles.rows * picture.tiles.cols), ours.size());
    ASSERT_EQ(picture.tiles.tileRows, 1);
    int apart = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const double value = ours[i] - theirs[i];
        EXPECT_EQ(picture.tiles.max[i], static_cast<float>(value)) << i;
        apart += value != 0 ? 1 : 0;
    }
    EXPECT_GT(apart, 0) << "two formats that never differ would test nothing";
}

replay::CellRequest askAgain(const Cell& cell)
{
    return replay::requestOf(cell, {}, {});
}

} // namespace

TEST(CellChooser, OffersStoredCellsFirstAndKnowsTheirEpsilon)
{
    Cell old = test::makeCell("gns-gram", Precision::fp16, Outcome::nan);
    old.epsilon = 1e-3;
    Cell failed = test::makeCell("keller-jordan", Precision::fp32, Outcome::finite);
    failed.error = "out of memory";
    const Cell last = test::makeCell("gns-standard", Precision::bf16, Outcome::finite);
    CellChooser chooser(QString(), {&old, &failed, &last}, askAgain,
        {QStringLiteral("gns-gram"), QStringLiteral("gns-standard"), QStringLiteral("keller-jordan")});
    ASSERT_EQ(chooser.list()->count(), 2) << "a cell that failed has nothing to show";
    EXPECT_EQ(chooser.chosen(), askAgain(last)) << "the newest comes first";
    chooser.list()->setCurrentRow(1);
    EXPECT_EQ(chooser.chosen(), askAgain(old));
    EXPECT_EQ(chooser.variantBox()->currentText(), QStringLiteral("gns-gram"));
    EXPECT_TRUE(chooser.list()->item(1)->text().contains(QStringLiteral("fp16"))) << "named, with how it ended";
    EXPECT_TRUE(chooser.list()->item(1)->text().contains(outcomeWord(Outcome::nan)));
}

TEST(CellChooser, AnyOtherCellCanBeNamed)
{
    const Cell stored = test::makeCell("gns-gram", Precision::fp16, Outcome::finite);
    CellChooser chooser(
        QString(), {&stored}, test::askedFor, {QStringLiteral("gns-gram"), QStringLiteral("keller-jordan")});
    chooser.variantBox()->setCurrentText(QStringLiteral("keller-jordan"));
    EXPECT_EQ(chooser.list()->currentRow(), -1);
    chooser.precisionBox()->setCurrentText(QStringLiteral("tf32"));
    chooser.loweringBox()->setCurrentText(QStringLiteral("fused"));
    EXPECT_EQ(chooser.chosen(), test::cellRequest("keller-jordan", Precision::tf32, Lowering::fused));
    chooser.variantBox()->setCurrentText(QStringLiteral("gns-gram"));
    chooser.precisionBox()->setCurrentText(QStringLiteral("fp16"));
    chooser.loweringBox()->setCurrentText(qstr(name(stored.lowering)));
    EXPECT_EQ(chooser.chosen(), test::askedFor(stored)) << "named again, it is the stored one";
}

TEST(FilmModes, TheOtherCellIsNamedInTheBoxUntilItIsForgotten)
{
    HeatView view;
    FilmPane pane(&view);
    QSignalSpy modes(&pane, &FilmPane::modeChanged);
    QSignalSpy wanted(&pane, &FilmPane::otherWanted);
    QComboBox& box = *pane.modeBox();
    box.setCurrentIndex(1);
    box.setCurrentIndex(box.count() - 1);
    EXPECT_EQ(wanted.size(), 1);
    EXPECT_EQ(box.currentIndex(), 1) << "asking changes nothing yet";
    EXPECT_EQ(modes.size(), 1);
    pane.setOther(test::cellRequest("gns-gram", Precision::bf16));
    EXPECT_EQ(box.currentText(), QStringLiteral("Minus gns-gram · bf16 · eager"));
    ASSERT_EQ(modes.size(), 2);
    EXPECT_EQ(modes[1][0].value<FilmMode>(), FilmMode::againstCell);
    pane.setOther(test::cellRequest("gns-gram", Precision::fp32));
    EXPECT_EQ(box.currentText(), QStringLiteral("Minus gns-gram · fp32 · eager"));
    EXPECT_EQ(modes.size(), 3);
    EXPECT_EQ(box.count(), 5) << "one entry for the other cell, however often it is chosen";
    pane.forgetOther();
    EXPECT_EQ(box.currentText(), QStringLiteral("Values"));
    EXPECT_EQ(box.count(), 4);
    EXPECT_EQ(modes.back()[0].value<FilmMode>(), FilmMode::values);
}

TEST_F(SampleSessionWindow, FilmShowsTheDifferenceToAnyCell)
{
    FilmPane& pane = *window.panes().film;
    ASSERT_NE(pane.strip()->film(), nullptr);
    const replay::CellRequest shown = pane.strip()->film()->request.cell;
    const replay::CellRequest other = test::cellRequest("gns-standard", Precision::bf16, Lowering::fused);
    ASSERT_NE(shown.precision, other.precision);
    pane.modeBox()->setCurrentIndex(pane.modeBox()->count() - 1);
    auto* chooser = window.findChild<CellChooser*>();
    ASSERT_NE(chooser, nullptr);
    chooser->choose(other);
    chooser->accept();
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.mode == FilmMode::againstCell; }));
    const Film* film = pane.strip()->film();
    EXPECT_EQ(film->request.against.cell.variant, "gns-standard");
    const FilmFrame& last = film->frames.back();
    ASSERT_EQ(last.name, OpName::output);
    expectDifference(*last.picture, replayedOutput(shown), replayedOutput(film->request.against.cell));
    EXPECT_TRUE(pane.modeBox()->currentText().contains(QStringLiteral("gns-standard · bf16 · fused")));
    pane.strip()->setCurrent(static_cast<int>(film->frames.size()) - 1);
    EXPECT_TRUE(window.panes().frame->factsText().contains(QStringLiteral("relative to gns-standard · bf16 · fused")))
        << qPrintable(window.panes().frame->factsText());

    pane.modeBox()->setCurrentIndex(0);
    ASSERT_TRUE(waitForFilm([](const Film& shownNow) { return shownNow.mode == FilmMode::values; }));
    EXPECT_EQ(pane.modeBox()->count(), 5) << "the other cell can be chosen again";
    window.panes().captures->selectCapture(1);
    EXPECT_EQ(pane.modeBox()->count(), 4) << "of another capture nothing was chosen";
}

TEST_F(SampleSessionWindow, ACellThatCannotBeReplayedIsOneSentence)
{
    FilmPane& pane = *window.panes().film;
    replay::CellRequest nowhere = test::cellRequest("gns-gram", Precision::fp32);
    nowhere.device = "cuda:7";
    QSignalSpy missing(&window.workspace(), &Workspace::filmMissing);
    pane.setOther(nowhere);
    ASSERT_TRUE(waitUntil([&] { return window.workspace().settled() && missing.size() >= 2; }));
    const QString sentence = missing.back()[0].toString();
    EXPECT_TRUE(sentence.contains(QStringLiteral("cuda:7"))) << qPrintable(sentence);
    EXPECT_FALSE(sentence.contains(QLatin1Char('\n')));
    EXPECT_EQ(pane.strip()->film(), nullptr);
    pane.modeBox()->setCurrentIndex(0);
    EXPECT_TRUE(waitForFilm([](const Film& film) { return film.mode == FilmMode::values; }));
}

} // namespace nanscope
