// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/teecopies.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/model/run.h"

namespace nanscope::diagnose {

namespace {

using EventsBySource = std::map<std::string_view, std::vector<const Event*>>;

std::string_view folderOf(std::string_view source)
{
    const auto slash = source.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : source.substr(0, slash + 1);
}

std::pair<std::string_view, std::string_view> wordsOf(const Event& event)
{
    return {event.text, event.detail};
}

bool saysTheSame(const Event& a, const Event& b)
{
    return a.kind == b.kind && a.rank == b.rank && a.step == b.step && a.copies <= b.copies && wordsOf(a) == wordsOf(b);
}

/// All of these are among those, in their order.
bool isWithin(const std::vector<const Event*>& these, const std::vector<const Event*>& those)
{
    auto from = those.begin();
    return std::ranges::all_of(these, [&](const Event* event) {
        from = std::find_if(from, those.end(), [&](const Event* other) { return saysTheSame(*event, *other); });
        if (from == those.end()) {
            return false;
        }
        ++from;
        return true;
    });
}

EventsBySource bySource(const RunData& run)
{
    EventsBySource sources;
    for (const auto& event : run.events) {
        sources[event.source].push_back(&event);
    }
    for (auto& [source, events] : sources) {
        std::ranges::stable_sort(events, {}, &Event::line);
    }
    return sources;
}

std::set<std::string_view> logsWithMetrics(const RunData& run)
{
    std::set<std::string_view> sources;
    for (const auto& series : run.series) {
        sources.insert(series.source);
    }
    return sources;
}

} // namespace

std::set<std::string_view> repeatingLogs(const RunData& run)
{
    constexpr std::size_t mostLogs = 64;
    const auto sources = bySource(run);
    const auto withMetrics = logsWithMetrics(run);
    std::vector<std::string_view> whole;
    std::ranges::copy_if(
        withMetrics, std::back_inserter(whole), [&](std::string_view source) { return sources.contains(source); });
    whole.resize(std::min(whole.size(), mostLogs));
    std::set<std::string_view> repeating;
    for (const auto& [source, events] : sources) {
        const auto repeats = [&, &own = source, &these = events](std::string_view other) {
            return own.starts_with(folderOf(other)) && !sameButForNumbers(own, other)
                && isWithin(these, sources.at(other));
        };
        if (!withMetrics.contains(source) && std::ranges::any_of(whole, repeats)) {
            repeating.insert(source);
        }
    }
    return repeating;
}

std::vector<const Event*> eventsOnce(const RunData& run)
{
    const auto repeating = repeatingLogs(run);
    std::vector<const Event*> events;
    for (const auto& event : run.events) {
        if (!repeating.contains(event.source)) {
            events.push_back(&event);
        }
    }
    return events;
}

} // namespace nanscope::diagnose
