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

std::string_view folderWithSlash(std::string_view source)
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

using SeriesBySource = std::map<std::string_view, std::vector<const Series*>>;

SeriesBySource seriesBySource(const RunData& run)
{
    SeriesBySource sources;
    for (const auto& series : run.series) {
        sources[series.source].push_back(&series);
    }
    return sources;
}

/// Every value of this series, in that one's order.
bool isWithin(const Series& these, const Series& those)
{
    if (these.name != those.name || these.rank != those.rank || these.points.empty()
        || these.points.size() > those.points.size()) {
        return false;
    }
    auto from = those.points.begin();
    return std::ranges::all_of(these.points, [&](const Point& point) {
        from = std::find_if(from, those.points.end(),
            [&](const Point& other) { return point.step == other.step && point.sameValue(other); });
        return from != those.points.end() && (++from, true);
    });
}

/// Of its metrics, too, nothing is its own: what a launcher splits by ranks and what it joins tell of one run.
bool areWithin(const std::vector<const Series*>& these, const std::vector<const Series*>& those)
{
    return std::ranges::all_of(these, [&](const Series* one) {
        return std::ranges::any_of(those, [&](const Series* other) { return isWithin(*one, *other); });
    });
}

/// Looks for the log that has all of another's lines.
class Repeats
{
public:
    explicit Repeats(const RunData& run)
        : m_events(bySource(run))
        , m_series(seriesBySource(run))
    {
        for (const auto& [source, series] : m_series) {
            if (m_events.contains(source) && m_whole.size() < mostLogs) {
                m_whole.push_back(source);
            }
        }
    }

    std::set<std::string_view> find() const
    {
        std::set<std::string_view> repeating;
        for (const auto& [source, events] : m_events) {
            const auto repeats = [&, &own = source](std::string_view other) {
                return own != other && !repeating.contains(other) && isRepeated(own, other);
            };
            if (std::ranges::any_of(m_whole, repeats)) {
                repeating.insert(source);
            }
        }
        return repeating;
    }

private:
    static constexpr std::size_t mostLogs = 64;

    bool isRepeated(std::string_view own, std::string_view other) const
    {
        const auto metrics = m_series.find(own);
        return own.starts_with(folderWithSlash(other)) && !sameButForNumbers(own, other)
            && isWithin(m_events.at(own), m_events.at(other))
            && (metrics == m_series.end() || areWithin(metrics->second, m_series.at(other)));
    }

    EventsBySource m_events;
    SeriesBySource m_series;
    std::vector<std::string_view> m_whole; ///< logs with metrics
};

} // namespace

std::set<std::string_view> repeatingLogs(const RunData& run)
{
    return Repeats(run).find();
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
