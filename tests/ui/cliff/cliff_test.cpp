// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <limits>

#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QDoubleSpinBox>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/replay/variants/variant.h"
#include "core/rpc/answers.h"
#include "tests/ui/samples.h"
#include "ui/cliff/cliffcurve.h"
#include "ui/cliff/cliffladder.h"
#include "ui/cliff/cliffpane.h"
#include "ui/cliff/cliffstrip.h"
#include "ui/jobs/replayservice.h"
#include "ui/shared/table/texttable.h"

namespace nanscope {

namespace {

using test::nan;
using test::patienceMs;

Cell gnsCell()
{
    Cell cell = test::makeCell("gns-gram", Precision::fp16, Outcome::finite);
    cell.lowering = Lowering::fused;
    cell.epsilon = 1e-7;
    return cell;
}

/// A replay of that cell that ends as told; sigma at scale 1 is 0.5.
SharedCliff cliffAt(double scale, Outcome outcome, int roundings = 8, double safety = 1.05, double seconds = 0.01)
{
    replay::ReplayedCliff cliff;
    cliff.scale = scale;
    cliff.safety = safety;
    cliff.limits = replay::divergenceLimits(replay::stepsOf(*replay::builtInVariant("gns-gram"), {}, safety));
    for (int i = 0; i < roundings; ++i) {
        replay::CliffReplay each;
        each.cell = gnsCell();
        each.cell.outcome = outcome;
        each.cell.seconds = seconds;
        each.sigma = {scale * (0.5 + 0.001 * i), 1.9, 1.9, 1.8, 1.5};
        if (outcome == Outcome::nan) {
            each.cell.firstNonFinite = NonFinite {3, OpName::gram, {0, 0, 0}, ValueClass::posInf, 7};
            each.sigma = {scale * (0.5 + 0.001 * i), 2.5, nan, nan, nan};
        }
        cliff.replays.push_back(std::move(each));
    }
    return std::make_shared<const replay::ReplayedCliff>(std::move(cliff));
}

/// A shown pane of the cell, and what it asks for.
class ShownPane
{
public:
    ShownPane()
    {
        QObject::connect(
            &pane, &CliffPane::replayRequested, [this](const replay::CliffRequest& each) { requests.push_back(each); });
        pane.resize(640, 300);
        pane.show();
        pane.setCell(gnsCell(), 0, {});
    }

    bool waitForRequests(std::size_t count)
    {
        return QTest::qWaitFor([&] { return requests.size() >= count; }, patienceMs);
    }

    CliffPane pane;
    std::vector<replay::CliffRequest> requests;
};

} // namespace

TEST(ServiceRequestTest, OnlyTheNewestIsAnswered)
{
    const QString folder = QStringLiteral(NANSCOPE_SAMPLE "/dion_nan_captures");
    const QStringList found = QDir(folder).entryList({QStringLiteral("*.pt")});
    ReplayService service({{QStringLiteral(NANSCOPE_PROGRAMS "/nanscope"), {QStringLiteral("serve")}, false}});
    ServiceRequest loader(&service);
    std::vector<replay::ReplayedCliff> arrived;
    QStringList failures;
    const auto take = [&](const nlohmann::ordered_json& answer) {
        return rpc::unpackCliff(answer).map([&](const replay::ReplayedCliff& cliff) { arrived.push_back(cliff); });
    };
    const ServiceRequest::Heard heard {"cliff", take, [&](const QString& why) { failures << why; }};
    replay::CliffRequest request;
    request.capture = QDir(folder).filePath(found.value(0)).toStdString();
    request.cell = {"gns-gram", Precision::fp16, Lowering::fused, {}, {}, "cpu", false};
    for (const double scale : {1.0, 2.0, 3.0}) {
        request.scale = scale;
        loader.ask(rpc::cliffToJson(request), heard);
        if (scale == 2.0) {
            ASSERT_TRUE(QTest::qWaitFor([&] { return service.settled(); }, patienceMs));
        }
    }
    ASSERT_TRUE(QTest::qWaitFor([&] { return !loader.busy(); }, patienceMs));
    QTest::qWait(50);
    EXPECT_EQ(failures, QStringList());
    ASSERT_EQ(arrived.size(), 1U);
    EXPECT_EQ(arrived[0].scale, 3.0);
    request.capture.path += ".missing";
    loader.ask(rpc::cliffToJson(request), heard);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !loader.busy(); }, patienceMs));
    ASSERT_EQ(failures.size(), 1);
    EXPECT_TRUE(failures[0].contains(QStringLiteral(".missing"))) << failures[0].toStdString();
}

