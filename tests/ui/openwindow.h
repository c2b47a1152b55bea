// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>

#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/shared/text.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/parts/messagebar.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope::test {

/// The whole window with a folder, sessions and a replay process of its own.
class OpenWindow : public testing::Test
{
protected:
    OpenWindow() { qputenv("XDG_DATA_HOME", temporary.filePath(QStringLiteral("home")).toUtf8()); }

    void start(std::deque<ServiceProgram> programs = {realService()}, QSize size = {1280, 800})
    {
        WindowOptions options;
        options.remember = false;
        options.theme = ThemeChoice::light;
        options.programs = std::move(programs);
        window = std::make_unique<MainWindow>(options);
        window->resize(size);
        window->show();
    }

    bool waitUntil(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, patienceMs); }
    bool settle()
    {
        return waitUntil([this] { return window->workspace().settled() && window->panes().timeline->settled(); });
    }

    bool open(const std::filesystem::path& path)
    {
        window->openPath(qstr(path.string()));
        return settle();
    }

    /// A copy of the golden run; with its session there is nothing to judge.
    std::filesystem::path copySample(bool session = true)
    {
        std::filesystem::path sample = folder / "sample";
        std::filesystem::copy(NANSCOPE_SAMPLE, sample, std::filesystem::copy_options::recursive);
        if (!session) {
            std::filesystem::remove(sample / "sample.nanscope");
        }
        return sample;
    }

    QString sentence() const { return window->messageBar()->sentence(); }

    QTemporaryDir temporary;
    std::filesystem::path folder = temporary.path().toStdString();
    std::unique_ptr<MainWindow> window;
};

} // namespace nanscope::test
