// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include <QAction>
#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

#include "core/tensorfile/scan/scantensor.h"
#include "tests/ui/samples.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framepane.h"
#include "ui/gauges/gaugespane.h"
#include "ui/heatmap/heatrender.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/saving.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {
namespace {

using test::floatInf;
using test::floatNan;

OpTrace trace(int iteration, OpName op, std::int64_t rows, std::int64_t cols, const std::vector<float>& values)
{
    OpTrace made;
    made.iteration = iteration;
    made.op = op;
    made.rows = rows;
    made.cols = cols;
    made.batches.push_back(tensorfile::scanMatrix(values, rows, cols, false, 0x1p-14));
    made.tiles.push_back(tensorfile::tileMatrix(values, rows, cols, false, 0x1p-14));
    return made;
}

std::vector<float> filled(std::int64_t count, float value)
{
    return std::vector<float>(static_cast<std::size_t>(count), value);
}

/// A Gram form of two steps with a restart before the second, in which q of step 2 overflows at [1, 2].
std::vector<OpTrace> ops()
{
    auto broken = filled(9, 40000);
    broken[5] = floatInf;
    auto after = filled(12, 1);
    after[5] = floatNan;
    return {trace(0, OpName::input, 3, 4, filled(12, 0.5F)), trace(0, OpName::norm, 1, 1, {1.7F}),
        trace(0, OpName::cast, 3, 4, filled(12, 0.25F)), trace(1, OpName::gram, 3, 3, filled(9, 1)),
        trace(1, OpName::z, 3, 3, filled(9, -2)), trace(1, OpName::q, 3, 3, filled(9, 8)),
        trace(2, OpName::restart, 3, 4, filled(12, 2)), trace(2, OpName::gram, 3, 3, filled(9, 1)),
        trace(2, OpName::z, 3, 3, filled(9, -2)), trace(2, OpName::q, 3, 3, broken),
        trace(2, OpName::update, 3, 4, after), trace(2, OpName::output, 3, 4, after)};
}

Cell cell()
{
    Cell made;
    made.variant = "gns-gram";
    made.precision = Precision::fp16;
    made.environment.engine = "eigen";
    for (int step = 1; step <= 2; ++step) {
        Gauge gauge;
        gauge.iteration = step;
        gauge.spectralBound = step == 1 ? 0.5 : 3;
        gauge.spectralLimit = 1.05;
        gauge.absmaxQ = step == 1 ? 8 : 40000;
        gauge.absmaxX = 40000;
        made.gauges.push_back(gauge);
    }
    return made;
}

std::shared_ptr<const MatrixPicture> elementsPicture(
    const std::vector<float>& values, std::int64_t rows, std::int64_t cols)
{
    MatrixPicture picture;
    picture.tiles = tensorfile::tileMatrix(values, rows, cols, false, 0x1p-126);
    picture.scan = tensorfile::scanMatrix(values, rows, cols, false, 0x1p-126);
    picture.floats = values;
    return std::make_shared<const MatrixPicture>(std::move(picture));
}

std::shared_ptr<const Film> film()
{
    return std::make_shared<const Film>(makeFilm(cell(), ops(), 0));
}

} // namespace

TEST(FilmTest, ScalarsHaveNoFrameAndTheBirthIsTheFirstNonFiniteOp)
{
    const auto made = film();
    ASSERT_EQ(made->frames.size(), 11U);
    EXPECT_EQ(made->frames[1].name, OpName::cast);
    EXPECT_EQ(made->frames[1].op, 2) << "ops are counted as the cell does, the norm included";
    ASSERT_GE(made->birth, 0);
    EXPECT_EQ(made->frames[static_cast<std::size_t>(made->birth)].name, OpName::q);
    EXPECT_EQ(made->frames[static_cast<std::size_t>(made->birth)].iteration, 2);
}

TEST(FilmTest, ABadInputIsNoBirth)
{
    auto all = ops();
    auto bad = filled(12, 1);
    bad[0] = floatNan;
    all[0] = trace(0, OpName::input, 3, 4, bad);
    const auto made = makeFilm(cell(), all, 0);
    EXPECT_EQ(made.firstNonFinite, 0);
    EXPECT_EQ(made.birth, -1);
}

