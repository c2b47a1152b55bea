// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/runwords.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/diagnose/evidence.h"

namespace nanscope {

namespace {

std::vector<std::pair<std::optional<int>, EvidenceLine>> hardwareErrors(const RunData& run)
{
    std::vector<std::pair<std::optional<int>, EvidenceLine>> errors;
    for (const auto& event : run.events) {
        if (event.kind == EventKind::machine) {
            errors.push_back({event.rank, {event.text, fmt::format("{}:{}", event.source, event.line)}});
        }
    }
    return errors;
}

bool hasSeveralRanks(const RunData& run)
{
    std::set<int> ranks;
    for (const auto& capture : run.captures) {
        ranks.insert(capture.rank.value_or(0));
    }
    for (const auto& series : run.series) {
        ranks.insert(series.rank.value_or(0));
    }
    return ranks.size() > 1;
}

} // namespace

RunWords wordsOf(const RunData& run)
{
    return {silentRanks(run), hardwareErrors(run), hasSeveralRanks(run)};
}

std::optional<EvidenceLine> hardwareErrorOf(const RunWords& words, const std::optional<int>& rank)
{
    const auto own = std::ranges::find_if(
        words.machine, [&](const auto& error) { return error.first ? error.first == rank : !words.severalRanks; });
    return own == words.machine.end() ? std::nullopt : std::optional(own->second);
}

} // namespace nanscope
