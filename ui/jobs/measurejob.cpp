// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/measurejob.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/try.h"
#include "core/instruments/measure.h"
#include "core/rpc/remotedevice.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

Result<instruments::MeasuredTarget> targetOf(const MeasureOrder& order, const CancelToken& cancel)
{
    if (!order.impl) {
        return instruments::measuredCell(order.cell, rpc::deviceFactory(cancel, order.worker));
    }
    return instruments::measuredFunction(
        *order.impl, order.cell.variant.empty() ? std::nullopt : std::optional(order.cell), cancel);
}

Result<std::shared_ptr<const MeasureResult>> measured(const MeasureOrder& order, const JobContext& job)
{
    auto found = targetOf(order, job.cancel);
    std::string why;
    if (!found && !job.cancel.cancelled() && !order.impl && order.cell.device != "cpu"
        && !instruments::isOfDevice(order.request.instrument)) {
        why = fmt::format("measured on the CPU, since {} cannot be used: {}", order.cell.device, found.error().what);
        auto onCpu = order.cell;
        onCpu.device = "cpu";
        found = instruments::measuredCell(onCpu, replay::makeCoreDevice);
    }
    auto target = TRY(std::move(found));
    const auto inputBatch = TRY(instruments::inputBatchFor(order.request, target, job.cancel));
    instruments::Measurement measurement(target.target(), inputBatch, job);
    if (!why.empty()) {
        measurement.startAgain(why);
    }
    const auto answer = TRY(instruments::measure(order.request, measurement, target));
    const auto text = instruments::measureText(order.request.instrument, measurement, answer);
    const auto json = jsonText(instruments::measureJson(order.request.instrument, measurement, answer));
    return std::make_shared<const MeasureResult>(MeasureResult {order, answer, qstr(text), qstr(json)});
}

} // namespace

void MeasureJob::start(const MeasureOrder& order)
{
    const auto done = [this](const Result<std::shared_ptr<const MeasureResult>>& result) {
        if (result) {
            Q_EMIT answered(*result);
        } else {
            Q_EMIT failed(windowText(sentence(result.error())));
        }
    };
    Q_EMIT started();
    m_job.start(
        this, [order](const JobContext& job) { return measured(order, job); }, done,
        [this](const Progress& progress) {
            Q_EMIT progressed(static_cast<int>(progress.done), static_cast<int>(progress.total));
        });
}

void MeasureJob::cancel()
{
    if (m_job.drop()) {
        Q_EMIT cancelled();
    }
}

MeasureFacts factsOf(const MeasureResult& result)
{
    const QJsonObject target =
        QJsonDocument::fromJson(result.json.toUtf8()).object().value(QStringLiteral("subject")).toObject();
    QStringList words {target.value(QStringLiteral("variant")).toString()};
    if (!result.order.impl) {
        words << target.value(QStringLiteral("precision")).toString()
              << target.value(QStringLiteral("lowering")).toString();
    }
    words.removeAll(QString());
    const QJsonValue epsilon = target.value(QStringLiteral("epsilon"));
    return {words.join(QStringLiteral(" · ")), qstr(result.order.request.capture.path),
        epsilon.isDouble() ? std::optional(epsilon.toDouble()) : std::nullopt, result.order.cell.catalogue};
}

} // namespace nanscope
