// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLayout>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include <gtest/gtest.h>

#include "core/diagnose/rejudge.h"
#include "core/diagnose/verdict/decide.h"
#include "core/replay/variants/variant.h"
#include "tests/ui/samples.h"
#include "ui/shared/partsscroll.h"
#include "ui/shared/text.h"
#include "ui/verdict/evidencelist.h"
#include "ui/verdict/verdictbox.h"
#include "ui/verdict/verdictcalls.h"
#include "ui/verdict/verdictexperiments.h"
#include "ui/verdict/verdictflow.h"
#include "ui/verdict/verdictnow.h"
#include "ui/verdict/verdictpane.h"
#include "ui/verdict/verdictquestion.h"
#include "ui/verdict/verdictticks.h"
#include "ui/verdict/whatrandialog.h"

namespace nanscope {

namespace {

/// A birth whose whole output is NaN: deepspeed-gram casts 80,384 to fp16, the others stay finite.
Facts openFacts()
{
    Facts facts;
    facts.replayed = true;
    facts.rows = facts.cols = 4;
    facts.inputAbsmax = 80384;
    facts.dumpedByWrapper = true;
    facts.damage = {DamageShape::wholeElement, "every value is NaN", 0, 0, 4, 0, 4, 16, 16, {}};
    for (const char* variant : {"gns-gram", "deepspeed-gram", "gns-standard"}) {
        const bool overflows = std::string_view(variant) == "deepspeed-gram";
        facts.identified.names.emplace_back(variant);
        MemberResult member {
            variant, "fp16", 8, overflows ? 0 : 8, overflows ? 8 : 0, 5.1, std::nullopt, 11, overflows ? "cast" : ""};
        member.castsFirst = member.castLoses = overflows;
        facts.members.push_back(member);
    }
    facts.identified.all = {{"gns-gram", 0.0035}, {"gns-standard", 0.998}};
    return facts;
}

CaptureVerdict verdictOf(Facts facts)
{
    CaptureVerdict verdict;
    verdict.capture = "birth.pt";
    verdict.facts = std::move(facts);
    diagnose::verdict::judgeAgain(verdict);
    return verdict;
}

CaptureVerdict openVerdict()
{
    return verdictOf(openFacts());
}

/// Of one member that stays finite, so that nothing but what else ran is open.
Facts calmFacts()
{
    auto facts = openFacts();
    facts.members.resize(1);
    facts.identified.names.resize(1);
    facts.identified.how = IdentifiedBy::fit;
    facts.control = ControlCall {"control.pt", false, 1, {}, {"gns-gram"}};
    return facts;
}

class Ticks : public testing::Test
{
protected:
    void SetUp() override
    {
        m_pane.resize(860, 300);
        m_pane.showVerdict(test::makeRun()->captures[2], openVerdict());
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

    /// Opened by the button below the ticks.
    WhatRanDialog* whatRan()
    {
        if (m_pane.findChild<WhatRanDialog*>() == nullptr) {
            for (auto* found : m_pane.ticks()->findChildren<QToolButton*>()) {
                if (found->text().endsWith(QStringLiteral("ran…"))) {
                    found->click();
                }
            }
        }
        return m_pane.findChild<WhatRanDialog*>();
    }

    void judgeAgain()
    {
        for (auto* button : m_pane.findChild<WhatRanDialog*>()->findChildren<QPushButton*>()) {
            if (button->text() == QLatin1String("&Judge again")) {
                button->click();
            }
        }
    }

    QPushButton* answer(const char* text)
    {
        for (auto* button : m_pane.question()->findChildren<QPushButton*>()) {
            if (button->text() == QString::fromUtf8(text) && button->isVisibleTo(&m_pane)) {
                return button;
            }
        }
        return nullptr;
    }

    VerdictPane m_pane;
};

} // namespace

TEST_F(Ticks, EveryMemberIsATickWithFitUnderOneFormat)
{
    EXPECT_EQ(m_pane.ticked(),
        (QStringList {QStringLiteral("gns-gram"), QStringLiteral("deepspeed-gram"), QStringLiteral("gns-standard")}));
    ASSERT_NE(box("gns-gram"), nullptr);
    EXPECT_EQ(box("gns-gram")->text(), QStringLiteral("gns-gram · 0.35 % off"));
    EXPECT_EQ(box("gns-standard")->text(), QStringLiteral("gns-standard"));
    EXPECT_TRUE(box("deepspeed-gram")->suspect());
    EXPECT_FALSE(box("gns-gram")->suspect());
    EXPECT_TRUE(box("deepspeed-gram")->toolTip().contains(QStringLiteral("first bad at cast")));
}

TEST_F(Ticks, UntickingJudgesAgainAtOnce)
{
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    QSignalSpy replay(&m_pane, &VerdictPane::ranChanged);
    box("deepspeed-gram")->click();
    EXPECT_EQ(m_pane.verdict()->rule, RuleId::codeBesides);
    EXPECT_EQ(m_pane.headline(), QStringLiteral("Undecided"));
    EXPECT_TRUE(m_pane.kind().startsWith(QStringLiteral("Damaged as code besides"))) << m_pane.kind().toStdString();
    ASSERT_EQ(changed.size(), 1);
    EXPECT_EQ(changed.first().first().toStringList(),
        (QStringList {QStringLiteral("gns-gram"), QStringLiteral("gns-standard")}));
    EXPECT_EQ(replay.size(), 0);
    ASSERT_NE(box("deepspeed-gram"), nullptr) << "it can be ticked again";
    box("deepspeed-gram")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided);
    EXPECT_EQ(m_pane.headline(), QStringLiteral("Undecided"));
    EXPECT_EQ(m_pane.kind(), QStringLiteral("Depends on which function ran"));
    EXPECT_EQ(changed.last().first().toStringList(), QStringList()) << "all of them";
}

TEST_F(Ticks, MembersOfSeveralFormatsEachNameTheirs)
{
    auto verdict = openVerdict();
    verdict.facts.members[2].precision = "bf16";
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    ASSERT_NE(box("gns-gram"), nullptr);
    EXPECT_EQ(box("gns-gram")->text(), QStringLiteral("gns-gram  fp16 · 0.35 % off"));
}

TEST(VerdictPaneLayout, PartsNeverLieOverEachOther)
{
    QWidget centre;
    auto* layout = new QVBoxLayout(&centre);
    auto* pane = new VerdictPane;
    auto* below = new QWidget;
    below->setMinimumHeight(260);
    layout->addWidget(pane);
    layout->addWidget(below, 1);
    auto verdict = openVerdict();
    for (int word = 0; word < 20; ++word) {
        verdict.summary += " stays finite";
    }
    verdict.speaksFor = verdict.notTestable = {{"a line", "replay"}, {"another", "replay"}};
    pane->showVerdict(test::makeRun()->captures[2], verdict);
    for (const QSize size : {QSize(600, 560), QSize(480, 640), QSize(700, 520)}) {
        centre.resize(size);
        centre.show();
        QApplication::processEvents();
        int bottom = 0;
        const QLayout& parts = *pane->parts()->parts();
        for (int i = 0; i < parts.count(); ++i) {
            const QWidget* part = parts.itemAt(i)->widget();
            if (part && part->isVisibleTo(pane)) {
                EXPECT_GE(part->y(), bottom) << part->metaObject()->className() << " at " << size.width();
                EXPECT_GE(part->height(), part->heightForWidth(part->width()))
                    << part->metaObject()->className() << " at " << size.width();
                bottom = part->geometry().bottom();
            }
        }
        EXPECT_LT(bottom, pane->parts()->widget()->height());
    }
}

TEST_F(Ticks, AnOpenListIsWhollyThereAndScrollsWithTheRest)
{
    m_pane.resize(360, 120);
    m_pane.setOpenList(VerdictPane::List::speaksFor);
    QApplication::processEvents();
    const auto* list = m_pane.findChild<EvidenceList*>();
    ASSERT_TRUE(list->isVisible());
    EXPECT_EQ(list->verticalScrollBar()->maximum(), 0);
    EXPECT_GT(list->height(), 2 * list->fontMetrics().height());
    EXPECT_GT(m_pane.parts()->verticalScrollBar()->maximum(), 0);
}

TEST_F(Ticks, TheClickedTickKeepsTheFocus)
{
    m_pane.activateWindow();
    box("deepspeed-gram")->setFocus();
    QTest::keyClick(box("deepspeed-gram"), Qt::Key_Space);
    EXPECT_EQ(m_pane.focusWidget(), box("deepspeed-gram"));
    EXPECT_FALSE(box("deepspeed-gram")->isChecked());
}

TEST_F(Ticks, WhatTheVerdictRejectsIsNotCalledPlausible)
{
    for (const auto* label : m_pane.ticks()->findChildren<QLabel*>()) {
        EXPECT_FALSE(label->text().contains(QStringLiteral("lausible"))) << "gns-standard is off by 99.8 %";
    }
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
        (QStringList {QStringLiteral("My code casts to fp16 first"), QStringLiteral("It normalises in fp32 first"),
            QStringLiteral("Say what ran…")}));
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    answer("My code casts to fp16 first")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::numerics);
    EXPECT_EQ(m_pane.ticked(), QStringList {QStringLiteral("deepspeed-gram")});
    EXPECT_EQ(changed.size(), 1);
    EXPECT_FALSE(m_pane.question()->isVisibleTo(&m_pane)) << "it is answered";
    m_pane.showTicks({});
    EXPECT_TRUE(m_pane.question()->isVisibleTo(&m_pane));
    answer("It normalises in fp32 first")->click();
    EXPECT_EQ(m_pane.verdict()->rule, RuleId::codeBesides) << "whether anything else ran is another question";
    QApplication::processEvents();
    ASSERT_NE(answer("No other code ran"), nullptr);
    answer("No other code ran")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation);
}

