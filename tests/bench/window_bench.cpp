// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The whole window, driven as a user would: until a session of ten million points is painted, and its memory; until
// "Cancelled" is on the screen; until a line added to a followed folder is; and what it costs while nothing happens.
// Prints what docs/benchmarks.md compares with design section 11.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QStyleFactory>
#include <QTemporaryDir>
#include <QTimer>

#include "frametimes.h"
#include "tenmillion.h"
#include "ui/shared/text.h"
#include "ui/shell/mainwindow.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double ms(Clock::duration duration)
{
    return std::chrono::duration<double, std::milli>(duration).count();
}

void waitUntil(const std::function<bool()>& condition)
{
    while (!condition()) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

void spend(int milliseconds)
{
    bool over = false;
    QTimer::singleShot(milliseconds, [&over] { over = true; });
    waitUntil([&over] { return over; });
}

class Driven
{
public:
    Driven()
        : window(options())
    {
        window.resize(1440, 900);
        window.show();
    }

    void open(const fs::path& path)
    {
        window.openPath(qstr(path.string()));
        waitUntil([this] { return window.workspace().hasRun() && window.panes().timeline->settled(); });
        paint();
    }

    /// Verdicts and findings are there, too.
    void waitForVerdict()
    {
        waitUntil([this] { return window.workspace().settled() && window.panes().timeline->settled(); });
        paint();
    }

    /// What was changed is on the screen.
    void paint()
    {
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    }

    MainWindow window;

private:
    static WindowOptions options()
    {
        WindowOptions options;
        options.remember = false;
        options.programs = {{QStringLiteral(NANSCOPE_PROGRAMS "/nanscope"), {QStringLiteral("serve")}, false}};
        return options;
    }
};

void report(const char* what, std::vector<double> times)
{
    std::ranges::sort(times);
    std::printf(
        "%-28s median %.0f ms, worst %.0f ms of %zu\n", what, times[times.size() / 2], times.back(), times.size());
    std::fflush(stdout);
}

/// CPU time of the process, all threads, over ten seconds.
void reportIdle(const char* what)
{
    spend(1000);
    const double before = bench::cpuMs(CLOCK_PROCESS_CPUTIME_ID);
    spend(10000);
    std::printf("%-28s %.1f ms of CPU in 10 s\n", what, bench::cpuMs(CLOCK_PROCESS_CPUTIME_ID) - before);
    std::fflush(stdout);
}

int openSession(const fs::path& path, Clock::time_point started)
{
    Driven driven;
    driven.paint();
    const double empty = ms(Clock::now() - started);
    driven.open(path);
    std::printf("%-28s %d\n", "points", bench::points);
    std::printf("%-28s %.0f ms, of it %.0f ms until the empty window\n", "started, opened, painted",
        ms(Clock::now() - started), empty);
    driven.waitForVerdict();
    std::printf("%-28s %.0f ms\n", "judged, painted", ms(Clock::now() - started));
    std::printf("%-28s %.0f MiB\n", "VmHWM, whole window", bench::memory("VmHWM:"));
    reportIdle("idle, ten million points");
    return 0;
}

double cancelOnce(Driven& driven)
{
    Workspace& workspace = driven.window.workspace();
    bool cell = false;
    const auto watching = QObject::connect(&workspace, &Workspace::cellAdded, [&cell] { cell = true; });
    driven.window.actions().sweep->trigger();
    waitUntil([&] { return cell || !workspace.sweeping(); });
    QObject::disconnect(watching);
    const auto begin = Clock::now();
    driven.window.actions().cancel->trigger();
    driven.paint();
    const double took = ms(Clock::now() - begin);
    spend(100);
    return took;
}

double followOnce(Driven& driven, const fs::path& log, int step)
{
    const auto points = [&driven] {
        std::int64_t count = 0;
        for (const Series& series : driven.window.workspace().loaded().run->series) {
            count += series.pointCount;
        }
        return count;
    };
    const auto before = points();
    const auto begin = Clock::now();
    std::ofstream(log, std::ios::app) << "[default0]:Step " << step << ": train_loss=0.5000, grad_norm=0.2000\n";
    waitUntil([&] { return points() > before; });
    driven.paint();
    const double took = ms(Clock::now() - begin);
    waitUntil([&driven] { return driven.window.workspace().settled(); });
    return took;
}

int driveSample()
{
    const QTemporaryDir folder;
    const fs::path sample = fs::path(folder.path().toStdString()) / "sample";
    fs::copy(NANSCOPE_SAMPLE, sample, fs::copy_options::recursive);
    Driven driven;
    driven.open(sample);
    driven.waitForVerdict();
    reportIdle("idle, following a folder");
    std::vector<double> times;
    for (int i = 0; i < 10; ++i) {
        times.push_back(followOnce(driven, sample / "console.log", 900 + i));
    }
    report("line added, until painted", times);
    times.clear();
    for (int i = 0; i < 10; ++i) {
        times.push_back(cancelOnce(driven));
    }
    report("cancel in a sweep, painted", times);
    return 0;
}

int runParts(const char* program)
{
    const QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "bench.nanscope";
    if (!bench::makeSession(path)) {
        return 1;
    }
    // A process of its own for each, so that neither making the session nor another part counts.
    bool done = true;
    for (int i = 0; i < 3; ++i) {
        const auto now = std::to_string(Clock::now().time_since_epoch().count());
        done &= std::system(("'" + std::string(program) + "' '" + path.string() + "' " + now).c_str()) == 0;
    }
    return done && std::system(("'" + std::string(program) + "' sample").c_str()) == 0 ? 0 : 1;
}

} // namespace
} // namespace nanscope

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    if (argc == 1) {
        return nanscope::runParts(argv[0]);
    }
    const QTemporaryDir home;
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    const QApplication app(argc, argv);
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    if (argc == 2) {
        return nanscope::driveSample();
    }
    return nanscope::openSession(
        argv[1], std::chrono::steady_clock::time_point(std::chrono::nanoseconds(std::stoll(argv[2]))));
}
