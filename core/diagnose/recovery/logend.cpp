// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/logend.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/recovery/hang.h"
#include "core/model/run.h"

namespace nanscope::diagnose {

namespace {

using How = LogEnd::How;

/// An exception; what a trainer's warning says comes without frames.
bool isRaised(const Event& event)
{
    return event.kind == EventKind::traceback || !event.detail.empty();
}

/// Only what ends a process by itself: a connection that broke, or memory that ran out, may have been tried again.
std::optional<How> howOf(const Event& event)
{
    if (event.facts.collective) {
        return How::hung;
    }
    if (event.says(Phrase::processKilled)) {
        return How::died;
    }
    if (event.kind == EventKind::terminated) {
        return How::ended;
    }
    return isRaised(event)                       ? std::optional(How::died)
        : event.kind == EventKind::optimizerStop ? std::optional(How::stopped)
                                                 : std::nullopt;
}

/// The cause stands before what follows it: other ranks whose collective operations fail, the launcher. A signal may
/// have come first, or have ended what hung: the earlier line of the two is told.
int placeOf(const LogEnd& end)
{
    const bool follows = end.how == How::hung || end.event->kind == EventKind::collective
        || (end.how == How::died && end.event->says(Phrase::processKilled));
    return follows ? 1 : end.how == How::ended ? 2 : end.how == How::raised ? 3 : 0;
}

std::optional<std::int64_t> lastStep(const RunData& run, const Event& event)
{
    const Point* last = nullptr;
    for (const auto& series : run.series) {
        if (series.name != "loss" || series.source != event.source || series.stepInferred) {
            continue;
        }
        for (auto point = series.points.rbegin(); point != series.points.rend(); ++point) {
            if (point->line < event.line) {
                last = last == nullptr || point->line > last->line ? &*point : last;
                break;
            }
        }
    }
    return last == nullptr ? std::nullopt : std::optional(last->step);
}

/// A later attempt has a log of its own, or one in its own folder.
bool wasContinued(const Event& event, const RunData& run)
{
    return std::ranges::any_of(run.series, [&](const Series& series) {
        const bool otherRank = series.rank && event.rank && series.rank != event.rank;
        return !otherRank && series.source != event.source && sameButForNumbers(event.source, series.source)
            && naturalLess(event.source, series.source);
    });
}

/// Logs that say that training came to its end, and where they say it last.
std::map<std::string_view, std::int64_t> completeLogs(const RunData& run)
{
    std::map<std::string_view, std::int64_t> lines;
    for (const auto& event : run.events) {
        if (event.says(Phrase::trainingComplete)) {
            lines[event.source] = event.line;
        }
    }
    return lines;
}

class EndSearch
{
public:
    EndSearch(const RunData& run, const MetricLines& metrics)
        : m_metrics(metrics)
        , m_complete(completeLogs(run))
    { }

    void look(const Event& event);
    std::optional<LogEnd> found() const { return m_end; }

private:
    const MetricLines& m_metrics;
    std::map<std::string_view, std::int64_t> m_complete;
    std::optional<LogEnd> m_end;
};

void EndSearch::look(const Event& event)
{
    auto how = howOf(event);
    if (!how || m_metrics.goOnPast(event) || (*how != How::stopped && m_complete.contains(event.source))) {
        return;
    }
    if (!m_metrics.has(event.source) && *how != How::hung && *how != How::ended) {
        how = How::raised;
    }
    const LogEnd end {*how, &event, {}};
    const bool earlier = m_end && placeOf(end) == placeOf(*m_end) && event.source == m_end->event->source
        && event.line < m_end->event->line;
    if (!m_end || placeOf(end) < placeOf(*m_end) || earlier) {
        m_end = end;
    }
}

} // namespace

std::optional<LogEnd> logEndOf(const RunData& run, const std::vector<const Event*>& events, const MetricLines& metrics,
    const SourceFilter& isLookedAt)
{
    EndSearch search(run, metrics);
    std::map<std::pair<std::string_view, std::optional<int>>, bool> open;
    for (const auto* event : events) {
        const auto [known, isNew] = open.try_emplace({event->source, event->rank}, false);
        if (isNew) {
            known->second = isLookedAt(event->source) && !wasContinued(*event, run);
        }
        if (known->second) {
            search.look(*event);
        }
    }
    auto end = search.found();
    if (end && end->how == How::hung) {
        const auto* cause = hangOf(run).cause;
        end = cause != nullptr ? LogEnd {How::died, cause, {}} : *end;
    }
    if (end) {
        end->step = lastStep(run, *end->event);
    }
    return end;
}

namespace {

std::string_view verbOf(How how)
{
    switch (how) {
    case How::died:
        return "died";
    case How::stopped:
        return "stopped";
    case How::hung:
        return "hung";
    case How::ended:
        return "was ended";
    case How::raised:
        return "an exception is logged";
    }
    return "";
}

} // namespace

std::string textOf(const LogEnd& end, const RunData& run)
{
    constexpr std::size_t longest = 120;
    const Event& event = *end.event;
    const EvidenceLine line {event.text, event.place()};
    const auto hang = end.how == How::hung ? hangOf(run) : Hang();
    const auto rank = event.rank && hang.none() ? fmt::format(" on rank {}", *event.rank) : std::string();
    const auto step = end.step ? fmt::format(" after step {}", *end.step) : std::string();
    return fmt::format("{}{}{}: {} ({})", verbOf(end.how), step, rank,
        hang.none() ? clipped(line.text, longest) : textOf(hang), line.source);
}

} // namespace nanscope::diagnose
