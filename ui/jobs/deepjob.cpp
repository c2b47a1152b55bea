// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/deepjob.h"

#include <nlohmann/json.hpp>

#include "core/json/records.h"
#include "core/rpc/requests.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

} // namespace

bool sameCell(const Cell& a, const Cell& b)
{
    return a.capture == b.capture && a.variant == b.variant && a.precision == b.precision && a.device == b.device
        && a.lowering == b.lowering && a.epsilon == b.epsilon && a.steps == b.steps && a.environment == b.environment;
}

replay::DeepRequest deepRequest(const CaptureRef& capture, const Cell& cell)
{
    replay::DeepRequest request;
    request.capture = capture;
    request.cell.variant = cell.variant;
    request.cell.precision = cell.precision;
    request.cell.lowering = cell.lowering;
    request.cell.epsilon = cell.epsilon;
    request.cell.device = cell.device;
    if (cell.steps > 0) {
        request.cell.steps = cell.steps;
    }
    request.batch = replay::worstBatch(cell);
    return request;
}

void DeepJob::measure(const rpc::DeepOrder& order)
{
    if (busy()) {
        return;
    }
    const auto take = [this](const Json& answer) {
        return cellFromJson(answer["deep"]).map([this](const Cell& cell) { Q_EMIT measured(cell); });
    };
    const auto tell = [this](const Progress& progress) {
        Q_EMIT progressed(static_cast<int>(progress.done), static_cast<int>(progress.total));
    };
    m_request.ask(rpc::deepToJson(order), {"deep", take, [this](const QString& why) { Q_EMIT ended(why); }, tell});
}

void DeepJob::cancel()
{
    if (m_request.drop()) {
        Q_EMIT ended({});
    }
}

} // namespace nanscope