TEST_F(Ticks, WhatAnAnswerLeavesComesFirstAndIsTakenBackBesideIt)
{
    answer("My code casts to fp16 first")->click();
    QApplication::processEvents();
    // Row by row.
    const auto place = [](const QWidget& part) { return part.y() * 1000 + part.x(); };
    EXPECT_LT(place(*box("deepspeed-gram")), place(*box("gns-gram")));
    const auto buttons = m_pane.ticks()->findChildren<QToolButton*>();
    const auto found = std::ranges::find(buttons, QStringLiteral("Take back"), &QToolButton::text);
    ASSERT_NE(found, buttons.end());
    QToolButton* back = *found;
    ASSERT_TRUE(back->isVisibleTo(&m_pane));
    EXPECT_TRUE(m_pane.ticks()->rect().contains(back->geometry())) << "in sight, however many there are";
    box("gns-gram")->click();
    EXPECT_LT(place(*box("deepspeed-gram")), place(*box("gns-gram"))) << "a click moves no box";
    back->click();
    EXPECT_EQ(m_pane.ticked().size(), 3);
    EXPECT_TRUE(m_pane.question()->isVisibleTo(&m_pane));
}

TEST_F(Ticks, ThatNothingElseRanIsSaidAndTakenBack)
{
    auto facts = calmFacts();
    facts.dumpedByWrapper = false;
    const auto verdict = verdictOf(facts);
    ASSERT_EQ(verdict.rule, RuleId::codeBesides);
    EXPECT_TRUE(box("no other code")->isVisibleTo(&m_pane)) << "whatever is asked";
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_EQ(m_pane.question()->answers(),
        (QStringList {QStringLiteral("No other code ran"), QStringLiteral("Other code ran")}));
    QApplication::processEvents();
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    ASSERT_NE(answer("No other code ran"), nullptr);
    answer("No other code ran")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation);
    ASSERT_EQ(changed.size(), 1);
    const QStringList ticked = changed.first().first().toStringList();
    EXPECT_TRUE(ticked.contains(qstr(diagnose::nothingElse)));
    m_pane.showVerdict(test::makeRun()->captures[2], verdict, ticked);
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation) << "it is remembered";
    EXPECT_TRUE(box("no other code")->isChecked());
    box("no other code")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided);
    EXPECT_TRUE(m_pane.question()->isVisibleTo(&m_pane));
}

