// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>

#include <gtest/gtest.h>

#include "core/diagnose/findings/spikerules.h"
#include "ui/findings/advisorylines.h"
#include "ui/findings/findingspane.h"
#include "ui/rollback/rollbackpane.h"
#include "ui/shared/text.h"
#include "ui/shell/taborder.h"

namespace nanscope {

namespace {

Finding findingOf(const std::string& id, FindingState state, const std::string& severity = "warning")
{
    Finding finding;
    finding.id = id;
    finding.state = state;
    finding.title = "Title of " + id;
    finding.severity = severity;
    finding.reason = "reason of " + id;
    finding.threshold = "rule of " + id;
    finding.advice = {"advice of " + id};
    return finding;
}

std::vector<Finding> someFindings()
{
    std::vector<Finding> all {findingOf("P2", FindingState::clear), findingOf("P3", FindingState::notCheckable),
        findingOf("P12", FindingState::fired), findingOf("machine", FindingState::fired, "error")};
    all[2].step = 41;
    all[2].evidence = {{"train.log", 77, "step 41 <b>loss</b>=9"}};
    return all;
}

QStringList idsOf(const QAbstractItemModel& model)
{
    QStringList ids;
    for (int row = 0; row < model.rowCount(); ++row) {
        ids << model.index(row, FindingsPane::id).data().toString();
    }
    return ids;
}

AdvisoryMatch advisoryOf(const std::string& title, bool certain, const std::string& link)
{
    AdvisoryMatch advisory;
    advisory.title = title;
    advisory.certain = certain;
    advisory.link = link;
    advisory.matched = "quack 0.4.1";
    advisory.missing = "the GPU's architecture";
    return advisory;
}

Rollback someAdvice()
{
    Rollback rollback;
    rollback.recommended = 4000;
    rollback.reason = "the newest that nothing speaks against";
    rollback.tonight = "set use_triton=False; resume from step 4000";
    rollback.checkpoints = {
        {5000, CheckpointStatus::poisoned, "NaN came of it", "step_5000", {{"loss is NaN", "a.log:3"}}},
        {4000, CheckpointStatus::safe, "it gave a finite loss", "step_4000", {}}};
    return rollback;
}

} // namespace

TEST(FindingsPane, WhatFiredComesFirstTheGravestOnTop)
{
    FindingsPane pane;
    pane.setFindings(someFindings());
    EXPECT_EQ(idsOf(*pane.model()), (QStringList {QStringLiteral("machine"), QStringLiteral("P12")}));
    EXPECT_EQ(pane.view()->currentIndex().row(), 0);
    EXPECT_EQ(pane.chip(FindingState::fired)->text(), QStringLiteral("2 fired"));
    EXPECT_EQ(pane.chip(FindingState::notCheckable)->text(), QStringLiteral("1 not checkable"));
    EXPECT_FALSE(pane.chip(FindingState::silenced)->isVisibleTo(&pane));
}

TEST(FindingsPane, ChipsChooseWhatIsListed)
{
    FindingsPane pane;
    pane.setFindings(someFindings());
    pane.chip(FindingState::notCheckable)->click();
    pane.chip(FindingState::clear)->click();
    EXPECT_EQ(idsOf(*pane.model()),
        (QStringList {QStringLiteral("machine"), QStringLiteral("P12"), QStringLiteral("P2"), QStringLiteral("P3")}));
    pane.chip(FindingState::fired)->click();
    EXPECT_EQ(idsOf(*pane.model()), (QStringList {QStringLiteral("P2"), QStringLiteral("P3")}));
    EXPECT_TRUE(pane.detail()->toPlainText().contains(QStringLiteral("Reason of P2")));
}

TEST(FindingsPane, TheDetailHasEvidenceRuleAndAdviceAsText)
{
    FindingsPane pane;
    pane.setFindings(someFindings());
    pane.view()->selectRow(1);
    const QString text = pane.detail()->toPlainText();
    for (const char* part : {"Title of P12", "Reason of P12", "train.log:77", "step 41 <b>loss</b>=9", "advice of P12",
             "Rule: rule of P12"}) {
        EXPECT_TRUE(text.contains(QLatin1String(part))) << part << " in " << text.toStdString();
    }
}

TEST(FindingsPane, AdvisoriesStandApartWhatIsCertainFirst)
{
    FindingsPane pane;
    AdvisoryLines& lines = *pane.advisories();
    EXPECT_FALSE(lines.isVisibleTo(&pane));
    lines.setAdvisories(
        {advisoryOf("May <be>", false, "javascript:alert(1)"), advisoryOf("Is", true, "https://example.org/1")});
    EXPECT_TRUE(lines.isVisibleTo(&pane));
    const QString text = lines.text();
    EXPECT_LT(text.indexOf(QStringLiteral("<b>Is</b>")), text.indexOf(QStringLiteral("<b>May &lt;be&gt;</b>")));
    EXPECT_TRUE(text.contains(QStringLiteral("cannot tell without the GPU's architecture")));
    EXPECT_TRUE(text.contains(QStringLiteral("https://example.org/1")));
    EXPECT_FALSE(text.contains(QStringLiteral("javascript")));
    EXPECT_EQ(pane.model()->rowCount(), 0);
    lines.setAdvisories({});
    EXPECT_FALSE(lines.isVisibleTo(&pane));
}

TEST(FindingsPane, ALinkNamesTheLine)
{
    FindingsPane pane;
    pane.setFindings(someFindings());
    pane.view()->selectRow(1);
    const QSignalSpy activated(&pane, &FindingsPane::evidenceActivated);
    Q_EMIT pane.detail()->anchorClicked(QUrl(QStringLiteral("0")));
    Q_EMIT pane.detail()->anchorClicked(QUrl(QStringLiteral("7")));
    ASSERT_EQ(activated.size(), 1);
    EXPECT_EQ(activated[0][0].toString(), QStringLiteral("train.log"));
    EXPECT_EQ(activated[0][1].toLongLong(), 77);
}

TEST(FindingsPane, KeepsTheSelectionWhenJudgedAgain)
{
    FindingsPane pane;
    pane.setFindings(someFindings());
    pane.view()->selectRow(1);
    auto again = someFindings();
    again.push_back(findingOf("P14", FindingState::fired, "error"));
    pane.setFindings(again);
    EXPECT_EQ(pane.view()->currentIndex().siblingAtColumn(FindingsPane::id).data().toString(), QStringLiteral("P12"));
}

TEST(FindingsPane, ASilencedFindingMovesToItsChipAndBack)
{
    FindingsPane pane;
    pane.setFindings(someFindings());
    QObject::connect(&pane, &FindingsPane::choicesChanged, &pane, [&pane](const diagnose::FindingChoices& choices) {
        auto findings = someFindings();
        diagnose::silence(findings, choices.silenced);
        pane.setChoices(choices);
        pane.setFindings(findings);
    });
    pane.view()->selectRow(1);
    EXPECT_EQ(pane.silenceButton()->text(), QStringLiteral("Silence this finding"));
    pane.silenceButton()->click();
    EXPECT_EQ(idsOf(*pane.model()), QStringList {QStringLiteral("machine")});
    EXPECT_EQ(pane.view()->currentIndex().row(), 0) << "the next one";
    EXPECT_EQ(pane.chip(FindingState::silenced)->text(), QStringLiteral("1 silenced"));
    EXPECT_TRUE(pane.chip(FindingState::silenced)->isVisibleTo(&pane));
    pane.silenceAction()->trigger();
    EXPECT_EQ(pane.model()->rowCount(), 0);
    EXPECT_FALSE(pane.silenceButton()->isVisibleTo(&pane));
    EXPECT_FALSE(pane.silenceAction()->isEnabled());

    pane.chip(FindingState::silenced)->click();
    EXPECT_EQ(idsOf(*pane.model()), (QStringList {QStringLiteral("machine"), QStringLiteral("P12")}));
    EXPECT_TRUE(pane.detail()->toPlainText().contains(QStringLiteral("You silenced this finding")));
    EXPECT_EQ(pane.silenceAction()->text(), QStringLiteral("Show this finding again"));
    pane.silenceAction()->trigger();
    EXPECT_EQ(pane.chip(FindingState::fired)->text(), QStringLiteral("1 fired"));
    EXPECT_EQ(pane.chip(FindingState::silenced)->text(), QStringLiteral("1 silenced"));
}

TEST(FindingsPane, AFourthChipMakesThePaneNoWider)
{
    constexpr int besideTheCaptures = 602; // of a window of 1280
    FindingsPane pane;
    pane.setTitle({});
    auto findings = someFindings();
    diagnose::silence(findings, {"P12"});
    pane.setFindings(findings);
    pane.setWaiting(QStringLiteral("Looking for spikes by this rule…"));
    EXPECT_LT(pane.minimumSizeHint().width(), besideTheCaptures);
}

TEST(FindingsPane, OnlyWhatFiredCanBeSilenced)
{
    FindingsPane pane;
    pane.setFindings({findingOf("P2", FindingState::clear), findingOf("P3", FindingState::notCheckable)});
    EXPECT_FALSE(pane.silenceButton()->isVisibleTo(&pane));
    pane.chip(FindingState::clear)->click();
    EXPECT_EQ(pane.model()->rowCount(), 1);
    EXPECT_FALSE(pane.silenceButton()->isVisibleTo(&pane));
    EXPECT_FALSE(pane.silenceAction()->isEnabled());
    EXPECT_EQ(pane.view()->actions().value(0), pane.silenceAction()) << "first in the menu of the table";
}

TEST(FindingsPane, EverySpikeRuleIsNamedWithItsSource)
{
    FindingsPane pane;
    QComboBox* box = pane.spikeRules();
    const auto& rules = diagnose::cards::spikeRules();
    ASSERT_EQ(box->count(), static_cast<int>(rules.size()));
    EXPECT_EQ(box->itemText(0), qstr(diagnose::cards::defaultSpikeRule().name));
    EXPECT_EQ(box->accessibleName(), QStringLiteral("Loss spikes by"));
    for (int i = 0; i < box->count(); ++i) {
        const QString source = sentenceCase(qstr(rules[static_cast<std::size_t>(i)].text));
        EXPECT_TRUE(box->itemData(i, Qt::ToolTipRole).toString().contains(source)) << i;
    }
    const QSignalSpy chosen(&pane, &FindingsPane::choicesChanged);
    pane.setChoices({{"P2"}, "olmo"});
    EXPECT_EQ(box->currentText(), QStringLiteral("olmo"));
    EXPECT_EQ(chosen.size(), 0) << "nobody chose";
    box->setCurrentIndex(0);
    box->setCurrentIndex(box->findText(QStringLiteral("zclip")));
    ASSERT_EQ(chosen.size(), 2);
    EXPECT_EQ(chosen[0][0].value<diagnose::FindingChoices>(), (diagnose::FindingChoices {{"P2"}, ""}));
    EXPECT_EQ(chosen[1][0].value<diagnose::FindingChoices>(), (diagnose::FindingChoices {{"P2"}, "zclip"}));
    EXPECT_TRUE(box->toolTip().contains(QStringLiteral("ZClip"))) << box->toolTip().toStdString();
}

TEST(FindingsPane, TabReachesTheRuleTheTableAndTheSilence)
{
    FindingsPane pane;
    pane.resize(900, 300);
    pane.setFindings(someFindings());
    pane.show();
    const auto stops = tabStops(pane);
    const auto placeOf = [&stops](const QWidget* widget) { return std::ranges::find(stops, widget) - stops.begin(); };
    EXPECT_LT(placeOf(pane.chip(FindingState::fired)), placeOf(pane.spikeRules()));
    EXPECT_LT(placeOf(pane.spikeRules()), placeOf(pane.view()));
    EXPECT_LT(placeOf(pane.detail()), placeOf(pane.silenceButton()));
    EXPECT_LT(placeOf(pane.silenceButton()), std::ssize(stops));
}

TEST(FindingsPane, ColumnsInWhichNothingStandsLeaveTheirRoomToTheNames)
{
    FindingsPane pane;
    Finding without = findingOf("P2", FindingState::fired);
    without.step.reset();
    without.rank.reset();
    pane.setFindings({without});
    EXPECT_TRUE(pane.view()->isColumnHidden(FindingsPane::step));
    EXPECT_TRUE(pane.view()->isColumnHidden(FindingsPane::rank));
    Finding with = without;
    with.step = 0;
    pane.setFindings({without, with});
    EXPECT_FALSE(pane.view()->isColumnHidden(FindingsPane::step));
    EXPECT_TRUE(pane.view()->isColumnHidden(FindingsPane::rank));
}

TEST(FindingsPane, SaysWhyItIsEmpty)
{
    FindingsPane pane;
    EXPECT_TRUE(pane.detail()->toPlainText().contains(QStringLiteral("once they are judged")));
    pane.setFindings({findingOf("P2", FindingState::clear), findingOf("P3", FindingState::notCheckable)});
    EXPECT_EQ(pane.detail()->toPlainText(),
        QStringLiteral("No known pattern was found: 1 are ruled out, 1 could not be checked. The buttons above list "
                       "them."));
    pane.setFindings({findingOf("P3", FindingState::notCheckable)}, {}, false);
    EXPECT_TRUE(pane.detail()->toPlainText().contains(QStringLiteral("so far")));
    pane.setFindings({findingOf("P2", FindingState::silenced), findingOf("P3", FindingState::clear)});
    EXPECT_FALSE(pane.detail()->toPlainText().contains(QStringLiteral("No known pattern")));
}

TEST(RollbackPane, AnswersInOneLineAndMarksTheCheckpoint)
{
    RollbackPane pane;
    pane.setRollback(someAdvice(), true);
    EXPECT_EQ(pane.tonight(), QStringLiteral("Set use_triton=False; resume from step 4000"));
    EXPECT_EQ(pane.note(), QStringLiteral("2 checkpoints, 1 safe"));
    EXPECT_EQ(pane.view()->currentIndex().row(), 1);
    EXPECT_EQ(pane.model()->index(0, RollbackPane::proof).data().toString(), QStringLiteral("loss is NaN [a.log:3]"));
    pane.copyButton()->click();
    EXPECT_EQ(QGuiApplication::clipboard()->text(), pane.tonight());
}

TEST(FindingPanes, SayWhereOnlyTheNewestPointsWereJudged)
{
    FindingsPane findings;
    findings.setFindings(someFindings());
    EXPECT_FALSE(findings.newestLabel()->isVisibleTo(&findings));
    findings.setFindings(someFindings(), 250000);
    EXPECT_TRUE(findings.newestLabel()->isVisibleTo(&findings));
    EXPECT_TRUE(findings.newestLabel()->text().contains(countLabel(250000)))
        << findings.newestLabel()->text().toStdString();
    RollbackPane rollback;
    rollback.setRollback(someAdvice(), true, 250000);
    EXPECT_EQ(rollback.newestLabel()->text(), findings.newestLabel()->text());
    rollback.setRollback(someAdvice(), true);
    EXPECT_FALSE(rollback.newestLabel()->isVisibleTo(&rollback));
}

TEST(RollbackPane, TellsNothingWrongFromNotLookedAt)
{
    RollbackPane pane;
    EXPECT_EQ(pane.tonight(), QStringLiteral("Not judged yet"));
    pane.setRollback(std::nullopt, true);
    EXPECT_EQ(pane.tonight(), QStringLiteral("Nothing to go back from"));
    EXPECT_FALSE(pane.copyButton()->isVisibleTo(&pane));
    EXPECT_FALSE(pane.view()->isVisibleTo(&pane));
    pane.setRollback(std::nullopt, true, {}, QStringLiteral("switch kernels off; then go on"));
    EXPECT_EQ(pane.tonight(), QStringLiteral("Switch kernels off; then go on"));
    EXPECT_TRUE(pane.copyButton()->isVisibleTo(&pane));
}

} // namespace nanscope
