// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a NaN detector or a guard would have done, as the window asks and tells it.
#include <fstream>

#include <nlohmann/json.hpp>

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QToolButton>

#include "core/model/verdict.h"
#include "tests/ui/openwindow.h"
#include "ui/captures/capturespane.h"
#include "ui/shared/factsview.h"
#include "ui/whatif/detectorview.h"
#include "ui/whatif/guardview.h"
#include "ui/whatif/whatifpane.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

const std::string kempner =
    "[rank 0] INFO     [step 1] loss=2.5000 | lr=3.00e-04 | grad_norm=1.250 | step_time=1.25s\n"
    "[rank 0] WARNING  NaN/Inf loss at step 1 (consecutive=1, total=1, last_good_loss=2.5000 at step 0)\n"
    "[rank 0] WARNING  NaN/Inf loss at step 2 (consecutive=2, total=2, last_good_loss=2.5000 at step 0)\n"
    "[rank 0] INFO     [step 4] loss=2.2500 | lr=3.00e-04 | grad_norm=1.250 | step_time=1.25s\n";

QString cell(const QAbstractItemModel& model, int row, int column)
{
    return model.index(row, column).data().toString();
}

class WhatIfTab : public test::OpenWindow
{
protected:
    WhatIfPane& pane() { return *window->panes().whatIf; }

    fs::path makeLogs()
    {
        fs::path logs = folder / "logs";
        fs::create_directory(logs);
        std::ofstream(logs / "train.log") << kempner;
        return logs;
    }

    bool show()
    {
        window->pane(QStringLiteral("whatif"));
        return settle();
    }
};

WhatIfAnswer whatIfAnswer(const RunData& run, const WhatIfQuestion& question = {})
{
    return answerWhatIf(run, question);
}

} // namespace

TEST_F(WhatIfTab, DetectorIsAskedAgainWithEverySetting)
{
    start({});
    ASSERT_TRUE(open(makeLogs()));
    ASSERT_TRUE(show());
    DetectorView& view = *pane().detector();
    const QAbstractItemModel& model = *view.model();
    ASSERT_EQ(model.rowCount(), 1);
    EXPECT_EQ(cell(model, 0, DetectorView::process), QStringLiteral("train.log, rank 0, steps 0-3"));
    EXPECT_EQ(cell(model, 0, DetectorView::action), QStringLiteral("warns"));
    EXPECT_EQ(cell(model, 0, DetectorView::step), QStringLiteral("1"));
    EXPECT_EQ(cell(model, 0, DetectorView::rollback), QStringLiteral("no"));
    EXPECT_EQ(cell(model, 0, DetectorView::leftOut), QStringLiteral("2"));
    EXPECT_EQ(cell(model, 0, DetectorView::message),
        QStringLiteral("NaN/Inf loss at step 1 (consecutive=1, total=1, last_good_loss=2.5000 at step 0)"));
    EXPECT_EQ(view.headline(), QStringLiteral("Never stops: no row is long enough"));
    view.patienceBox()->setValue(2);
    ASSERT_TRUE(settle());
    EXPECT_EQ(cell(model, 0, DetectorView::rollback), QStringLiteral("at step 2"));
    EXPECT_EQ(view.headline(), QStringLiteral("Stops at step 2"));
    EXPECT_TRUE(view.facts()->toPlainText().contains(QStringLiteral("a false alarm: finite again from step 3")));
    view.actionBox()->setCurrentIndex(view.actionBox()->findText(QStringLiteral("raise")));
    EXPECT_FALSE(view.patienceBox()->isEnabled());
    ASSERT_TRUE(settle());
    EXPECT_EQ(cell(model, 0, DetectorView::action), QStringLiteral("raises"));
    EXPECT_EQ(view.headline(), QStringLiteral("Stops at step 1"));
}

TEST_F(WhatIfTab, RowsAndLinksGoToTheStepAndSayTheLine)
{
    start({});
    ASSERT_TRUE(open(makeLogs()));
    ASSERT_TRUE(show());
    const QSignalSpy activated(&pane(), &WhatIfPane::factActivated);
    QTableView* table = pane().detector()->view();
    table->setFocus();
    Q_EMIT table->activated(table->model()->index(0, 0));
    ASSERT_EQ(activated.size(), 1);
    const auto fact = activated[0][0].value<diagnose::AnswerFact>();
    EXPECT_EQ(fact.source, "train.log:2");
    EXPECT_EQ(fact.step, 2) << "as the log prints it";
    EXPECT_EQ(window->panes().timeline->view()->cursor(), 2.0);
    Q_EMIT pane().detector()->facts()->anchorClicked(QUrl(QStringLiteral("0")));
    Q_EMIT pane().detector()->facts()->anchorClicked(QUrl(QStringLiteral("99")));
    EXPECT_EQ(activated.size(), 2);
    EXPECT_EQ(placeOfSource("a:b.log:17"), std::pair(QStringLiteral("a:b.log"), qint64 {17}));
    EXPECT_EQ(placeOfSource("dump.pt"), std::pair(QStringLiteral("dump.pt"), qint64 {0}));
}