TEST_F(Ticks, ThatOtherCodeRanIsSaidAndTakenBack)
{
    auto facts = calmFacts();
    facts.dumpedByWrapper = false;
    const auto verdict = verdictOf(facts);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    QApplication::processEvents();
    EXPECT_FALSE(box("other code ran")->isVisibleTo(&m_pane)) << "the question says it";
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    answer("Other code ran")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided);
    EXPECT_TRUE(m_pane.verdict()->facts.otherCode);
    EXPECT_TRUE(m_pane.question()->answers().isEmpty());
    EXPECT_FALSE(box("no other code ran")->isVisibleTo(&m_pane));
    m_pane.showVerdict(test::makeRun()->captures[2], verdict, changed.first().first().toStringList());
    EXPECT_TRUE(m_pane.verdict()->facts.otherCode) << "it is remembered";
    EXPECT_TRUE(box("other code ran")->isChecked());
    EXPECT_TRUE(m_pane.ticked().contains(qstr(diagnose::otherCode))) << "another click keeps it";
    box("other code ran")->click();
    EXPECT_FALSE(m_pane.verdict()->facts.otherCode);
    EXPECT_TRUE(box("no other code ran")->isVisibleTo(&m_pane));
    EXPECT_EQ(m_pane.question()->answers().size(), 2);
}

TEST_F(Ticks, OthersThatAskTheSameAreOffered)
{
    const auto offer = [this]() -> QToolButton* {
        for (auto* button : m_pane.findChildren<QToolButton*>()) {
            if (button->text() == QStringLiteral("Answer them alike") && button->isVisibleTo(&m_pane)) {
                return button;
            }
        }
        return nullptr;
    };
    EXPECT_EQ(offer(), nullptr);
    m_pane.offerAlike(2);
    ASSERT_NE(offer(), nullptr);
    QSignalSpy wanted(&m_pane, &VerdictPane::alikeWanted);
    offer()->click();
    EXPECT_EQ(wanted.size(), 1);
    m_pane.offerAlike(0);
    EXPECT_EQ(offer(), nullptr);
}

TEST_F(Ticks, WhatASidecarSaysCannotBeTakenBack)
{
    auto facts = calmFacts();
    facts.nothingElse = true;
    m_pane.showVerdict(test::makeRun()->captures[2], verdictOf(facts));
    EXPECT_TRUE(box("no other code")->isChecked());
    EXPECT_FALSE(box("no other code")->isEnabled());
    EXPECT_FALSE(m_pane.ticked().contains(qstr(diagnose::nothingElse))) << "it is not the user's word";
    facts = calmFacts();
    m_pane.showVerdict(test::makeRun()->captures[2], verdictOf(facts));
    EXPECT_FALSE(box("no other code")->isChecked());
    EXPECT_TRUE(box("no other code")->isEnabled());
}

TEST_F(Ticks, ThatItTakesNothingElseIsSaidAndTakenBack)
{
    auto facts = calmFacts();
    facts.dumpedByWrapper = false;
    facts.duplicate = DuplicateInput {"good.pt", false, 1, {}, {}};
    const auto verdict = verdictOf(facts);
    ASSERT_EQ(verdict.rule, RuleId::duplicateMayHaveOtherState);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_EQ(box("no other code ran"), nullptr) << "another question";
    QApplication::processEvents();
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    ASSERT_NE(answer("It takes nothing else"), nullptr);
    answer("It takes nothing else")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation);
    EXPECT_EQ(m_pane.verdict()->speaksFor.at(0).text, verdict.speaksFor[0].text);
    EXPECT_FALSE(m_pane.question()->isVisibleTo(&m_pane));
    ASSERT_EQ(changed.size(), 1);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict, changed.first().first().toStringList());
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation) << "it is remembered";
    box("takes nothing else")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided);
    EXPECT_TRUE(m_pane.question()->isVisibleTo(&m_pane));
    facts.duplicate->sameProcess = true;
    m_pane.showVerdict(test::makeRun()->captures[2], verdictOf(facts));
    QApplication::processEvents();
    answer("It takes nothing else")->click();
    EXPECT_EQ(m_pane.verdict()->blame, Blame::nondeterministic);
}

