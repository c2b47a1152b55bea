// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/damagedupdates.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "core/diagnose/recovery/leftoutupdates.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

namespace {

/// Padding reaches no weight, and of a call without an output there was no update.
std::optional<DamagedUpdate::Kind> kindOf(const CaptureVerdict& verdict)
{
    const bool accused = verdict.blame != Blame::undecided;
    switch (verdict.role) {
    case Role::birth:
        // What is off in places and finite may be the work of the user's own code.
        return !verdict.facts.outputFinite ? std::optional(DamagedUpdate::Kind::born)
            : accused                      ? std::optional(DamagedUpdate::Kind::wrong)
                                           : std::nullopt;
    case Role::upstream:
    case Role::downstream:
        return DamagedUpdate::Kind::cameIn;
    default:
        return std::nullopt;
    }
}

/// The process whose log names the dump; the only one where there is one.
class ProcessOfDump
{
public:
    ProcessOfDump(const RunData& run, const std::vector<TrainingProcess>& processes)
        : m_processes(processes)
    {
        for (const auto& event : run.events) {
            if (event.kind == EventKind::captureDumped) {
                m_naming.emplace(event.capture, &event);
            }
        }
    }

    const TrainingProcess* of(const CaptureVerdict& verdict) const
    {
        if (m_processes.size() == 1) {
            return &m_processes.front();
        }
        const auto naming = m_naming.find(verdict.capture);
        if (naming == m_naming.end()) {
            return nullptr;
        }
        const auto found = std::ranges::find_if(m_processes,
            [&](const TrainingProcess& one) { return one.wrote(naming->second->source, naming->second->line); });
        return found == m_processes.end() ? nullptr : &*found;
    }

private:
    const std::vector<TrainingProcess>& m_processes;
    std::unordered_map<std::string_view, const Event*> m_naming;
};

/// What is downstream came after its cause, at whatever step.
std::optional<std::int64_t> stepOf(
    const CaptureVerdict& verdict, const std::unordered_map<std::string_view, const CaptureVerdict*>& byName)
{
    const auto cause = verdict.step ? byName.end() : byName.find(verdict.causedBy);
    const auto& step = cause == byName.end() ? verdict.step : cause->second->step;
    return step ? std::optional(step->first) : std::nullopt;
}

} // namespace

std::string DamagedUpdate::name() const
{
    if (!verdict->step) {
        return fmt::format("the update of {} (at which step is not known)", verdict->capture);
    }
    const auto [after, before] = *verdict->step;
    return after == before ? fmt::format("the update of step {}", after)
                           : fmt::format("an update between the log lines of steps {} and {}", after, before);
}

std::string DamagedUpdate::text() const
{
    return name() + " was damaged and is not shown to have been skipped";
}

EvidenceLine DamagedUpdate::line() const
{
    const auto* what = kind == Kind::born ? "has an output that is not finite"
        : kind == Kind::cameIn            ? "has an input that is not finite"
                                          : "has a wrong output";
    return {fmt::format("{} {}", verdict->capture, what), "captures"};
}

/// That of a process is the first where none of the same kind reaches as far back.
bool DamagedUpdates::holds(const DamagedUpdate& other) const
{
    return std::ranges::any_of(m_updates, [&](const DamagedUpdate& one) {
        return one.process == other.process && one.kind == other.kind
            && one.weights.has_value() == other.weights.has_value();
    });
}

DamagedUpdates::DamagedUpdates(
    const RunData& run, const std::vector<CaptureVerdict>& verdicts, const std::vector<TrainingProcess>& processes)
    : m_processes(processes)
{
    const ProcessOfDump dumps(run, processes);
    std::unordered_map<std::string_view, const CaptureVerdict*> byName;
    for (const auto& verdict : verdicts) {
        byName.emplace(verdict.capture, &verdict);
    }
    std::vector<DamagedUpdate> all;
    for (const auto& verdict : verdicts) {
        const auto kind = kindOf(verdict);
        if (!kind) {
            continue;
        }
        const auto* process = dumps.of(verdict);
        const auto* counting = process != nullptr ? process : processes.empty() ? nullptr : &processes.back();
        const auto base = counting == nullptr || counting->proofs.empty() ? 1 : counting->proofs.base();
        const auto step = stepOf(verdict, byName);
        all.push_back({&verdict, process, step ? std::optional(*step - base + 1) : std::nullopt, *kind});
    }
    std::ranges::stable_sort(all, {},
        [](const DamagedUpdate& one) { return one.weights.value_or(std::numeric_limits<std::int64_t>::max()); });
    if (all.empty()) {
        return;
    }
    const LeftOutUpdates leftOut(run);
    for (const auto& one : all) {
        const bool ofSeveral = processes.size() > 1;
        const bool askable = !ofSeveral || one.process != nullptr;
        if (!holds(one) && !(askable && leftOut.hold(*one.verdict, ofSeveral ? one.process : nullptr))) {
            m_updates.push_back(one);
        }
    }
}

const DamagedUpdate* DamagedUpdates::first(DamagedUpdate::Kind kind) const
{
    const auto found = std::ranges::find(m_updates, kind, &DamagedUpdate::kind);
    return found == m_updates.end() ? nullptr : &*found;
}

/// A later process that began before the damage has done that update again.
bool DamagedUpdates::reaches(const DamagedUpdate& update, const TrainingProcess& process, std::int64_t n) const
{
    if (!update.weights || update.process == nullptr || update.process == &process) {
        return !update.weights || n >= *update.weights;
    }
    const auto of =
        std::ranges::find_if(m_processes, [&](const TrainingProcess& one) { return &one == update.process; });
    const auto other = std::ranges::find_if(m_processes, [&](const TrainingProcess& one) { return &one == &process; });
    return n >= *update.weights && of < other && process.firstWeights >= *update.weights;
}

const DamagedUpdate* DamagedUpdates::in(const TrainingProcess& process, std::int64_t n) const
{
    const auto found = std::ranges::find_if(m_updates,
        [&](const DamagedUpdate& one) { return one.kind != DamagedUpdate::Kind::wrong && reaches(one, process, n); });
    return found == m_updates.end() ? nullptr : &*found;
}

const DamagedUpdate* DamagedUpdates::wrongIn(const TrainingProcess& process, std::int64_t n) const
{
    const auto found = std::ranges::find_if(m_updates,
        [&](const DamagedUpdate& one) { return one.kind == DamagedUpdate::Kind::wrong && reaches(one, process, n); });
    return found == m_updates.end() ? nullptr : &*found;
}

} // namespace nanscope::diagnose
