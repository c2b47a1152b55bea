// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/guardsteps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/diagnose/diagnose.h"

namespace nanscope::diagnose {

namespace {

constexpr int mostRanks = 4096; ///< a rank beyond is a number in a name, not a job of that size

/// A capture with what triage made of it.
struct Call
{
    const Capture* capture = nullptr;
    const CaptureVerdict* verdict = nullptr;
    std::string group;

    std::optional<std::int64_t> update() const
    {
        return verdict->step ? std::optional(verdict->step->first) : std::nullopt;
    }
    bool bad() const { return !capture->output->total().finite(); }
};

std::vector<Call> callsOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts)
{
    std::map<std::pair<std::int64_t, std::string>, const Capture*> captures;
    for (const auto& capture : run.captures) {
        captures[{capture.id, capture.file}] = &capture;
    }
    std::vector<Call> calls;
    for (const auto& verdict : verdicts) {
        const auto found = captures.find({verdict.captureId, verdict.capture});
        const auto* capture = found == captures.end() ? nullptr : found->second;
        if (capture != nullptr && capture->output && capture->output->scanned()) {
            calls.push_back({capture, &verdict, shapeGroupOf(*capture)});
        }
    }
    return calls;
}

int placeOf(Role role)
{
    return role == Role::birth ? 0 : role == Role::upstream ? 1 : role == Role::padding ? 2 : 3;
}

class StepMaker
{
public:
    StepMaker(const std::vector<Call>& calls, const std::vector<int>& ranks, bool raised)
        : m_ranks(ranks)
        , m_raised(raised)
    {
        for (const auto& call : calls) {
            if (call.capture->rank) {
                auto& seen = m_seen[*call.capture->rank];
                ++seen.dumps;
                seen.lastUpdate = std::max(seen.lastUpdate, call.update().value_or(notKnown));
            }
            m_groups.insert(call.group);
            if (call.bad() && call.update()) {
                m_bad.insert({*call.update(), call.group});
            }
        }
    }

    /// `same` are the calls of one shape group in one update, at least one of them bad.
    GuardStep make(const std::vector<const Call*>& same) const
    {
        GuardStep step;
        const auto worst = std::min_element(same.begin(), same.end(),
            [](const Call* a, const Call* b) { return placeOf(a->verdict->role) < placeOf(b->verdict->role); });
        step.group = (*worst)->group;
        step.step = (*worst)->verdict->step;
        step.stepSource = (*worst)->verdict->stepSource;
        step.role = (*worst)->verdict->role;
        step.causedBy = (*worst)->verdict->causedBy;
        for (const auto* call : same) {
            step.captures.push_back(call->capture->file);
            step.momentumBad = step.momentumBad || !call->capture->input.total().finite();
        }
        addRanks(same, step);
        addOtherGroups(step);
        return step;
    }

private:
    static constexpr auto notKnown = std::numeric_limits<std::int64_t>::min();

    struct Seen
    {
        std::int64_t dumps = 0;
        std::int64_t lastUpdate = notKnown;
    };

    void addRanks(const std::vector<const Call*>& same, GuardStep& step) const
    {
        std::set<int> all(m_ranks.begin(), m_ranks.end());
        for (const auto* call : same) {
            if (call->capture->rank) {
                all.insert(*call->capture->rank);
            }
        }
        for (const int rank : all) {
            step.ranks.push_back(rankOf(rank, same, step));
        }
        if (all.size() < 2) {
            step.ranks.push_back({std::nullopt, probe::Sight::unknown, "no log and no capture names another rank"});
        }
    }

    GuardRank rankOf(int rank, const std::vector<const Call*>& same, const GuardStep& step) const
    {
        GuardRank seen {rank};
        seen.onlyZeros = true;
        for (const auto* call : same) {
            if (call->capture->rank == rank) {
                seen.captures.push_back(call->capture->file);
                seen.inputBad = seen.inputBad || !call->capture->input.total().finite();
                seen.onlyZeros = call->bad() ? seen.onlyZeros && call->verdict->role == Role::padding : seen.onlyZeros;
                seen.output = call->bad() || seen.output == probe::Sight::nonFinite ? probe::Sight::nonFinite
                                                                                    : probe::Sight::finite;
            }
        }
        if (!seen.captures.empty()) {
            seen.why = seen.output == probe::Sight::nonFinite ? "captured" : "captured, and finite";
        } else {
            judgeSilence(rank, step, seen);
        }
        seen.onlyZeros = seen.onlyZeros && seen.output == probe::Sight::nonFinite;
        return seen;
    }

