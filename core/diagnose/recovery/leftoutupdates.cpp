// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/leftoutupdates.h"

#include <algorithm>

#include "core/diagnose/recovery/detectorsteps.h"
#include "core/diagnose/recovery/teecopies.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

namespace {

const Event* guardOf(const Event& event)
{
    return event.says(Phrase::dionGuard) ? &event : nullptr;
}

/// dion's guard leaves out what one stack of one rank gave, and names its shape where it can.
bool guards(const Event& event, const CaptureVerdict& verdict)
{
    const auto& shape = event.facts.guarded;
    const bool ranksFit = !event.rank || !verdict.rank || event.rank == verdict.rank;
    const bool known = shape.size() >= 2 && verdict.facts.rows > 0;
    return ranksFit
        && (!known || (shape[shape.size() - 2] == verdict.facts.rows && shape.back() == verdict.facts.cols));
}

} // namespace

LeftOutUpdates::LeftOutUpdates(const RunData& run)
{
    auto events = eventsOnce(run);
    addGuarded(run, events);
    std::erase_if(events, [](const Event* event) { return !saysLeftOut(*event); });
    addNamed(run, events);
    addBetweenLines(run, events);
    addCounters(run);
    std::ranges::sort(m_spans, {}, &Span::upTo);
    for (const auto& span : m_spans) {
        m_longest = std::max(m_longest, span.upTo - span.after);
    }
}

void LeftOutUpdates::addNamed(const RunData& run, const std::vector<const Event*>& events)
{
    const DetectorSteps steps(run);
    for (const auto* event : events) {
        if (event->step) {
            const auto step = steps.printed(*event);
            m_spans.push_back({step - 1, step, event->source, event->line, guardOf(*event)});
        }
    }
}

/// What stands between the lines of two steps is of the updates between them: of all, where there are as many.
void LeftOutUpdates::addBetweenLines(const RunData& run, const std::vector<const Event*>& events)
{
    std::map<Lane, std::vector<const Event*>> lanes;
    for (const auto* event : events) {
        lanes[{event->source, event->rank}].push_back(event);
    }
    for (auto& [lane, said] : lanes) {
        std::ranges::sort(said, {}, &Event::line);
        for (const auto& series : run.series) {
            const bool rankFits = !series.rank || !lane.second || series.rank == lane.second;
            if (series.name != "loss" || series.source != lane.first || series.stepInferred || !rankFits) {
                continue;
            }
            for (std::size_t i = 1; i < series.points.size(); ++i) {
                const auto& from = series.points[i - 1];
                const auto& to = series.points[i];
                const auto first = std::ranges::upper_bound(said, from.line, {}, &Event::line);
                const auto end = std::ranges::upper_bound(said, to.line, {}, &Event::line);
                std::int64_t count = 0;
                std::for_each(first, end, [&count](const Event* event) { count += event->copies; });
                if (from.line < to.line && from.step < to.step && count >= to.step - from.step) {
                    m_spans.push_back({from.step, to.step, (*first)->source, (*first)->line, guardOf(**first),
                        (*first)->step.has_value()});
                }
            }
        }
    }
}

/// Megatron counts them since the line before, DeepSpeed since the start.
void LeftOutUpdates::addCounters(const RunData& run)
{
    for (const auto& series : run.series) {
        const bool sinceLine = series.name == "skipped_iterations";
        if (!sinceLine && series.name != "skipped_steps") {
            continue;
        }
        for (std::size_t i = 1; i < series.points.size(); ++i) {
            const auto& from = series.points[i - 1];
            const auto& to = series.points[i];
            const bool known = to.state == PointState::finite && (sinceLine || from.state == PointState::finite);
            const auto steps = static_cast<double>(to.step - from.step);
            if (known && steps > 0 && to.value - (sinceLine ? 0 : from.value) >= steps) {
                m_spans.push_back({from.step, to.step, series.source, to.line, nullptr});
            }
        }
    }
}

/// A dump of dion's wrapper and the line of its guard come of one call, the one right after the other.
void LeftOutUpdates::addGuarded(const RunData& run, const std::vector<const Event*>& events)
{
    const bool any = std::ranges::any_of(run.events, [](const Event& event) { return guardOf(event) != nullptr; });
    if (!any) {
        return;
    }
    std::map<Lane, const Event*> dumps;
    for (const auto* event : events) {
        if (event->kind == EventKind::captureDumped) {
            dumps[{event->source, event->rank}] = event;
        } else if (guardOf(*event) != nullptr) {
            auto& dump = dumps[{event->source, event->rank}];
            if (dump != nullptr && dump->line < event->line) {
                m_guarded.emplace(dump->capture, event);
            }
            dump = nullptr;
        }
    }
}

bool LeftOutUpdates::hold(const CaptureVerdict& verdict, const TrainingProcess* process) const
{
    const auto guarded = m_guarded.find(verdict.capture);
    if (guarded != m_guarded.end() && guards(*guarded->second, verdict)) {
        return true;
    }
    if (!verdict.step) {
        return false;
    }
    const auto [first, second] = *verdict.step;
    const auto after = first == second ? first - 1 : first;
    for (auto span = std::ranges::lower_bound(m_spans, second, {}, &Span::upTo);
         span != m_spans.end() && span->upTo - m_longest <= after; ++span) {
        const bool own = process == nullptr || process->wrote(std::string(span->source), span->line);
        // What a line says of its step goes before where it stands; a dump that no sidecar dates has its place alone.
        const bool meant = !span->named || first != second;
        if (span->after <= after && meant && own && (span->guard == nullptr || guards(*span->guard, verdict))) {
            return true;
        }
    }
    return false;
}

} // namespace nanscope::diagnose
