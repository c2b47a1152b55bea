// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What instruments found, as pictures.
#include <algorithm>
#include <cmath>

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>

#include <gtest/gtest.h>

#include "core/replay/variants/variant.h"
#include "tests/ui/openwindow.h"
#include "ui/instruments/epsilonplot.h"
#include "ui/instruments/instrumentspane.h"
#include "ui/instruments/measureview.h"
#include "ui/instruments/scaleplot.h"
#include "ui/instruments/spectrumplot.h"
#include "ui/instruments/spectrumview.h"
#include "ui/instruments/stopview.h"
#include "ui/shared/table/texttable.h"

namespace nanscope {

namespace {

instruments::ScaleEdge edgeAt(double scale, Outcome inside, Outcome outside, double norm)
{
    instruments::ScaleEdge edge;
    edge.inside = inside;
    edge.outside = outside;
    edge.lastInside = scale * (scale > 1 ? 1 - 1e-6 : 1 + 1e-6);
    edge.firstOutside = scale;
    edge.up = scale > 1;
    edge.frobenius = norm;
    edge.absmax = norm / 17;
    return edge;
}

/// Finite from 2^-20 to 2^10, where the norm reaches the end of fp16; NaN from 2^14 on, and no output at 2^20.
instruments::ScaleAnswer scaleAnswer()
{
    instruments::ScaleAnswer answer;
    answer.lowest = 0x1p-30;
    answer.highest = 0x1p20;
    answer.points = {{0x1p-30, Outcome::degenerate}, {0x1p-10, Outcome::finite}, {1, Outcome::finite},
        {0x1p12, Outcome::zero}, {0x1p16, Outcome::nan}, {0x1p20, {}}};
    answer.edges = {edgeAt(0x1p-20, Outcome::finite, Outcome::degenerate, 1e-9),
        edgeAt(0x1p10, Outcome::finite, Outcome::zero, 65520), edgeAt(0x1p14, Outcome::zero, Outcome::nan, 1e6)};
    return answer;
}

/// Two steps of gns-gram on four singular values; in the last one the second is off by ten tolerances.
instruments::SpectrumAnswer spectrumAnswer(bool closedForm = true)
{
    instruments::SpectrumAnswer answer;
    answer.frobenius = std::sqrt(30.0);
    answer.closedForm = closedForm;
    answer.variant = "gns-gram";
    const replay::Variant& variant = *replay::builtInVariant(answer.variant);
    for (int step = 1; step <= 2; ++step) {
        instruments::SpectrumStage stage;
        stage.step = step;
        const std::span<const replay::Coefficients> steps(variant.steps);
        for (const double sigma : {4.0, 3.0, 2.0, 1.0}) {
            const double expected =
                replay::applySchedule(steps.first(static_cast<std::size_t>(step)), sigma / (answer.frobenius + 1e-7));
            stage.lines.push_back({sigma, sigma / answer.frobenius, expected + 0.0001, expected, 0.001, false});
        }
        answer.stages.push_back(std::move(stage));
    }
    instruments::SpectrumLine& off = answer.stages.back().lines[1];
    off.found = *off.expected - 0.01;
    off.flagged = true;
    return answer;
}

/// 1e-7 is its own; 1e-10 rounds to 0 in fp16, 1 takes the output away.
instruments::EpsilonAnswer epsilonAnswer()
{
    instruments::EpsilonAnswer answer;
    answer.own = 1e-7;
    answer.ownOutcome = Outcome::finite;
    answer.format = Precision::fp16;
    answer.lines = {{0, false, Outcome::nan, {}, {Precision::fp16}},
        {1e-10, false, Outcome::finite, 0.0025, {Precision::fp16}}, {1e-7, true, Outcome::finite, 0, {}},
        {1, false, Outcome::degenerate, 0.5, {}}};
    return answer;
}

MeasureResult resultOf(instruments::MeasureAnswer answer)
{
    MeasureResult result;
    result.order.request.capture = "/tmp/a.pt";
    result.order.cell.variant = "gns-gram";
    result.answer = std::move(answer);
    result.text = QStringLiteral("found");
    result.json =
        QStringLiteral(R"({"subject":{"variant":"gns-gram","precision":"fp16","lowering":"fused","epsilon":1e-07}})");
    return result;
}

MeasureFacts someFacts()
{
    return factsOf(resultOf(instruments::ScaleAnswer {}));
}

int stopAt(const ScalePlot& plot, double binades)
{
    int stop = 0;
    for (const ScaleLook& look : plot.answer().looks) {
        if (look.at == binades) {
            return stop;
        }
        stop += !look.edge || look.at == plot.answer().edges[*look.edge].at ? 1 : 0;
    }
    return -1;
}

} // namespace

TEST(MeasureFacts, SaysWhomWhatAndWithWhichEpsilon)
{
    const MeasureFacts facts = someFacts();
    EXPECT_EQ(facts.target, QStringLiteral("gns-gram · fp16 · fused"));
    EXPECT_EQ(facts.capture, QStringLiteral("/tmp/a.pt"));
    EXPECT_EQ(facts.epsilon, 1e-7);
    MeasureResult own = resultOf(instruments::ScaleAnswer {});
    own.order.impl.emplace();
    own.json = QStringLiteral(R"({"subject":{"variant":"python:mine:f","precision":"own","epsilon":null}})");
    EXPECT_EQ(factsOf(own).target, QStringLiteral("python:mine:f"));
    EXPECT_FALSE(factsOf(own).epsilon);
}

TEST(ScalePicture, TellsWhatWasSeenFromWhatWasNot)
{
    using Kind = ScaleStretch::Kind;
    const ScalePicture picture = makeScalePicture(scaleAnswer(), {});
    std::vector<std::pair<Kind, std::optional<Outcome>>> kinds;
    for (std::size_t i = 0; i < picture.stretches.size(); ++i) {
        kinds.emplace_back(picture.stretches[i].kind, picture.stretches[i].outcome);
        EXPECT_LT(picture.stretches[i].from, picture.stretches[i].to);
        if (i > 0) {
            EXPECT_EQ(picture.stretches[i].from, picture.stretches[i - 1].to);
        }
    }
    const std::vector<std::pair<Kind, std::optional<Outcome>>> expected {{Kind::unseen, {}},
        {Kind::alike, Outcome::degenerate}, {Kind::between, {}}, {Kind::alike, Outcome::finite}, {Kind::between, {}},
        {Kind::alike, Outcome::zero}, {Kind::between, {}}, {Kind::alike, Outcome::nan}, {Kind::between, {}},
        {Kind::unseen, {}}};
    EXPECT_EQ(kinds, expected);
    EXPECT_EQ(picture.lowest, -30);
    EXPECT_EQ(picture.highest, 20);
    EXPECT_TRUE(scalePlaceText(picture, -30.5).contains(QStringLiteral("not looked at")));
    EXPECT_TRUE(scalePlaceText(picture, 18).contains(QStringLiteral("not known")));
    EXPECT_TRUE(scalePlaceText(picture, 12.5).contains(QStringLiteral("between looks that ended all zero")));
}

TEST(ScalePicture, AnEdgeHasItsDistanceAndItsClosedForm)
{
    const ScalePicture picture = makeScalePicture(scaleAnswer(), {});
    EXPECT_EQ(picture.edges[1].place, QStringLiteral("the norm rounds to Inf in fp16"));
    EXPECT_TRUE(picture.edges[2].place.isEmpty());
    const QString text = scaleEdgeText(picture.edges[1]);
    EXPECT_TRUE(text.contains(QStringLiteral("finite to all zero at ×1024 (+10.0 binades)"))) << text.toStdString();
    EXPECT_TRUE(text.contains(QStringLiteral("the norm rounds to Inf in fp16"))) << text.toStdString();
    EXPECT_TRUE(scaleEdgeText(picture.edges[2]).contains(QStringLiteral("no end of a number format lies there")));
    const QString summary = scaleSummary(picture);
    EXPECT_TRUE(summary.contains(QStringLiteral("as captured: finite · −20.0 binades to degenerate")))
        << summary.toStdString();
    EXPECT_TRUE(summary.contains(QStringLiteral("+10.0 binades to all zero (the norm rounds to Inf in fp16)")))
        << summary.toStdString();
}

TEST(ScalePicture, WithoutAnEdgeItSaysHowFarItLooked)
{
    instruments::ScaleAnswer answer = scaleAnswer();
    answer.edges.clear();
    answer.points = {{0x1p-30, Outcome::finite}, {1, Outcome::finite}, {0x1p20, Outcome::finite}};
    const ScalePicture picture = makeScalePicture(answer, {});
    EXPECT_EQ(picture.stretches.size(), 3U);
    EXPECT_TRUE(scaleSummary(picture).contains(QStringLiteral("no edge found up to +20.0 binades")))
        << scaleSummary(picture).toStdString();
}

TEST(ScalePlot, ArrowKeysGoFromPlaceToPlace)
{
    ScaleView view;
    view.resize(600, 240);
    view.show();
    view.setAnswer(scaleAnswer(), someFacts());
    ScalePlot& plot = *view.plot();
    EXPECT_TRUE(view.readoutText().startsWith(QStringLiteral("As captured: finite")));
    QTest::keyClick(&plot, Qt::Key_Home);
    EXPECT_TRUE(view.readoutText().contains(QStringLiteral("−30.0 binades): degenerate")))
        << view.readoutText().toStdString();
    QTest::keyClick(&plot, Qt::Key_Right);
    EXPECT_EQ(plot.stop(), stopAt(plot, -20)) << "the two sides of an edge are one place";
    EXPECT_TRUE(view.readoutText().startsWith(QStringLiteral("Finite to degenerate at")));
    QTest::keyClick(&plot, Qt::Key_End);
    EXPECT_EQ(plot.stop(), stopAt(plot, 20));
    EXPECT_TRUE(view.readoutText().contains(QStringLiteral("no output")));
    QTest::keyClick(&plot, Qt::Key_Right);
    EXPECT_EQ(plot.stop(), stopAt(plot, 20));
}

TEST(ScalePlot, ZoomsAboutThePlaceAndNeverBeyondWhatIsThere)
{
    ScaleView view;
    view.resize(600, 240);
    view.setAnswer(scaleAnswer(), someFacts());
    ScalePlot& plot = *view.plot();
    const double lowest = plot.lowestShown();
    const double highest = plot.highestShown();
    EXPECT_LT(lowest, -30);
    EXPECT_GT(highest, 20);
    QTest::keyClick(&plot, Qt::Key_Plus);
    EXPECT_NEAR(plot.highestShown() - plot.lowestShown(), (highest - lowest) / 2, 1e-9);
    EXPECT_LT(plot.lowestShown(), 0);
    EXPECT_GT(plot.highestShown(), 0);
    for (int i = 0; i < 40; ++i) {
        QTest::keyClick(&plot, Qt::Key_Plus);
    }
    EXPECT_NEAR(plot.highestShown() - plot.lowestShown(), 0.25, 1e-9);
    for (int i = 0; i < 40; ++i) {
        QTest::keyClick(&plot, Qt::Key_Minus);
    }
    EXPECT_EQ(plot.lowestShown(), lowest);
    QTest::keyClick(&plot, Qt::Key_Plus);
    QTest::keyClick(&plot, Qt::Key_0);
    EXPECT_EQ(plot.highestShown(), highest);
}

TEST(ScalePlot, ItsNumbersAreATable)
{
    ScaleView view;
    view.resize(600, 240);
    view.show();
    view.setAnswer(scaleAnswer(), someFacts());
    const auto actions = view.actions();
    const auto copy = std::ranges::find(actions, QKeySequence(QKeySequence::Copy), &QAction::shortcut);
    ASSERT_NE(copy, actions.end());
    (*copy)->trigger();
    const TextTable table = tableFromTsv(QGuiApplication::clipboard()->text());
    ASSERT_EQ(table.rows.size(), 9U) << QGuiApplication::clipboard()->text().toStdString();
    EXPECT_EQ(table.rows[3],
        (QStringList {QStringLiteral("look"), QStringLiteral("4096"), QStringLiteral("12"), QStringLiteral("zero"), {},
            {}, {}, {}}));
    EXPECT_EQ(table.rows[7].first(), QStringLiteral("edge"));
    EXPECT_EQ(table.rows[7].last(), QStringLiteral("the norm rounds to Inf in fp16"));
}

TEST(EpsilonPlot, SaysWhatEachEpsilonChanges)
{
    EpsilonView view;
    view.resize(600, 240);
    view.show();
    view.setAnswer(epsilonAnswer(), someFacts());
    EXPECT_EQ(view.readoutText(),
        QStringLiteral("Its own 1e-07: finite · 2 of 4 epsilons end otherwise · 1 round to 0 in fp16"));
    QTest::keyClick(view.plot(), Qt::Key_Home);
    EXPECT_EQ(view.readoutText(), QStringLiteral("Epsilon 0: NaN"));
    QTest::keyClick(view.plot(), Qt::Key_Right);
    EXPECT_EQ(view.readoutText(),
        QStringLiteral("Epsilon 1e-10: finite · changes the output by 0.25 % · rounds to 0 in fp16"));
    QTest::keyClick(view.plot(), Qt::Key_Right);
    EXPECT_EQ(view.readoutText(), QStringLiteral("Its own epsilon 1e-07: finite"));
    const TextTable table = tableFromTsv(epsilonTsv(view.plot()->answer()));
    ASSERT_EQ(table.rows.size(), 4U);
    EXPECT_EQ(table.rows[1],
        (QStringList {QStringLiteral("1e-10"), QStringLiteral("0"), QStringLiteral("finite"), QStringLiteral("0.0025"),
            QStringLiteral("fp16")}));
    EXPECT_FALSE(view.grab().isNull());
}

TEST(SpectrumPicture, TheCurveIsDrawnWhereItIsWhatCoreExpects)
{
    const SpectrumPicture picture = makeSpectrumPicture(spectrumAnswer(), 1, 1e-7, {});
    EXPECT_EQ(picture.schedule.size(), 2U);
    EXPECT_FALSE(picture.logarithmic);
    EXPECT_EQ(picture.places, (std::vector<double> {1, 2, 3, 4}));
    instruments::SpectrumAnswer other = spectrumAnswer();
    other.stages[1].lines[0].expected = 0.5;
    EXPECT_TRUE(makeSpectrumPicture(other, 1, 1e-7, {}).schedule.empty());
    EXPECT_TRUE(makeSpectrumPicture(spectrumAnswer(false), 1, 1e-7, {}).schedule.empty())
        << "the replay is no polynomial";
    EXPECT_TRUE(makeSpectrumPicture(spectrumAnswer(), 5, 1e-7, {}).stage.lines.empty());
}

TEST(SpectrumPicture, AWideSpectrumIsLogarithmicAndNothingIsZeroOnIt)
{
    instruments::SpectrumAnswer answer = spectrumAnswer();
    answer.stages[0].lines.back().sigma = 0;
    const SpectrumPicture picture = makeSpectrumPicture(answer, 0, {}, {});
    EXPECT_TRUE(picture.logarithmic);
    EXPECT_GT(picture.left, 0);
    EXPECT_GE(picture.places.front(), picture.left);
    EXPECT_EQ(picture.order, (std::vector<std::size_t> {3, 2, 1, 0}));
}

TEST(SpectrumPicture, AFlaggedDirectionIsNamedWithItsDeviation)
{
    const SpectrumPicture picture = makeSpectrumPicture(spectrumAnswer(), 1, 1e-7, {});
    EXPECT_EQ(picture.flagged(), 1U);
    EXPECT_EQ(picture.worstFlagged(4), (std::vector<std::size_t> {1}));
    EXPECT_NEAR(*spectrumDeviation(picture.stage.lines[1]), -10, 1e-9);
    const QString text = spectrumLineText(picture, 1);
    EXPECT_TRUE(text.startsWith(QStringLiteral("direction 2 · σ 3 (55 % of ‖G‖) · p(σ) "))) << text.toStdString();
    EXPECT_TRUE(text.contains(QStringLiteral("10 times what roundings explain: flagged"))) << text.toStdString();
    EXPECT_TRUE(spectrumLineText(picture, 0).contains(QStringLiteral("0.1 of what roundings explain")));
    EXPECT_TRUE(spectrumLineText(makeSpectrumPicture(spectrumAnswer(false), 1, {}, {}), 0)
                    .contains(QStringLiteral("fp64 replay")));
    EXPECT_TRUE(spectrumSummary(picture).startsWith(QStringLiteral("1 of 4 directions flagged")));
}

TEST(SpectrumView, BeginsWithTheOutputAndChoosesSteps)
{
    SpectrumView view;
    view.resize(700, 260);
    view.show();
    view.setAnswer(spectrumAnswer(), someFacts());
    EXPECT_EQ(view.stepBox()->count(), 2);
    EXPECT_EQ(view.stepBox()->currentText(), QStringLiteral("Step 2, the output · 1 flagged"));
    QTest::keyClick(view.values(), Qt::Key_Left);
    EXPECT_TRUE(view.readoutText().startsWith(QStringLiteral("Direction 1"))) << "the largest is at the right end";
    EXPECT_EQ(view.deviation()->stop(), 3) << "both plots are of the same singular values";
    QTest::keyClick(view.deviation(), Qt::Key_Left);
    EXPECT_TRUE(view.readoutText().contains(QStringLiteral("flagged")));
    QTest::keyClick(view.values(), Qt::Key_Up);
    EXPECT_EQ(view.stepBox()->currentIndex(), 0);
    EXPECT_FALSE(view.readoutText().contains(QStringLiteral("flagged"))) << "the same direction a step before";
    QTest::keyClick(view.values(), Qt::Key_Up);
    EXPECT_EQ(view.stepBox()->currentIndex(), 0);
}

TEST(SpectrumView, WhatNobodyExpectsIsNotHeldAgainstAnything)
{
    instruments::SpectrumAnswer answer = spectrumAnswer();
    answer.variant.clear();
    answer.stages.erase(answer.stages.begin());
    for (instruments::SpectrumLine& line : answer.stages[0].lines) {
        line.expected.reset();
        line.flagged = false;
    }
    answer.stages[0].step = 0;
    SpectrumView view;
    view.resize(700, 260);
    view.setAnswer(answer, someFacts());
    EXPECT_FALSE(view.deviation()->isVisibleTo(&view));
    EXPECT_FALSE(view.stepBox()->isVisibleTo(&view));
    EXPECT_EQ(view.readoutText(), QStringLiteral("○ measured"));
    EXPECT_FALSE(view.grab().isNull());
    answer.stages[0].lines.clear();
    answer.stages[0].finite = false;
    view.setAnswer(answer, someFacts());
    EXPECT_FALSE(view.grab().isNull());
}

TEST(MeasureView, HasAPictureOfThoseThatHaveOne)
{
    MeasureView view;
    view.showResult(std::make_shared<const MeasureResult>(resultOf(scaleAnswer())));
    EXPECT_TRUE(view.hasPicture());
    EXPECT_TRUE(view.scale()->isVisibleTo(&view));
    EXPECT_FALSE(view.scale()->plot()->answer().edges.empty());
    view.showResult(std::make_shared<const MeasureResult>(resultOf(spectrumAnswer())));
    EXPECT_TRUE(view.spectrum()->isVisibleTo(&view));
    EXPECT_FALSE(view.scale()->isVisibleTo(&view));
    view.showResult(std::make_shared<const MeasureResult>(resultOf(epsilonAnswer())));
    EXPECT_TRUE(view.epsilon()->isVisibleTo(&view));
    view.showResult(std::make_shared<const MeasureResult>(resultOf(instruments::RepeatAnswer {})));
    EXPECT_FALSE(view.hasPicture());
    EXPECT_EQ(view.text(), QStringLiteral("found"));
    view.showResult(std::make_shared<const MeasureResult>(resultOf(scaleAnswer())));
    view.showText(QStringLiteral("Choose the variant that is replayed"));
    EXPECT_FALSE(view.hasPicture());
    EXPECT_EQ(view.result(), nullptr);
}

TEST(MeasurePlots, SaveWithTitleAndLegend)
{
    MeasureView view;
    view.resize(700, 420);
    view.show();
    view.showResult(std::make_shared<const MeasureResult>(resultOf(scaleAnswer())));
    view.grab();
    const Picture bare = view.scale()->plot()->picture();
    ASSERT_TRUE(static_cast<bool>(bare));
    for (const QString& ending : pictureEndings()) {
        const auto file = encoded(captioned(bare, view.scale()->caption()), QStringLiteral("Scale"), ending);
        ASSERT_TRUE(file) << ending.toStdString();
        EXPECT_GT(file->size(), 1000) << ending.toStdString();
    }
    const PictureCaption caption = view.scale()->caption();
    EXPECT_TRUE(caption.note.contains(QStringLiteral("gns-gram · fp16 · fused"))) << caption.note.toStdString();
    EXPECT_TRUE(caption.legend.contains(QStringLiteral("looked at")));
    EXPECT_EQ(caption.subject, QStringLiteral("/tmp/a.pt"));
}

class MeasureTab : public test::OpenWindow
{ };

TEST_F(MeasureTab, DrawsTheSpectrumOfTheSelectedCapture)
{
    start();
    ASSERT_TRUE(open(copySample()));
    InstrumentsPane& pane = *window->panes().instruments;
    window->pane(QStringLiteral("instruments"));
    pane.instrumentBox()->setCurrentIndex(pane.instrumentBox()->findText(QStringLiteral("Spectrum")));
    pane.variantBox()->setCurrentIndex(pane.variantBox()->findText(QStringLiteral("gns-gram")));
    pane.measureButton()->click();
    ASSERT_TRUE(waitUntil([&] { return pane.answer()->hasPicture(); })) << pane.text().toStdString();
    SpectrumView& view = *pane.answer()->spectrum();
    EXPECT_EQ(view.stepBox()->count(), 5);
    EXPECT_TRUE(view.values()->accessibleDescription().contains(QStringLiteral("directions flagged")))
        << view.values()->accessibleDescription().toStdString();
    const SpectrumPicture shown =
        makeSpectrumPicture(std::get<instruments::SpectrumAnswer>(pane.answer()->result()->answer), 4,
            factsOf(*pane.answer()->result()).epsilon, {});
    EXPECT_EQ(shown.schedule.size(), 5U) << "p(σ) goes through what core expects";
    QCoreApplication::processEvents();
    EXPECT_GE(view.height(), 170);
    const auto* text = pane.answer()->findChild<QPlainTextEdit*>();
    ASSERT_NE(text, nullptr);
    EXPECT_GE(text->height(), 50);
}

} // namespace nanscope
