// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Replay processes that die, hang, flood or talk nonsense: the window lives, says so, and goes on.
#include <QAction>
#include <QElapsedTimer>
#include <QSignalSpy>

#include "tests/ui/openwindow.h"
#include "ui/jobs/frameloader.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

namespace {

using test::fakeService;

rpc::SweepOrder gramSweep()
{
    rpc::SweepOrder order;
    order.request.captures = {"a.pt"};
    order.request.variants = {"gns-gram"};
    order.request.precisions = {Precision::fp16};
    return order;
}

class BadWorker : public test::OpenWindow
{
protected:
    /// Opens the sample and sweeps its birth with what this process gives.
    bool sweepWith(const char* mode, const QString& marker = {})
    {
        start({fakeService(mode, marker)});
        if (!open(copySample())) {
            return false;
        }
        window->workspace().sweepAgain();
        return window->workspace().sweeping();
    }

    bool sweepEnds()
    {
        return waitUntil([this] { return !window->workspace().sweeping(); });
    }
};

struct Sweep
{
    explicit Sweep(const char* mode, ServicePatience patience = {})
        : service({fakeService(mode)}, nullptr, patience)
    {
        service.sweep(gramSweep());
    }

    bool ends()
    {
        return QTest::qWaitFor([this] { return !service.running(); }, 60000);
    }

    ReplayService service;
    QSignalSpy failed {&service, &ReplayService::failed};
    QSignalSpy finished {&service, &ReplayService::finished};
    QSignalSpy cells {&service, &ReplayService::cellDone};
    QSignalSpy progressed {&service, &ReplayService::progressed};
};

/// What a film asked of such a process ends with.
QString filmWith(const char* mode)
{
    ReplayService service({fakeService(mode)});
    FrameLoader loader(&service);
    QSignalSpy failed(&loader, &FrameLoader::filmFailed);
    loader.requestFilm({"a.pt", {"torch-muon", Precision::fp32, Lowering::eager, {}, {}, "cpu", false}, 0, {}});
    const bool answered = QTest::qWaitFor([&] { return !failed.isEmpty(); }, 60000);
    return answered ? failed[0][0].toString() : QString();
}

} // namespace

TEST_F(BadWorker, DeadAtStartIsReplacedAndSaid)
{
    start({fakeService("stillborn", {}, true), fakeService("good")});
    ASSERT_TRUE(open(copySample()));
    window->workspace().startService();
    ASSERT_TRUE(waitUntil([this] { return !sentence().isEmpty(); }));
    EXPECT_TRUE(sentence().contains(QStringLiteral("ended with status 7"))) << sentence().toStdString();
    EXPECT_TRUE(sentence().contains(QStringLiteral("built-in CPU device")));
    window->workspace().sweepAgain();
    EXPECT_TRUE(sweepEnds());
}

TEST_F(BadWorker, OfAnotherVersionIsReplacedAndSaid)
{
    start({fakeService("otherversion", {}, true), fakeService("good")});
    ASSERT_TRUE(open(copySample()));
    window->workspace().startService();
    ASSERT_TRUE(waitUntil([this] { return !sentence().isEmpty(); }));
    EXPECT_TRUE(sentence().contains(QStringLiteral("The worker is of another version of Nanscope")))
        << sentence().toStdString();
    window->workspace().sweepAgain();
    EXPECT_TRUE(sweepEnds());
}

TEST_F(BadWorker, DeathInASweepIsSaidAndTheNextSweepRuns)
{
    ASSERT_TRUE(sweepWith("dies", temporary.filePath(QStringLiteral("once"))));
    ASSERT_TRUE(sweepEnds());
    EXPECT_TRUE(sentence().contains(QStringLiteral("ended with status 9"))) << sentence().toStdString();
    QSignalSpy notes(&window->workspace(), &Workspace::note);
    window->workspace().sweepAgain();
    ASSERT_TRUE(sweepEnds());
    EXPECT_EQ(notes.value(0).value(0).toString(), QStringLiteral("Sweep done: 170 of 170 replays are finite"));
}

TEST_F(BadWorker, SweepAfterAHangingOneIsNotLostWithIt)
{
    start({fakeService("hangs", temporary.filePath(QStringLiteral("once")))});
    QSignalSpy cells(&window->workspace(), &Workspace::cellAdded);
    // The stored cell has no pictures, so that the window has it replayed by itself.
    window->openPath(qstr(copySample().string()));
    ASSERT_TRUE(waitUntil([&] { return !cells.isEmpty(); }));
    QElapsedTimer clock;
    clock.start();
    window->actions().cancel->trigger();
    EXPECT_LT(clock.elapsed(), 200);
    EXPECT_FALSE(window->workspace().busy());
    window->workspace().sweepAgain();
    ASSERT_TRUE(window->workspace().sweeping());
    EXPECT_TRUE(sweepEnds()) << "a process of its own finishes it";
    EXPECT_GE(cells.size(), 2);
}