TEST(FilmTest, ElementsOfASmallMatrixAreExact)
{
    const auto made = film();
    const MatrixPicture& picture = *made->frames[static_cast<std::size_t>(made->birth)].picture;
    ASSERT_TRUE(picture.hasElements());
    EXPECT_EQ(picture.elementAt(0, 0), 40000);
    EXPECT_EQ(picture.elementAt(1, 2), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(*made->frames.back().picture->elementAt(1, 1)));
}

TEST(FilmTest, RowsKeepTheOrderInWhichAStepRunsItsOps)
{
    const auto places = gridOf(*film());
    EXPECT_EQ(places.columns, 3);
    EXPECT_EQ(places.prologue, 2);
    const std::vector<OpName> expected {
        OpName::restart, OpName::gram, OpName::z, OpName::q, OpName::update, OpName::output};
    EXPECT_EQ(places.rows, expected);
    EXPECT_EQ(places.frameNear(1, 0), 2) << "gram of step 1 is nearest to where step 2 has its restart";
    EXPECT_EQ(places.frameNear(7, 0), -1);
}

TEST(FilmTest, TheCapturedOutputIsBelowTheLastStepAndNoOpOfTheReplay)
{
    auto output = filled(12, 1);
    output[7] = floatNan;
    const auto picture = elementsPicture(output, 3, 4);
    const Film made = withCapturedOutput(*film(), picture);
    ASSERT_EQ(made.frames.size(), film()->frames.size() + 1);
    EXPECT_EQ(capturedFrame(made), static_cast<int>(film()->frames.size()));
    EXPECT_EQ(capturedFrame(*film()), -1);
    EXPECT_EQ(&lastReplayed(made), &made.frames[film()->frames.size() - 1]);
    EXPECT_EQ(frameOf(made, 2, OpName::output), static_cast<int>(film()->frames.size()) - 1);
    EXPECT_EQ(counterpartOf(made.frames.back(), made), capturedFrame(made));
    EXPECT_EQ(counterpartOf(made.frames.back(), *film()), frameOf(*film(), 2, OpName::output))
        << "what is replayed elsewhere is held against what was captured";
    const FilmGrid grid = gridOf(made);
    EXPECT_EQ(grid.rows, gridOf(*film()).rows);
    EXPECT_EQ(grid.rowCount(), static_cast<int>(grid.rows.size()) + 1);
    EXPECT_EQ(grid.places.back().row, static_cast<int>(grid.rows.size()));
    EXPECT_EQ(grid.places.back().column, 2);
}

TEST(FilmStripTest, OpensOnTheCapturedOutputWhereTheReplayStaysFinite)
{
    HeatView view;
    FilmStrip strip(&view);
    auto output = filled(12, 1);
    output[7] = floatNan;
    auto finite = ops();
    finite.resize(7);
    const Film replayed = makeFilm(cell(), finite, 0);
    strip.setFilm(std::make_shared<const Film>(withCapturedOutput(replayed, elementsPicture(output, 3, 4))));
    EXPECT_EQ(strip.current(), capturedFrame(*strip.film()));
    EXPECT_EQ(frameLabel(strip.film()->frames.back()), QStringLiteral("captured output"));
    strip.setFilm(std::make_shared<const Film>(withCapturedOutput(*film(), elementsPicture(output, 3, 4))));
    EXPECT_EQ(strip.current(), film()->birth) << "a replay that goes wrong says more";
}

TEST(FramePaneTest, OfTheCapturedOutputNoDistanceOfTheCellIsSaid)
{
    HeatView view;
    FramePane pane(&view);
    auto made = std::make_shared<Film>(*film());
    made->cell.gauges.resize(1);
    made->cell.gauges[0].distanceToFp64 = 0.00131;
    auto captured = made->frames.back();
    captured.captured = true;
    made->frames.push_back(captured);
    const int last = static_cast<int>(made->frames.size()) - 1;
    pane.setComparing(true);
    pane.setFrame(made, last - 1);
    const auto says = [&pane] {
        return std::ranges::any_of(pane.findChildren<QLabel*>(),
            [](const QLabel* label) { return label->accessibleName().contains(QStringLiteral("to fp64, output")); });
    };
    EXPECT_TRUE(says());
    pane.setFrame(made, last);
    EXPECT_FALSE(says()) << "it is that of a replay";
}

