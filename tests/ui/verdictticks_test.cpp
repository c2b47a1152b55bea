// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

#include "core/replay/variant.h"
#include "tests/ui/samples.h"
#include "ui/panes/verdictbox.h"
#include "ui/panes/verdictexperiments.h"
#include "ui/panes/verdictflow.h"
#include "ui/panes/verdictpane.h"
#include "ui/panes/verdictquestion.h"
#include "ui/panes/verdictticks.h"
#include "ui/text.h"

namespace nanscope {

namespace {

/// A birth whose whole output is NaN: deepspeed-gram casts 80,384 to fp16, the others stay finite.
CaptureVerdict openVerdict()
{
    CaptureVerdict verdict;
    verdict.capture = "birth.pt";
    verdict.kind = "depends on which function ran";
    verdict.summary = "1 of 3 plausible variants can end with exactly this damage";
    verdict.question = "does your code cast to fp16 before it normalises?";
    verdict.next = {"nanscope diagnose PATH --ran X: say which function ran", "swap two GPUs"};
    verdict.damage = {"whole element", "every value is NaN", 0, 0, 4, 0, 4, 16, {}};
    verdict.weighed = Weighed {};
    verdict.weighed->rows = verdict.weighed->cols = 4;
    verdict.weighed->inputAbsmax = 80384;
    for (const char* variant : {"gns-gram", "deepspeed-gram", "gns-standard"}) {
        const bool overflows = std::string_view(variant) == "deepspeed-gram";
        verdict.variant.names.emplace_back(variant);
        verdict.members.push_back(
            {variant, "fp16", 8, overflows ? 0 : 8, overflows ? 8 : 0, 5.1, std::nullopt, 11, overflows ? "cast" : ""});
    }
    verdict.variant.all = {{"gns-gram", 0.0035}};
    return verdict;
}

class Ticks : public testing::Test
{
protected:
    void SetUp() override
    {
        m_pane.resize(860, 300);
        m_pane.showVerdict(test::makeRun()->captures[2], openVerdict());
        m_pane.setRan({QStringLiteral("gns-gram"), QStringLiteral("keller-jordan")}, {});
        m_pane.show();
    }

    VerdictBox* box(const char* variant)
    {
        for (auto* found : m_pane.ticks()->findChildren<VerdictBox*>()) {
            if (found->text().startsWith(QLatin1String(variant))) {
                return found;
            }
        }
        return nullptr;
    }

    QPushButton* answer(const char* text)
    {
        for (auto* button : m_pane.question()->findChildren<QPushButton*>()) {
            if (button->text() == QLatin1String(text) && button->isVisibleTo(&m_pane)) {
                return button;
            }
        }
        return nullptr;
    }

    VerdictPane m_pane;
};

} // namespace

TEST_F(Ticks, EveryMemberIsATickWithFormatAndFit)
{
    EXPECT_EQ(m_pane.ticked(),
        (QStringList {QStringLiteral("gns-gram"), QStringLiteral("deepspeed-gram"), QStringLiteral("gns-standard")}));
    ASSERT_NE(box("gns-gram"), nullptr);
    EXPECT_EQ(box("gns-gram")->text(), QStringLiteral("gns-gram  fp16 · 0.35 %"));
    EXPECT_TRUE(box("deepspeed-gram")->suspect());
    EXPECT_FALSE(box("gns-gram")->suspect());
    EXPECT_TRUE(box("deepspeed-gram")->toolTip().contains(QStringLiteral("first bad at cast")));
}

TEST_F(Ticks, UntickingJudgesAgainAtOnce)
{
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    QSignalSpy replay(&m_pane, &VerdictPane::ranChanged);
    box("deepspeed-gram")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation);
    EXPECT_TRUE(m_pane.headline().startsWith(QStringLiteral("Implementation")));
    ASSERT_EQ(changed.size(), 1);
    EXPECT_EQ(changed.first().first().toStringList(),
        (QStringList {QStringLiteral("gns-gram"), QStringLiteral("gns-standard")}));
    EXPECT_EQ(replay.size(), 0);
    ASSERT_NE(box("deepspeed-gram"), nullptr) << "it can be ticked again";
    box("deepspeed-gram")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided);
    EXPECT_EQ(m_pane.headline(), QStringLiteral("Undecided: depends on which function ran"));
    EXPECT_EQ(changed.last().first().toStringList(), QStringList()) << "all of them";
}

