// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The timelines of a session of ten million points, driven as a user would: wheel and drag, each frame from the
// change to the painted picture with every event it caused. Prints what docs/benchmarks.md compares with 16 ms and
// 400 MiB.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <QApplication>
#include <QElapsedTimer>
#include <QStyleFactory>
#include <QTemporaryDir>

#include "core/session/session.h"
#include "frametimes.h"
#include "tenmillion.h"
#include "ui/shared/theme.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope {
namespace {

using bench::Frame;
using bench::frameOf;

constexpr int frames = 300;

void settle(const TimelinePane& pane)
{
    while (!pane.settled()) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    QCoreApplication::processEvents();
}

std::vector<Frame> drive(TimelinePane& pane)
{
    using Gesture = TimelineView::Gesture;
    TimelineView& view = *pane.view();
    std::vector<Frame> times;
    for (int i = 0; i < frames; ++i) {
        const double span = view.steps().high - view.steps().low;
        const double center = view.steps().low + 0.37 * span;
        times.push_back(frameOf([&] {
            switch (i / 50 % 3) {
            case 0:
                view.zoomBy(0.85, center, Gesture::wheel);
                break;
            case 1:
                view.panBy(0.03 * span, Gesture::ongoing);
                break;
            default:
                view.zoomBy(1 / 0.85, center, Gesture::wheel);
            }
            view.setHover(std::round(center));
        }));
    }
    return times;
}

int run(const std::filesystem::path& path)
{
    QElapsedTimer timer;
    timer.start();
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    const auto summary = session ? session->summary() : Result<RunData>(RunData {});
    if (!session || !summary) {
        return 1;
    }
    TimelinePane pane;
    pane.resize(1000, 240);
    pane.show();
    pane.setRun(&*summary, nullptr, path);
    const double empty = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    settle(pane);
    const double filled = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    const double before = bench::memory("VmHWM:");
    const std::vector<Frame> times = drive(pane);
    settle(pane);
    std::printf("points                 %d\n", bench::points);
    std::printf("opened, all drawn      %.0f ms, %.0f ms\n", empty, filled);
    bench::report("frame", times);
    std::printf("VmHWM                  %.0f MiB (%.0f before the frames)\n", bench::memory("VmHWM:"), before);
    return 0;
}

} // namespace
} // namespace nanscope

/// Without an argument it makes the session and starts itself anew to read it, so that making it does not count.
int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    if (argc > 1) {
        const QApplication app(argc, argv);
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
        nanscope::applyTheme(nanscope::ThemeChoice::light);
        return nanscope::run(argv[1]);
    }
    const QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "bench.nanscope";
    if (!nanscope::bench::makeSession(path)) {
        return 1;
    }
    const std::string command = "'" + std::string(argv[0]) + "' '" + path.string() + "'";
    return std::system(command.c_str()) == 0 ? 0 : 1;
}
