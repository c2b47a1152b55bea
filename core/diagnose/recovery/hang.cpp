// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/hang.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "core/diagnose/recovery/metriclines.h"
#include "core/model/run.h"

namespace nanscope::diagnose {

namespace {

/// The first watchdog's line of each rank: later ones are of operations that waited behind the first.
std::map<int, const Event*> firstLines(const RunData& run)
{
    std::map<int, const Event*> lines;
    for (const auto& event : run.events) {
        if (event.facts.collective && event.rank) {
            auto& line = lines[*event.rank];
            const bool earlier = line == nullptr || (line->source == event.source && event.line < line->line);
            line = earlier ? &event : line;
        }
    }
    return lines;
}

std::vector<WaitingRanks> callsOf(const std::map<int, const Event*>& lines)
{
    std::map<std::tuple<std::string_view, std::int64_t, std::string_view>, WaitingRanks> calls;
    for (const auto& [rank, line] : lines) {
        const auto& call = *line->facts.collective;
        auto& waiting = calls[{call.group, call.sequence, call.operation}];
        waiting.call = call;
        waiting.first = waiting.first == nullptr ? line : waiting.first;
        waiting.ranks.push_back(rank);
    }
    std::vector<WaitingRanks> all;
    for (auto& [key, waiting] : calls) {
        all.push_back(std::move(waiting));
    }
    std::ranges::stable_sort(all, std::greater<>(), [](const WaitingRanks& one) { return one.ranks.size(); });
    return all;
}

/// What takes a process out of training by itself. A failure that a watchdog or a launcher led to is of another kind.
bool leaves(const Event& event)
{
    const bool follows = event.kind == EventKind::collective || event.kind == EventKind::terminated;
    const bool raised = event.kind == EventKind::traceback || !event.detail.empty();
    return !follows && (raised || event.kind == EventKind::optimizerStop);
}

/// Not behind the first watchdog of the same log, where the logs have an order.
bool comesFirst(const Event& event, const std::map<int, const Event*>& lines)
{
    return std::ranges::none_of(
        lines, [&](const auto& line) { return line.second->source == event.source && line.second->line < event.line; });
}

/// Training that went on past an exception had caught it.
const Event* causeOf(const RunData& run, const std::map<int, const Event*>& lines)
{
    if (lines.empty()) {
        return nullptr;
    }
    const MetricLines metrics(run);
    const auto found = std::ranges::find_if(run.events, [&](const Event& event) {
        return leaves(event) && event.rank && !lines.contains(*event.rank) && comesFirst(event, lines)
            && !metrics.goOnPast(event);
    });
    return found == run.events.end() ? nullptr : &*found;
}

std::string nameOf(const CollectiveCall& call)
{
    return call.group.empty() ? fmt::format("{} ({})", call.sequence, call.operation)
                              : fmt::format("{} ({}) of {}", call.sequence, call.operation, call.group);
}

} // namespace

bool Hang::sameGroup() const
{
    return std::ranges::all_of(calls,
        [&](const WaitingRanks& one) { return !one.call.group.empty() && one.call.group == calls.front().call.group; });
}

Hang hangOf(const RunData& run)
{
    Hang hang;
    const auto lines = firstLines(run);
    hang.calls = callsOf(lines);
    hang.ranks = lines.size();
    hang.cause = causeOf(run, lines);
    return hang;
}

std::string ranksText(const std::vector<int>& ranks)
{
    return ranks.size() == 1 ? fmt::format("rank {}", ranks.front())
        : ranks.size() == 2  ? fmt::format("ranks {} and {}", ranks.front(), ranks.back())
                             : fmt::format("{} ranks", ranks.size());
}

std::string textOf(const Hang& hang)
{
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, hang.calls.size()); ++i) {
        const auto& one = hang.calls[i];
        text += i == 0 ? fmt::format("{} {} in collective {}", ranksText(one.ranks),
                    one.ranks.size() == 1 ? "waits" : "wait", nameOf(one.call))
                       : fmt::format(", {} in {}", ranksText(one.ranks), nameOf(one.call));
    }
    return hang.calls.size() > most ? fmt::format("{}, and others in {} more", text, hang.calls.size() - most) : text;
}

} // namespace nanscope::diagnose