TEST_F(Ticks, TheClickedTickKeepsTheFocus)
{
    m_pane.activateWindow();
    box("deepspeed-gram")->setFocus();
    QTest::keyClick(box("deepspeed-gram"), Qt::Key_Space);
    EXPECT_EQ(m_pane.focusWidget(), box("deepspeed-gram"));
    EXPECT_FALSE(box("deepspeed-gram")->isChecked());
}

TEST_F(Ticks, NoneTickedIsAllPlausibleAgain)
{
    for (const char* variant : {"gns-gram", "deepspeed-gram", "gns-standard"}) {
        box(variant)->click();
    }
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided);
    EXPECT_EQ(m_pane.ticked().size(), 3);
}

TEST_F(Ticks, AnswersAreButtonsThatMapToTicks)
{
    EXPECT_EQ(m_pane.question()->answers(),
        (QStringList {QStringLiteral("My code casts to fp16 first"), QStringLiteral("It normalises in fp32 first")}));
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    answer("My code casts to fp16 first")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::numerics);
    EXPECT_EQ(m_pane.ticked(), QStringList {QStringLiteral("deepspeed-gram")});
    EXPECT_EQ(changed.size(), 1);
    EXPECT_FALSE(m_pane.question()->isVisibleTo(&m_pane)) << "it is answered";
    m_pane.showTicks({});
    EXPECT_TRUE(m_pane.question()->isVisibleTo(&m_pane));
    answer("It normalises in fp32 first")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation);
}

TEST_F(Ticks, AVariantThatWasNotReplayedIsAskedFor)
{
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    QSignalSpy replay(&m_pane, &VerdictPane::ranChanged);
    QStringList offered;
    for (QAction* action : m_pane.findChild<QMenu*>()->actions()) {
        offered << action->text();
        if (action->text() == QLatin1String("keller-jordan")) {
            action->trigger();
        }
    }
    EXPECT_FALSE(offered.contains(QStringLiteral("gns-gram"))) << "it has a tick";
    ASSERT_EQ(replay.size(), 1);
    EXPECT_TRUE(replay.first().first().toStringList().contains(QStringLiteral("keller-jordan")));
    EXPECT_TRUE(replay.first().first().toStringList().contains(QStringLiteral("gns-gram")));
    EXPECT_EQ(changed.size(), 0);
    EXPECT_FALSE(m_pane.showTicks({QStringLiteral("keller-jordan")}));
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided) << "nothing changes until it is replayed";
}

TEST_F(Ticks, TheSidecarCannotBeUnticked)
{
    auto verdict = openVerdict();
    verdict.variant.how = IdentifiedBy::sidecar;
    verdict.members.resize(1);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_FALSE(box("gns-gram")->isEnabled());
}

TEST_F(Ticks, AVerdictOfAnOlderVersionStillAsksWhatRan)
{
    auto verdict = openVerdict();
    verdict.weighed.reset();
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_EQ(m_pane.ticked(), QStringList());
    EXPECT_EQ(m_pane.question()->answers(), QStringList());
    EXPECT_TRUE(m_pane.question()->isVisibleTo(&m_pane));
    EXPECT_EQ(m_pane.findChild<QMenu*>()->actions().size(), 4);
}

