// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <limits>

#include <QFontMetrics>
#include <QGuiApplication>
#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/text.h"

namespace nanscope {

TEST(Text, ShapeUsesTheTimesSign)
{
    EXPECT_EQ(shapeLabel({1, 160, 96}), QStringLiteral("1×160×96"));
    EXPECT_EQ(matrixLabel({1, 160, 96}), QStringLiteral("160×96"));
    EXPECT_EQ(matrixLabel({2, 160, 96}), QStringLiteral("2×160×96"));
    EXPECT_EQ(matrixLabel({1, 96}), QStringLiteral("1×96"));
}

TEST(Text, StepIsBetweenLinesOrUnknown)
{
    CaptureVerdict verdict;
    EXPECT_EQ(stepLabel(verdict.step), QStringLiteral("–"));
    verdict.step = {5, 6};
    verdict.stepSource = StepSource::console;
    EXPECT_EQ(stepLabel(verdict.step), QStringLiteral("5–6"));
    EXPECT_EQ(stepSentence(verdict), QStringLiteral("between the log lines of steps 5 and 6"));
    verdict.stepSource = StepSource::mtime;
    EXPECT_TRUE(stepSentence(verdict).contains(QStringLiteral("file time")));
}

TEST(Text, ASentenceBeginsWithACapitalUnlessItsFirstWordIsAName)
{
    EXPECT_EQ(sentenceCase(QStringLiteral("one of 2 files")), QStringLiteral("One of 2 files"));
    EXPECT_EQ(sentenceCase(QStringLiteral("upstream")), QStringLiteral("Upstream"));
    for (const char* name :
        {"use_triton=False helps", "rank0.log: cut off", "torch.compile", "gns-gram-0.1.6 · fp16", ""}) {
        EXPECT_EQ(sentenceCase(QString::fromUtf8(name)), QString::fromUtf8(name));
    }
}

TEST(Text, AdviceNamesTheButtonsOfTheWindow)
{
    EXPECT_EQ(windowText("resume from a checkpoint of step 4 or earlier; verify it first (--verify-checkpoints): x"),
        QStringLiteral("resume from a checkpoint of step 4 or earlier; verify it first (“Verify checkpoints”): x"));
    EXPECT_EQ(windowText("nobody said which variant it is (--variant): y"),
        QStringLiteral("nobody said which variant it is (“Variant”): y"));
    EXPECT_EQ(windowText("torchrun --tee 3 keeps it"), QStringLiteral("torchrun --tee 3 keeps it")) << "not of ours";
}

TEST(Text, ExactNumberReadsBackAsTheSameBits)
{
    for (const double value : {0.1, 1e-300, 3.0517578125e-05, static_cast<double>(0.1F), -0.0}) {
        EXPECT_EQ(exactNumber(value).toDouble(), value) << value;
    }
    EXPECT_EQ(exactNumber(std::numeric_limits<double>::quiet_NaN()), QStringLiteral("NaN"));
    EXPECT_EQ(exactNumber(-std::numeric_limits<double>::infinity()), QStringLiteral("−Inf"));
}

TEST(Text, TitleNamesTheMarginAndNoKind)
{
    CaptureVerdict verdict;
    verdict.blame = Blame::implementation;
    verdict.kind = "kernel or launch order";
    EXPECT_EQ(blameTitle(verdict), QStringLiteral("Implementation"));
    verdict.blame = Blame::numerics;
    verdict.kind.clear();
    verdict.marginal = true;
    EXPECT_EQ(blameTitle(verdict), QStringLiteral("Numerics, marginal"));
}

TEST(Text, IdentificationSaysFitAndNext)
{
    Identification identification;
    EXPECT_EQ(identificationSentence(identification), QStringLiteral("variant not known"));
    identification.names = {"gns-gram", "gns-standard"};
    identification.fit = 0.0041;
    identification.runnerUp = 0.0931;
    EXPECT_EQ(
        identificationSentence(identification), QStringLiteral("gns-gram or gns-standard (off by 0.41 %, next 9.3 %)"));
    identification.matchesNone = true;
    EXPECT_EQ(identificationSentence(identification), QStringLiteral("matches no known variant"));
}

TEST(Text, OpLabelNamesTheStepOnlyInsideTheIteration)
{
    EXPECT_EQ(opLabel({3, OpName::gram, {}, ValueClass::nan, 1}), QStringLiteral("step 3 gram"));
    EXPECT_EQ(opLabel({0, OpName::normalize, {}, ValueClass::nan, 1}), QStringLiteral("normalize"));
}

TEST(ElidedLines, NoNumberIsBrokenInTwo)
{
    const QFont font = QGuiApplication::font();
    const int width = QFontMetrics(font).horizontalAdvance(QStringLiteral("0.264898882"));
    const QString shown = elidedLines(QStringLiteral("0.26489888204375, normal"), font, width, 3);
    EXPECT_EQ(shown.count(QLatin1Char('\n')), 0) << shown.toStdString();
    EXPECT_TRUE(shown.endsWith(QChar(0x2026))) << shown.toStdString();
    EXPECT_EQ(elidedLines(QStringLiteral("norm 0.264898"), font, width, 3), QStringLiteral("norm\n0.264898"));
    const QString range = unbroken(QStringLiteral("|x| ≤ 0.3"));
    EXPECT_EQ(elidedLines(QStringLiteral("at most ") + range, font, width, 2), QStringLiteral("at most\n") + range);
}

} // namespace nanscope
