// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "core/replay/engine/capturecells.h"
#include "tests/ui/samples.h"
#include "ui/film/film.h"
#include "ui/shell/mainwindow.h"

namespace nanscope::test {

/// A window that remembers nothing and replays with the command line beside it.
WindowOptions quietOptions();

/// The sample run with the session it comes with: judged and swept already.
class SampleSessionWindow : public testing::Test
{
protected:
    SampleSessionWindow();
    void SetUp() override;

    bool waitUntil(const std::function<bool()>& condition);
    bool settle();
    bool waitForFilm(const std::function<bool(const Film&)>& condition);
    /// The output of the selected capture's first matrix in this cell, replayed by core alone.
    std::vector<double> replayedOutput(const replay::CellRequest& cell);

    QTemporaryDir folder;
    MainWindow window {quietOptions()};
};

} // namespace nanscope::test
