// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/guardwhatif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/triage/steplink.h"
#include "core/diagnose/triage/triage.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

namespace {

struct Description
{
    probe::Layout layout;
    std::string_view text;
};

constexpr std::array descriptions {
    Description {
        probe::Layout::gathered, "DDP, several matrices of this shape: divided among the ranks, results gathered"},
    Description {probe::Layout::single, "DDP, one matrix of this shape: every rank computes it itself"},
    Description {probe::Layout::headSplit, "DDP with head split: every rank computes all heads itself"},
    Description {
        probe::Layout::matrixSharded, "FSDP2, rows on several ranks: assembled, computed once, sent back in rows"},
    Description {probe::Layout::batchSharded, "FSDP2, whole matrices or heads on several ranks: each computes its own"},
};

bool anyCapture(const RunData& run, bool (*test)(const Capture&))
{
    return std::any_of(run.captures.begin(), run.captures.end(),
        [&](const Capture& capture) { return capture.output && test(capture); });
}

bool isSingle(const Capture& capture)
{
    return capture.input.shape.size() <= 2;
}

/// An exchange of rows pads every rank's part to the same number of them.
bool rowsDivide(const RunData& run, std::int64_t ranks)
{
    return std::any_of(run.captures.begin(), run.captures.end(), [&](const Capture& capture) {
        return capture.output && !isSingle(capture) && matrixShape(capture.input.shape).rows % ranks == 0;
    });
}

std::string whatExcludes(const RunData& run, probe::Layout layout, std::size_t ranks)
{
    const bool single = anyCapture(run, isSingle);
    const bool stacked = anyCapture(run, [](const Capture& capture) { return !isSingle(capture); });
    if (layout == probe::Layout::single) {
        return single ? "" : "every captured input is a stack";
    }
    if (!stacked) {
        return "no captured input is a stack";
    }
    if (layout == probe::Layout::matrixSharded && !rowsDivide(run, static_cast<std::int64_t>(ranks))) {
        return fmt::format("no captured matrix can be divided by rows among {} ranks", ranks);
    }
    return {};
}

const Point* pointAt(const Series& series, std::int64_t step)
{
    const auto found = std::find_if(
        series.points.begin(), series.points.end(), [&](const Point& point) { return point.step == step; });
    return found == series.points.end() ? nullptr : &*found;
}

/// The longest loss of every rank.
std::map<int, const Series*> lossesByRank(const RunData& run)
{
    std::map<int, const Series*> losses;
    for (const auto& series : run.series) {
        if (series.name != "loss" || !series.rank || series.points.empty()) {
            continue;
        }
        auto& longest = losses[*series.rank];
        longest = longest == nullptr || series.points.size() > longest->points.size() ? &series : longest;
    }
    return losses;
}

const Point* firstBad(const Series& series, std::int64_t from)
{
    const auto found = std::find_if(series.points.begin(), series.points.end(), [&](const Point& point) {
        const bool bad = point.state != PointState::finite && point.state != PointState::reported;
        return point.step >= from && bad;
    });
    return found == series.points.end() ? nullptr : &*found;
}

/// Averages over the ranks would show the damage of one on all of them.
bool printsOwnLoss(const Series& a, const Series& b, std::int64_t step)
{
    const auto* one = pointAt(a, step);
    const auto* other = pointAt(b, step);
    const bool both = one != nullptr && other != nullptr;
    return both && one->state == PointState::finite && other->state == PointState::finite && one->value != other->value;
}

EvidenceLine hint(int source, int other, const Series& series, const Point& bad, bool atOnce)
{
    const auto means = atOnce
        ? "its weights went bad in the same update, which speaks for shared results (gathered or matrix-sharded)"
        : "the damage came with later gradients, which speaks for a copy of its own (single or head-split)";
    return {fmt::format("rank {}'s own loss is not finite from step {} on, {} rank {}'s: {}", other, bad.step,
                atOnce ? "together with" : "later than", source, means),
        fmt::format("{}:{}", series.source, bad.line)};
}

/// Every layout, with whether the captures leave it possible. What the user says is the only one.
std::vector<GuardLayout> guardLayouts(const RunData& run, const GuardQuestion& question, std::size_t ranks)
{
    std::vector<GuardLayout> layouts;
    for (const auto& [layout, text] : descriptions) {
        if (question.layout && *question.layout != layout) {
            continue;
        }
        auto excluded = question.layout ? std::string() : whatExcludes(run, layout, ranks);
        layouts.push_back({layout, excluded.empty(), excluded.empty() ? std::string(text) : std::move(excluded)});
    }
    return layouts;
}

/// Whether the damage of one rank reached the others with the results or only with the next gradients: the steps at
/// which their own losses went bad tell.
std::vector<EvidenceLine> layoutHints(const RunData& run, const GuardStep& step)
{
    std::vector<EvidenceLine> hints;
    const auto losses = lossesByRank(run);
    if (step.role != Role::birth || !step.step) {
        return hints;
    }
    for (const auto& source : step.ranks) {
        const auto from = source.rank ? losses.find(*source.rank) : losses.end();
        if (source.output != probe::Sight::nonFinite || from == losses.end()) {
            continue;
        }
        const auto* first = firstBad(*from->second, step.step->second);
        for (const auto& other : step.ranks) {
            const auto to = other.rank ? losses.find(*other.rank) : losses.end();
            // Only a rank that is known to have computed no damage of its own can have been sent some.
            if (first == nullptr || other.output != probe::Sight::finite || to == losses.end()
                || !printsOwnLoss(*from->second, *to->second, step.step->first)) {
                continue;
            }
            const auto* reached = firstBad(*to->second, step.step->second);
            if (reached != nullptr && reached->step >= first->step) {
                hints.push_back(hint(*source.rank, *other.rank, *to->second, *reached, reached->step == first->step));
            }
        }
    }
    return hints;
}

/// "(2, 160, 96)": what the guard and its warning see where a capture shows one rank's part of it.
std::string stackText(const Capture& capture, probe::Layout layout, std::int64_t ranks)
{
    const auto shape = matrixShape(capture.input.shape);
    const bool divided = layout == probe::Layout::gathered || layout == probe::Layout::matrixSharded;
    if (!divided) {
        return fmt::format("({}, {}, {})", shape.batch, shape.rows, shape.cols);
    }
    const auto [fewest, most] = gatheredCount(shape.batch, ranks);
    const auto count = fewest >= most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
    const auto rows = layout == probe::Layout::matrixSharded ? (shape.rows + ranks - 1) / ranks : shape.rows;
    return fmt::format("({}, {}, {})", count, rows, shape.cols);
}

/// "160x96 bf16": what a capture shows of the shape group it belongs to.
std::string shapeGroupOf(const Capture& capture)
{
    const auto shape = matrixShape(capture.input.shape);
    return fmt::format("{}x{} {}", shape.rows, shape.cols, shortName(capture.input.dtype));
}

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
            if (call->bad()) {
                step.captures.push_back(call->capture->file);
            }
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
        const auto isOfRank = [rank](const Call* call) { return call->capture->rank == rank; };
        const bool anyBad = std::ranges::any_of(same, [&](const Call* call) { return isOfRank(call) && call->bad(); });
        for (const auto* call : same) {
            // Beside a bad one a finite one is a healthy call that was kept for comparison.
            if (isOfRank(call) && call->bad() == anyBad) {
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
    // Triage has put what went wrong first in front, which names of groups do not know.
    std::ranges::sort(all, {}, [](const std::vector<const Call*>& same) { return same.front(); });
    std::erase_if(all, [](const std::vector<const Call*>& same) {
        return std::none_of(same.begin(), same.end(), [](const Call* call) { return call->bad(); });
    });
    return all;
}

/// The ranks that logs and captures name, or as many as the user says.
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

/// A line shows that the capture raised: the other ranks were cut off then, and their silence says nothing.
bool raisedByCapture(const RunData& run)
{
    return std::any_of(run.events.begin(), run.events.end(), [](const Event& event) {
        return event.says(Phrase::dionCapture)
            && (event.kind == EventKind::traceback || event.says(Phrase::runtimeError));
    });
}

/// Everything but the outcomes. A rank without a dump was finite where its process dumped later, and is unknown else.
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
        return std::pair(!cause, step.step ? step.step->first : std::numeric_limits<std::int64_t>::max());
    };
    std::stable_sort(
        steps.begin(), steps.end(), [&](const GuardStep& a, const GuardStep& b) { return place(a) < place(b); });
    return steps;
}

