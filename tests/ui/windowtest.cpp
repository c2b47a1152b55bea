// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/windowtest.h"

#include <filesystem>

#include <QTest>

#include "core/replay/device/device.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/capture/capturefile.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope::test {

WindowOptions quietOptions()
{
    WindowOptions options;
    options.remember = false;
    options.theme = ThemeChoice::light;
    options.programs = {{QStringLiteral(NANSCOPE_PROGRAMS "/nanscope"), {QStringLiteral("serve")}, false}};
    return options;
}

// Sessions of one test are not seen by the next.
SampleSessionWindow::SampleSessionWindow()
{
    qputenv("XDG_DATA_HOME", folder.filePath(QStringLiteral("home")).toUtf8());
}

void SampleSessionWindow::SetUp()
{
    if (!std::filesystem::exists(std::filesystem::path(NANSCOPE_SAMPLE) / "sample.nanscope")) {
        GTEST_SKIP() << "no session beside the sample run";
    }
    window.resize(1440, 900);
    window.show();
    window.openPath(QStringLiteral(NANSCOPE_SAMPLE));
    ASSERT_TRUE(settle());
}

bool SampleSessionWindow::waitUntil(const std::function<bool()>& condition)
{
    return QTest::qWaitFor(condition, patienceMs);
}

bool SampleSessionWindow::settle()
{
    return waitUntil([this] { return window.workspace().settled() && window.panes().timeline->settled(); });
}

bool SampleSessionWindow::waitForFilm(const std::function<bool(const Film&)>& condition)
{
    return waitUntil([&] {
        const Film* film = window.panes().film->strip()->film();
        return film && condition(*film);
    });
}

std::vector<double> SampleSessionWindow::replayedOutput(const replay::CellRequest& cell)
{
    const auto capture = tensorfile::openCapture(window.workspace().capture()->path);
    const auto variant = window.workspace().loaded().catalogue.find(cell.variant);
    auto device = replay::makeCoreDevice("cpu");
    if (!capture || !variant || !device) {
        return {};
    }
    const MatrixShape shape = capture->input.matrices();
    std::vector<double> input(static_cast<std::size_t>(shape.elements()));
    if (!capture->input.read(0, std::span(input))) {
        return {};
    }
    replay::ReplayOptions options;
    options.precision = cell.precision;
    options.rounding.lowering = cell.lowering;
    options.epsilon = cell.epsilon ? cell.epsilon : capture->capture.epsilon;
    options.forceEpsilon = cell.epsilon.has_value();
    options.keepOutput = true;
    const auto done = replay::replay(**variant, {1, shape.rows, shape.cols}, input, **device, options);
    return done ? done->outputs.at(0).doubles() : std::vector<double>();
}

} // namespace nanscope::test