TEST(FramePaneTest, OfTheCapturedOutputTheReplayedElementIsSaid)
{
    HeatView view;
    FramePane pane(&view);
    auto output = filled(12, 1);
    output[7] = floatNan;
    auto healthy = ops();
    healthy.resize(7);
    healthy.push_back(trace(2, OpName::output, 3, 4, filled(12, 0.75F)));
    const auto made =
        std::make_shared<const Film>(withCapturedOutput(makeFilm(cell(), healthy, 0), elementsPicture(output, 3, 4)));
    pane.setFrame(made, capturedFrame(*made));
    const QString facts = pane.factsText();
    EXPECT_TRUE(facts.contains(QStringLiteral("First non-finite: [1, 3] NaN"))) << facts.toStdString();
    EXPECT_TRUE(facts.contains(QStringLiteral("Replay there: 0.75"))) << facts.toStdString();
    EXPECT_FALSE(facts.contains(QStringLiteral("of fp16"))) << "nothing of it was computed in fp16 here";
    EXPECT_FALSE(facts.contains(QStringLiteral("max |Q|"))) << "a gauge is of a replay";
    const auto all = std::make_shared<const Film>(withCapturedOutput({}, elementsPicture(filled(12, floatNan), 3, 4)));
    pane.setFrame(all, 0);
    EXPECT_TRUE(pane.factsText().contains(QStringLiteral("Largest |x|: no finite value")));
    EXPECT_TRUE(pane.factsText().contains(QStringLiteral("Replay there: –"))) << "there is no replay";
}

TEST(FilmStripTest, ArrowsMoveBetweenStepsAndOps)
{
    HeatView view;
    FilmStrip strip(&view);
    strip.resize(900, 500);
    strip.setFilm(film());
    EXPECT_EQ(strip.current(), strip.film()->birth) << "what broke is shown first";
    QTest::keyClick(&strip, Qt::Key_Left);
    EXPECT_EQ(strip.film()->frames[static_cast<std::size_t>(strip.current())].iteration, 1);
    EXPECT_EQ(strip.film()->frames[static_cast<std::size_t>(strip.current())].name, OpName::q);
    QTest::keyClick(&strip, Qt::Key_Down);
    EXPECT_EQ(strip.film()->frames[static_cast<std::size_t>(strip.current())].name, OpName::restart);
    QTest::keyClick(&strip, Qt::Key_Home);
    EXPECT_EQ(strip.current(), 0);
    QTest::keyClick(&strip, Qt::Key_Up);
    EXPECT_EQ(strip.current(), 0);
    QTest::keyClick(&strip, Qt::Key_B);
    EXPECT_EQ(strip.current(), strip.film()->birth);
    QTest::keyClick(&strip, Qt::Key_End);
    EXPECT_EQ(strip.current(), 10);
}

TEST(FilmStripTest, TheBirthIsFramedInItsColourAndNothingElseIs)
{
    applyTheme(ThemeChoice::light);
    HeatView view;
    FilmStrip strip(&view);
    strip.resize(900, 500);
    strip.setFilm(film());
    strip.setCurrent(0);
    const QImage image = strip.grab().toImage();
    const auto hasBirthColour = [&](int frame) {
        const QRect rect = strip.frameRect(frame).adjusted(-3, -3, 3, 3);
        int pixels = 0;
        for (int x = rect.left(); x <= rect.right(); ++x) {
            pixels += image.pixelColor(x, rect.top() + 1) == theme().birth ? 1 : 0;
        }
        return pixels > rect.width() / 2;
    };
    EXPECT_TRUE(hasBirthColour(strip.film()->birth));
    EXPECT_FALSE(hasBirthColour(2));
    EXPECT_FALSE(hasBirthColour(strip.film()->birth - 1));
}