bool speaks(const Event& event)
{
    return event.says(Phrase::dionGuard);
}

class GuardNotes
{
public:
    GuardNotes(const RunData& run, const GuardQuestion& question, const GuardWhatIf& whatIf)
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
        const bool single = std::ssize(m_whatIf.steps) - later == 1;
        say(fmt::format("{} later updates of a shape group are contamination by {}: had {} been left out on all ranks, "
                        "they would have had no cause that these captures show",
                later, single ? "an earlier one" : "earlier ones", single ? "that one" : "all of those"),
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
            event->place());
        joinWarnings();
    }

    /// Whose capture a warning belongs to: the rows and columns agree, the first number counts the whole stack.
    void joinWarnings()
    {
        std::set<Shape> told;
        for (const auto& event : m_run.events) {
            const auto& stack = event.facts.guarded;
            const auto capture = stack.size() == 3 ? captureOf(stack) : m_run.captures.end();
            if (capture == m_run.captures.end() || !told.insert(stack).second) {
                continue;
            }
            say(fmt::format("its shape ({}, {}, {}) is the whole stack; the captures of {} are one rank's part of it",
                    stack[0], stack[1], stack[2], shapeText(capture->input.shape)),
                event.place());
        }
    }

    std::vector<Capture>::const_iterator captureOf(const Shape& stack) const
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

