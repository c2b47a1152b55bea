// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/guardnotes.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/diagnose/triage/steplink.h"
#include "core/diagnose/whatif/guardlayouts.h"
#include "core/diagnose/whatif/guardsteps.h"

namespace nanscope::diagnose {

namespace {

constexpr std::string_view guardWords = "nan_guard_fallback]";

bool speaks(const Event& event)
{
    return event.text.find(guardWords) != std::string::npos;
}

/// The shape that the guard's warning names: of the whole stack, where a capture has one rank's part.
std::optional<std::array<std::int64_t, 3>> shapeIn(const Event& event)
{
    static const RE2 pattern(R"(shape=\((\d+), (\d+), (\d+)\))");
    std::array<std::int64_t, 3> shape {};
    if (!RE2::PartialMatch(event.text, pattern, &shape[0], &shape[1], &shape[2])) {
        return std::nullopt;
    }
    return shape;
}

class Notes
{
public:
    Notes(const RunData& run, const GuardQuestion& question, const GuardWhatIf& whatIf)
        : m_run(run)
        , m_question(question)
        , m_whatIf(whatIf)
    { }

    std::vector<EvidenceLine> all()
    {
        momentum();
        contamination();
        raised();
        warnings();
        subgroups();
        limits();
        return std::move(m_notes);
    }

private:
    void say(std::string text, std::string source = {}) { m_notes.push_back({std::move(text), std::move(source)}); }

    const GuardStep* first(bool (*test)(const GuardStep&)) const
    {
        const auto found = std::find_if(m_whatIf.steps.begin(), m_whatIf.steps.end(), test);
        return found == m_whatIf.steps.end() ? nullptr : &*found;
    }

    void momentum()
    {
        const auto* upstream =
            first([](const GuardStep& step) { return step.role == Role::upstream && step.momentumBad; });
        if (upstream != nullptr) {
            say(fmt::format(
                    "{}: the input was not finite {}. The momentum takes the gradient in before the guard looks, "
                    "and keeps a NaN for ever: a guard skips this group from here on and cannot recover it",
                    upstream->group, stepText(upstream->step)),
                upstream->captures.front());
        }
    }

    void contamination()
    {
        const auto later = std::count_if(m_whatIf.steps.begin(), m_whatIf.steps.end(),
            [](const GuardStep& step) { return step.role == Role::downstream; });
        const auto* one = first([](const GuardStep& step) { return step.role == Role::downstream; });
        if (one == nullptr) {
            return;
        }
        say(fmt::format("{} later updates of a shape group are contamination by an earlier one: had that one been left "
                        "out on all ranks, they would have had no cause that these captures show",
                later),
            one->captures.front());
        if (one->momentumBad) {
            say("a guard that is switched on only then skips for ever: these inputs are not finite, so the momentum "
                "holds NaN; go back to a checkpoint from before",
                one->captures.front());
        }
    }

    void raised()
    {
        if (raisedByCapture(m_run)) {
            say("the capture raised in the middle of a step: what other ranks computed is not known, and shape groups "
                "whose turn came before were already updated, so that weights saved then are half-stepped");
        }
    }

    void warnings()
    {
        const auto event = std::find_if(m_run.events.begin(), m_run.events.end(), speaks);
        if (event == m_run.events.end()) {
            return;
        }
        say(fmt::format("the run's own guard left out at least {} update{}: Python prints a warning of the same words "
                        "once per process and shape, so counting lines undercounts",
                m_whatIf.guardLines, m_whatIf.guardLines == 1 ? "" : "s"),
            fmt::format("{}:{}", event->source, event->line));
        joinWarnings();
    }

    /// Whose capture a warning belongs to: the rows and columns agree, the first number counts the whole stack.
    void joinWarnings()
    {
        std::set<std::string> told;
        for (const auto& event : m_run.events) {
            const auto shape = speaks(event) ? shapeIn(event) : std::nullopt;
            const auto capture = shape ? captureOf(*shape) : m_run.captures.end();
            if (capture == m_run.captures.end() || !told.insert(event.text).second) {
                continue;
            }
            say(fmt::format("its shape ({}, {}, {}) is the whole stack; the captures of {} are one rank's part of it",
                    (*shape)[0], (*shape)[1], (*shape)[2], shapeText(capture->input.shape)),
                fmt::format("{}:{}", event.source, event.line));
        }
    }

    std::vector<Capture>::const_iterator captureOf(const std::array<std::int64_t, 3>& stack) const
    {
        return std::find_if(m_run.captures.begin(), m_run.captures.end(), [&](const Capture& capture) {
            const auto shape = matrixShape(capture.input.shape);
            return shape.rows == stack[1] && shape.cols == stack[2] && shape.batch < stack[0];
        });
    }

    /// The optimizer's group need not be the job: with HSDP it is one replica.
    void subgroups()
    {
        std::map<std::string, const Capture*> captures;
        for (const auto& capture : m_run.captures) {
            captures[capture.file] = &capture;
        }
        std::map<std::pair<std::int64_t, int>, std::set<int>> processes;
        for (const auto& step : m_whatIf.steps) {
            for (const auto& file : step.captures) {
                const auto* capture = captures[file];
                if (step.step && capture->rank && capture->pid) {
                    processes[{step.step->first, *capture->rank}].insert(*capture->pid);
                }
            }
        }
        const auto several =
            std::find_if(processes.begin(), processes.end(), [](const auto& entry) { return entry.second.size() > 1; });
        if (several != processes.end()) {
            say(fmt::format("{} processes call themselves rank {} in one update: the optimizer's group is smaller than "
                            "the job (HSDP, tensor parallelism), and even the full guard does not reach across",
                several->second.size(), several->first.second));
        }
    }

    void limits()
    {
        if (m_whatIf.steps.empty()) {
            return;
        }
        if (first([](const GuardStep& step) { return !step.step.has_value(); }) != nullptr) {
            say("some captures belong to no known step: which of different ranks fall into one update is not known, so "
                "each stands for itself");
        }
        if (!m_question.ranks) {
            const auto ranks = knownRanks(m_run, m_question).size();
            say(fmt::format(
                "{} {} known from logs and captures; if there are more, say how many: stacks are larger then, rows are "
                "divided otherwise, and what the others computed is not known",
                ranks, ranks == 1 ? "rank is" : "ranks are"));
        }
        say("shape groups that no capture shows are not known; whatever was finite in them was applied in the same "
            "step, whichever guard");
        say("a guard behind the iteration sees neither a finite output that is wrong nor what the normalisation behind "
            "it makes");
    }

    const RunData& m_run;
    const GuardQuestion& m_question;
    const GuardWhatIf& m_whatIf;
    std::vector<EvidenceLine> m_notes;
};

} // namespace

std::int64_t guardLinesIn(const RunData& run)
{
    // The console of a job repeats what its ranks' own logs say.
    std::map<std::string, std::int64_t> bySource;
    std::int64_t most = 0;
    for (const auto& event : run.events) {
        if (speaks(event)) {
            most = std::max(most, bySource[event.source] += event.copies);
        }
    }
    return most;
}

std::vector<EvidenceLine> guardNotes(const RunData& run, const GuardQuestion& question, const GuardWhatIf& whatIf)
{
    return Notes(run, question, whatIf).all();
}

} // namespace nanscope::diagnose
