// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

#include <gtest/gtest.h>

#include "core/diagnose/damage/candidateorigins.h"
#include "tests/ui/samples.h"
#include "tests/ui/windowtest.h"
#include "ui/captures/capturespane.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/plantdialog.h"
#include "ui/gauges/gaugespane.h"
#include "ui/heatmap/heatview.h"

namespace nanscope {

namespace {

using test::SampleSessionWindow;

/// Frames of these sizes; their values do not matter.
Film filmOf(std::initializer_list<std::tuple<OpName, int, std::int64_t, std::int64_t>> ops)
{
    Film film;
    for (const auto& [op, iteration, rows, cols] : ops) {
        MatrixPicture picture;
        picture.tiles.rows = rows;
        picture.tiles.cols = cols;
        film.frames.push_back({static_cast<int>(film.frames.size()), iteration, op,
            std::make_shared<const MatrixPicture>(std::move(picture)), {}});
    }
    return film;
}

Film twoOps()
{
    return filmOf({{OpName::gram, 1, 128, 128}, {OpName::update, 2, 128, 300}});
}

class PlantedSample : public SampleSessionWindow
{
protected:
    FilmPane& pane() { return *window.panes().film; }

    PlantDialog* ask()
    {
        pane().plantButton()->click();
        return window.findChild<PlantDialog*>();
    }

    void plant(const replay::PlantedFault& fault)
    {
        PlantDialog* dialog = ask();
        dialog->choose(fault);
        dialog->accept();
    }

    /// A row less than what is planted now.
    void plantElsewhere()
    {
        replay::PlantedFault fault = *window.workspace().film().plant();
        fault.region.rows = fault.region.rows > 1 ? fault.region.rows - 1 : 2;
        pane().plantButton()->click();
        ASSERT_TRUE(waitForFilm([](const Film& film) { return !film.request.plant; }));
        plant(fault);
        ASSERT_TRUE(waitForFilm([](const Film& film) { return film.request.plant.has_value(); }));
    }

    static std::int64_t notFinite(const Film& film, OpName op, int iteration)
    {
        return film.frames[static_cast<std::size_t>(frameOf(film, iteration, op))].picture->scan.nonFinite();
    }
};

} // namespace

TEST(PlantDialog, BeginsWithTheFrameAndTheTileUnderTheCursor)
{
    const PlantDialog dialog(twoOps(), 1, QPointF(0.5, 0.9));
    const replay::PlantedFault fault = dialog.fault();
    EXPECT_EQ(fault.op, OpName::update);
    EXPECT_EQ(fault.iteration, 2);
    EXPECT_EQ(fault.region, (replay::Region {64, 128, 64, 64})) << "row 115 and column 150 lie in it";
    EXPECT_EQ(fault.value, replay::PlantedValue::nan);
    EXPECT_FALSE(fault.mirrored);
}

TEST(PlantDialog, TheTileStaysWithinTheMatrix)
{
    PlantDialog dialog(twoOps(), 1, {});
    dialog.rows()->setValue(128);
    dialog.row()->setValue(100);
    EXPECT_EQ(dialog.fault().region.rows, 28);
    replay::PlantedFault wide {OpName::update, 2, {0, 200, 10, 100}};
    dialog.choose(wide);
    EXPECT_EQ(dialog.fault(), wide);
    dialog.opBox()->setCurrentIndex(0);
    EXPECT_EQ(dialog.fault().region.col, 127) << "the other op has 128 columns";
    EXPECT_EQ(dialog.fault().region.cols, 1);
}

TEST(PlantDialog, EveryValueComesBackAsItWasChosen)
{
    PlantDialog dialog(twoOps(), 0, {});
    for (const auto value : {replay::PlantedValue::posInf, replay::PlantedValue::negInf, replay::PlantedValue::zero,
             replay::PlantedValue::held, replay::PlantedValue::nan, replay::PlantedValue::number}) {
        replay::PlantedFault fault {
            OpName::gram, 1, {8, 16, 4, 2}, value, value == replay::PlantedValue::number ? -0.25 : 0, true};
        dialog.choose(fault);
        EXPECT_EQ(dialog.fault(), fault);
        EXPECT_EQ(dialog.number()->isVisibleTo(&dialog), value == replay::PlantedValue::number);
    }
    dialog.choose({OpName::restart, 3, {0, 0, 1, 1}});
    EXPECT_EQ(dialog.fault().op, OpName::gram) << "a place that this replay does not have changes nothing";
}

TEST(PlantDialog, APlaceThatEndsLikeTheDumpIsOneClick)
{
    PlantDialog dialog(twoOps(), 0, {});
    EXPECT_FALSE(dialog.endings()->isVisibleTo(&dialog));
    dialog.setEndings({{{{"gns-gram", 2, OpName::update, false}, {32, 64, 32, 32}}}, 17});
    ASSERT_EQ(dialog.endings()->count(), 1);
    EXPECT_TRUE(dialog.endings()->item(0)->text().contains(QStringLiteral("32 × 32 at [32, 64] of step 2 update")));
    dialog.endings()->setCurrentRow(0);
    EXPECT_EQ(dialog.fault().op, OpName::update);
    EXPECT_EQ(dialog.fault().region, (replay::Region {32, 64, 32, 32}));
}

TEST(PlantDialog, WhereNoTileEndsLikeTheDumpItSaysWhichWereTried)
{
    PlantDialog dialog(twoOps(), 0, {});
    dialog.setEndings({{}, 17});
    EXPECT_FALSE(dialog.endings()->isVisibleTo(&dialog));
    const QString title = dialog.endingsTitle()->text();
    EXPECT_TRUE(title.startsWith(QStringLiteral("No tile that was tried ends like the dump, in none of 17 places")));
    EXPECT_TRUE(title.contains(QStringLiteral("smaller than the matrix in both directions")));
    EXPECT_TRUE(title.contains(QStringLiteral("a band across it was not tried")));
}

TEST_F(PlantedSample, AFaultSpreadsThroughTheFilmAndIsTakenOutAgain)
{
    const Film* before = pane().strip()->film();
    ASSERT_NE(before, nullptr);
    const int step = before->frames[before->frames.size() - 2].iteration;
    const replay::PlantedFault fault {OpName::update, step, {1, 2, 3, 4}};
    plant(fault);
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.request.plant.has_value(); }));
    const Film& film = *pane().strip()->film();
    EXPECT_EQ(*film.request.plant, fault);
    EXPECT_FALSE(film.judged) << "how the stored cell ended says nothing of this one";
    EXPECT_EQ(notFinite(film, OpName::update, step), 12);
    EXPECT_EQ(notFinite(film, OpName::output, film.frames.back().iteration), 12);
    EXPECT_EQ(pane().strip()->current(), pane().strip()->plantedFrame());
    EXPECT_TRUE(pane().simulated().startsWith(QStringLiteral("Simulated: NaN in 3 × 4 at [1, 2] of step")));
    EXPECT_TRUE(pane().simulated().endsWith(QStringLiteral("Whether the captured call did this is not known.")))
        << "it may be the place that ends like the dump";
    EXPECT_TRUE(pane().note().startsWith(QStringLiteral("NaN in 3 × 4 at [1, 2] of step")))
        << qPrintable(pane().note());

    pane().plantButton()->click();
    ASSERT_TRUE(waitForFilm([](const Film& shown) { return !shown.request.plant; }));
    EXPECT_TRUE(pane().strip()->film()->judged);
    EXPECT_EQ(pane().strip()->plantedFrame(), -1);
    EXPECT_EQ(pane().plantButton()->text(), QStringLiteral("Plant fault…"));
}