TEST(CliffPaneTest, AsksForTheOwnRoundingAndThenForAll)
{
    ShownPane shown;
    EXPECT_TRUE(shown.pane.outcomeText().endsWith(QStringLiteral("replaying…")));
    ASSERT_TRUE(shown.waitForRequests(1));
    EXPECT_EQ(shown.requests[0].roundings, 1);
    EXPECT_EQ(shown.requests[0].scale, 1);
    EXPECT_EQ(shown.requests[0].safety, 1.05);
    EXPECT_EQ(shown.requests[0].cell.variant, "gns-gram");
    EXPECT_EQ(shown.requests[0].cell.lowering, Lowering::fused);
    shown.pane.setReplay(cliffAt(1, Outcome::finite, 1));
    ASSERT_EQ(shown.requests.size(), 2U);
    EXPECT_EQ(shown.requests[1].roundings, 8);
    shown.pane.setReplay(cliffAt(1, Outcome::finite));
    EXPECT_EQ(shown.requests.size(), 2U);
    EXPECT_TRUE(shown.pane.outcomeText().contains(QStringLiteral("finite; 8 of 8 replays stay finite")))
        << shown.pane.outcomeText().toStdString();
}

TEST(CliffPaneTest, WhatWouldTakeLongWaitsForTheButton)
{
    ShownPane shown;
    ASSERT_TRUE(shown.waitForRequests(1));
    shown.pane.setReplay(cliffAt(1, Outcome::finite, 1, 1.05, 3));
    EXPECT_EQ(shown.requests.size(), 1U);
    ASSERT_TRUE(shown.pane.envelopeButton()->isVisible());
    shown.pane.envelopeButton()->click();
    ASSERT_EQ(shown.requests.size(), 2U);
    EXPECT_EQ(shown.requests[1].roundings, 8);
}

TEST(CliffPaneTest, AHiddenPaneReplaysNothing)
{
    CliffPane pane;
    const QSignalSpy asked(&pane, &CliffPane::replayRequested);
    pane.setCell(gnsCell(), 0, {});
    pane.setScale(2);
    QTest::qWait(100);
    EXPECT_EQ(asked.count(), 0);
    pane.show();
    ASSERT_TRUE(QTest::qWaitFor([&] { return asked.count() > 0; }, patienceMs));
}

TEST(CliffPaneTest, SettingsStayAsMarksAndAreNotReplayedTwice)
{
    ShownPane shown;
    ASSERT_TRUE(shown.waitForRequests(1));
    shown.pane.setReplay(cliffAt(1, Outcome::finite));
    shown.pane.scaleBox()->setValue(3);
    ASSERT_TRUE(shown.waitForRequests(2));
    EXPECT_EQ(shown.requests[1].scale, 3);
    EXPECT_FALSE(shown.pane.picture().current) << "what is drawn is of the setting before";
    shown.pane.setReplay(cliffAt(3, Outcome::nan));
    EXPECT_TRUE(shown.pane.picture().current);
    EXPECT_TRUE(
        shown.pane.outcomeText().contains(QStringLiteral("NaN, first +Inf in step 3 gram; 0 of 8 replays stay")))
        << shown.pane.outcomeText().toStdString();
    EXPECT_EQ(shown.pane.history().along(1.05).size(), 2U);
    shown.pane.setScale(1);
    QTest::qWait(100);
    EXPECT_EQ(shown.requests.size(), 2U);
    EXPECT_TRUE(shown.pane.outcomeText().contains(QStringLiteral("finite")));
    shown.pane.safetyBox()->setValue(1.01);
    ASSERT_TRUE(shown.waitForRequests(3));
    EXPECT_EQ(shown.requests[2].safety, 1.01);
    EXPECT_TRUE(shown.pane.history().along(1.01).empty());
}