TEST_F(Ticks, AVariantThatWasNotReplayedIsAskedFor)
{
    QSignalSpy changed(&m_pane, &VerdictPane::ticksChanged);
    QSignalSpy replay(&m_pane, &VerdictPane::ranChanged);
    EXPECT_EQ(whatRan()->answer(), QStringList(QStringLiteral("gns-gram"))) << "plausible ones are first";
    whatRan()->findChild<QComboBox*>()->setCurrentText(QStringLiteral("keller-jordan"));
    judgeAgain();
    ASSERT_EQ(replay.size(), 1);
    EXPECT_EQ(replay.first().first().toStringList(), QStringList(QStringLiteral("keller-jordan")))
        << "another one ran, not this one besides";
    EXPECT_EQ(changed.size(), 0);
    EXPECT_FALSE(m_pane.showTicks({QStringLiteral("keller-jordan")}));
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided) << "nothing changes until it is replayed";
}

TEST_F(Ticks, TheQuestionStandsAboveItsReasons)
{
    const auto* summary = m_pane.findChild<QLabel*>(QStringLiteral("summary"));
    ASSERT_NE(summary, nullptr);
    QApplication::processEvents();
    ASSERT_TRUE(m_pane.question()->isVisible());
    EXPECT_LE(m_pane.question()->mapTo(&m_pane, QPoint(0, m_pane.question()->height())).y(),
        summary->mapTo(&m_pane, QPoint()).y());
}

TEST_F(Ticks, WhatWasSaidToHaveRunIsTakenBackWhereAnswersAre)
{
    const auto takeBack = [this] {
        const auto buttons = m_pane.ticks()->findChildren<QToolButton*>();
        const auto found = std::ranges::find(buttons, QStringLiteral("Take back"), &QToolButton::text);
        return found == buttons.end() ? nullptr : *found;
    };
    ASSERT_NE(takeBack(), nullptr);
    EXPECT_FALSE(takeBack()->isVisible());
    QSignalSpy replay(&m_pane, &VerdictPane::ranChanged);
    m_pane.setRan({QStringLiteral("keller-jordan")});
    EXPECT_TRUE(takeBack()->isVisible());
    takeBack()->click();
    ASSERT_EQ(replay.size(), 1);
    EXPECT_EQ(replay.first().first().toStringList(), QStringList());
    m_pane.setRan({});
    EXPECT_FALSE(takeBack()->isVisible());
}

TEST_F(Ticks, TheSidecarCannotBeUnticked)
{
    auto facts = calmFacts();
    facts.identified.how = IdentifiedBy::sidecar;
    const auto verdict = verdictOf(facts);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_FALSE(box("gns-gram")->isEnabled());
}

TEST_F(Ticks, AVerdictOfAnOlderVersionStillAsksWhatRan)
{
    auto verdict = openVerdict();
    verdict.facts.replayed = false;
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_EQ(m_pane.ticked(), QStringList());
    EXPECT_EQ(m_pane.question()->answers(), QStringList {QStringLiteral("Say what ran…")});
    EXPECT_TRUE(m_pane.question()->isVisibleTo(&m_pane));
}

TEST_F(Ticks, ExperimentsAreTickedOffAndCopied)
{
    m_pane.setOpenList(VerdictPane::List::next);
    EXPECT_TRUE(m_pane.listText().contains(QStringLiteral("swap two GPUs")));
    const auto& rows = m_pane.experiments()->rows();
    ASSERT_EQ(rows.size(), 4U) << "what ran is said by ticks, and no command is copied for it";
    QSignalSpy observed(&m_pane, &VerdictPane::observedChanged);
    rows[3]->box()->click();
    EXPECT_TRUE(m_pane.experiments()->observed().tried.empty()) << "how it ended is not said yet";
    EXPECT_TRUE(rows[3]->box()->isChecked());
    observed.clear();
    rows[3]->seenBox()->setCurrentIndex(0);
    ASSERT_EQ(observed.size(), 1);
    EXPECT_EQ(observed[0][0].value<Observations>().tried.at(0).id, "swap-gpus");
    EXPECT_TRUE(m_pane.now()->text().contains(QStringLiteral("or test with use_triton=False")));
    rows[0]->box()->click();
    rows[0]->seenBox()->setCurrentIndex(1);
    EXPECT_FALSE(m_pane.now()->text().contains(QStringLiteral("use_triton=False"))) << "that was tried";
    QSignalSpy copied(&m_pane, &VerdictPane::experimentCopied);
    rows[0]->findChildren<QToolButton*>().first()->click();
    EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("use_triton=False in the optimizer"));
    ASSERT_EQ(copied.size(), 1);
    EXPECT_EQ(copied.first().first().toString(), QStringLiteral("Copied: use_triton=False in the optimizer"));
    rows[0]->box()->click();
    EXPECT_EQ(rows[0]->seenBox()->currentIndex(), -1) << "taken back, it is not answered";
    // What was tried was tried with the run, whichever of its captures is looked at.
    m_pane.showVerdict(test::makeRun()->captures[0], openVerdict());
    EXPECT_TRUE(m_pane.experiments()->rows().at(3)->box()->isChecked());
}