/// Lines of the run's own guard: at least so many skips, since Python prints a warning of the same words once.
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

/// What a guard could not have helped, and what the captures cannot show.
std::vector<EvidenceLine> guardNotes(const RunData& run, const GuardQuestion& question, const GuardWhatIf& whatIf)
{
    return GuardNotes(run, question, whatIf).all();
}

constexpr std::array<std::string_view, 4> consequenceNames {"none", "drift", "torn", "unknown"};

bool dropsPadding(probe::Layout layout)
{
    return layout == probe::Layout::gathered || layout == probe::Layout::matrixSharded;
}

void markBadRows(const tensorfile::Tensor& output, std::int64_t batch, std::vector<bool>& rows)
{
    const auto shape = output.matrices();
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    if (!output.read(batch, values)) {
        return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            rows[i / static_cast<std::size_t>(shape.cols)] = true;
        }
    }
}

/// Of the whole batch, one matrix over the other; empty where the file is not there any more.
std::vector<bool> badRowsOf(const Capture& capture)
{
    const auto file = tensorfile::openCapture(capture);
    if (!file || !file->output) {
        return {};
    }
    const auto shape = file->output->matrices();
    std::vector<bool> rows(static_cast<std::size_t>(shape.rows), false);
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        markBadRows(*file->output, batch, rows);
    }
    return std::find(rows.begin(), rows.end(), true) == rows.end() ? std::vector<bool>() : rows;
}

/// The captures by name. Reads the rows of each at most once, and only those of a cause.
class Captures
{
public:
    explicit Captures(const RunData& run)
    {
        for (const auto& capture : run.captures) {
            m_captures[capture.file] = &capture;
        }
    }

    const Capture* capture(const std::string& file) const
    {
        const auto found = m_captures.find(file);
        return found == m_captures.end() ? nullptr : found->second;
    }