TEST_F(Ticks, ExperimentsAreTickedOffAndCopied)
{
    m_pane.setOpenList(VerdictPane::List::next);
    EXPECT_TRUE(m_pane.listText().contains(QStringLiteral("swap two GPUs")));
    const auto boxes = m_pane.experiments()->findChildren<VerdictBox*>();
    ASSERT_EQ(boxes.size(), 2);
    boxes[1]->click();
    EXPECT_EQ(m_pane.experiments()->done(), QStringList {QStringLiteral("swap two GPUs")});
    QSignalSpy copied(&m_pane, &VerdictPane::experimentCopied);
    m_pane.experiments()->findChildren<QToolButton*>().first()->click();
    EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("nanscope diagnose PATH --ran X"));
    EXPECT_EQ(copied.size(), 1);
    // Another capture has tried nothing; coming back, the tick is still there.
    m_pane.showVerdict(test::makeRun()->captures[0], openVerdict());
    EXPECT_EQ(m_pane.experiments()->done(), QStringList());
    m_pane.showVerdict(test::makeRun()->captures[2], openVerdict());
    EXPECT_EQ(m_pane.experiments()->done(), QStringList {QStringLiteral("swap two GPUs")});
}

TEST_F(Ticks, ManyVariantsScrollInsteadOfGrowing)
{
    auto verdict = openVerdict();
    const int before = m_pane.ticks()->height();
    for (const Variant& variant : variants()) {
        for (const char* precision : {"bf16", "fp32"}) {
            verdict.members.push_back({std::string(variant.name), precision, 8, 8, 0, 5.1, std::nullopt, 11, ""});
        }
    }
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_GT(m_pane.ticked().size(), 15);
    EXPECT_LE(m_pane.ticks()->height(), 2 * before + 8);
    m_pane.resize(400, 300);
    EXPECT_LE(m_pane.ticks()->height(), 2 * before + 8);
}

TEST_F(Ticks, AMessageHidesThem)
{
    m_pane.showMessage(QStringLiteral("Judging…"), QString());
    EXPECT_EQ(m_pane.verdict(), nullptr);
    EXPECT_FALSE(m_pane.ticks()->isVisibleTo(&m_pane));
    EXPECT_FALSE(m_pane.question()->isVisibleTo(&m_pane));
    EXPECT_FALSE(m_pane.showTicks({}));
}

TEST(Experiments, ALineSaysWhatToDoWhatItMeansAndHowLong)
{
    const ExperimentText text = experimentText(
        QStringLiteral("CUDA_LAUNCH_BLOCKING=1: if it goes away, launch order; 4.2 clean hours for 95 %"));
    EXPECT_EQ(text.what, QStringLiteral("CUDA_LAUNCH_BLOCKING=1"));
    EXPECT_EQ(text.hours, QStringLiteral("4.2 clean hours"));
    EXPECT_EQ(experimentText(QStringLiteral("say --ran A[:B]: so")).what, QStringLiteral("say --ran A[:B]"));
    EXPECT_EQ(experimentText(QStringLiteral("swap two GPUs")).meaning, QString());
    EXPECT_EQ(experimentText(QStringLiteral("swap two GPUs")).hours, QString());
}

TEST(Flow, RowsBreakWhereTheWidthEnds)
{
    QWidget host;
    auto* flow = new VerdictFlow(&host);
    flow->setSpacing(4);
    for (int i = 0; i < 5; ++i) {
        auto* item = new QWidget(&host);
        item->setFixedSize(50, i == 0 ? 10 : 20);
        flow->addWidget(item);
    }
    EXPECT_EQ(flow->heightForWidth(1000), 20);
    EXPECT_EQ(flow->heightForWidth(110), 3 * 20 + 2 * 4);
    EXPECT_EQ(flow->heightOfRows(110, 2), 2 * 20 + 4);
    EXPECT_EQ(flow->heightForWidth(10), 10 + 4 * 20 + 4 * 4) << "one a row, however narrow";
    flow->setGeometry(QRect(0, 0, 110, 100));
    EXPECT_EQ(flow->itemAt(0)->geometry(), QRect(0, 5, 50, 10)) << "in the middle of its row";
    EXPECT_EQ(flow->itemAt(2)->geometry(), QRect(0, 24, 50, 20));
}

} // namespace nanscope