TEST_F(Ticks, WhatAnExperimentShowedChangesTheVerdictAtOnce)
{
    m_pane.setOpenList(VerdictPane::List::next);
    ExperimentRow* swap = m_pane.experiments()->rows().at(3);
    swap->box()->click();
    swap->seenBox()->setCurrentIndex(0);
    ASSERT_TRUE(swap->timesBox()->isVisibleTo(&m_pane));
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided) << "one swap may be another card's own fault";
    swap->timesBox()->setValue(2);
    EXPECT_EQ(m_pane.verdict()->blame, Blame::machine);
    EXPECT_EQ(m_pane.experiments()->rows().at(3), swap) << "a row that is being filled in stays";
    swap->seenBox()->setCurrentIndex(1);
    EXPECT_EQ(m_pane.verdict()->blame, Blame::undecided);
    EXPECT_FALSE(swap->timesBox()->isVisibleTo(&m_pane));
}

TEST_F(Ticks, HowOftenItFailsTellsHowLongToStayClean)
{
    m_pane.setOpenList(VerdictPane::List::next);
    VerdictExperiments* experiments = m_pane.experiments();
    EXPECT_FALSE(experiments->hoursBox()->isEnabled());
    experiments->failuresBox()->setValue(3);
    experiments->hoursBox()->setValue(4.2);
    EXPECT_TRUE(experiments->lines().at(0).contains(QStringLiteral("4.2 clean hours")));
    experiments->failuresBox()->setValue(0);
    EXPECT_FALSE(experiments->observed().rate);
}

TEST_F(Ticks, CallsMadeAgainAreCountedJudgedAndTakenBack)
{
    const auto verdict = verdictOf(calmFacts());
    ASSERT_EQ(verdict.blame, Blame::implementation);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    m_pane.setOpenList(VerdictPane::List::next);
    VerdictExperiments* experiments = m_pane.experiments();
    EXPECT_TRUE(experiments->calls()->rows().empty());
    QSignalSpy said(&m_pane, &VerdictPane::observedChanged);
    experiments->addCallsButton()->click();
    ASSERT_EQ(experiments->calls()->rows().size(), 1U);
    EXPECT_EQ(said.size(), 0) << "it says nothing yet";
    CallsRow* row = experiments->calls()->rows()[0];
    EXPECT_TRUE(row->hint().contains(QStringLiteral("how often you repeated it")));
    row->failedBox()->setValue(3);
    EXPECT_TRUE(row->hint().contains(QStringLiteral("more failures than calls")));
    EXPECT_TRUE(experiments->observed().called.empty());
    row->callsBox()->setValue(200);
    ASSERT_EQ(experiments->calls()->rows().size(), 1U);
    EXPECT_EQ(experiments->calls()->rows()[0], row) << "a row that is being filled in stays";
    EXPECT_EQ(row->hint(), QString());
    ASSERT_FALSE(said.isEmpty());
    const auto called = said.last()[0].value<Observations>().called;
    ASSERT_EQ(called.size(), 1U);
    EXPECT_EQ(called[0].capture, "birth.pt");
    EXPECT_EQ(called[0].failed, 3);
    EXPECT_EQ(called[0].calls, 200);
    EXPECT_TRUE(called[0].sameGpu && called[0].experiment.empty());
    EXPECT_EQ(m_pane.verdict()->blame, Blame::nondeterministic);
    row->removeButton()->click();
    EXPECT_TRUE(said.last()[0].value<Observations>().called.empty());
    EXPECT_EQ(m_pane.verdict()->blame, Blame::implementation);
}

TEST_F(Ticks, CallsOfEverySettingHaveARowEach)
{
    m_pane.setOpenList(VerdictPane::List::next);
    VerdictExperiments* experiments = m_pane.experiments();
    experiments->addCallsButton()->click();
    experiments->addCallsButton()->click();
    const auto& rows = experiments->calls()->rows();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_NE(rows[0]->settingBox()->currentIndex(), rows[1]->settingBox()->currentIndex());
    rows[1]->callsBox()->setValue(40);
    EXPECT_FALSE(experiments->observed().called.at(0).sameGpu);
    rows[1]->settingBox()->setCurrentIndex(
        rows[1]->settingBox()->findText(QStringLiteral("use_triton=False"), Qt::MatchContains));
    EXPECT_EQ(experiments->observed().called.at(0).experiment, "kernels-off");
    EXPECT_TRUE(experiments->observed().called.at(0).sameGpu);
    EXPECT_TRUE(rows[1]->hint().contains(QStringLiteral("as it ran"))) << "nothing to hold it against";
    rows[0]->callsBox()->setValue(200);
    EXPECT_EQ(rows[1]->hint(), QString());
    EXPECT_EQ(experiments->observed().called.size(), 2U);
    while (experiments->addCallsButton()->isEnabled()) {
        experiments->addCallsButton()->click();
        ASSERT_LE(rows.size(), 8U);
    }
    EXPECT_EQ(static_cast<int>(rows.size()), rows[0]->settingBox()->count());
}