    const std::vector<bool>& of(const std::string& file)
    {
        const auto known = m_rows.find(file);
        if (known != m_rows.end()) {
            return known->second;
        }
        const auto* found = capture(file);
        return m_rows[file] = found == nullptr ? std::vector<bool>() : badRowsOf(*found);
    }

private:
    std::map<std::string, const Capture*> m_captures;
    std::map<std::string, std::vector<bool>> m_rows;
};

std::vector<probe::NsOutput> outputsOf(const GuardStep& step, probe::Layout layout, Captures& captures)
{
    const bool allKnown =
        std::all_of(step.ranks.begin(), step.ranks.end(), [](const GuardRank& rank) { return rank.rank.has_value(); });
    const bool wantsRows = layout == probe::Layout::matrixSharded && step.role != Role::downstream && allKnown;
    std::vector<probe::NsOutput> outputs;
    for (const auto& rank : step.ranks) {
        probe::NsOutput output {rank.output};
        if (rank.onlyZeros && dropsPadding(layout)) {
            output.sight = probe::Sight::unknown;
        } else if (wantsRows && rank.captures.size() == 1 && rank.output == probe::Sight::nonFinite) {
            output.badRows = captures.of(rank.captures.front());
        }
        outputs.push_back(std::move(output));
    }
    return outputs;
}

Consequence consequenceOf(probe::Agreement agreement, probe::Layout layout)
{
    switch (agreement) {
    case probe::Agreement::split:
        return probe::replicated(layout) ? Consequence::drift : Consequence::torn;
    case probe::Agreement::unknown:
        return Consequence::unknown;
    case probe::Agreement::allApply:
    case probe::Agreement::allSkip:
        break;
    }
    return Consequence::none;
}

void addOutcomes(
    GuardStep& step, const std::vector<GuardLayout>& layouts, const GuardQuestion& question, Captures& captures)
{
    const auto* shown = captures.capture(step.captures.front());
    for (const auto& layout : layouts) {
        if (!layout.possible) {
            continue;
        }
        const auto outputs = outputsOf(step, layout.layout, captures);
        const auto stack = shown == nullptr ? std::string() : stackText(*shown, layout.layout, std::ssize(step.ranks));
        for (const auto scope : {probe::GuardScope::local, probe::GuardScope::group, probe::GuardScope::full}) {
            if (question.scope && question.scope != scope) {
                continue;
            }
            GuardOutcome outcome {scope, layout.layout, probe::decide(scope, layout.layout, outputs)};
            outcome.stack = stack;
            outcome.agreement = probe::agreementOf(outcome.decisions);
            outcome.consequence = consequenceOf(outcome.agreement, layout.layout);
            step.outcomes.push_back(std::move(outcome));
        }
    }
}

} // namespace

std::string_view name(Consequence consequence)
{
    return consequenceNames[static_cast<std::size_t>(consequence)];
}

GuardWhatIf guardWhatIf(const RunData& run, const GuardQuestion& question)
{
    GuardWhatIf whatIf;
    const auto ranks = knownRanks(run, question);
    whatIf.steps = guardSteps(run, ranks);
    whatIf.layouts = guardLayouts(run, question, std::max<std::size_t>(1, ranks.size()));
    Captures captures(run);
    for (auto& step : whatIf.steps) {
        addOutcomes(step, whatIf.layouts, question, captures);
        const auto hints = layoutHints(run, step);
        whatIf.layoutHints.insert(whatIf.layoutHints.end(), hints.begin(), hints.end());
    }
    whatIf.guardLines = guardLinesIn(run);
    whatIf.notes = guardNotes(run, question, whatIf);
    return whatIf;
}

std::pair<std::int64_t, std::int64_t> gatheredCount(std::int64_t perRank, std::int64_t ranks)
{
    // One matrix alone takes another way.
    return {std::max<std::int64_t>(2, (perRank - 1) * ranks + 1), perRank * ranks};
}

} // namespace nanscope::diagnose
