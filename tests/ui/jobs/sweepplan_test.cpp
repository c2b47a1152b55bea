// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>

#include <gtest/gtest.h>

#include "tests/ui/openwindow.h"
#include "ui/film/filmpane.h"
#include "ui/gauges/gaugespane.h"
#include "ui/jobs/sweepplan.h"
#include "ui/shell/actions.h"
#include "ui/shell/panearea.h"
#include "ui/sweep/sweepoptions.h"
#include "ui/sweep/sweeppane.h"

namespace nanscope::test {

namespace {

Capture captured()
{
    Capture capture;
    capture.file = "birth.pt";
    capture.epsilon = 1e-8F;
    return capture;
}

/// As a sweep of dion-ns5, of five steps, makes it of that capture.
Cell replayed(Precision precision, double epsilon = 1e-8F, int steps = 5)
{
    Cell cell = makeCell("dion-ns5", precision, Outcome::finite);
    cell.epsilon = epsilon;
    cell.steps = steps;
    return cell;
}

class SweepPlan : public testing::Test
{
protected:
    QStringList rows() const
    {
        QStringList names;
        for (const SweepRow& row : sweepGrid(subject).rows) {
            names << QStringLiteral("%1%2|%3|%4")
                         .arg(row.wanted ? QString() : QStringLiteral("also "), qstr(row.cell.variant), row.setting,
                             qstr(row.cell.device));
        }
        return names;
    }

    static QStringList names(const std::vector<replay::CellRequest>& cells)
    {
        QStringList names;
        for (const replay::CellRequest& cell : cells) {
            names << QStringLiteral("%1 %2 %3").arg(qstr(cell.variant), qstr(name(cell.precision)), qstr(cell.device));
        }
        return names;
    }

    replay::Catalogue catalogue;
    Capture capture = captured();
    Cell stored = replayed(Precision::fp32);
    SweepSubject subject {capture, catalogue, {{QStringLiteral("gns-gram"), QStringLiteral("dion-ns5")}, 1},
        {QStringLiteral("dion-ns5")}, {}, {QStringLiteral("cpu")}, {&stored}, {}};
};

class SweepOfAWindow : public OpenWindow
{
protected:
    SweepPane& pane() { return *window->panes().sweep; }

    QStringList rows()
    {
        QStringList names;
        for (int row = 0; row < pane().model()->rowCount(); ++row) {
            names << pane().model()->headerData(row, Qt::Vertical).toString();
        }
        return names;
    }

    void sweepOneVariant(const SweepChoice& choice)
    {
        window->workspace().chooseSweep(choice);
        window->actions().sweep->trigger();
    }