TEST_F(Ticks, CallsOfAnotherCaptureStayAndAreNotShown)
{
    Observations observed;
    observed.called = {{"other.pt", 1, 2}, {"birth.pt", 0, 50, true, "bf16"}};
    m_pane.setObserved(observed);
    m_pane.setOpenList(VerdictPane::List::next);
    VerdictExperiments* experiments = m_pane.experiments();
    ASSERT_EQ(experiments->calls()->rows().size(), 1U);
    EXPECT_EQ(experiments->calls()->rows()[0]->callsBox()->value(), 50);
    experiments->calls()->rows()[0]->failedBox()->setValue(1);
    const auto all = experiments->observed().called;
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].capture, "other.pt");
    EXPECT_EQ(all[1].failed, 1);
    auto follows = openVerdict();
    follows.facts.replayed = false;
    follows.role = follows.facts.role = Role::downstream;
    m_pane.showVerdict(test::makeRun()->captures[2], follows);
    EXPECT_FALSE(experiments->addCallsButton()->isVisibleTo(&m_pane)) << "its input was bad already";
}

TEST_F(Ticks, OfManyVariantsTheFirstFewAreShownUntilAllAreAskedFor)
{
    auto verdict = openVerdict();
    for (const replay::Variant& variant : replay::variants()) {
        verdict.facts.members.push_back({std::string(variant.name), "bf16", 8, 8, 0, 5.1, std::nullopt, 11, ""});
    }
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    const auto shown = [this] {
        const auto boxes = m_pane.ticks()->findChildren<VerdictBox*>();
        return std::ranges::count_if(boxes, [this](const VerdictBox* box) { return box->isVisibleTo(&m_pane); });
    };
    const auto all = m_pane.ticked().size();
    ASSERT_GT(all, 15);
    EXPECT_LT(shown(), 9);
    QSignalSpy needed(&m_pane, &VerdictPane::heightNeeded);
    QApplication::processEvents();
    ASSERT_FALSE(needed.isEmpty());
    EXPECT_FALSE(needed.last()[1].toBool());
    const int few = needed.last()[0].toInt();
    const QString text = QStringLiteral("Show all %1").arg(all);
    const auto buttons = m_pane.ticks()->findChildren<QToolButton*>();
    const auto others = std::ranges::find(buttons, text, &QToolButton::text);
    ASSERT_NE(others, buttons.end());
    (*others)->click();
    EXPECT_GE(shown(), all);
    EXPECT_EQ(m_pane.ticked().size(), all) << "what is hidden is ticked all the same";
    QApplication::processEvents();
    EXPECT_GT(needed.last()[0].toInt(), few);
    EXPECT_TRUE(needed.last()[1].toBool()) << "as long as they are shown";
    (*others)->click();
    QApplication::processEvents();
    EXPECT_EQ(needed.last()[0].toInt(), few);
}

TEST_F(Ticks, NothingInTheCardScrollsByItself)
{
    m_pane.resize(400, 160);
    for (const auto list : {VerdictPane::List::speaksFor, VerdictPane::List::next}) {
        m_pane.setOpenList(list);
        QApplication::processEvents();
        for (const auto* area : m_pane.findChildren<QAbstractScrollArea*>()) {
            if (area != m_pane.parts() && area->window() == &m_pane && area->isVisible()) {
                EXPECT_EQ(area->verticalScrollBarPolicy(), Qt::ScrollBarAlwaysOff) << area->metaObject()->className();
            }
        }
        EXPECT_GT(m_pane.parts()->verticalScrollBar()->maximum(), 0) << "all of it together";
    }
}

TEST_F(Ticks, WhatIsOpenedIsScrolledIntoSight)
{
    m_pane.layout()->setSizeConstraint(QLayout::SetNoConstraint); // as it is in the window
    m_pane.setMinimumSize(0, 0);
    m_pane.resize(420, 170);
    QApplication::processEvents();
    ASSERT_EQ(m_pane.parts()->verticalScrollBar()->value(), 0);
    m_pane.setOpenList(VerdictPane::List::next);
    QApplication::processEvents();
    const auto topOf = [this](QWidget* part) { return part->mapTo(m_pane.parts()->viewport(), QPoint()).y(); };
    EXPECT_GE(topOf(m_pane.experiments()), 0);
    EXPECT_LT(topOf(m_pane.experiments()), 100) << "its beginning";
    m_pane.resize(420, 240);
    QApplication::processEvents();
    EXPECT_GE(topOf(m_pane.experiments()), 0) << "also in another size";
    m_pane.parts()->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
    m_pane.resize(420, 250);
    QApplication::processEvents();
    EXPECT_EQ(m_pane.parts()->verticalScrollBar()->value(), 0) << "who scrolls looks at something else";
}

TEST_F(Ticks, NoButtonOfAnExperimentIsCutAtAnyWidth)
{
    m_pane.layout()->setSizeConstraint(QLayout::SetNoConstraint); // as it is in the window
    m_pane.setMinimumSize(0, 0);
    m_pane.setOpenList(VerdictPane::List::next);
    m_pane.experiments()->addCallsButton()->click();
    m_pane.experiments()->rows().at(0)->box()->click();
    for (const int width : {280, 340, 420, 520, 640, 860}) {
        m_pane.resize(width, 500);
        QApplication::processEvents();
        const QWidget& room = *m_pane.parts()->viewport();
        for (QWidget* part : m_pane.experiments()->findChildren<QWidget*>()) {
            const bool control = qobject_cast<QAbstractButton*>(part) || qobject_cast<QComboBox*>(part)
                || qobject_cast<QAbstractSpinBox*>(part);
            if (control && part->isVisible()) {
                EXPECT_GE(part->width(), part->minimumSizeHint().width())
                    << part->accessibleName().toStdString() << " at " << width;
                EXPECT_LE(
                    part->mapTo(&m_pane, part->rect().topRight()).x(), room.mapTo(&m_pane, room.rect().topRight()).x())
                    << part->accessibleName().toStdString() << " at " << width;
            }
        }
    }
}

