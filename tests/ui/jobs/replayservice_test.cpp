// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QElapsedTimer>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/jobs/replayservice.h"
#include "ui/shell/parts/devicemenu.h"

namespace nanscope {

namespace {

using test::patienceMs;

ServiceProgram fake(const char* mode, bool worker = false)
{
    return test::fakeService(mode, {}, worker);
}

rpc::SweepOrder order()
{
    rpc::SweepOrder order;
    order.request.captures = {"a.pt"};
    order.request.variants = {"gns-gram"};
    order.request.precisions = {Precision::fp16};
    return order;
}

bool waitFor(const ReplayService& service, bool (*done)(const ReplayService&))
{
    return QTest::qWaitFor([&] { return done(service); }, patienceMs);
}

} // namespace

TEST(ReplayService, SaysWhatItRunsOn)
{
    ReplayService worker({fake("hangs", true)});
    worker.start();
    ASSERT_TRUE(waitFor(worker, [](const ReplayService& s) { return s.settled(); }));
    EXPECT_EQ(worker.description(), QStringLiteral("Worker: fake 1.0 · CPU"));
    EXPECT_EQ(worker.notes(), QStringList {QStringLiteral("a note")});
    ReplayService own({fake("hangs")});
    EXPECT_EQ(own.description(), QStringLiteral("No worker: replays run on the built-in CPU device"));
}

TEST(ReplayService, ReplaysOnEveryGpuUnlessAnotherDeviceIsChosen)
{
    ReplayService service({fake("gpus", true)});
    EXPECT_EQ(service.chosenDevices(), QStringList(QStringLiteral("cpu"))) << "before it has answered";
    EXPECT_EQ(service.firstGpu().name, "cpu");
    service.start();
    ASSERT_TRUE(waitFor(service, [](const ReplayService& s) { return s.settled(); }));
    const QStringList gpus {QStringLiteral("cuda:0"), QStringLiteral("cuda:1")};
    ASSERT_EQ(service.devices().size(), 3U);
    EXPECT_EQ(service.devices()[1].hardware, QStringLiteral("Fake GPU, 80 GB"));
    EXPECT_EQ(service.chosenDevices(), gpus);
    EXPECT_EQ(service.firstGpu().name, "cuda:0");
    EXPECT_EQ(service.firstGpu().worker, fake("gpus", true).program.toStdString());
    service.chooseDevices({QStringLiteral("cuda:7"), QStringLiteral("cuda:1")});
    EXPECT_EQ(service.chosenDevices(), QStringList(gpus[1])) << "one that is not there is passed over";
    EXPECT_EQ(service.firstGpu().name, "cuda:1");
    service.chooseDevices({QStringLiteral("cuda:7")});
    EXPECT_EQ(service.chosenDevices(), gpus);
    service.chooseDevices({QStringLiteral("cpu")});
    EXPECT_EQ(service.chosenDevices(), QStringList(QStringLiteral("cpu")));
    EXPECT_EQ(service.firstGpu().name, "cpu") << "core's own";
}

TEST(DeviceMenu, ListsWhatTheServiceFindsAndSaysWhatIsTicked)
{
    ReplayService service({fake("gpus", true)});
    DeviceMenu menu(service);
    service.start();
    ASSERT_TRUE(waitFor(service, [](const ReplayService& s) { return s.settled(); }));
    menu.showChosen();
    EXPECT_EQ(menu.text().toStdString(), "Device: cuda:0 and cuda:1");
    Q_EMIT menu.menu()->aboutToShow();
    const auto entries = menu.menu()->actions();
    ASSERT_EQ(entries.size(), 3);
    EXPECT_FALSE(entries[0]->isChecked()) << "the CPU, beside two GPUs";
    EXPECT_EQ(entries[2]->text().toStdString(), "cuda:1 · Fake GPU, 80 GB");
    QStringList chosen;
    QObject::connect(&menu, &DeviceMenu::devicesChosen, &menu, [&](const QStringList& names) { chosen = names; });
    entries[1]->trigger();
    EXPECT_EQ(chosen, QStringList(QStringLiteral("cuda:1")));
    ReplayService none(std::deque<ServiceProgram> {});
    DeviceMenu empty(none);
    Q_EMIT empty.menu()->aboutToShow();
    ASSERT_EQ(empty.menu()->actions().size(), 1);
    EXPECT_FALSE(empty.menu()->actions()[0]->isEnabled()) << "why there is no device";
}

TEST(ReplayService, ASweepOnTwoDevicesBringsTheCellsOfBoth)
{
    ReplayService service({fake("gpus", true)});
    QStringList devices;
    QObject::connect(&service, &ReplayService::cellDone, &service,
        [&](const Cell& cell) { devices << QString::fromStdString(cell.device); });
    rpc::SweepOrder both = order();
    both.request.devices = {"cuda:0", "cuda:1"};
    service.sweep(both);
    ASSERT_TRUE(waitFor(service, [](const ReplayService& s) { return !s.running(); }));
    EXPECT_EQ(devices, (QStringList {QStringLiteral("cuda:0"), QStringLiteral("cuda:1")}));
}

TEST(ReplayService, DeathDuringASweepIsReportedAndItsCellsStay)
{
    ReplayService service({fake("dies")});
    std::vector<Cell> cells;
    QObject::connect(&service, &ReplayService::cellDone, &service, [&](const Cell& cell) { cells.push_back(cell); });
    QSignalSpy failed(&service, &ReplayService::failed);
    service.sweep(order());
    ASSERT_TRUE(waitFor(service, [](const ReplayService& s) { return !s.running(); }));
    ASSERT_EQ(cells.size(), 1U);
    EXPECT_EQ(cells[0].birth->op, OpName::gram);
    ASSERT_EQ(failed.size(), 1);
    EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("status 9")));
    EXPECT_EQ(failed[0][1].toStringList(), QStringList {QStringLiteral("a fault in the device")});
    service.sweep(order());
    EXPECT_TRUE(service.running()) << "the next sweep starts the process again";
}

