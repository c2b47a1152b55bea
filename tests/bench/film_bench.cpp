// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The film strip of a replay, its tile maps in memory, scrubbed as a user would: the slider, the arrows, and the zoom
// of the large frame, each from the change to the painted picture. Prints what docs/benchmarks.md compares with 16 ms.
//
//     bench_film [ROWS COLS]      4096 4096 unless it is told
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <QApplication>
#include <QKeyEvent>
#include <QSlider>
#include <QStyleFactory>

#include "core/tensorfile/scan/scantensor.h"
#include "frametimes.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/film/framepane.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/theme.h"

namespace nanscope {
namespace {

using bench::Frame;
using bench::frameOf;
using bench::report;

constexpr int steps = 5;

struct Size
{
    std::int64_t rows = 4096;
    std::int64_t cols = 4096;
};

/// One matrix is made and cut into tiles; the others are the same at another magnitude.
OpTrace firstTrace(const Size& size)
{
    std::mt19937 generator(7);
    std::normal_distribution<float> noise(0, 1);
    std::vector<float> values(static_cast<std::size_t>(size.rows * size.cols));
    std::ranges::generate(values, [&] { return noise(generator); });
    values[values.size() * 3 / 4] = std::numeric_limits<float>::quiet_NaN();
    OpTrace trace;
    trace.rows = size.rows;
    trace.cols = size.cols;
    trace.batches = {tensorfile::scanMatrix(values, size.rows, size.cols, false, 0x1p-126)};
    trace.tiles = {tensorfile::tileMatrix(values, size.rows, size.cols, false, 0x1p-126)};
    return trace;
}

OpTrace scaled(OpTrace trace, int iteration, OpName op, float factor)
{
    trace.iteration = iteration;
    trace.op = op;
    TileMap& tiles = trace.tiles.front();
    for (auto* values : {&tiles.min, &tiles.max, &tiles.absmax}) {
        std::ranges::transform(*values, values->begin(), [&](float value) { return value * factor; });
    }
    trace.batches.front().absmax *= factor;
    return trace;
}

std::shared_ptr<const Film> makeBenchFilm(const Size& size)
{
    const OpTrace first = firstTrace(size);
    std::vector<OpTrace> ops {scaled(first, 0, OpName::input, 1), scaled(first, 0, OpName::normalize, 2e-4F)};
    for (int step = 1; step <= steps; ++step) {
        const auto factor = std::pow(3.0F, static_cast<float>(step));
        ops.push_back(scaled(first, step, OpName::gram, 1e-6F * factor));
        ops.push_back(scaled(first, step, OpName::polynomial, 1e-5F * factor));
        ops.push_back(scaled(first, step, OpName::update, 1e-4F * factor));
    }
    ops.push_back(scaled(first, steps, OpName::output, 0.02F));
    Cell cell;
    cell.variant = "torch-muon";
    return std::make_shared<const Film>(makeFilm(cell, ops, 0));
}

/// Strip and large frame in one window, as wide as they are in one of 1440 x 900.
class Window : public QWidget
{
public:
    explicit Window(const Size& size)
        : made(makeBenchFilm(size))
    {
        resize(1100, 640);
        film.setParent(this);
        film.setGeometry(0, 0, 700, 300);
        frame.setParent(this);
        frame.setGeometry(710, 0, 390, 640);
        connect(&film, &FilmPane::frameChanged, this, [this](int shown) { frame.setFrame(made, shown); });
        show();
    }

    std::shared_ptr<const Film> made;
    HeatView view;
    FilmPane film {&view};
    FramePane frame {&view};
};

void press(QWidget& widget, int key)
{
    QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
    QCoreApplication::sendEvent(&widget, &event);
}

int run(const Size& size)
{
    Window window(size);
    const Frame first = frameOf([&] { window.film.setFilm(window.made); });
    const int frames = static_cast<int>(window.made->frames.size());
    std::vector<Frame> slider;
    std::vector<Frame> arrows;
    std::vector<Frame> zoom;
    for (int i = 0; i < 300; ++i) {
        slider.push_back(frameOf([&] { window.film.slider()->setValue(i % frames); }));
    }
    constexpr int keys[] = {Qt::Key_Left, Qt::Key_Left, Qt::Key_Up, Qt::Key_Right, Qt::Key_Right, Qt::Key_Down};
    for (int i = 0; i < 300; ++i) {
        arrows.push_back(frameOf([&] { press(*window.film.strip(), keys[i % std::size(keys)]); }));
    }
    for (int i = 0; i < 300; ++i) {
        const double along = i / 300.0;
        zoom.push_back(frameOf([&] {
            window.view.setView({0.2 + 0.6 * along, 0.7 - 0.4 * along}, 1 + 7 * along);
            window.view.setCursor({0.2 + 0.6 * along, 0.5});
        }));
    }
    std::printf("frames                 %d of %lld x %lld\n", frames, static_cast<long long>(size.rows),
        static_cast<long long>(size.cols));
    std::printf("film shown             %.1f ms, its thread %.1f ms\n", first.wall, first.cpu);
    report("scrub, slider", slider);
    report("scrub, arrows", arrows);
    report("zoom and pan", zoom);
    return 0;
}

} // namespace
} // namespace nanscope

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication app(argc, argv);
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    nanscope::applyTheme(nanscope::ThemeChoice::light);
    const nanscope::Size size = argc > 2 ? nanscope::Size {std::atoll(argv[1]), std::atoll(argv[2])} : nanscope::Size();
    return nanscope::run(size);
}