TEST_F(WhatIfTab, NothingIsAskedWhileNobodyLooks)
{
    start({});
    const QSignalSpy started(&window->workspace().whatIf(), &WhatIfJob::started);
    ASSERT_TRUE(open(makeLogs()));
    pane().detector()->patienceBox()->setValue(7);
    ASSERT_TRUE(settle());
    EXPECT_EQ(started.size(), 0);
    ASSERT_TRUE(show());
    EXPECT_EQ(started.size(), 1);
    EXPECT_EQ(pane().detector()->model()->rowAt(0)->options.maxConsecutive, 7);
}

TEST_F(WhatIfTab, GuardOfTheSampleDriftsWhereRanksDecideAlone)
{
    start({});
    ASSERT_TRUE(open(copySample()));
    pane().guardButton()->setChecked(true);
    ASSERT_TRUE(show());
    GuardView& view = *pane().guard();
    EXPECT_TRUE(view.isVisible());
    EXPECT_TRUE(view.headline().startsWith(QStringLiteral("2 updates went bad by themselves")))
        << view.headline().toStdString();
    EXPECT_FALSE(view.view()->isColumnHidden(GuardView::cause)) << "two births";
    view.layoutBox()->setCurrentIndex(view.layoutBox()->findText(QStringLiteral("head-split")));
    ASSERT_TRUE(settle());
    ASSERT_EQ(view.model()->rowCount(), 2);
    EXPECT_EQ(cell(*view.model(), 0, GuardView::local), QStringLiteral("drift: only rank 0 skips"));
    EXPECT_EQ(cell(*view.model(), 1, GuardView::local), QStringLiteral("drift: only rank 1 skips"));
    EXPECT_EQ(cell(*view.model(), 0, GuardView::full), QStringLiteral("all skip"));
    const QString told = view.facts()->toPlainText();
    for (const char* part : {"stay apart", "the momentum has taken the gradient in", "Which layout", "Know that"}) {
        EXPECT_TRUE(told.contains(QLatin1String(part))) << part << " in " << told.toStdString();
    }
    view.scopeBox()->setCurrentIndex(view.scopeBox()->findText(QStringLiteral("full")));
    ASSERT_TRUE(settle());
    EXPECT_TRUE(view.view()->isColumnHidden(GuardView::local));
    EXPECT_FALSE(view.view()->isColumnHidden(GuardView::full));
    Q_EMIT view.view()->clicked(view.model()->index(0, 0));
    EXPECT_EQ(window->panes().timeline->view()->cursor(), 5.0);
    EXPECT_EQ(window->workspace().verdict()->role, Role::birth);
}

TEST_F(WhatIfTab, ARuledOutLayoutIsSaidNotHidden)
{
    start({});
    ASSERT_TRUE(open(copySample()));
    pane().guardButton()->setChecked(true);
    pane().guard()->layoutBox()->setCurrentIndex(pane().guard()->layoutBox()->findText(QStringLiteral("single")));
    ASSERT_TRUE(show());
    ASSERT_GE(pane().guard()->model()->rowCount(), 1);
    EXPECT_FALSE(pane().guard()->facts()->toPlainText().isEmpty());
}

TEST_F(WhatIfTab, WhatIsCopiedIsTextOrTheCommandLinesJson)
{
    start({});
    ASSERT_TRUE(open(makeLogs()));
    ASSERT_TRUE(show());
    const QSignalSpy copied(&pane(), &WhatIfPane::copied);
    const auto actions = pane().copyButton()->menu()->actions();
    ASSERT_EQ(actions.size(), 2);
    actions[0]->trigger();
    const QString text = QGuiApplication::clipboard()->text();
    EXPECT_TRUE(text.contains(QStringLiteral("left out: 2 updates: 1-2"))) << text.toStdString();
    EXPECT_TRUE(text.contains(QStringLiteral("[train.log:2]"))) << text.toStdString();
    actions[1]->trigger();
    const auto json = nlohmann::json::parse(QGuiApplication::clipboard()->text().toStdString());
    EXPECT_EQ(json["schema"], "nanscope.detector/1");
    EXPECT_EQ(json["runs"][0]["left_out"], 2);
    EXPECT_EQ(copied.size(), 2);
    pane().guardButton()->setChecked(true);
    EXPECT_TRUE(pane().asJson().contains(QStringLiteral("nanscope.guard/1")));
}