    QPushButton* offer()
    {
        for (auto* button : window->messageBar()->findChildren<QPushButton*>()) {
            if (button->isVisible()) {
                return button;
            }
        }
        return nullptr;
    }
};

} // namespace

TEST(SweepChoice, IsKeptAndWhatIsNoneIsDropped)
{
    const SweepChoice choice {{QStringLiteral("mine"), QStringLiteral("dion-ns5")}, {Precision::bf16},
        {Lowering::eager, Lowering::fused}, 1.0 / 3, 8};
    EXPECT_EQ(restoreChoice(saveChoice(choice)), choice);
    EXPECT_EQ(saveChoice({}), QByteArray());
    EXPECT_EQ(restoreChoice("precisions=fp8\nlowerings=slow\nepsilon=-1\nsteps=1000\nx\n=\n"), SweepChoice());
    EXPECT_EQ(
        choiceText(choice), QStringLiteral("2 variants · bf16 · eager · fused · epsilon 0.3333333333333333 · 8 steps"));
    EXPECT_EQ(choiceText({}), QString());
}

TEST_F(SweepPlan, CellsOfAnotherEpsilonOrOtherStepsHaveARowOfTheirOwn)
{
    EXPECT_EQ(rows(), QStringList(QStringLiteral("dion-ns5||cpu")));
    const Cell other = replayed(Precision::fp16, 1e-3, 8);
    subject.cells.push_back(&other);
    EXPECT_EQ(rows(),
        (QStringList {QStringLiteral("dion-ns5||cpu"), QStringLiteral("also dion-ns5|epsilon 0.001 · 8 steps|cpu")}));
    subject.choice.epsilon = 1e-3;
    subject.choice.steps = 8;
    EXPECT_EQ(rows(),
        (QStringList {QStringLiteral("dion-ns5|epsilon 0.001 · 8 steps|cpu"), QStringLiteral("also dion-ns5||cpu")}));
    subject.choice = {{}, {}, {Lowering::eager, Lowering::fused}, 1e-8, 5};
    EXPECT_EQ(rows(),
        (QStringList {QStringLiteral("dion-ns5||cpu"), QStringLiteral("dion-ns5|fused|cpu"),
            QStringLiteral("also dion-ns5|epsilon 0.001 · 8 steps|cpu")}))
        << "who names the usual numbers means the usual cells";
}

TEST_F(SweepPlan, OnlyRowsThatLackACellAreReplayed)
{
    subject.choice.precisions = {Precision::fp32};
    subject.devices = {QStringLiteral("cuda:0"), QStringLiteral("cpu")};
    EXPECT_EQ(names(cellsToSweep(subject)), QStringList(QStringLiteral("dion-ns5 fp32 cuda:0")));
    subject.choice.steps = 8;
    EXPECT_EQ(cellsToSweep(subject).size(), 2U);
    subject.choice = {};
    subject.devices = {QStringLiteral("cpu")};
    const auto all = cellsToSweep(subject);
    ASSERT_EQ(all.size(), 5U) << "with fp64, which distances are measured to";
    EXPECT_EQ(all.front().precision, Precision::fp64);
    subject.choice.precisions = {Precision::fp32};
    EXPECT_TRUE(cellsToSweep(subject).empty()) << "nothing is missing";
    EXPECT_EQ(names(cellsWanted(subject)), QStringList(QStringLiteral("dion-ns5 fp32 cpu"))) << "to replay again";
    EXPECT_EQ(sweepGrid(subject).columns, std::vector {Precision::fp32});
}

TEST_F(SweepPlan, WhatAGpuLeftOutIsReplayedOnTheCpu)
{
    Cell onGpu = replayed(Precision::fp16);
    onGpu.device = "cuda:0";
    Cell failed = replayed(Precision::bf16);
    failed.device = "cuda:0";
    failed.error = "out of memory";
    subject.cells = {&stored, &onGpu, &failed};
    subject.devices = {QStringLiteral("cuda:0")};
    const auto ordered = cellsToSweep(subject);
    ASSERT_EQ(ordered.size(), 5U);
    EXPECT_EQ(names(restOnCpu(ordered, subject)),
        (QStringList {QStringLiteral("dion-ns5 fp64 cpu"), QStringLiteral("dion-ns5 tf32 cpu"),
            QStringLiteral("dion-ns5 bf16 cpu")}))
        << "fp16 is there of the GPU, fp32 of the CPU";
    EXPECT_TRUE(restOnCpu(restOnCpu(ordered, subject), subject).empty()) << "there is no other device to go to";
    const replay::CellRequest exact {"emerging-cubic5", Precision::fp32, Lowering::eager, {}, 8, "cuda:0"};
    EXPECT_TRUE(restOnCpu({exact}, subject).empty()) << "no device replays that";
}

TEST_F(SweepOfAWindow, WithOptionsStandsBesideTheUsualOneAndIsKept)
{
    start();
    const auto sample = copySample();
    ASSERT_TRUE(open(sample));
    const QStringList before = rows();
    pane().optionsButton()->click();
    auto* options = window->findChild<SweepOptions*>();
    ASSERT_TRUE(options);
    for (int row = 0; row < options->variants()->count(); ++row) {
        QListWidgetItem* item = options->variants()->item(row);
        item->setCheckState(item->text() == QStringLiteral("torch-muon") ? Qt::Checked : Qt::Unchecked);
    }
    options->stepsBox()->setValue(3);
    options->accept();
    const QString own = QStringLiteral("torch-muon · 3 steps");
    EXPECT_TRUE(rows().contains(own)) << rows().join(u' ').toStdString();
    EXPECT_TRUE(pane().optionsButton()->text().contains(QStringLiteral("torch-muon · 3 steps")));
    window->actions().sweep->trigger();
    ASSERT_TRUE(settle());
    const int row = static_cast<int>(rows().indexOf(own));
    const Cell* cell = pane().model()->cellAt(pane().model()->index(row, 0));
    ASSERT_TRUE(cell);
    EXPECT_EQ(cell->steps, 3);
    window->workspace().showCell(*cell);
    ASSERT_TRUE(settle());
    EXPECT_TRUE(window->panes().film->note().contains(QStringLiteral("3 steps")));
    EXPECT_TRUE(window->panes().gauges->note().contains(QStringLiteral("3 steps")));
    window->workspace().chooseSweep({});
    start();
    ASSERT_TRUE(open(sample));
    EXPECT_TRUE(rows().contains(own)) << "of the session";
    for (const QString& name : before) {
        EXPECT_TRUE(rows().contains(name)) << name.toStdString();
    }
}

TEST_F(SweepOfAWindow, OnAGpuThatFailsGoesOnOnTheCpuWhereTheUserWants)
{
    for (const char* mode : {"gpufails", "gpudies"}) {
        start({fakeService(mode, {}, true)});
        ASSERT_TRUE(open(copySample()));
        std::filesystem::remove_all(folder / "sample");
        sweepOneVariant({{QStringLiteral("torch-muon")}, {}, {}, {}, 4});
        ASSERT_TRUE(waitUntil([this] { return offer() != nullptr; })) << mode;
        EXPECT_EQ(offer()->text(), QStringLiteral("Replay the rest on the CPU"));
        EXPECT_FALSE(window->workspace().sweeping());
        const auto done = [this](const char* device) {
            const auto cells = window->workspace().cells();
            return std::ranges::count_if(cells, [&](const Cell* cell) {
                return cell->device == device && cell->error.empty() && cell->steps == 4
                    && cell->environment.engine.empty();
            });
        };
        EXPECT_EQ(done("cuda:0") + done("cuda:1"), 1) << mode;
        offer()->click();
        ASSERT_TRUE(waitUntil([this] { return !window->workspace().sweeping(); }));
        EXPECT_EQ(done("cpu"), 5) << mode << ": also what the second GPU lacks of the first one's";
        EXPECT_EQ(offer(), nullptr);
    }
}

} // namespace nanscope::test
