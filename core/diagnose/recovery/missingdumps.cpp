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

namespace nanscope::diagnose {

namespace {

std::string_view nameOf(std::string_view path)
{
    return path.substr(path.find_last_of('/') + 1);
}

/// A line may go on behind the name of the dump.
std::string_view dumpOf(const Event& event)
{
    constexpr std::string_view ending = ".pt";
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
    dumps.inOrder = sources.size() == 1;
    if (dumps.inOrder) {
        std::ranges::sort(dumps.missing, {}, &Event::line);
    } else {
        std::ranges::sort(dumps.missing, {}, placeOf);
    }
    return dumps;
}

std::string textOf(const MissingDumps& dumps)
{
    const auto missing = std::ssize(dumps.missing);
    auto text = missing == dumps.named
        ? fmt::format("{} on {} that the logs name {} not here", counted(missing, "dump"), counted(dumps.ranks, "rank"),
            missing == 1 ? "is" : "are")
        : fmt::format("{} of {} that the logs name {} not here, on {}", countText(missing),
            counted(dumps.named, "dump"), missing == 1 ? "is" : "are", counted(dumps.ranks, "rank"));
    const auto rank = dumps.inOrder ? dumps.missing.front()->rank : std::nullopt;
    return rank && dumps.ranks > 1 ? fmt::format("{}, rank {} was first", text, *rank) : text;
}

} // namespace nanscope::diagnose
