// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Instruments as the window puts them to a capture.
#include <memory>
#include <span>
#include <vector>

#include <QAbstractButton>
#include <QComboBox>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include "core/tensorfile/tensorfile.h"
#include "tests/ui/openwindow.h"
#include "ui/instruments/instrumentspane.h"
#include "ui/jobs/measurejob.h"
#include "ui/shared/factsview.h"

namespace nanscope {

namespace {

QStringList someVariants()
{
    return {QStringLiteral("gns-gram"), QStringLiteral("torch-muon")};
}

void choose(QComboBox& box, const QString& text)
{
    box.setCurrentIndex(box.findText(text));
}

Capture captureAt(const std::string& path)
{
    Capture capture;
    capture.path = path;
    return capture;
}

} // namespace

TEST(InstrumentsPane, AsksOfTheVariantThatMayHaveRun)
{
    InstrumentsPane pane;
    EXPECT_FALSE(pane.measureButton()->isEnabled());
    const Capture capture = captureAt("/tmp/a.pt");
    pane.setCapture(&capture, someVariants(), 1);
    EXPECT_TRUE(pane.measureButton()->isEnabled());
    choose(*pane.precisionBox(), QStringLiteral("fp16"));
    const auto order = pane.order();
    ASSERT_TRUE(order);
    EXPECT_EQ(order->request.instrument, instruments::Instrument::scale);
    EXPECT_EQ(order->request.capture, "/tmp/a.pt");
    EXPECT_EQ(order->cell.variant, "gns-gram");
    EXPECT_EQ(order->cell.precision, Precision::fp16);
    EXPECT_FALSE(order->request.calls);
    EXPECT_FALSE(order->impl);
}

TEST(InstrumentsPane, MeasuresOnTheChosenGpu)
{
    InstrumentsPane pane;
    const Capture capture = captureAt("/tmp/a.pt");
    pane.setCapture(&capture, someVariants(), 1);
    EXPECT_EQ(pane.order()->cell.device, "cpu");
    pane.replayOn({"cuda:1", "/opt/worker"});
    EXPECT_EQ(pane.order()->cell.device, "cuda:1");
    EXPECT_EQ(pane.order()->worker, "/opt/worker");
    choose(*pane.targetBox(), QStringLiteral("Own function"));
    pane.functionEdit()->setText(QStringLiteral("python:mine:f"));
    const auto own = pane.order();
    ASSERT_TRUE(own) << own.error().what;
    EXPECT_EQ(own->impl->device, "cuda:1");
}

TEST(MeasureJob, MeasuresOnTheCpuWhereTheGpuCannotBeUsed)
{
    const QTemporaryDir folder;
    const auto path = folder.filePath(QStringLiteral("a.pt")).toStdString();
    const std::vector<float> values {1, 2, 3, 5, 7, 11};
    const auto bytes = std::as_bytes(std::span(values));
    const tensorfile::TensorToWrite tensor {{}, DType::float32, {2, 3}, {bytes.begin(), bytes.end()}};
    ASSERT_TRUE(tensorfile::writePt(path, {{"input", tensor}, {"output", tensor}}));
    MeasureJob job;
    QSignalSpy answered(&job, &MeasureJob::answered);
    QSignalSpy failed(&job, &MeasureJob::failed);
    MeasureOrder order;
    order.request.capture.path = path;
    order.cell.variant = "torch-muon";
    order.cell.device = "cuda:0";
    order.worker = "/nowhere/worker";
    job.start(order);
    ASSERT_TRUE(answered.count() == 1 || answered.wait());
    const auto text = answered.front().front().value<std::shared_ptr<const MeasureResult>>()->text;
    EXPECT_TRUE(
        text.contains(QStringLiteral("Measured on the CPU, since cuda:0 cannot be used: there is no nanscope-worker")))
        << text.toStdString();
    order.request.instrument = instruments::Instrument::repeat;
    job.start(order);
    ASSERT_TRUE(failed.count() == 1 || failed.wait());
}

TEST(InstrumentsPane, AVariantThatNobodyNamedIsNotGuessed)
{
    InstrumentsPane pane;
    const Capture capture = captureAt("/tmp/a.pt");
    pane.setCapture(&capture, someVariants(), 0);
    const QSignalSpy asked(&pane, &InstrumentsPane::measureRequested);
    pane.measureButton()->click();
    EXPECT_TRUE(asked.isEmpty());
    EXPECT_EQ(pane.text(), QStringLiteral("Choose the variant that is replayed"));
}

TEST(InstrumentsPane, AFunctionIsSeenBeforeItRunsAndOnlyOnce)
{
    InstrumentsPane pane;
    const Capture capture = captureAt("/tmp/a.pt");
    pane.setCapture(&capture, someVariants(), 0);
    choose(*pane.instrumentBox(), QStringLiteral("Repeat"));
    choose(*pane.targetBox(), QStringLiteral("Own function"));
    pane.callsBox()->setValue(7);
    pane.functionEdit()->setText(QStringLiteral("mine:f"));
    pane.measureButton()->click();
    EXPECT_TRUE(pane.text().contains(QStringLiteral("python:"))) << pane.text().toStdString();

    const QSignalSpy asked(&pane, &InstrumentsPane::measureRequested);
    pane.functionEdit()->setText(QStringLiteral("python:mine:f"));
    pane.measureButton()->click();
    EXPECT_TRUE(asked.isEmpty());
    auto* question = pane.findChild<QMessageBox*>();
    ASSERT_NE(question, nullptr);
    EXPECT_TRUE(question->informativeText().contains(QStringLiteral("mine:f")));
    EXPECT_EQ(question->detailedText().toStdString(), instruments::harnessSource());
    for (QAbstractButton* button : question->buttons()) {
        if (question->buttonRole(button) == QMessageBox::AcceptRole) {
            button->click();
        }
    }
    ASSERT_EQ(asked.count(), 1);
    const auto order = asked.front().front().value<MeasureOrder>();
    ASSERT_TRUE(order.impl);
    EXPECT_EQ(order.impl->target, "mine:f");
    EXPECT_EQ(order.request.calls, 7);
    pane.measureButton()->click();
    EXPECT_EQ(asked.count(), 2);
}

TEST(InstrumentsPane, WhatWasFoundIsOfItsCaptureAndThereAgainWithIt)
{
    InstrumentsPane pane;
    const Capture first = captureAt("/tmp/a.pt");
    const Capture second = captureAt("/tmp/b.pt");
    pane.setCapture(&first, someVariants(), 1);
    MeasureResult result;
    result.order.request.capture = "/tmp/a.pt";
    result.text = QStringLiteral("found");
    pane.showResult(std::make_shared<const MeasureResult>(result));
    EXPECT_EQ(pane.text(), QStringLiteral("found"));
    EXPECT_FALSE(pane.saveButton()->isVisibleTo(&pane));
    pane.setCapture(&first, someVariants(), 1);
    EXPECT_EQ(pane.text(), QStringLiteral("found"));
    pane.setCapture(&second, someVariants(), 1);
    EXPECT_TRUE(pane.text().isEmpty());
    result.text = QStringLiteral("found again");
    pane.showResult(std::make_shared<const MeasureResult>(result));
    EXPECT_TRUE(pane.text().isEmpty()) << "what was still measured is of the other one";
    pane.setCapture(&first, someVariants(), 1);
    EXPECT_EQ(pane.text(), QStringLiteral("found again"));
}

TEST(InstrumentsPane, ForgetsTheCaptureThatWasMeasuredLongestAgo)
{
    InstrumentsPane pane;
    const auto measure = [&](const std::string& path) {
        MeasureResult result;
        result.order.request.capture = path;
        result.text = QStringLiteral("found");
        pane.showResult(std::make_shared<const MeasureResult>(result));
    };
    measure("/tmp/first.pt");
    measure("/tmp/second.pt");
    measure("/tmp/first.pt");
    for (int i = 0; i < 31; ++i) {
        measure("/tmp/" + std::to_string(i) + ".pt");
    }
    const Capture first = captureAt("/tmp/first.pt");
    const Capture second = captureAt("/tmp/second.pt");
    pane.setCapture(&first, someVariants(), 1);
    EXPECT_EQ(pane.text(), QStringLiteral("found"));
    pane.setCapture(&second, someVariants(), 1);
    EXPECT_TRUE(pane.text().isEmpty());
}

TEST(InstrumentsPane, AnAnswerStandsBelowItsOwnQuestionOnly)
{
    InstrumentsPane pane;
    const Capture capture = captureAt("/tmp/a.pt");
    pane.setCapture(&capture, someVariants(), 1);
    EXPECT_TRUE(pane.list()->isVisibleTo(&pane));
    for (const char* title : {"Scale", "Storm", "Minimise"}) {
        EXPECT_TRUE(pane.list()->toPlainText().contains(QLatin1String(title))) << title;
    }
    MeasureResult result;
    result.order.request.capture = "/tmp/a.pt";
    result.text = QStringLiteral("found");
    pane.showResult(std::make_shared<const MeasureResult>(result));
    EXPECT_FALSE(pane.list()->isVisibleTo(&pane));
    choose(*pane.instrumentBox(), QStringLiteral("Repeat"));
    EXPECT_EQ(pane.text(), QString()) << "that is not what this one found";
    EXPECT_TRUE(pane.list()->isVisibleTo(&pane));
    EXPECT_TRUE(pane.list()->toPlainText().contains(QStringLiteral("what it found")));
    Q_EMIT pane.list()->factActivated({"Scale", ""});
    EXPECT_EQ(pane.instrumentBox()->currentText(), QStringLiteral("Scale"));
    EXPECT_EQ(pane.text(), QStringLiteral("found")) << "the last one is kept";
    EXPECT_FALSE(pane.list()->isVisibleTo(&pane));
}

class InstrumentsTab : public test::OpenWindow
{ };

TEST_F(InstrumentsTab, MeasuresTheScaleOfTheSelectedCapture)
{
    start();
    ASSERT_TRUE(open(copySample()));
    InstrumentsPane& pane = *window->panes().instruments;
    window->pane(QStringLiteral("instruments"));
    ASSERT_TRUE(pane.measureButton()->isEnabled());
    choose(*pane.variantBox(), QStringLiteral("gns-gram"));
    pane.measureButton()->click();
    EXPECT_TRUE(QTest::qWaitFor([&] { return pane.text().contains(QStringLiteral("Scale of")); }, 30000))
        << pane.text().toStdString();
    EXPECT_TRUE(pane.text().contains(QStringLiteral("binades"))) << pane.text().toStdString();
    EXPECT_EQ(pane.measureButton()->text(), QStringLiteral("Measure"));
}

} // namespace nanscope