TEST_F(BadWorker, FilmThatNeverComesCanBeCancelled)
{
    start({fakeService("hangs")});
    QSignalSpy cells(&window->workspace(), &Workspace::cellAdded);
    window->openPath(qstr(copySample().string()));
    ASSERT_TRUE(waitUntil([&] { return !cells.isEmpty(); }));
    window->actions().cancel->trigger();
    window->workspace().setFilmMode(FilmMode::againstFp64);
    ASSERT_TRUE(window->actions().cancel->isEnabled());
    QSignalSpy missing(&window->workspace(), &Workspace::filmMissing);
    window->actions().cancel->trigger();
    EXPECT_TRUE(missing.value(0).value(0).toString().startsWith(QStringLiteral("Cancelled")));
    EXPECT_FALSE(window->actions().cancel->isEnabled());
    EXPECT_TRUE(waitUntil([this] { return !window->workspace().service().alive(); }));
}

TEST_F(BadWorker, FloodIsStoppedAndSaid)
{
    ASSERT_TRUE(sweepWith("floods"));
    ASSERT_TRUE(sweepEnds());
    EXPECT_TRUE(sentence().contains(QStringLiteral("sent what is no answer and was stopped")));
    EXPECT_TRUE(waitUntil([this] { return window->actions().sweep->isEnabled(); }))
        << window->actions().sweep->toolTip().toStdString();
}

TEST(BadWorkerProcess, LineWithoutEndIsStopped)
{
    Sweep sweep("endless");
    ASSERT_TRUE(sweep.ends());
    EXPECT_TRUE(sweep.failed.value(0).value(0).toString().contains(QStringLiteral("a line without end")));
}

TEST(BadWorkerProcess, MegabytesOfComplaintsAreCutToTheirEnd)
{
    Sweep sweep("complains");
    ASSERT_TRUE(sweep.ends());
    const QStringList details = sweep.failed.value(0).value(1).toStringList();
    ASSERT_FALSE(details.isEmpty());
    EXPECT_LE(details.join(QLatin1Char('\n')).size(), 4000);
    EXPECT_EQ(details.value(1), QStringLiteral("a fault in the device")) << "the first may be cut";
}

TEST(BadWorkerProcess, FloodOfProgressReachesTheWindowAsATrickle)
{
    Sweep sweep("reports");
    ASSERT_TRUE(sweep.ends());
    EXPECT_EQ(sweep.finished.size(), 1);
    EXPECT_GE(sweep.progressed.size(), 1);
    EXPECT_LT(sweep.progressed.size(), 3000);
}

TEST(BadWorkerProcess, NonsenseIsPassedOver)
{
    Sweep sweep("rubbish");
    ASSERT_TRUE(sweep.ends());
    EXPECT_EQ(sweep.finished.size(), 1);
    EXPECT_EQ(sweep.failed.size(), 0);
    Sweep greeted("rubbishhello");
    ASSERT_TRUE(greeted.ends());
    EXPECT_EQ(greeted.finished.size(), 1);
}

TEST(BadWorkerProcess, MoreCellsThanOrderedAreNotTaken)
{
    Sweep sweep("generous");
    ASSERT_TRUE(sweep.ends());
    EXPECT_EQ(sweep.cells.size(), 1);
}

TEST(BadWorkerProcess, MuteOneIsGivenUp)
{
    Sweep sweep("mute", {1000, 2000});
    ASSERT_TRUE(sweep.ends());
    EXPECT_TRUE(sweep.failed.value(0).value(0).toString().contains(QStringLiteral("did not say what it is")));
    EXPECT_FALSE(sweep.service.available());
}

TEST(BadWorkerProcess, PicturesThatAreNotThereAreASentence)
{
    EXPECT_TRUE(filmWith("noblock").contains(QStringLiteral("shared block is gone")));
    EXPECT_FALSE(filmWith("foreignblock").isEmpty());
    EXPECT_TRUE(filmWith("nofilm").contains(QStringLiteral("without an answer")));
}

TEST(BadWorkerProcess, WhatWaitsBehindAHangingFilmIsAskedAgain)
{
    const QTemporaryDir folder;
    ReplayService service({fakeService("hangs", folder.filePath(QStringLiteral("once")))});
    FrameLoader loader(&service);
    QSignalSpy failed(&loader, &FrameLoader::filmFailed);
    const replay::FilmRequest film {
        "a.pt", {"torch-muon", Precision::fp32, Lowering::eager, {}, {}, "cpu", false}, 0, {}};
    service.start();
    ASSERT_TRUE(QTest::qWaitFor([&] { return service.settled(); }, 60000));
    loader.requestFilm(film);
    loader.requestFilm(film);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !failed.isEmpty(); }, 60000));
    EXPECT_EQ(failed.size(), 1) << "the second film alone, from the next process";
    EXPECT_TRUE(service.alive());
}

} // namespace nanscope