TEST_F(WhatIfTab, WhatIsMissingIsOneSentence)
{
    start({});
    ASSERT_TRUE(open(makeLogs()));
    pane().guardButton()->setChecked(true);
    ASSERT_TRUE(show());
    EXPECT_EQ(pane().guard()->headline(),
        QStringLiteral("No capture was found; a guard's decision is told from dumps: open a folder that holds those "
                       "of all ranks"));
    EXPECT_FALSE(pane().guard()->view()->isVisible());
    const fs::path empty = folder / "captures";
    fs::create_directory(empty);
    fs::copy(NANSCOPE_SAMPLE "/dion_nan_captures", empty / "dion_nan_captures");
    ASSERT_TRUE(open(empty));
    pane().detectorButton()->setChecked(true);
    ASSERT_TRUE(settle());
    EXPECT_TRUE(
        pane().detector()->headline().startsWith(QStringLiteral("Neither a loss nor a detector warning was found")))
        << pane().detector()->headline().toStdString();
    EXPECT_FALSE(pane().detector()->view()->isVisible());
}

TEST_F(WhatIfTab, AnotherRunsAnswerIsNotLeftStandingAndItsRanksAreNotKept)
{
    start({});
    ASSERT_TRUE(open(makeLogs()));
    ASSERT_TRUE(show());
    pane().guard()->ranksBox()->setValue(8);
    ASSERT_TRUE(settle());
    ASSERT_TRUE(open(copySample()));
    EXPECT_EQ(pane().guard()->ranksBox()->value(), 0);
    ASSERT_EQ(pane().detector()->model()->rowCount(), 1);
    EXPECT_EQ(pane().detector()->model()->rowAt(0)->sources.front(), "console.log");
}

TEST(WhatIfSettings, AreRememberedButForTheRanks)
{
    WhatIfQuestion question;
    question.detector = {{.action = probe::NanAction::skip, .maxConsecutive = 3}, true};
    question.guard = {probe::GuardScope::group, probe::Layout::headSplit, 8};
    const WhatIfQuestion again = restoreWhatIf(saveWhatIf(question));
    EXPECT_EQ(again.detector.options.action, probe::NanAction::skip);
    EXPECT_EQ(again.detector.options.maxConsecutive, 3);
    EXPECT_TRUE(again.detector.checkGradients);
    EXPECT_EQ(again.guard.scope, probe::GuardScope::group);
    EXPECT_EQ(again.guard.layout, probe::Layout::headSplit);
    EXPECT_EQ(again.guard.ranks, std::nullopt);
    const WhatIfQuestion fresh = restoreWhatIf("{\"version\": 1, \"action\": 7, \"max_consecutive\": -4}");
    EXPECT_EQ(fresh.detector.options.action, probe::NanAction::warn);
    EXPECT_EQ(fresh.detector.options.maxConsecutive, 1);
    EXPECT_EQ(restoreWhatIf("nonsense").detector.options.maxConsecutive, 5);
}

TEST(WhatIfSettings, ComeBackWithTheWindow)
{
    QSettings().clear();
    WindowOptions options;
    options.theme = ThemeChoice::light;
    options.programs = {};
    {
        MainWindow window(options);
        window.panes().whatIf->detector()->patienceBox()->setValue(9);
        window.panes().whatIf->detector()->gradientsBox()->setChecked(true);
    }
    MainWindow again(options);
    EXPECT_EQ(again.panes().whatIf->detector()->patienceBox()->value(), 9);
    EXPECT_TRUE(again.panes().whatIf->detector()->gradientsBox()->isChecked());
    QSettings().clear();
}

TEST(WhatIfPane, SaysWhatItWaitsForAndWhatWentWrong)
{
    WhatIfPane pane;
    EXPECT_FALSE(pane.copyButton()->isEnabled());
    pane.showProblem(QStringLiteral("The session is gone"));
    EXPECT_FALSE(pane.detector()->isVisibleTo(&pane));
    WhatIfAnswer answer = whatIfAnswer({});
    answer.newestPoints = 250'000;
    pane.setAnswer(std::make_shared<const WhatIfAnswer>(std::move(answer)));
    EXPECT_TRUE(pane.detector()->isVisibleTo(&pane));
    EXPECT_TRUE(pane.newestLabel()->isVisibleTo(&pane));
    EXPECT_TRUE(pane.copyButton()->isEnabled());
}

} // namespace nanscope