TEST_F(PlantedSample, TheGaugesAreThoseOfTheReplayWithTheFault)
{
    GaugesPane& gauges = *window.panes().gauges;
    const std::vector<GaugePlot::Row> before = gauges.plot()->rows();
    ASSERT_GE(before.size(), 3U);
    plant({OpName::update, static_cast<int>(before.size()), {0, 0, 2, 2}, replay::PlantedValue::number, 1000});
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.request.plant.has_value(); }));
    const std::vector<GaugePlot::Row>& after = gauges.plot()->rows();
    ASSERT_EQ(after.size(), before.size());
    EXPECT_EQ(after.front().spectralBound, before.front().spectralBound) << "before the fault nothing is different";
    EXPECT_EQ(after.front().absmaxX, before.front().absmaxX);
    EXPECT_EQ(after.back().absmaxX, 1000);
    EXPECT_TRUE(gauges.note().contains(QStringLiteral("planted fault"))) << qPrintable(gauges.note());
    EXPECT_FALSE(gauges.deepButton()->isVisibleTo(&gauges)) << "those would be of the replay without it";

    pane().modeBox()->setCurrentIndex(1);
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.mode == FilmMode::againstFp64; }));
    EXPECT_TRUE(gauges.plot()->rows().empty());
    EXPECT_TRUE(gauges.readoutText().contains(QStringLiteral("A difference has no gauges")))
        << qPrintable(gauges.readoutText());

    pane().modeBox()->setCurrentIndex(0);
    pane().plantButton()->click();
    ASSERT_TRUE(waitForFilm([](const Film& film) { return !film.request.plant; }));
    EXPECT_EQ(gauges.plot()->rows().back().absmaxX, before.back().absmaxX);
    EXPECT_EQ(gauges.note(), QStringLiteral("per step of the iteration"));
}

TEST_F(PlantedSample, ThePlaceTheToolOffersEndsLikeTheDump)
{
    PlantDialog* dialog = ask();
    ASSERT_NE(dialog, nullptr);
    ASSERT_TRUE(waitUntil([&] { return dialog->endings()->count() > 0; }));
    dialog->endings()->setCurrentRow(0);
    dialog->accept();
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.request.plant.has_value(); }));
    pane().modeBox()->setCurrentIndex(2);
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.mode == FilmMode::againstOutput; }));
    EXPECT_TRUE(pane().note().contains(QStringLiteral("ends like the dump: the same elements are not finite")))
        << qPrintable(pane().note());

    plantElsewhere();
    EXPECT_TRUE(pane().note().contains(QStringLiteral("does not end like the dump"))) << qPrintable(pane().note());
}

TEST_F(PlantedSample, AnotherCaptureHasNoFault)
{
    const int step = pane().strip()->film()->frames.back().iteration;
    plant({OpName::output, step, {0, 0, 1, 1}, replay::PlantedValue::zero});
    ASSERT_TRUE(waitForFilm([](const Film& film) { return film.request.plant.has_value(); }));
    EXPECT_EQ(pane().strip()->current(), pane().strip()->plantedFrame()) << "a zero is where it was planted";
    window.panes().captures->selectCapture(1);
    EXPECT_FALSE(window.workspace().film().plant());
    EXPECT_EQ(pane().plantButton()->text(), QStringLiteral("Plant fault…"));
}

} // namespace nanscope