TEST(FilmStripTest, ANonFiniteElementKeepsItsColourInTheSmallestPicture)
{
    applyTheme(ThemeChoice::light);
    HeatView view;
    FilmStrip strip(&view);
    strip.resize(strip.minimumSizeHint());
    std::vector<float> values(std::size_t {200} * 200, 1);
    values[200 * 100 + 50] = floatInf;
    strip.setFilm(std::make_shared<const Film>(makeFilm(
        cell(), {trace(0, OpName::input, 200, 200, filled(40000, 1)), trace(1, OpName::gram, 200, 200, values)}, 0)));
    const QImage image = strip.grab(strip.frameRect(1)).toImage();
    int marked = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const QColor color = image.pixelColor(x, y);
            const bool infinite = color == theme().posInf || color == hatchColor(ValueClass::posInf, theme());
            marked += infinite ? 1 : 0;
        }
    }
    EXPECT_GE(marked, 1);
}

TEST(FilmStripTest, SideBySideTheSameValueHasTheSameColour)
{
    const auto filmOf = [](float other, FilmMode mode = FilmMode::values) {
        auto values = filled(9, 1);
        values[8] = other;
        auto bad = filled(9, floatNan);
        return std::make_shared<const Film>(makeFilm(cell(),
            {trace(0, OpName::input, 3, 3, filled(9, 1)), trace(1, OpName::gram, 3, 3, values),
                trace(2, OpName::gram, 3, 3, other > 1 ? bad : values)},
            0, mode));
    };
    HeatView view;
    FilmStrip first(&view);
    FilmStrip second(&view);
    first.resize(900, 500);
    second.resize(900, 500);
    first.setFilm(filmOf(1e-3F));
    second.setFilm(filmOf(1e4F));
    const auto colour = [](FilmStrip& strip) {
        const QImage image = strip.grab().toImage();
        const QRect frame = strip.frameRect(1);
        return image.pixel(frame.topLeft() + QPoint(frame.width() / 6, frame.height() / 6));
    };
    const QRgb alone = colour(first);
    EXPECT_NE(alone, colour(second)) << "each on a scale of its own";
    ASSERT_TRUE(canShareScale(first.film(), second.film()));
    const FilmScales both = united(first.ownScales(), second.ownScales());
    first.setShared(both);
    second.setShared(both);
    EXPECT_EQ(colour(first), colour(second));
    EXPECT_NE(colour(first), alone);
    EXPECT_NEAR(first.scaleOfFrame(1).low, -3, 1e-6);
    EXPECT_NEAR(first.scaleOfFrame(1).high, 4, 1e-6);
    first.setShared(std::nullopt);
    EXPECT_EQ(colour(first), alone);
    EXPECT_FALSE(canShareScale(first.film(), filmOf(2, FilmMode::againstFp64).get()));
    EXPECT_FALSE(canShareScale(first.film(), nullptr));
}

TEST(FilmStripTest, CountsCanBeTakenAway)
{
    HeatView view;
    FilmStrip strip(&view);
    EXPECT_EQ(strip.table().count(QLatin1Char('\n')), 0);
    strip.setFilm(film());
    const QStringList lines = strip.table().split(QLatin1Char('\n'));
    ASSERT_EQ(lines.size(), 12);
    EXPECT_EQ(lines[9], QStringLiteral("2\tq\t3\t3\t0\t1\t0\t0\t40000"));
}

TEST(FilmPaneTest, SliderAndStripStayTogether)
{
    HeatView view;
    FilmPane pane(&view);
    QSignalSpy frames(&pane, &FilmPane::frameChanged);
    pane.setFilm(film());
    EXPECT_EQ(pane.slider()->maximum(), 10);
    EXPECT_EQ(pane.slider()->value(), pane.strip()->current());
    pane.slider()->setValue(3);
    EXPECT_EQ(pane.strip()->current(), 3);
    EXPECT_EQ(frames.back().at(0).toInt(), 3);
    pane.goToIteration(2);
    EXPECT_EQ(pane.strip()->film()->frames[static_cast<std::size_t>(pane.strip()->current())].iteration, 2);
    pane.showMessage(QStringLiteral("none"));
    EXPECT_FALSE(pane.slider()->isEnabled());
    EXPECT_EQ(pane.strip()->current(), -1);
}

