// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/sweep/sweepoptions.h"

namespace nanscope {

namespace {

class SweepOptionsTest : public testing::Test
{
protected:
    void tick(const QString& variant, bool ticked)
    {
        QListWidgetItem* item = options.variants()->findItems(variant, Qt::MatchExactly).value(0);
        ASSERT_TRUE(item) << variant.toStdString();
        item->setCheckState(ticked ? Qt::Checked : Qt::Unchecked);
    }

    void press(const QString& text)
    {
        for (QPushButton* button : options.findChildren<QPushButton*>()) {
            if (button->text() == text) {
                button->click();
            }
        }
    }

    bool canChoose() { return options.findChild<QDialogButtonBox*>()->buttons().value(0)->isEnabled(); }

    SweepOptions options {{{QStringLiteral("gns-gram"), QStringLiteral("dion-ns5"), QStringLiteral("emerging-cubic5")},
                              1, {QStringLiteral("gns-gram"), QStringLiteral("dion-ns5")}, 1e-8},
        {}, {}};
};

} // namespace

TEST_F(SweepOptionsTest, NothingIsChosenThatIsAsUsual)
{
    EXPECT_EQ(options.chosen(), SweepChoice());
    EXPECT_EQ(options.problem(), QString());
    EXPECT_TRUE(options.epsilonField()->placeholderText().contains(QStringLiteral("1e-08")));
    tick(QStringLiteral("dion-ns5"), false);
    options.precisionBox(Precision::tf32)->setChecked(false);
    options.loweringBox(Lowering::fused)->setChecked(true);
    options.epsilonField()->setText(QStringLiteral(" 1e-5 "));
    options.stepsBox()->setValue(8);
    const SweepChoice all {{QStringLiteral("gns-gram")},
        {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16}, {Lowering::fused}, 1e-5, 8};
    EXPECT_EQ(options.chosen(), all);
    EXPECT_EQ(options.problem(), QString());
    press(QStringLiteral("Reset"));
    EXPECT_EQ(options.chosen(), SweepChoice());
    const SweepOptions again({{QStringLiteral("gns-gram")}, 1, {}, {}}, all, {});
    EXPECT_EQ(again.chosen(), all) << "what was chosen is shown again";
}

TEST_F(SweepOptionsTest, SumsInFp16AreOfferedAndNotUsual)
{
    QCheckBox* halfSums = options.precisionBox(Precision::fp16Acc16);
    EXPECT_EQ(halfSums->text(), QStringLiteral("fp16-acc16"));
    EXPECT_FALSE(halfSums->isChecked());
    EXPECT_TRUE(halfSums->toolTip().contains(QStringLiteral("allow_fp16_accumulation")));
    halfSums->setChecked(true);
    const auto all = allPrecisions();
    EXPECT_EQ(options.chosen().precisions, std::vector(all.begin(), all.end()));
    EXPECT_EQ(restoreChoice(saveChoice(options.chosen())), options.chosen());
    options.precisionBox(Precision::fp64)->setChecked(false);
    EXPECT_EQ(options.chosen().precisions.size(), 5U) << "as many as usual, and others";
    press(QStringLiteral("Reset"));
    EXPECT_EQ(options.chosen(), SweepChoice());
}

TEST_F(SweepOptionsTest, WhatNoSweepTakesIsSaidAndNotChosen)
{
    for (const char* wrong : {"-1", "nan", "1e-7x", "1e999"}) {
        options.epsilonField()->setText(QString::fromLatin1(wrong));
        EXPECT_TRUE(options.problem().startsWith(QStringLiteral("The epsilon of a sweep is a finite number")))
            << wrong << ": " << options.problem().toStdString();
        EXPECT_FALSE(canChoose()) << wrong;
    }
    options.epsilonField()->setText(QStringLiteral("0"));
    EXPECT_TRUE(canChoose());
    press(QStringLiteral("Tick none"));
    EXPECT_TRUE(options.problem().contains(QStringLiteral("No variant")));
    EXPECT_FALSE(canChoose());
    press(QStringLiteral("Tick the usual"));
    EXPECT_TRUE(canChoose());
    for (const Precision precision : sweepPrecisions()) {
        options.precisionBox(precision)->setChecked(false);
    }
    EXPECT_TRUE(options.problem().contains(QStringLiteral("No format")));
}

TEST_F(SweepOptionsTest, MoreStepsThanAreRunAreRefusedAndNotMadeFewer)
{
    options.stepsBox()->setValue(150);
    EXPECT_EQ(options.stepsBox()->value(), 150);
    EXPECT_TRUE(options.problem().contains(QStringLiteral("150 steps: give 1 to 100")))
        << options.problem().toStdString();
    EXPECT_FALSE(canChoose());
    EXPECT_TRUE(options.stepsBox()->toolTip().contains(QStringLiteral("1 to 100")));
}

TEST_F(SweepOptionsTest, AScheduleOfExactlySoManyStepsSaysSoAndHindersNoOther)
{
    options.stepsBox()->setValue(8);
    tick(QStringLiteral("emerging-cubic5"), true);
    EXPECT_EQ(options.problem(), QString());
    const auto* said = options.findChild<QLabel*>(QStringLiteral("sweepProblem"));
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->text().contains(QStringLiteral("emerging-cubic5 is a schedule of exactly")));
    tick(QStringLiteral("gns-gram"), false);
    tick(QStringLiteral("dion-ns5"), false);
    EXPECT_FALSE(canChoose()) << "nothing would be replayed";
}

} // namespace nanscope
