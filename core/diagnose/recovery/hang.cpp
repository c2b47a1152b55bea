// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/hang.h"

#include <algorithm>
#include <functional>
#include <iterator>
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

/// A line that names the operation tells more than one that counts, and behind the first of a kind stand those of
/// operations that waited behind the first.
bool tellsMore(const Event& event, const Event& than)
{
    const bool named = !event.facts.collective->operation.empty();
    const bool other = !than.facts.collective->operation.empty();
    return named != other ? named : event.source == than.source && event.line < than.line;
}

/// What each rank was in, or did last.
std::map<int, const Event*> firstLines(const RunData& run)
{
    std::map<int, const Event*> lines;
    for (const auto& event : run.events) {
        if (event.facts.collective && event.rank) {
            auto& line = lines[*event.rank];
            line = line == nullptr || tellsMore(event, *line) ? &event : line;
        }
    }
    return lines;
}

bool comparable(const CollectiveCall& a, const CollectiveCall& b)
{
    return a.group == b.group || a.group.empty() || b.group.empty();
}

/// That a rank ended one operation says something where others wait in a later one of the same group.
void dropUnrelated(std::vector<WaitingRanks>& calls)
{
    const auto all = calls;
    std::erase_if(calls, [&](const WaitingRanks& one) {
        return one.call.ended && std::ranges::none_of(all, [&](const WaitingRanks& other) {
            return !other.call.ended && comparable(one.call, other.call) && other.call.sequence > one.call.sequence;
        });
    });
}

/// Where one rank waits in an operation that a line names, others wait in it whose lines only count.
void nameOperations(std::vector<WaitingRanks>& calls)
{
    for (auto& one : calls) {
        const auto named = std::ranges::find_if(calls, [&](const WaitingRanks& other) {
            return !one.call.ended && one.call.operation.empty() && other.call.sequence == one.call.sequence
                && !other.call.operation.empty() && comparable(one.call, other.call);
        });
        if (named != calls.end()) {
            std::ranges::copy(one.ranks, std::back_inserter(named->ranks));
            std::ranges::sort(named->ranks);
            one.ranks.clear();
        }
    }
    std::erase_if(calls, [](const WaitingRanks& one) { return one.ranks.empty(); });
}

std::vector<WaitingRanks> callsOf(const std::map<int, const Event*>& lines)
{
    std::map<std::tuple<std::string_view, std::int64_t, std::string_view, bool>, WaitingRanks> calls;
    for (const auto& [rank, line] : lines) {
        const auto& call = *line->facts.collective;
        auto& waiting = calls[{call.group, call.sequence, call.operation, call.ended}];
        waiting.call = call;
        waiting.first = waiting.first == nullptr ? line : waiting.first;
        waiting.ranks.push_back(rank);
    }
    std::vector<WaitingRanks> all;
    for (auto& [key, waiting] : calls) {
        all.push_back(std::move(waiting));
    }
    nameOperations(all);
    dropUnrelated(all);
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
    const auto operation = call.operation.empty() ? std::string() : fmt::format(" ({})", call.operation);
    const auto group = call.group.empty() ? std::string() : " of " + call.group;
    return fmt::format("{}{}{}", call.sequence, operation, group);
}

/// "63 ranks wait in collective 811 (ALLREDUCE)", "rank 17 ended collective 810 and came to no other"
std::string textOf(const WaitingRanks& one, bool isFirst)
{
    const auto* noun = isFirst ? "collective " : "";
    if (one.call.ended) {
        return fmt::format("{} ended {}{} and came to no other", ranksText(one.ranks), noun, nameOf(one.call));
    }
    const auto* verb = one.ranks.size() == 1 ? " waits" : " wait";
    return fmt::format("{}{} in {}{}", ranksText(one.ranks), isFirst ? verb : "", noun, nameOf(one.call));
}

/// Those without a line among ranks that otherwise follow each other. Where many are missing, the others are a group of
/// their own, or their logs are elsewhere.
std::vector<int> absentRanks(const std::vector<WaitingRanks>& calls)
{
    constexpr std::size_t mostAbsent = 3;
    constexpr std::size_t timesAsMany = 4;
    std::set<int> present;
    for (const auto& one : calls) {
        present.insert(one.ranks.begin(), one.ranks.end());
    }
    std::vector<int> absent;
    for (int rank = 0; !present.empty() && rank < *present.rbegin() && absent.size() <= mostAbsent; ++rank) {
        if (!present.contains(rank)) {
            absent.push_back(rank);
        }
    }
    const bool few = absent.size() <= mostAbsent && present.size() >= timesAsMany * absent.size();
    return few ? absent : std::vector<int>();
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
    for (const auto& one : hang.calls) {
        hang.ranks += one.call.ended ? 0 : one.ranks.size();
    }
    hang.absent = absentRanks(hang.calls);
    hang.cause = hang.none() ? nullptr : causeOf(run, lines);
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
        text += (i == 0 ? "" : ", ") + textOf(hang.calls[i], i == 0);
    }
    text += hang.calls.size() > most ? fmt::format(", and others in {} more", hang.calls.size() - most) : "";
    return hang.absent.empty() ? text : fmt::format("{}, and no line of {}", text, ranksText(hang.absent));
}

} // namespace nanscope::diagnose
