// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which findings the user does not want to hear of, and by which rule a loss
// spikes, chosen in the window.
#include <algorithm>
#include <fstream>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>

#include "core/report/input/reportinput.h"
#include "tests/ui/openwindow.h"
#include "ui/findings/findingspane.h"
#include "ui/jobs/reporter.h"

namespace nanscope::test {

namespace {

namespace fs = std::filesystem;

class FindingChoicesWindow : public OpenWindow
{
protected:
    FindingChoicesWindow() { QSettings().clear(); }
    ~FindingChoicesWindow() override
    {
        window.reset();
        QSettings().clear();
    }

    /// The sample, whose captures are judged already, with a loss that spikes.
    fs::path spikingRun()
    {
        fs::path run = copySample();
        writeSpikes(run);
        return run;
    }

    /// One that remembers.
    bool startAgainOn(const fs::path& run)
    {
        window.reset();
        WindowOptions options;
        options.theme = ThemeChoice::light;
        options.programs = {realService()};
        window = std::make_unique<MainWindow>(options);
        window->resize(1280, 800);
        window->show();
        return open(run);
    }

    FindingsPane& pane() { return *window->panes().findings; }
    Workspace& workspace() { return window->workspace(); }

    FindingState stateOf(const char* id)
    {
        const auto& findings = workspace().loaded().known()->findings;
        return std::ranges::find(findings, id, &Finding::id)->state;
    }

    bool chooseRule(const char* name)
    {
        QComboBox* box = pane().spikeRules();
        box->setCurrentIndex(box->findText(QLatin1String(name)));
        return settle();
    }

    void selectFinding(const char* id) { pane().view()->selectRow(pane().rowOf(QLatin1String(id))); }
};

} // namespace

TEST_F(FindingChoicesWindow, AnotherRuleReplaysNothingAndIsUndoneByChoosingAgain)
{
    const fs::path run = spikingRun();
    ASSERT_TRUE(startAgainOn(run));
    EXPECT_EQ(stateOf("P12"), FindingState::fired);
    const QSignalSpy judgedAgain(&workspace(), &Workspace::runChanged);
    const QSignalSpy changed(&workspace(), &Workspace::findingsChanged);
    ASSERT_TRUE(chooseRule("megatron"));
    EXPECT_EQ(stateOf("P12"), FindingState::clear);
    EXPECT_EQ(pane().waitingLabel()->text(), QString());
    ASSERT_TRUE(chooseRule("llm-foundry"));
    EXPECT_EQ(stateOf("P12"), FindingState::fired);
    EXPECT_GE(changed.size(), 4);
    EXPECT_EQ(judgedAgain.size(), 0);
}

TEST_F(FindingChoicesWindow, AreRememberedWithTheRun)
{
    const fs::path run = spikingRun();
    const fs::path other = folder / "other";
    fs::copy(run, other, fs::copy_options::recursive);
    ASSERT_TRUE(startAgainOn(run));
    ASSERT_TRUE(chooseRule("lightning"));
    selectFinding("P12");
    pane().silenceButton()->click();
    EXPECT_EQ(stateOf("P12"), FindingState::silenced);
    EXPECT_TRUE(workspace().settled()) << "a silence takes no points";
    ASSERT_TRUE(open(other));
    EXPECT_EQ(stateOf("P12"), FindingState::fired) << "it was said of another run";
    EXPECT_EQ(pane().spikeRules()->currentText(), QStringLiteral("llm-foundry"));

    ASSERT_TRUE(startAgainOn(run));
    EXPECT_EQ(stateOf("P12"), FindingState::silenced);
    EXPECT_EQ(pane().spikeRules()->currentText(), QStringLiteral("lightning"));
    pane().chip(FindingState::silenced)->click();
    selectFinding("P12");
    EXPECT_EQ(pane().silenceButton()->text(), QStringLiteral("Show this finding again"));
    pane().silenceButton()->click();
    EXPECT_EQ(stateOf("P12"), FindingState::fired);
    const auto& findings = workspace().loaded().known()->findings;
    EXPECT_NE(std::ranges::find(findings, "P12", &Finding::id)->threshold.find("Lightning"), std::string::npos);
}

TEST_F(FindingChoicesWindow, WhatIsChosenWhileTheRunIsJudgedHoldsOnceItIs)
{
    start();
    const fs::path run = spikingRun();
    window->openPath(qstr(run.string()));
    ASSERT_TRUE(waitUntil([this] { return workspace().judging(); }));
    QComboBox* box = pane().spikeRules();
    box->setCurrentIndex(box->findText(QStringLiteral("megatron")));
    EXPECT_TRUE(workspace().judging()) << "a judgement is not given up for it";
    EXPECT_TRUE(pane().waitingLabel()->isVisibleTo(&pane()));
    ASSERT_TRUE(settle());
    EXPECT_EQ(stateOf("P12"), FindingState::clear);
    EXPECT_EQ(pane().waitingLabel()->text(), QString());
    workspace().rescan();
    ASSERT_TRUE(settle());
    EXPECT_EQ(stateOf("P12"), FindingState::clear);
}

TEST_F(FindingChoicesWindow, ReportsFollowThem)
{
    start();
    ASSERT_TRUE(open(spikingRun()));
    workspace().chooseFindings({{"P12"}, "lightning"});
    const auto early = reportInput({workspace().loaded(), {}});
    ASSERT_TRUE(early);
    ASSERT_TRUE(settle());
    const auto report = reportInput({workspace().loaded(), {}});
    ASSERT_TRUE(report);
    const auto& findings = report->diagnosis.findings;
    EXPECT_EQ(std::ranges::find(findings, "P12", &Finding::id)->state, FindingState::silenced);
    EXPECT_EQ(report::jsonReport(*early), report::jsonReport(*report)) << "one asked for before the answer has it, too";
    EXPECT_TRUE(report->commandLine.ends_with(" --spike-rule lightning --silence P12")) << report->commandLine;
}

TEST_F(FindingChoicesWindow, ARunWithoutASessionIsKnownByItsFolder)
{
    const fs::path run = spikingRun();
    const QString blocked = temporary.filePath(QStringLiteral("blocked"));
    std::ofstream(blocked.toStdString()) << "no folder";
    qputenv("XDG_DATA_HOME", blocked.toUtf8());
    ASSERT_TRUE(startAgainOn(run));
    EXPECT_TRUE(workspace().loaded().session.empty());
    ASSERT_TRUE(chooseRule("megatron"));
    EXPECT_EQ(stateOf("P12"), FindingState::clear);
    ASSERT_TRUE(startAgainOn(run));
    EXPECT_EQ(workspace().loaded().choices.spikeRule, "megatron");
    EXPECT_EQ(stateOf("P12"), FindingState::clear);
}

} // namespace nanscope::test