TEST(ReplayService, CancelAnswersAtOnceAndAHangingProcessIsKilled)
{
    ReplayService service({fake("hangs")});
    QSignalSpy cells(&service, &ReplayService::cellDone);
    service.sweep(order());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !cells.isEmpty(); }, patienceMs));
    QSignalSpy cancelled(&service, &ReplayService::cancelled);
    QElapsedTimer clock;
    clock.start();
    service.cancel();
    EXPECT_EQ(cancelled.size(), 1);
    EXPECT_LT(clock.elapsed(), 200);
    EXPECT_FALSE(service.running());
    EXPECT_TRUE(QTest::qWaitFor([&] { return !service.alive(); }, patienceMs));
}

TEST(ReplayService, WorkerThatCannotStartIsReplacedByTheBuiltInDevice)
{
    ReplayService service({fake("stillborn", true), fake("hangs")});
    QSignalSpy failed(&service, &ReplayService::failed);
    service.start();
    ASSERT_TRUE(waitFor(
        service, [](const ReplayService& s) { return s.description().startsWith(QStringLiteral("No worker")); }));
    ASSERT_EQ(failed.size(), 1);
    EXPECT_EQ(failed[0][1].toStringList(), QStringList {QStringLiteral("this worker cannot find its torch")});
    ReplayService missing({{QStringLiteral("/nowhere/nanscope-worker"), {}, true}, fake("hangs")});
    missing.start();
    EXPECT_TRUE(waitFor(
        missing, [](const ReplayService& s) { return s.description().startsWith(QStringLiteral("No worker")); }));
}

TEST(ReplayService, WithoutAnyProgramASweepIsRefusedInASentence)
{
    ReplayService service({});
    QSignalSpy failed(&service, &ReplayService::failed);
    service.sweep(order());
    EXPECT_EQ(failed.size(), 1);
    EXPECT_FALSE(service.running());
}

} // namespace nanscope
