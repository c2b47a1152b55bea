// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/deepjob.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/json/records.h"
#include "core/rpc/requests.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

int countOf(const Json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
}

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

DeepJob::DeepJob(ReplayService& service, QObject* parent)
    : QObject(parent)
    , m_service(&service)
{ }

DeepJob::~DeepJob()
{
    if (m_service && busy()) {
        m_service->stop(m_id);
    }
}

void DeepJob::measure(const rpc::DeepOrder& order)
{
    if (busy() || !m_service) {
        return;
    }
    m_id = m_service->ask(rpc::deepToJson(order), [self = QPointer<DeepJob>(this)](int id, const Json& answer) {
        if (self) {
            self->take(id, answer);
        }
    });
}

void DeepJob::cancel()
{
    if (busy()) {
        const int id = std::exchange(m_id, 0);
        if (m_service) {
            m_service->stop(id);
        }
        Q_EMIT ended({});
    }
}

void DeepJob::take(int id, const Json& answer)
{
    if (id != m_id) {
        return;
    }
    if (answer.contains("progress")) {
        Q_EMIT progressed(countOf(answer["progress"], "done"), countOf(answer["progress"], "total"));
        return;
    }
    m_id = 0;
    if (answer.contains("deep")) {
        if (const auto cell = cellFromJson(answer["deep"])) {
            Q_EMIT measured(*cell);
            return;
        }
    }
    const auto error = answer.find("error");
    Q_EMIT ended(error != answer.end() && error->is_string()
            ? qstr(error->get<std::string>())
            : tr("The replay process ended the request without an answer"));
}

} // namespace nanscope
