// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <fstream>

#include <QPushButton>
#include <QSignalSpy>

#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "tests/ui/openwindow.h"
#include "ui/jobs/readrun.h"
#include "ui/shell/parts/readingpage.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

/// The captures of the sample beside a log of so many bytes, of which the first line is known.
fs::path runWithLog(const fs::path& folder, std::size_t bytes)
{
    fs::create_directories(folder / "run");
    fs::copy(fs::path(NANSCOPE_SAMPLE) / "dion_nan_captures", folder / "run" / "dumps");
    std::ofstream log(folder / "run" / "train.log", std::ios::binary);
    log << "Step 1: train_loss=1.5000, grad_norm=0.2500\n";
    const std::string lines = std::string(4095, '.') + '\n';
    for (std::size_t written = 0; written < bytes; written += lines.size()) {
        log << lines;
    }
    return folder / "run";
}

constexpr std::size_t large = std::size_t {65} << 20;

class Reading : public test::OpenWindow
{ };

} // namespace

TEST_F(Reading, CapturesAreToldOfBeforeALargeLogIsRead)
{
    const fs::path run = runWithLog(folder, large);
    std::vector<LoadedRun> early;
    const auto read = loadRun(run, {}, {}, [&](const LoadedRun& loaded) { early.push_back(loaded); });
    ASSERT_TRUE(read);
    ASSERT_EQ(early.size(), 1U);
    EXPECT_EQ(early[0].run->captures.size(), read->loaded.run->captures.size());
    EXPECT_EQ(early[0].triage->captures.size(), early[0].run->captures.size());
    EXPECT_TRUE(early[0].run->series.empty());
    EXPECT_EQ(early[0].session, read->loaded.session);
    EXPECT_EQ(read->loaded.run->series.size(), 2U);
}

TEST_F(Reading, ARunThatIsReadAtOnceIsShownOnce)
{
    const fs::path run = runWithLog(folder, 1 << 20);
    int early = 0;
    ASSERT_TRUE(loadRun(run, {}, {}, [&](const LoadedRun& /*loaded*/) { ++early; }));
    EXPECT_EQ(early, 0);
}

TEST_F(Reading, TheWindowShowsTheCapturesWhileALargeLogIsRead)
{
    start({});
    bool early = false;
    const Workspace& workspace = window->workspace();
    QObject::connect(&workspace, &Workspace::runChanged, window.get(),
        [&] { early = early || (workspace.busy() && workspace.loaded().run->series.empty() && workspace.hasRun()); });
    ASSERT_TRUE(open(runWithLog(folder, large)));
    EXPECT_TRUE(early);
    EXPECT_EQ(workspace.loaded().run->series.size(), 2U);
    EXPECT_TRUE(workspace.loaded().diagnosis) << "what was shown early is judged with its logs";
}

TEST(ReadingPage, SaysHowFarItIsAndCanBeStopped)
{
    ReadingPage page;
    page.resize(600, 300);
    page.begin(QStringLiteral("~/runs/17"));
    EXPECT_EQ(page.text(), QStringLiteral("Reading ~/runs/17…"));
    page.showProgress({"import", "logs", 812'000'000, 1'800'000'000, "bytes", "rank0.log"});
    EXPECT_EQ(page.text(), QStringLiteral("Reading ~/runs/17…\n812.0 MB of 1.8 GB of logs, rank0.log"));
    page.showProgress({"import", "captures", 3, 25, "files", "a.pt"});
    EXPECT_TRUE(page.text().endsWith(QStringLiteral("3 of 25 captures, a.pt"))) << page.text().toStdString();
    QSignalSpy cancelled(&page, &ReadingPage::cancelRequested);
    page.findChild<QPushButton*>()->click();
    EXPECT_EQ(cancelled.size(), 1);
    page.begin(QStringLiteral("~/runs/18"));
    EXPECT_EQ(page.text(), QStringLiteral("Reading ~/runs/18…")) << "nothing of the run before";
}

} // namespace nanscope
