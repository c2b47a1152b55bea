// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/cliffloader.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/rpc/answers.h"
#include "ui/shared/text.h"

namespace nanscope {

CliffLoader::CliffLoader(ReplayService* service, QObject* parent)
    : QObject(parent)
    , m_service(service)
{ }

CliffLoader::~CliffLoader()
{
    drop();
}

void CliffLoader::request(const replay::CliffRequest& request)
{
    drop();
    if (!m_service) {
        return;
    }
    m_wanted = m_service->ask(
        rpc::cliffToJson(request), [self = QPointer<CliffLoader>(this)](int id, const nlohmann::ordered_json& answer) {
            if (self) {
                self->take(id, answer);
            }
        });
}

void CliffLoader::drop()
{
    if (const int id = std::exchange(m_wanted, 0); id != 0 && m_service) {
        m_service->stop(id);
    }
}

void CliffLoader::take(int id, const nlohmann::ordered_json& answer)
{
    if (id != m_wanted || answer.contains("progress")) {
        return;
    }
    if (answer.contains("cliff")) {
        auto cliff = rpc::unpackCliff(answer);
        if (!cliff) {
            fail(qstr(sentence(cliff.error())));
            return;
        }
        m_wanted = 0;
        Q_EMIT ready(std::make_shared<const replay::ReplayedCliff>(std::move(*cliff)));
    } else if (answer.contains("error") && answer["error"].is_string()) {
        fail(qstr(answer["error"].get<std::string>()));
    } else {
        fail(tr("The replay process ended the request without an answer"));
    }
}

void CliffLoader::fail(const QString& sentence)
{
    m_wanted = 0;
    Q_EMIT failed(sentence);
}

} // namespace nanscope