    /// A process that dumped later was alive and watched: what it did not dump was finite.
    void judgeSilence(int rank, const GuardStep& step, GuardRank& silent) const
    {
        const auto found = m_seen.find(rank);
        const auto last = found == m_seen.end() ? notKnown : found->second.lastUpdate;
        const auto update = step.step ? step.step->first : std::numeric_limits<std::int64_t>::max();
        const bool wentOn = found != m_seen.end() && found->second.dumps > 1;
        if (last != notKnown && (last > update || (last == update && wentOn))) {
            silent.output = probe::Sight::finite;
            silent.why = last > update
                ? fmt::format("no dump here but later ones, the last after step {}: its capture was on", last)
                : "no dump of this group, and one of another in the same update";
        } else if (m_raised) {
            silent.why = "no dump, but the capture raised and cut the others off";
        } else {
            silent.why = found == m_seen.end() ? "no dump at all: nothing shows that its capture was on"
                                               : "no dump here and none later";
        }
    }

    /// Groups that were captured elsewhere in the run and not in this update.
    void addOtherGroups(GuardStep& step) const
    {
        if (m_raised || !step.step || !std::all_of(step.ranks.begin(), step.ranks.end(), [&](const GuardRank& rank) {
                return rank.rank && watchedBeyond(*rank.rank, step.step->first);
            })) {
            return;
        }
        for (const auto& group : m_groups) {
            if (!m_bad.contains({step.step->first, group})) {
                step.otherGroups.push_back(group);
            }
        }
    }

    bool watchedBeyond(int rank, std::int64_t update) const
    {
        const auto found = m_seen.find(rank);
        return found != m_seen.end() && found->second.lastUpdate != notKnown && found->second.lastUpdate > update;
    }

    const std::vector<int>& m_ranks;
    bool m_raised;
    std::map<int, Seen> m_seen;
    std::set<std::string> m_groups;
    std::set<std::pair<std::int64_t, std::string>> m_bad;
};

/// Without a step nothing tells which calls of different ranks belong together.
std::vector<std::vector<const Call*>> byUpdate(const std::vector<Call>& calls)
{
    std::map<std::pair<std::int64_t, std::string>, std::vector<const Call*>> joined;
    std::vector<std::vector<const Call*>> all;
    for (const auto& call : calls) {
        if (const auto update = call.update()) {
            joined[{*update, call.group}].push_back(&call);
        } else {
            all.push_back({&call});
        }
    }
    for (auto& [key, same] : joined) {
        all.push_back(std::move(same));
    }
    std::erase_if(all, [](const std::vector<const Call*>& same) {
        return std::none_of(same.begin(), same.end(), [](const Call* call) { return call->bad(); });
    });
    return all;
}

} // namespace

std::string shapeGroupOf(const Capture& capture)
{
    const auto shape = matrixShape(capture.input.shape);
    return fmt::format("{}x{} {}", shape.rows, shape.cols, shortName(capture.input.dtype));
}

std::vector<int> knownRanks(const RunData& run, const GuardQuestion& question)
{
    std::set<int> known;
    const auto take = [&](const std::optional<int>& rank) {
        if (rank && *rank >= 0 && *rank < mostRanks) {
            known.insert(*rank);
        }
    };
    for (int rank = 0; rank < std::min(question.ranks.value_or(0), mostRanks); ++rank) {
        known.insert(rank);
    }
    for (const auto& series : run.series) {
        take(series.rank);
    }
    for (const auto& event : run.events) {
        take(event.rank);
    }
    for (const auto& capture : run.captures) {
        take(capture.rank);
    }
    // Ranks are counted from 0: one in between is there, whether it says anything or not.
    std::vector<int> all;
    for (int rank = 0; !known.empty() && rank <= *known.rbegin(); ++rank) {
        all.push_back(rank);
    }
    return all;
}

bool raisedByCapture(const RunData& run)
{
    return std::any_of(run.events.begin(), run.events.end(), [](const Event& event) {
        const bool names = event.text.find("[dion NaN capture]") != std::string::npos;
        return names && (event.kind == EventKind::traceback || event.text.find("RuntimeError") != std::string::npos);
    });
}

std::vector<GuardStep> guardSteps(const RunData& run, const std::vector<int>& ranks)
{
    const auto verdicts = triage(run);
    const auto calls = callsOf(run, verdicts);
    const StepMaker maker(calls, ranks, raisedByCapture(run));
    std::vector<GuardStep> steps;
    for (const auto& same : byUpdate(calls)) {
        steps.push_back(maker.make(same));
    }
    const auto place = [](const GuardStep& step) {
        const bool cause = placeOf(step.role) < 3;
        return std::tuple(!cause, step.step ? step.step->first : std::numeric_limits<std::int64_t>::max(), step.group);
    };
    std::stable_sort(
        steps.begin(), steps.end(), [&](const GuardStep& a, const GuardStep& b) { return place(a) < place(b); });
    return steps;
}

} // namespace nanscope::diagnose
