// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include "core/session/session.h"
#include "tests/core/session/temporaryfolder.h"
#include "tests/ui/samples.h"
#include "ui/jobs/deepjob.h"

namespace nanscope {

namespace {

using test::patienceMs;

replay::DeepRequest sample()
{
    return {test::sampleCapture(), {"gns-gram", Precision::fp16, Lowering::fused, {}, {}, "cpu", false}, 0};
}

} // namespace

TEST(DeepJob, BringsTheCellWithItsGaugesAndTheSessionKeepsIt)
{
    const TemporaryFolder folder;
    ReplayService service({test::realService()});
    DeepJob job(service);
    std::vector<Cell> cells;
    QObject::connect(&job, &DeepJob::measured, &job, [&](const Cell& cell) { cells.push_back(cell); });
    QSignalSpy progressed(&job, &DeepJob::progressed);
    QSignalSpy ended(&job, &DeepJob::ended);
    job.measure({sample(), {(folder / "a.nanscope").string(), {}}});
    EXPECT_TRUE(job.busy());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !job.busy(); }, patienceMs));
    EXPECT_EQ(ended.count(), 0) << (ended.isEmpty() ? "" : qPrintable(ended[0][0].toString()));
    ASSERT_EQ(cells.size(), 1U);
    EXPECT_EQ(cells[0].variant, "gns-gram");
    EXPECT_EQ(cells[0].gauges.size(), 5U);
    ASSERT_TRUE(cells[0].deep);
    EXPECT_EQ(cells[0].deep->steps.size(), 5U);
    EXPECT_GT(progressed.count(), 0);
    const auto stored = session::Session::open(folder / "a.nanscope", session::OpenMode::readOnly)->cells();
    ASSERT_EQ(stored->size(), 1U);
    EXPECT_TRUE(sameCell(stored->at(0), cells[0]));
    EXPECT_TRUE(stored->at(0).deep);
}

TEST(DeepJob, CancelEndsItAtOnceWithoutASentence)
{
    ReplayService service({test::realService()});
    DeepJob job(service);
    QSignalSpy ended(&job, &DeepJob::ended);
    job.measure({sample(), {}});
    job.cancel();
    EXPECT_FALSE(job.busy());
    ASSERT_EQ(ended.count(), 1);
    EXPECT_EQ(ended[0][0].toString(), QString());
}

TEST(DeepJob, WhatTheServiceCannotDoIsItsOwnSentence)
{
    ReplayService service({test::realService()});
    DeepJob job(service);
    QSignalSpy ended(&job, &DeepJob::ended);
    auto request = sample();
    request.batch = 1000;
    job.measure({request, {}});
    ASSERT_TRUE(QTest::qWaitFor([&] { return !job.busy(); }, patienceMs));
    ASSERT_EQ(ended.count(), 1);
    EXPECT_TRUE(ended[0][0].toString().contains(QStringLiteral("no matrix 1000")))
        << qPrintable(ended[0][0].toString());
}

TEST(DeepRequest, IsOfTheWorstMatrixAndTheStepsOfTheCell)
{
    Cell cell;
    cell.variant = "gns-gram";
    cell.precision = Precision::fp16;
    cell.lowering = Lowering::fused;
    cell.epsilon = 1e-3;
    cell.batches = {{0, Outcome::finite, {}}, {1, Outcome::nan, {}}};
    cell.steps = 3;
    const auto request = deepRequest("x.pt", cell);
    EXPECT_EQ(request.batch, 1);
    EXPECT_EQ(request.cell.steps, 3);
    EXPECT_EQ(request.cell.epsilon, 1e-3);
    EXPECT_EQ(request.cell.lowering, Lowering::fused);
    EXPECT_EQ(request.capture, "x.pt");
}

} // namespace nanscope