TEST_F(Ticks, AQuestionNamesTheControlsOfTheWindow)
{
    auto facts = calmFacts();
    facts.members[0].slackPercent = -12;
    const auto close = verdictOf(facts);
    ASSERT_EQ(close.rule, RuleId::withoutMargin);
    ASSERT_TRUE(close.question.find("--called") != std::string::npos) << "as the command line has it";
    m_pane.showVerdict(test::makeRun()->captures[2], close);
    const auto texts = m_pane.question()->findChildren<QLabel*>();
    ASSERT_FALSE(texts.isEmpty());
    EXPECT_FALSE(texts[0]->text().contains(QStringLiteral("--"))) << texts[0]->text().toStdString();
    EXPECT_EQ(m_pane.question()->answers(), QStringList {QStringLiteral("Say how calls made again ended…")});
    QApplication::processEvents();
    ASSERT_NE(answer("Say how calls made again ended…"), nullptr);
    for (int i = 0; i < 2; ++i) {
        answer("Say how calls made again ended…")->click();
        EXPECT_EQ(m_pane.openList(), VerdictPane::List::next);
        ASSERT_EQ(m_pane.experiments()->calls()->rows().size(), 1U) << "the second time it is there";
        EXPECT_EQ(m_pane.experiments()->calls()->rows()[0]->setting(), (CallSetting {true, "kernels-off"}));
    }
    CallsRow* row = m_pane.experiments()->calls()->rows()[0];
    row->callsBox()->setValue(5);
    row->failedBox()->setValue(5);
    EXPECT_EQ(m_pane.verdict()->rule, RuleId::failsWithoutKernels) << "it is the answer";
}

TEST_F(Ticks, WhatIsPlausibleCanBeSaidToHaveRun)
{
    auto facts = calmFacts();
    facts.control.reset();
    facts.dumpedByWrapper = false;
    facts.nothingElse = true;
    const auto verdict = verdictOf(facts);
    ASSERT_EQ(verdict.rule, RuleId::functionUnknown);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    EXPECT_EQ(m_pane.question()->answers().value(0), QStringLiteral("Say what ran…"));
    QSignalSpy replay(&m_pane, &VerdictPane::ranChanged);
    EXPECT_EQ(whatRan()->answer(), QStringList(QStringLiteral("gns-gram"))) << "though it has a tick";
    judgeAgain();
    ASSERT_EQ(replay.size(), 1);
    EXPECT_EQ(replay.first().first().toStringList(), QStringList(QStringLiteral("gns-gram")));
}

TEST_F(Ticks, WhereNoTickAnswersAllVariantsAreOffered)
{
    auto facts = calmFacts();
    facts.identified.how = IdentifiedBy::unknown;
    const auto unknown = verdictOf(facts);
    ASSERT_EQ(unknown.rule, RuleId::functionUnknown);
    m_pane.showVerdict(test::makeRun()->captures[2], unknown);
    EXPECT_EQ(m_pane.question()->answers(),
        (QStringList {QStringLiteral("Say what ran…"), QStringLiteral("Say how calls made again ended…")}));
    QApplication::processEvents();
    ASSERT_NE(answer("Say what ran…"), nullptr);
    answer("Say what ran…")->click();
    const auto* dialog = m_pane.findChild<WhatRanDialog*>();
    ASSERT_NE(dialog, nullptr);
    EXPECT_TRUE(dialog->isVisible());
}

TEST_F(Ticks, TheEpsilonOfAZeroMatrixHasButtons)
{
    auto facts = calmFacts();
    facts.inputAbsmax = 0;
    facts.inputZero = true;
    facts.nothingElse = true;
    facts.epsilonMissing = true;
    const auto verdict = verdictOf(facts);
    ASSERT_EQ(verdict.rule, RuleId::zeroInAllBadOut);
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    ASSERT_EQ(m_pane.question()->answers().mid(0, 2),
        (QStringList {QStringLiteral("It adds no epsilon"), QStringLiteral("Say its epsilon…")}));
    QSignalSpy replay(&m_pane, &VerdictPane::ranChanged);
    QApplication::processEvents();
    answer("It adds no epsilon")->click();
    ASSERT_EQ(replay.size(), 1);
    EXPECT_EQ(replay.takeFirst().first().toStringList(), QStringList(QStringLiteral("gns-gram@0")));
    answer("Say its epsilon…")->click();
    auto* dialog = m_pane.findChild<WhatRanDialog*>();
    ASSERT_NE(dialog, nullptr);
    const auto choices = dialog->findChildren<QComboBox*>();
    ASSERT_EQ(choices.size(), 4);
    EXPECT_TRUE(dialog->answer().isEmpty()) << "it waits for a number";
    choices[3]->setEditText(QStringLiteral("1e-6"));
    choices[1]->setCurrentText(QStringLiteral("bf16"));
    EXPECT_EQ(dialog->answer(), QStringList(QStringLiteral("gns-gram@1e-6:bf16")));
    judgeAgain();
    ASSERT_EQ(replay.size(), 1);
    EXPECT_EQ(replay.first().first().toStringList(), QStringList(QStringLiteral("gns-gram@1e-6:bf16")));
}