TEST(FilmPaneTest, WithoutAFilmTheSweepIsOffered)
{
    HeatView view;
    FilmPane pane(&view);
    EXPECT_TRUE(pane.offered()->isHidden()) << "nothing to offer";
    QAction sweep(QStringLiteral("Sweep"));
    QSignalSpy asked(&sweep, &QAction::triggered);
    pane.offer(&sweep);
    EXPECT_TRUE(pane.offered()->isHidden());
    pane.setOffered(true);
    EXPECT_FALSE(pane.offered()->isHidden());
    pane.offered()->click();
    EXPECT_EQ(asked.size(), 1);
    pane.showMessage(QStringLiteral("Replaying…"));
    EXPECT_TRUE(pane.offered()->isHidden()) << "another message asks for something else";
    pane.setOffered(true);
    pane.setFilm(film());
    EXPECT_TRUE(pane.offered()->isHidden());
}

TEST(FilmPaneTest, SaysThatOthersMayHaveRunAsWell)
{
    HeatView view;
    FilmPane pane(&view);
    const auto shown = film();
    pane.setFilm(shown);
    pane.setPlausible({shown->cell.variant});
    EXPECT_FALSE(pane.note().contains(QStringLiteral("may have run"))) << pane.note().toStdString();
    pane.setPlausible({shown->cell.variant, "another"});
    EXPECT_TRUE(pane.note().endsWith(QStringLiteral("one of 2 that may have run"))) << pane.note().toStdString();
    pane.setPlausible({"another", "a third"});
    EXPECT_FALSE(pane.note().contains(QStringLiteral("may have run"))) << "what is shown is none of them";
}

TEST(FilmPaneTest, TellsWhatTheFilmHolds)
{
    HeatView view;
    FilmPane pane(&view);
    const auto shown = film();
    std::int64_t elements = 0;
    for (const auto& frame : shown->frames) {
        elements += frame.picture->scan.count;
    }
    // A tile for each element: least, largest, largest magnitude, class, and the element.
    EXPECT_EQ(bytesOf(*shown), elements * 17);
    pane.setFilm(shown);
    const auto labels = pane.findChildren<ElidedLabel*>();
    const auto tells = [&](const ElidedLabel* label) {
        return label->toolTip().contains(
                   QStringLiteral("The window holds %1 of this film").arg(sizeLabel(elements * 17)))
            && label->toolTip().contains(QStringLiteral("1.1 MB at most"))
            && label->toolTip().contains(QStringLiteral("2.1 GB together"));
    };
    EXPECT_EQ(std::ranges::count_if(labels, tells), 1);
    pane.showMessage(QStringLiteral("Replaying…"));
    EXPECT_EQ(std::ranges::count_if(labels, tells), 0);
}

TEST(FramePaneTest, SaysWhatIsInTheFrameAndUnderTheCursor)
{
    HeatView view;
    FramePane pane(&view);
    pane.resize(300, 600);
    const auto made = film();
    pane.setFrame(made, made->birth);
    EXPECT_TRUE(pane.factsText().contains(QStringLiteral("NaN · +Inf · −Inf: 0 · 1 · 0")))
        << qPrintable(pane.factsText());
    EXPECT_TRUE(pane.factsText().contains(QStringLiteral("First non-finite: [1, 2] +Inf")));
    EXPECT_TRUE(pane.factsText().contains(QStringLiteral("40000 (61.1 % of fp16)")));
    view.setCursor({2.5 / 3, 1.5 / 3});
    EXPECT_TRUE(pane.factsText().contains(QStringLiteral("Under cursor: [1, 2] = +Inf")))
        << qPrintable(pane.factsText());
    pane.setFrame(made, -1);
    EXPECT_TRUE(pane.factsText().contains(QStringLiteral("Under cursor: –")));
}

TEST(FramePaneTest, ADifferenceIsNotCalledTheTensor)
{
    HeatView view;
    FramePane pane(&view);
    pane.resize(300, 600);
    Film made = *film();
    made.mode = FilmMode::againstFp64;
    pane.setFrame(std::make_shared<const Film>(made), made.birth);
    EXPECT_TRUE(pane.note().contains(QStringLiteral(", minus fp64"))) << qPrintable(pane.note());
    EXPECT_FALSE(pane.factsText().contains(QStringLiteral("of fp16"))) << "a difference does not overflow";
    EXPECT_FALSE(pane.factsText().contains(QStringLiteral("‖X‖₂"))) << "the bound is that of the tensor";
    EXPECT_FALSE(pane.factsText().contains(QStringLiteral("max |Q|")));
}

