// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dumps of one file name in a folder per rank: what is replayed of one is its own, with and without a session.
#include <algorithm>
#include <fstream>

#include <QTableView>

#include "tests/ui/openwindow.h"
#include "ui/captures/capturespane.h"
#include "ui/cliff/cliffpane.h"

namespace nanscope::test {

namespace {

namespace fs = std::filesystem;

class Namesakes : public OpenWindow
{
protected:
    void openRanks()
    {
        const fs::path dumps = fs::path(NANSCOPE_SAMPLE) / "dion_nan_captures";
        for (const auto& [rank, dump] : {std::pair {"rank_0", "rank0_shape1x96x160_pid41207_1792231455315"},
                 std::pair {"rank_1", "rank1_shape1x96x160_pid41208_1792231455386"}}) {
            fs::create_directories(folder / "run" / rank);
            fs::copy_file(dumps / ("dion_nan_capture_" + std::string(dump) + ".pt"), folder / "run" / rank / "dump.pt");
        }
        start();
        ASSERT_TRUE(open(folder / "run"));
        ASSERT_EQ(window->workspace().loaded().run->captures.size(), 2U);
    }

    void withoutSession()
    {
        std::ofstream(folder / "file") << "not a folder";
        qputenv("XDG_DATA_HOME", temporary.filePath(QStringLiteral("file")).toUtf8());
    }

    void select(const char* name)
    {
        const auto& captures = window->workspace().loaded().run->captures;
        const auto found = std::ranges::find(captures, name, &Capture::file);
        ASSERT_NE(found, captures.end());
        window->panes().captures->selectCapture(static_cast<int>(found - captures.begin()));
        ASSERT_TRUE(settle());
    }

    std::ptrdiff_t cellsOf(const char* name) const
    {
        return std::ranges::count(window->workspace().loaded().cells, name, &Cell::capture);
    }
};

} // namespace

TEST_F(Namesakes, ASweepWithoutASessionIsOfTheOneThatWasSwept)
{
    withoutSession();
    openRanks();
    ASSERT_TRUE(window->workspace().loaded().session.empty());
    select("rank_1/dump.pt");
    const auto before = cellsOf("rank_1/dump.pt");
    window->workspace().sweepSelected();
    ASSERT_TRUE(settle());
    EXPECT_GT(cellsOf("rank_1/dump.pt"), before);
    EXPECT_EQ(cellsOf("dump.pt"), 0) << "which is nobody's name";
}

TEST_F(Namesakes, DeepGaugesWithoutASessionAreOfTheOneThatIsShown)
{
    withoutSession();
    openRanks();
    select("rank_1/dump.pt");
    window->workspace().sweepSelected();
    ASSERT_TRUE(settle());
    ASSERT_TRUE(window->workspace().shownCell());
    std::string measured;
    QObject::connect(&window->workspace(), &Workspace::deepMeasured, window.get(),
        [&](const Cell& cell) { measured = cell.capture; });
    window->workspace().measureDeep();
    ASSERT_TRUE(settle());
    EXPECT_EQ(measured, "rank_1/dump.pt");
}

TEST_F(Namesakes, TheCliffIsOfTheOneThatIsShown)
{
    openRanks();
    select("rank_0/dump.pt");
    window->workspace().sweepSelected();
    ASSERT_TRUE(settle());
    window->pane(QStringLiteral("cliff"));
    const auto answered = [this] { return window->panes().cliff->outcomeText().contains(QStringLiteral("replayed")); };
    EXPECT_TRUE(QTest::qWaitFor(answered, 20000)) << window->panes().cliff->outcomeText().toStdString();
}

} // namespace nanscope::test