TEST(WhatRan, SaysWhatWouldBeReplayedAndWhyNot)
{
    const QStringList said {QStringLiteral("dion-ns5:fp16")};
    WhatRanDialog dialog({}, {QStringLiteral("keller-jordan@0"), QStringLiteral("keller-jordan")}, said);
    const auto choices = dialog.findChildren<QComboBox*>();
    ASSERT_EQ(choices.size(), 4);
    const auto note = [&dialog] { return dialog.findChild<QLabel*>(QStringLiteral("muted"))->text(); };
    EXPECT_EQ(choices[0]->count(), static_cast<int>(replay::variants().size())) << "none stands there twice";
    EXPECT_TRUE(note().startsWith(QStringLiteral("Replays keller-jordan and judges")));
    choices[3]->setCurrentIndex(1);
    dialog.findChild<QCheckBox*>()->setChecked(true);
    EXPECT_EQ(dialog.answer(), (QStringList {QStringLiteral("dion-ns5:fp16"), QStringLiteral("keller-jordan@0")}));
    choices[2]->setEditText(QStringLiteral("6"));
    EXPECT_EQ(dialog.answer().last(), QStringLiteral("keller-jordan@6x@0"));
    choices[3]->setEditText(QStringLiteral("-1"));
    EXPECT_TRUE(dialog.answer().isEmpty());
    EXPECT_TRUE(note().startsWith(QStringLiteral("'-1' is no epsilon")));
    choices[3]->setCurrentIndex(0);
    choices[2]->setEditText(QStringLiteral("5xdion-ns5"));
    EXPECT_EQ(dialog.answer().last(), QStringLiteral("keller-jordan@5xdion-ns5"));
    choices[2]->setEditText(QStringLiteral("many"));
    EXPECT_TRUE(note().startsWith(QStringLiteral("'manyx' is no number of steps")));
    choices[2]->setCurrentIndex(0);
    choices[0]->setEditText(QStringLiteral("keller-jordan:junk"));
    EXPECT_TRUE(dialog.answer().isEmpty()) << "no format";
    choices[0]->setEditText(QStringLiteral("keler-jordan"));
    EXPECT_TRUE(note().startsWith(QStringLiteral("There is no variant 'keler-jordan'; the nearest are keller-jordan")));
}

TEST_F(Ticks, ASlackBelowZeroIsExplained)
{
    auto facts = calmFacts();
    facts.members[0].slackPercent = -20;
    m_pane.showVerdict(test::makeRun()->captures[2], verdictOf(facts));
    ASSERT_NE(box("gns-gram"), nullptr);
    EXPECT_TRUE(box("gns-gram")->toolTip().contains(QStringLiteral("exceeds by 25 % the bound")))
        << box("gns-gram")->toolTip().toStdString();
    const auto* summary = m_pane.findChild<QLabel*>(QStringLiteral("summary"));
    ASSERT_NE(summary, nullptr);
    EXPECT_TRUE(summary->toolTip().contains(QStringLiteral("Slack -20 % is below zero")))
        << summary->toolTip().toStdString();
}

TEST_F(Ticks, WhatWasNotJudgedOffersNothingToTry)
{
    auto verdict = openVerdict();
    verdict.facts.replayed = false;
    verdict.next.clear();
    m_pane.showVerdict(test::makeRun()->captures[2], verdict);
    const auto chips = m_pane.findChildren<QToolButton*>(QStringLiteral("chip"));
    const auto next = std::ranges::find_if(
        chips, [](const QToolButton* chip) { return chip->text().startsWith(QStringLiteral("try next")); });
    ASSERT_NE(next, chips.end());
    EXPECT_FALSE((*next)->isEnabled()) << "a count of calls would change nothing";
}

TEST_F(Ticks, ACastThatLosesTheInputIsSaidByItsNumber)
{
    Capture capture = test::makeRun()->captures[2];
    capture.input.batches = {Scan {}};
    Scan& scan = capture.input.batches.front();
    scan.count = 100;
    scan.absmax = 121344;
    m_pane.showVerdict(capture, openVerdict());
    QApplication::processEvents();
    ASSERT_NE(answer("My code casts to fp16 first"), nullptr);
    answer("My code casts to fp16 first")->click();
    ASSERT_EQ(m_pane.verdict()->blame, Blame::numerics);
    const auto* summary = m_pane.findChild<QLabel*>(QStringLiteral("summary"));
    ASSERT_NE(summary, nullptr);
    EXPECT_TRUE(summary->text().contains(QStringLiteral("121,344"))) << qPrintable(summary->text());
    EXPECT_TRUE(summary->text().contains(QStringLiteral("65,504")));
    EXPECT_EQ(summary->toolTip().toLower(), qstr(m_pane.verdict()->summary).toLower()) << "what is concluded from it";
}

TEST_F(Ticks, AMessageHidesThem)
{
    m_pane.showMessage(QStringLiteral("Judging…"), QString());
    EXPECT_EQ(m_pane.verdict(), nullptr);
    EXPECT_FALSE(m_pane.ticks()->isVisibleTo(&m_pane));
    EXPECT_FALSE(m_pane.question()->isVisibleTo(&m_pane));
    EXPECT_FALSE(m_pane.showTicks({}));
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