TEST(FramePaneTest, WhereNothingIsUnderTheCursorNothingIsReadOut)
{
    HeatView view;
    FramePane pane(&view);
    pane.resize(300, 600);
    const auto made = film();
    pane.setFrame(made, made->birth);
    QSignalSpy readout(&pane, &FramePane::readoutChanged);
    view.setCursor({2.5 / 3, 1.5 / 3});
    ASSERT_EQ(readout.size(), 1);
    EXPECT_TRUE(readout.last().first().toString().contains(QStringLiteral("[1, 2] = +Inf")));
    view.clearCursor();
    ASSERT_EQ(readout.size(), 2);
    EXPECT_EQ(readout.last().first().toString(), QString());
    pane.setFrame(nullptr, -1);
    EXPECT_EQ(readout.size(), 2) << "what another pane read out stays";
}

TEST(GaugesTest, SlackIsToldOnlyWhereTheBoundProvesIt)
{
    GaugesPane pane;
    const Cell shown = cell();
    pane.setCell(&shown);
    const auto& rows = pane.plot()->rows();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_NEAR(*rows[0].slackPercent, 110, 1e-9);
    const QString text = pane.plot()->accessibleDescription();
    EXPECT_TRUE(text.contains(QStringLiteral("slack at least 110 %"))) << qPrintable(text);
    EXPECT_EQ(text.count(QStringLiteral("slack")), 1) << "a bound of 3 beyond the limit proves nothing";
    EXPECT_TRUE(text.contains(QStringLiteral("limit 1.05 (an upper bound beyond it proves nothing)")))
        << qPrintable(text);
    EXPECT_TRUE(pane.plot()
                    ->legendText()
                    .replace(QChar(QChar::Nbsp), u' ')
                    .contains(QStringLiteral("upper bound of ‖X‖₂ (beyond the limit it proves nothing)")))
        << qPrintable(pane.plot()->legendText());
    EXPECT_TRUE(
        pane.plot()->legendText().replace(QChar(QChar::Nbsp), u' ').contains(QStringLiteral("largest fp16 65504")))
        << qPrintable(pane.plot()->legendText());
    EXPECT_EQ(pane.plot()->table().split(QLatin1Char('\n')).at(2), QStringLiteral("2\t3\t1.05\t40000\t\t40000"));
    pane.setCell(nullptr);
    EXPECT_TRUE(pane.plot()->rows().empty());
}

TEST(GaugesTest, WhereNothingIsFiniteASentenceSaysSince)
{
    GaugesPane pane;
    Cell shown = cell();
    pane.setCell(&shown);
    EXPECT_EQ(pane.readoutText(), QString());
    const QString limit = QStringLiteral("<span style='color:%1'>▬</span>").arg(theme().bad.name());
    EXPECT_TRUE(pane.legend()->text().contains(limit)) << qPrintable(pane.legend()->text());
    Q_EMIT pane.plot()->readoutChanged(QStringLiteral("step 1"));
    EXPECT_EQ(pane.readoutText(), QStringLiteral("step 1"));
    EXPECT_TRUE(pane.legend()->text().contains(limit)) << "what is read does not take the place of the legend";
    for (Gauge& gauge : shown.gauges) {
        gauge.spectralBound = gauge.absmaxQ = gauge.orthogonality = std::nullopt;
        gauge.absmaxX = std::numeric_limits<double>::quiet_NaN();
    }
    shown.firstNonFinite = NonFinite {1, OpName::gram, {0, 0}, ValueClass::nan, 4};
    pane.setCell(&shown);
    EXPECT_EQ(
        pane.readoutText(), QStringLiteral("No gauge can be drawn: this replay is not finite from step 1 gram on"));
}

