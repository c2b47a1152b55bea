// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/model/run.h"

namespace nanscope {

/// What was taken of a folder, in the words in which people ask for it.
struct ImportSummary
{
    ImportSummary(const RunData& run, std::vector<std::string> silentLogs);

    std::set<std::string> logs; ///< that told something
    std::set<int> captureRanks;
    std::set<int> logRanks;
    std::optional<std::pair<std::int64_t, std::int64_t>> steps; ///< the first and the last of any series
    std::vector<std::string> silent; ///< logs that told nothing
};

/// A few lines; what could not be used was said before.
std::string importText(const RunData& run, const ImportSummary& summary, const std::string& session);

/// The same as keys that are added to `json`.
void addSummary(nlohmann::ordered_json& json, const ImportSummary& summary);

} // namespace nanscope