TEST(CliffPaneTest, AnotherCellStartsAnewTheSameDoesNot)
{
    ShownPane shown;
    ASSERT_TRUE(shown.waitForRequests(1));
    shown.pane.setReplay(cliffAt(1, Outcome::finite));
    shown.pane.setCell(gnsCell(), 0, {});
    EXPECT_EQ(shown.pane.history().all().size(), 1U);
    shown.pane.setCell(gnsCell(), 1, {});
    EXPECT_TRUE(shown.pane.history().all().empty());
    shown.pane.setReplay(cliffAt(1, Outcome::finite));
    EXPECT_TRUE(shown.pane.history().all().empty()) << "of the matrix before";
    Cell other = gnsCell();
    other.capture = "other.pt";
    shown.pane.setCell(other, 0, {});
    shown.pane.setReplay(cliffAt(1, Outcome::finite));
    EXPECT_TRUE(shown.pane.history().all().empty()) << "of the capture before";
    Cell stranger = gnsCell();
    stranger.variant = "polar-grad";
    shown.pane.setCell(stranger, 0, {});
    EXPECT_TRUE(shown.pane.message().contains(QStringLiteral("no polynomial of polar-grad")))
        << shown.pane.message().toStdString();
}

TEST(CliffPaneTest, WhatWasReplayedIsThereAgainWithItsCapture)
{
    ShownPane shown;
    ASSERT_TRUE(shown.waitForRequests(1));
    shown.pane.setReplay(cliffAt(1, Outcome::finite));
    shown.pane.setScale(2);
    shown.pane.setReplay(cliffAt(2, Outcome::nan));
    Cell other = gnsCell();
    other.capture = "other.pt";
    shown.pane.setCell(other, 0, {});
    EXPECT_TRUE(shown.pane.history().all().empty());
    shown.pane.showMessage(QStringLiteral("no film"));
    const std::size_t asked = shown.requests.size();
    shown.pane.setCell(gnsCell(), 0, {});
    EXPECT_EQ(shown.pane.history().all().size(), 2U);
    EXPECT_TRUE(shown.pane.outcomeText().contains(QStringLiteral("finite"))) << shown.pane.outcomeText().toStdString();
    QTest::qWait(100);
    EXPECT_EQ(shown.requests.size(), asked) << "it was replayed already";
    shown.pane.setCell(gnsCell(), 0, {}, {}, "/tmp/rewritten.pt");
    EXPECT_TRUE(shown.pane.history().all().empty()) << "another file of that name";
}

TEST(CliffPaneTest, AFailureIsSaidAndLeavesTheControls)
{
    ShownPane shown;
    ASSERT_TRUE(shown.waitForRequests(1));
    shown.pane.setFailure(QStringLiteral("The replay process ended before it answered"));
    EXPECT_TRUE(shown.pane.outcomeText().contains(QStringLiteral("ended before it answered")));
    shown.pane.setScale(2);
    ASSERT_TRUE(shown.waitForRequests(2));
}

