// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/context/runwords.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/context/layers.h"

namespace nanscope::diagnose {

namespace {

/// Which ranks wrote logs and no dump, and why that says nothing; empty where there are none.
std::string silentRanks(const RunData& run)
{
    std::set<int> seen;
    std::set<int> dumped;
    for (const auto& series : run.series) {
        if (series.rank) {
            seen.insert(*series.rank);
        }
    }
    for (const auto& event : run.events) {
        if (event.rank) {
            seen.insert(*event.rank);
        }
    }
    for (const auto& capture : run.captures) {
        if (capture.rank) {
            dumped.insert(*capture.rank);
        }
    }
    std::vector<int> silent;
    std::ranges::set_difference(seen, dumped, std::back_inserter(silent));
    if (silent.empty()) {
        return {};
    }
    return fmt::format("whether rank{} {} went wrong, too: no dump is no evidence, since a raise on one rank cuts the "
                       "others off",
        silent.size() == 1 ? "" : "s", fmt::join(silent, ", "));
}

std::vector<HardwareError> hardwareErrors(const RunData& run)
{
    std::vector<HardwareError> errors;
    for (const auto& event : run.events) {
        if (event.kind == EventKind::machine) {
            errors.push_back({event.rank, event.facts.pid, event.says(Phrase::writtenByDriver),
                {event.text, fmt::format("{}:{}", event.source, event.line)}});
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
    return ranks.size() > 1 || worldSizeOf(run).value_or(1) > 1;
}

} // namespace

RunWords wordsOf(const RunData& run)
{
    return {silentRanks(run), hardwareErrors(run), hasSeveralRanks(run)};
}

std::optional<EvidenceLine> hardwareErrorOf(
    const RunWords& words, const std::optional<int>& rank, const std::optional<int>& pid)
{
    const auto own = std::ranges::find_if(words.machine, [&](const HardwareError& error) {
        const bool itsRank = error.rank ? error.rank == rank : !words.severalRanks;
        return error.asWritten && (error.pid && pid ? error.pid == pid : itsRank);
    });
    return own == words.machine.end() ? std::nullopt : std::optional(own->line);
}

} // namespace nanscope::diagnose
