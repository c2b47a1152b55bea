// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/missingdumps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/model/run.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

namespace {

std::string_view nameOf(std::string_view path)
{
    return path.substr(path.find_last_of('/') + 1);
}

constexpr std::string_view ending = ".pt";

/// A line may go on behind the name of the dump.
std::string_view dumpOf(const Event& event)
{
    const std::string_view name = event.capture;
    const auto end = name.find(std::string(ending) + ' ');
    return name.substr(0, end == std::string_view::npos ? end : end + ending.size());
}

/// Files that were found, those that could not be read among them.
std::set<std::string_view> foundFiles(const RunData& run)
{
    std::set<std::string_view> files;
    for (const auto& capture : run.captures) {
        files.insert(nameOf(capture.file));
        files.insert(nameOf(capture.path));
    }
    for (const auto* list : {&run.rejected, &run.notes}) {
        for (const auto& one : *list) {
            files.insert(nameOf(one.path));
        }
    }
    return files;
}

/// The line that names a dump, in the log that names most of them: under a tee two do.
std::map<std::string_view, const Event*> namingLines(const RunData& run)
{
    std::map<std::string_view, std::int64_t> counts;
    for (const auto& event : run.events) {
        counts[event.source] += event.kind == EventKind::captureDumped ? 1 : 0;
    }
    std::map<std::string_view, const Event*> lines;
    for (const auto& event : run.events) {
        if (event.kind != EventKind::captureDumped || event.capture.empty()) {
            continue;
        }
        auto& line = lines[dumpOf(event)];
        line = line == nullptr || counts[event.source] > counts[line->source] ? &event : line;
    }
    return lines;
}

auto placeOf(const Event* event)
{
    return std::tuple(event->rank.value_or(-1), std::string_view(event->source), event->line);
}

std::optional<std::int64_t> timeOf(const Event* event)
{
    auto stem = dumpOf(*event);
    stem.remove_suffix(stem.ends_with(ending) ? ending.size() : 0);
    const auto said = tensorfile::parseDumpName(stem);
    return said ? said->timestampMs : std::nullopt;
}

bool haveTimes(const std::vector<const Event*>& dumps)
{
    return std::ranges::all_of(dumps, [](const Event* one) { return timeOf(one).has_value(); });
}

/// Of dumps in order of their times. None where two ranks share the first millisecond.
std::optional<int> firstRank(const std::vector<const Event*>& dumps)
{
    const auto& first = *dumps.front();
    const bool shared = std::ranges::any_of(
        dumps, [&](const Event* other) { return other->rank != first.rank && timeOf(other) == timeOf(dumps.front()); });
    return shared ? std::nullopt : first.rank;
}

} // namespace

std::vector<const Event*> MissingDumps::firstOfRanks() const
{
    std::vector<const Event*> firsts;
    std::set<std::optional<int>> seen;
    for (const auto* event : missing) {
        if (seen.insert(event->rank).second) {
            firsts.push_back(event);
        }
    }
    return firsts;
}

MissingDumps missingDumpsOf(const RunData& run)
{
    MissingDumps dumps;
    const auto found = foundFiles(run);
    std::set<std::string_view> sources;
    std::set<std::optional<int>> ranks;
    for (const auto& [name, line] : namingLines(run)) {
        ++dumps.named;
        if (!found.contains(name)) {
            dumps.missing.push_back(line);
            sources.insert(line->source);
            ranks.insert(line->rank);
        }
    }
    dumps.ranks = std::ssize(ranks);
    if (sources.size() == 1) {
        std::ranges::sort(dumps.missing, {}, &Event::line);
    } else {
        std::ranges::sort(dumps.missing, {}, placeOf);
    }
    if (!dumps.none() && haveTimes(dumps.missing)) {
        std::ranges::stable_sort(dumps.missing, {}, timeOf);
        dumps.first = dumps.ranks > 1 ? firstRank(dumps.missing) : std::nullopt;
    }
    return dumps;
}

bool helperMissedCalls(const RunData& run)
{
    return std::ranges::any_of(run.events, [](const Event& event) { return event.says(Phrase::callsNotSeen); });
}

std::vector<UnreadDump> unreadDumpsOf(const RunData& run)
{
    std::set<std::string_view> read;
    for (const auto& capture : run.captures) {
        read.insert(nameOf(capture.file));
        read.insert(nameOf(capture.path));
    }
    const auto lines = namingLines(run);
    std::vector<UnreadDump> dumps;
    for (const auto& file : run.rejected) {
        const auto line = lines.find(nameOf(file.path));
        if (line != lines.end() && read.insert(line->first).second) {
            dumps.push_back({line->second, &file});
        }
    }
    std::ranges::sort(dumps, {}, [](const UnreadDump& dump) { return placeOf(dump.line); });
    return dumps;
}

std::string textOf(const std::vector<UnreadDump>& dumps)
{
    if (dumps.empty()) {
        return {};
    }
    const auto& [line, file] = dumps.front();
    const auto place = line->place();
    return dumps.size() == 1
        ? fmt::format("a non-finite output was dumped ({}), and its file could not be read: {}", place, file->reason)
        : fmt::format("{} were dumped, the first by {}, and none of their files could be read: {}",
            counted(std::ssize(dumps), "non-finite output"), place, file->reason);
}

std::string textOf(const MissingDumps& dumps)
{
    const auto missing = std::ssize(dumps.missing);
    auto text = missing == dumps.named
        ? fmt::format("{} on {} that the logs name {} not here", counted(missing, "dump"), counted(dumps.ranks, "rank"),
            missing == 1 ? "is" : "are")
        : fmt::format("{} of {} that the logs name {} not here, on {}", countText(missing),
            counted(dumps.named, "dump"), missing == 1 ? "is" : "are", counted(dumps.ranks, "rank"));
    return dumps.first ? fmt::format("{}, rank {} was first by the times in their names", text, *dumps.first) : text;
}

} // namespace nanscope::diagnose