TEST(CliffPaneTest, ValuesAreATableAndTabSeparated)
{
    ShownPane shown;
    shown.pane.setReplay(cliffAt(1, Outcome::finite));
    shown.pane.setReplay(cliffAt(4, Outcome::nan));
    QWidget* page = shown.pane.strip()->parentWidget();
    page->actions().front()->trigger();
    const QString text = QGuiApplication::clipboard()->text();
    const QStringList lines = text.split(QLatin1Char('\n'));
    ASSERT_EQ(lines.size(), 11);
    EXPECT_EQ(lines[0].split(QLatin1Char('\t')).size(), 11);
    EXPECT_TRUE(lines[1].startsWith(QStringLiteral("1\t1.05\t8\tfinite\t\t1\t0.5\t0.5\t0.507\t")))
        << lines[1].toStdString();
    EXPECT_TRUE(lines[8].startsWith(QStringLiteral("4\t1.05\t8\tnan\tstep 3 gram\t3\t\t\t\t")))
        << lines[8].toStdString();
    const TextTable table = tableFromTsv(text);
    EXPECT_EQ(table.columns.size(), 11);
    EXPECT_EQ(table.rows.size(), 10U);
}

TEST(CliffStripTest, ArrowsChangeTheScaleAndWidthFollowsTheExpectedLimit)
{
    CliffStrip strip;
    strip.resize(400, 50);
    QSignalSpy chosen(&strip, &CliffStrip::scaleChosen);
    QTest::keyClick(&strip, Qt::Key_Right);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_DOUBLE_EQ(strip.scale(), std::exp2(1.0 / CliffStrip::perOctave));
    strip.setScale(1.2345);
    EXPECT_EQ(strip.scale(), 1.2345) << "exact, though no step of the slider";
    EXPECT_EQ(chosen.count(), 1);
    EXPECT_EQ(strip.maximum(), 2 * CliffStrip::perOctave);
    strip.setExpected(5.8);
    EXPECT_EQ(strip.maximum(), 3 * CliffStrip::perOctave);
    strip.setScale(100);
    EXPECT_EQ(strip.maximum(), 7 * CliffStrip::perOctave);
}

TEST(CliffPlots, SayWhatTheyShow)
{
    const auto schedule = replay::builtInVariant("gns-gram")->steps;
    const CliffPicture picture = makeCliffPicture(schedule, cliffAt(1, Outcome::finite).get(), true);
    CliffCurve curve;
    curve.setPicture(picture, 1);
    EXPECT_TRUE(curve.accessibleDescription().contains(
        QStringLiteral("step 1: σ_max 0.5 (0.5–0.507 over 8 roundings) · limit 1.0547 · slack 111 %")))
        << curve.accessibleDescription().toStdString();
    EXPECT_NEAR(curve.top(), 1.25 * 1.0547, 1e-3);
    CliffLadder ladder;
    ladder.setPicture(makeCliffPicture(schedule, cliffAt(4, Outcome::nan).get(), true), 1);
    EXPECT_TRUE(ladder.accessibleDescription().contains(QStringLiteral("beyond it by 89.6 %")))
        << ladder.accessibleDescription().toStdString();
    EXPECT_TRUE(ladder.accessibleDescription().contains(QStringLiteral("step 4: the iterate is not finite any more")));
    QSignalSpy chosen(&ladder, &CliffLadder::stepChosen);
    QTest::keyClick(&ladder, Qt::Key_Right);
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0][0].toInt(), 2);
    QTest::keyClick(&ladder, Qt::Key_End);
    EXPECT_EQ(chosen[1][0].toInt(), 5);
}

TEST(CliffHistoryTest, TheExpectedLimitFollowsFromWhatWasMeasured)
{
    EXPECT_NEAR(*expectedLimitScale(*cliffAt(1, Outcome::finite), 1.05), 2.1, 1e-12);
    EXPECT_NEAR(*expectedLimitScale(*cliffAt(2, Outcome::finite), 1.05), 2.1, 1e-12);
    CliffHistory history;
    history.add(cliffAt(1, Outcome::finite, 1));
    history.add(cliffAt(1, Outcome::finite, 8));
    history.add(cliffAt(1, Outcome::finite, 1));
    ASSERT_EQ(history.all().size(), 1U);
    EXPECT_EQ(history.all().front()->replays.size(), 8U);
}

} // namespace nanscope