TEST(GaugesTest, LabelsOfAShortAxisStandApart)
{
    if (!pictureEndings().contains(QStringLiteral("svg"))) {
        GTEST_SKIP() << "no Qt SVG in this build";
    }
    Cell shown = cell();
    shown.precision = Precision::fp64; // the largest of fp16 would widen the axis
    for (Gauge& gauge : shown.gauges) {
        gauge.spectralBound = 4;
        gauge.spectralLimit = gauge.absmaxQ = std::nullopt;
        gauge.absmaxX = 3;
    }
    GaugesPane pane;
    pane.resize(300, 300);
    pane.show();
    pane.setCell(&shown);
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("a.svg"));
    ASSERT_TRUE(savePicture(pane.plot()->picture(), QStringLiteral("Gauges"), path));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray svg = file.readAll();
    EXPECT_TRUE(svg.contains(">2·10<")) << svg.toStdString();
    EXPECT_FALSE(svg.contains(">3·10<") || svg.contains(">4·10<")) << svg.toStdString();
}

TEST(GaugesTest, DeepOnesAreOfferedWithTheirCostAndShownOnceTheyAreThere)
{
    GaugesPane pane;
    EXPECT_TRUE(pane.deepButton()->isHidden());
    Cell shown = cell();
    pane.setCell(&shown);
    pane.setDeepOffer(QStringLiteral("about 4 seconds"));
    EXPECT_FALSE(pane.deepButton()->isHidden());
    EXPECT_EQ(pane.deepButton()->toolTip(), QStringLiteral("about 4 seconds"));
    EXPECT_TRUE(pane.views()->isHidden());
    QSignalSpy requested(&pane, &GaugesPane::deepRequested);
    QSignalSpy cancelled(&pane, &GaugesPane::deepCancelled);
    pane.deepButton()->click();
    EXPECT_EQ(requested.count(), 1);
    pane.setMeasuring(true);
    pane.showProgress(3, 21);
    EXPECT_EQ(pane.deepButton()->text(), QStringLiteral("Cancel"));
    EXPECT_EQ(pane.readoutText(), QStringLiteral("Measuring: 3 of 21 ops"));
    pane.deepButton()->click();
    EXPECT_EQ(cancelled.count(), 1);
    pane.setMeasuring(false);
    EXPECT_NE(pane.readoutText(), QStringLiteral("Measuring: 3 of 21 ops"));

    shown.deep.emplace();
    shown.deep->outputRange = {0.8, 1.2};
    shown.deep->shares = {0.5};
    shown.deep->steps = {{1, 0.25, -4e-4, 0.0, {}, {7.5}}, {2, {}, {}, {}, {}, {}}};
    pane.setCell(&shown);
    EXPECT_TRUE(pane.deepButton()->isHidden());
    EXPECT_FALSE(pane.views()->isHidden());
    EXPECT_FALSE(pane.deepPlots()[0]->isHidden()) << "what was asked for is shown";
    EXPECT_TRUE(pane.plot()->isHidden());
    pane.views()->setCurrentIndex(pane.views()->count() - 1);
    EXPECT_FALSE(pane.plot()->isHidden());
    EXPECT_FALSE(pane.deepPlots()[2]->isHidden());
    EXPECT_EQ(pane.deepPlots()[0]->textOf(1), QStringLiteral("step 1 · X to fp64 0.25 · asymmetry of R 0"));
    EXPECT_EQ(pane.deepPlots()[1]->textOf(1), QStringLiteral("step 1 · λmin ≤ -0.0004: R is no Gram matrix any more"));
    EXPECT_EQ(pane.deepPlots()[0]->textOf(2), QStringLiteral("step 2 · not finite by then"));
    const QStringList lines = pane.plot()->table().split(QLatin1Char('\n'));
    EXPECT_TRUE(lines[0].endsWith(QStringLiteral("\tlambda_min\tsymmetry_error\tcommutator\tgain_of_0.5")))
        << qPrintable(lines[0]);
    EXPECT_TRUE(lines[1].endsWith(QStringLiteral("\t0.25\t-4e-04\t0\t\t7.5"))) << qPrintable(lines[1]);
    EXPECT_TRUE(lines[2].endsWith(QStringLiteral("\t\t\t\t\t"))) << qPrintable(lines[2]);
    pane.setCell(nullptr);
    EXPECT_TRUE(pane.views()->isHidden());
    EXPECT_FALSE(pane.plot()->isHidden());
}

} // namespace nanscope
