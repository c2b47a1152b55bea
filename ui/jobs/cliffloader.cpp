// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/cliffloader.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/rpc/answers.h"

namespace nanscope {

void CliffLoader::request(const replay::CliffRequest& request)
{
    const auto take = [this](const nlohmann::ordered_json& answer) {
        return rpc::unpackCliff(answer).map([this](replay::ReplayedCliff cliff) {
            Q_EMIT ready(std::make_shared<const replay::ReplayedCliff>(std::move(cliff)));
        });
    };
    m_request.ask(rpc::cliffToJson(request), {"cliff", take, [this](const QString& why) { Q_EMIT failed(why); }});
}

} // namespace nanscope
