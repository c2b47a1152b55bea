// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/triage.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/context/logvote.h"
#include "core/diagnose/damage/takentogether.h"
#include "core/diagnose/identify/controlnames.h"
#include "core/diagnose/recovery/missingdumps.h"
#include "core/diagnose/triage/attempts.h"
#include "core/diagnose/triage/finitesteps.h"
#include "core/diagnose/triage/steplink.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/model/scenewords.h"

namespace nanscope::diagnose {

namespace {

enum class InputState { finite, partly, bad };

/// The parameter of the call is among those that the helper counted. Of a matrix that is not square, one that counts no
/// transposes may have missed it.
bool coversTheCall(const Capture& capture)
{
    const auto& known = capture.scene.parameters;
    const auto shape = matrixShape(capture.input.shape);
    return known && known->coverage && known->coverage->all > 0
        && (known->coverage->transposes || shape.rows == shape.cols);
}

InputState inputState(const Capture& capture)
{
    const auto total = capture.input.total();
    if (total.finite()) {
        return InputState::finite;
    }
    return total.nonFinite() == total.count ? InputState::bad : InputState::partly;
}

/// What a call did by itself to matrices that came in finite, and beside no bad one that it may have taken together
/// with them.
struct OwnDamage
{
    bool ofValues = false;
    bool ofZeros = false; ///< of matrices with nothing but zeros
    bool zerosLost = false; ///< these, and not finite any more
};

OwnDamage ownDamage(const Capture& capture)
{
    OwnDamage own;
    const auto together = takenTogether(capture);
    for (std::size_t i = 0; i < together.size(); ++i) {
        const auto& in = capture.input.batches[i];
        const auto& out = capture.output->batches[i];
        if (!in.finite() || together[i] == TakenTogether::withBad) {
            continue;
        }
        own.ofValues = own.ofValues || (!in.allZero() && !out.finite());
        own.ofZeros = own.ofZeros || (in.allZero() && !(out.finite() && out.allZero()));
        own.zerosLost = own.zerosLost || (in.allZero() && !out.finite());
    }
    return own;
}

/// What is made of zeros says nothing of a call whose gradient was bad already.
bool damagedOnZero(const Capture& capture)
{
    const auto own = ownDamage(capture);
    return own.ofZeros && !own.ofValues && inputState(capture) == InputState::finite;
}

bool bornHere(const Capture& capture)
{
    if (!capture.hasTensors() && !capture.input.scanned()) {
        return false;
    }
    const bool finite = inputState(capture) == InputState::finite;
    // Of what has no tensors only some matrices are counted: the one that was bad may be among the others.
    if ((!capture.output || !capture.hasTensors()) && capture.scene.outputBad && finite) {
        return true;
    }
    const auto own = ownDamage(capture);
    // A part of zeros says nothing of what the whole held.
    return own.ofValues || (finite && (capture.part.empty() ? own.ofZeros : own.zerosLost));
}

/// What orders captures: the update they belong to, then the time within one process.
struct Moment
{
    std::optional<std::int64_t> update;
    bool oneUpdate = false; ///< of logs that leave out steps, captures of several have the same number
    std::int64_t time = 0;
    std::optional<int> rank;
    std::optional<int> pid;
    Attempt attempt;
};

/// Between the results of one rank and the gradients of another lie a collective, a forward and a backward pass.
constexpr std::int64_t fastestStepMs = 10;

bool earlier(const Moment& a, const Moment& b)
{
    const auto key = [](const Moment& m) {
        return std::tuple(m.update.value_or(std::numeric_limits<std::int64_t>::max()), m.time, m.rank.value_or(-1));
    };
    return key(a) < key(b);
}

/// As earlier(), of what can have reached a capture of `rank`. No clock orders the ranks of one update: there the first
/// of its own rank is the likelier cause.
bool earlierFor(const std::optional<int>& rank, const Moment& a, const Moment& b)
{
    const auto elsewhere = [&rank](const Moment& m) { return m.update && m.rank != rank; };
    return a.update == b.update && elsewhere(a) != elsewhere(b) ? elsewhere(b) : earlier(a, b);
}

std::string countedBad(const Capture& capture)
{
    const auto total = capture.input.total();
    const auto shape = matrixShape(capture.input.shape);
    const auto first = total.firstNonFinite;
    if (first < 0) {
        return fmt::format(
            "{} of the {} input values that were counted were already non-finite", total.nonFinite(), total.count);
    }
    const auto within = first % shape.elements();
    const auto matrix = shape.batch > 1 ? fmt::format("{}, ", first / shape.elements()) : std::string();
    return fmt::format("{} of {} input values were already non-finite, the first ({}) at [{}{}, {}]{}",
        total.nonFinite(), total.count, name(total.firstClass), matrix, within / shape.cols, within % shape.cols,
        capture.part.empty() ? "" : " of this rank's part");
}

std::string whichParameters(const std::optional<ParameterCoverage>& coverage)
{
    if (!coverage) {
        return "among the parameters of this shape that the helper looked at";
    }
    const auto* turned = coverage->transposes ? " or its transpose" : "";
    if (coverage->listed < coverage->all) {
        return fmt::format("among the {} of {} parameters of this shape{} that the helper looked at", coverage->listed,
            coverage->all, turned);
    }
    return coverage->all == 1 ? "of the only parameter of this shape"
                              : fmt::format("among all {} parameters of this shape{}", coverage->all, turned);
}

/// A count, no more: the helper leaves out a gradient that the step has written to, and lists 64 parameters at most.
std::string parametersText(const ParameterState& known)
{
    const bool began = known.momenta > 0 && known.momentaBefore == known.momenta;
    std::vector<std::string> counts;
    if (known.gradients > 0) {
        counts.push_back(fmt::format("{} of {}", known.badGradients, counted(known.gradients, "gradient")));
    }
    if (known.momenta > 0) {
        const auto one = began   ? counted(known.momenta, "optimizer state")
            : known.momenta == 1 ? std::string("1 momentum")
                                 : fmt::format("{} momenta", known.momenta);
        counts.push_back(fmt::format("{} of {}", known.badMomenta, one));
    }
    const auto unknown = known.coverage ? known.coverage->listed - known.gradients : 0;
    return fmt::format("{}, {} were not finite{}{}{}{}", whichParameters(known.coverage), fmt::join(counts, " and "),
        began ? " when the step began" : "",
        known.coverage && known.coverage->shards ? " in what this rank holds of them" : "",
        known.firstBad.empty() ? "" : fmt::format(", first of {}", known.firstBad),
        unknown > 0 ? fmt::format("; of {} the gradient is not known", unknown) : "");
}

/// What was seen of where they come from. Only bad weights are certain to have brought bad gradients.
std::string whoBroughtThem(const Scene& scene)
{
    const auto* known = scene.parameters ? &*scene.parameters : nullptr;
    const auto whose =
        known != nullptr && !known->firstBad.empty() ? fmt::format(" (first of {})", known->firstBad) : std::string();
    switch (scene.badBefore()) {
    case BadBefore::weights:
        return fmt::format("; {}, so that this call did not make them: an earlier update, by what follows its "
                           "iteration, another optimizer or a checkpoint did",
            weightsBeforeText(*scene.weightsBefore));
    case BadBefore::gradients:
        return fmt::format(
            ": this call did not make them; when the step began, a gradient was not finite{}, and weights "
            "and momenta of this shape were",
            whose);
    case BadBefore::states:
        return fmt::format(": this call did not make them; when the step began, what the optimizer keeps was not "
                           "finite{}, and gradients of this shape were",
            whose);
    case BadBefore::nothing:
        return fmt::format(": this call did not make them; weights, gradients and momenta of this shape were finite "
                           "when the step began, so that something else brought them: another parameter or buffer, {}"
                           "or what the step did before this call",
            scene.world > 1 ? "values of other ranks, " : "");
    case BadBefore::notKnown:
        break;
    }
    return fmt::format(
        ": they came in with the gradient, the momentum or weights that were bad already{}, so that this "
        "call did not make them",
        whose);
}

std::string upstreamSummary(const Capture& capture)
{
    if (capture.input.total().finite()) {
        return "the input was not scanned";
    }
    return countedBad(capture) + whoBroughtThem(capture.scene);
}

/// What leaves it open who brought the bad values, though none was found.
std::string whatWasMissed(const ParameterState& known)
{
    const auto& coverage = known.coverage;
    if (coverage && coverage->shards) {
        return "; other ranks hold the other parts of them";
    }
    const bool all = coverage && coverage->listed == coverage->all && known.gradients == coverage->all;
    return all ? "; another optimizer, or what lies between gradient and call, may have brought them"
               : "; it may have missed the one of this call";
}

void argueUpstream(CaptureVerdict& v, const Capture& capture, const std::optional<EvidenceLine>& earlierOne)
{
    const auto input = capture.input.total();
    v.speaksFor.push_back({fmt::format("the input has {} NaN, {} +Inf and {} -Inf among {} values", input.nan,
                               input.posInf, input.negInf, input.count),
        "input"});
    v.speaksFor.push_back(earlierOne.value_or(
        EvidenceLine {"no capture that can have reached this one was damaged before it", "captures"}));
    const auto bad = capture.scene.badBefore();
    const auto& known = capture.scene.parameters;
    if (known && known->badGradients + known->badMomenta > 0) {
        v.speaksFor.push_back({parametersText(*known), "sidecar"});
        v.notTestable.push_back({"what made them so: activations and other layers are in no dump", "capture"});
    } else if (bad == BadBefore::nothing) {
        v.speaksFor.push_back({parametersText(*known), "sidecar"});
        v.notTestable.push_back(
            {"other parameters, and what the step did before this call, are in no dump", "capture"});
    } else if (bad != BadBefore::weights) {
        v.notTestable.push_back({"what brought them: gradients, momentum and weights are in no dump", "capture"});
    }
    if (capture.scene.weightsBefore) {
        v.speaksFor.push_back({weightsBeforeText(*capture.scene.weightsBefore), "sidecar"});
    }
    const auto& before = capture.scene.weightsBefore;
    if (!before || before->bad > 0 || before->shards) {
        v.notTestable.push_back(
            {"calls that were not captured: one of an earlier update may have spoilt a weight", "captures"});
    }
    if (known && known->gradients + known->momenta > 0 && known->badGradients + known->badMomenta == 0
        && bad != BadBefore::nothing) {
        v.notTestable.push_back({parametersText(*known) + whatWasMissed(*known), "sidecar"});
    }
}

struct Entry
{
    CaptureVerdict verdict;
    Moment moment;
    const Capture* capture = nullptr;
};

/// The last healthy call before a bad one is of the same update or of the one before.
StepLink linkBefore(StepLink bad)
{
    if (bad.between) {
        bad.between->first = std::max<std::int64_t>(0, bad.between->first - 1);
    }
    bad.otherwise.reset();
    return bad;
}

Moment momentOf(const StepLink& link, const Capture& capture, const std::map<Process, Attempt>& attempts)
{
    Moment moment;
    moment.update = link.between ? std::optional(link.between->first) : std::nullopt;
    moment.oneUpdate = link.between && link.between->second - link.between->first <= 1;
    moment.time = capture.timestampMs.value_or(0);
    moment.rank = capture.rank;
    moment.pid = capture.pid;
    const auto attempt = attempts.find({capture.rank, capture.pid});
    moment.attempt = attempt == attempts.end() ? Attempt {} : attempt->second;
    return moment;
}

Entry makeEntry(const StepLinks& links, const ControlNames& names, const std::map<Process, Attempt>& attempts,
    const Capture& capture)
{
    Entry entry;
    entry.capture = &capture;
    auto& v = entry.verdict;
    v.captureId = capture.id;
    v.capture = capture.file;
    v.rank = capture.rank;
    auto link = links.of(capture);
    if (const auto* bad = link.between ? nullptr : names.namedBy(capture)) {
        link = linkBefore(links.of(*bad));
    }
    if (link.otherwise) {
        v.facts.besides.push_back({fmt::format("the step: the capture says {}, and the log names the dump {}",
                                       link.between->first, stepText(link.otherwise)),
            fmt::format("{}:{}", link.file, link.line)});
        link = {};
    }
    v.step = link.between;
    v.stepSource = link.source;
    entry.moment = momentOf(link, capture, attempts);
    return entry;
}

/// Only of the same process, or of other ranks: two of one rank may be two runs.
bool isOfOtherProcess(const Entry& a, const Entry& b)
{
    return a.moment.rank == b.moment.rank && a.moment.pid && b.moment.pid && a.moment.pid != b.moment.pid;
}

bool isCause(const Entry& entry)
{
    return bornHere(*entry.capture) && !damagedOnZero(*entry.capture);
}

/// Damaged captures, of which each asks for the first that can have reached it. The time of that question does not grow
/// with their number: a run may leave 100,000 dumps of one update. Entries are added in the order of earlier().
///
/// An earlier update reaches a later one, and none of the same: the gradients and momenta that an update reads were
/// there before its first call. Clocks of different ranks are never compared while the updates are known. Parts of one
/// call are dumped by all ranks at once: the later of two is no victim of the earlier.
class Reaching
{
public:
    void add(const Entry& entry)
    {
        const auto& moment = entry.moment;
        auto& half = m_halves[entry.capture->part.empty() ? 0 : 1];
        (moment.update ? half.dated : half.undated).add(entry);
        (moment.update ? half.datedOfRank : half.undatedOfRank)[moment.rank].add(entry);
        half.ofUpdateAndRank[{moment.update, moment.rank}].add(entry);
        if (const auto& step = entry.capture->scene.optimizerStep; step && moment.pid) {
            half.ofProcess[{moment.rank, moment.pid}].try_emplace(*step, &entry);
        }
    }

    /// The first that is not `entry` itself, of those whose update is not known or `since` at least; null for none.
    const Entry* firstFor(const Entry& entry, std::int64_t since = std::numeric_limits<std::int64_t>::min()) const
    {
        const auto* whole = firstOf(m_halves[0], entry, true, since);
        // A part of another rank may be of the same call, unless it is known to be of an earlier update.
        const auto* part = firstOf(m_halves[1], entry, entry.capture->part.empty(), since);
        const auto& rank = entry.moment.rank;
        return whole == nullptr || (part != nullptr && earlierFor(rank, part->moment, whole->moment)) ? part : whole;
    }

    /// The first of its rank that has the same number of a step and was dumped before it. Which of them an update is,
    /// no helper counted.
    const Entry* firstOfItsStep(const Entry& entry) const
    {
        const auto& moment = entry.moment;
        const Entry* first = nullptr;
        for (const auto& half : m_halves) {
            const auto found = half.ofUpdateAndRank.find({moment.update, moment.rank});
            const auto* before = moment.update && found != half.ofUpdateAndRank.end()
                ? found->second.firstUntil(moment.time - fastestStepMs, entry)
                : nullptr;
            if (before != nullptr && !isLaterStep(*before, entry) && !isOfOtherProcess(*before, entry)
                && (first == nullptr || earlier(before->moment, first->moment))) {
                first = before;
            }
        }
        return first;
    }

    /// The first of another rank that its clock puts after `entry`, though clocks of two machines need not agree so
    /// well. Of neither the update is known, and both have the time of their file names.
    const Entry* firstOfOtherClock(const Entry& entry) const
    {
        constexpr std::int64_t mostSkewMs = 60'000;
        const Entry* first = nullptr;
        if (entry.moment.update || !entry.capture->timestampFromName) {
            return first;
        }
        for (const auto& [rank, queue] : m_halves[0].undatedOfRank) {
            const bool other = rank && rank != entry.moment.rank;
            const auto* found = other ? queue.firstUntil(entry.moment.time + mostSkewMs, entry) : nullptr;
            const bool named = found != nullptr && found->capture->timestampFromName;
            if (named && (first == nullptr || earlier(found->moment, first->moment))) {
                first = found;
            }
        }
        return first;
    }

private:
    /// Entries in their order, and the earliest time up to each of them.
    class Queue
    {
    public:
        void add(const Entry& entry)
        {
            m_entries.push_back(&entry);
            m_earliest.push_back(
                m_earliest.empty() ? entry.moment.time : std::min(m_earliest.back(), entry.moment.time));
        }
        /// Of a queue whose updates are all known.
        const Entry* firstSince(std::int64_t update) const
        {
            const auto found = std::ranges::lower_bound(
                m_entries, update, {}, [](const Entry* entry) { return *entry->moment.update; });
            return found == m_entries.end() ? nullptr : *found;
        }
        const Entry* firstUntil(std::int64_t time, const Entry& but) const
        {
            const auto found = std::partition_point(
                m_earliest.begin(), m_earliest.end(), [time](std::int64_t earliest) { return earliest > time; });
            auto first = m_entries.begin() + (found - m_earliest.begin());
            // A queue that holds this capture itself is in the order of time: only the next can still be early enough.
            if (first != m_entries.end() && *first == &but) {
                ++first;
            }
            return first != m_entries.end() && (*first)->moment.time <= time ? *first : nullptr;
        }

    private:
        std::vector<const Entry*> m_entries;
        std::vector<std::int64_t> m_earliest;
    };
    using OfRank = std::map<std::optional<int>, Queue>;
    struct Half
    {
        Queue dated; ///< of a known update
        Queue undated;
        OfRank datedOfRank;
        OfRank undatedOfRank;
        std::map<std::pair<std::optional<std::int64_t>, std::optional<int>>, Queue> ofUpdateAndRank;
        std::map<Process, std::map<std::int64_t, const Entry*>> ofProcess; ///< by the step of an optimizer
    };

    template <class Map, class Key>
    static const Entry* firstIn(const Map& queues, const Key& key, const Entry& entry)
    {
        const auto found = queues.find(key);
        return found == queues.end() ? nullptr : found->second.firstUntil(entry.moment.time, entry);
    }

    static const Entry* firstBetween(const Queue& queue, std::int64_t since, std::int64_t update)
    {
        const auto* first = queue.firstSince(since);
        return first != nullptr && first->moment.update < update ? first : nullptr;
    }

    /// Two optimizers of a process count their steps each for itself: a GAN's, for one. Its helper counts those of all.
    static bool isLaterStep(const Entry& found, const Entry& entry)
    {
        const auto& own = entry.capture->scene.optimizerStep;
        const auto& other = found.capture->scene.optimizerStep;
        const bool oneProcess =
            found.moment.pid && found.moment.pid == entry.moment.pid && found.moment.rank == entry.moment.rank;
        return oneProcess && own && other && *other >= *own;
    }

    static const Entry* firstOfEarlierSteps(const Half& half, const Entry& entry, std::int64_t since)
    {
        const auto& own = entry.capture->scene.optimizerStep;
        const auto process = half.ofProcess.find({entry.moment.rank, entry.moment.pid});
        if (!own || process == half.ofProcess.end()) {
            return nullptr;
        }
        const auto end = process->second.lower_bound(*own);
        const auto found = std::find_if(process->second.begin(), end, [since](const auto& step) {
            const auto& update = step.second->moment.update;
            return !update || *update >= since;
        });
        return found == end ? nullptr : found->second;
    }

    static const Entry* firstOf(const Half& half, const Entry& entry, bool otherRanks, std::int64_t since)
    {
        const auto& moment = entry.moment;
        const Entry* first = nullptr;
        const auto take = [&](const Entry* found) {
            if (found != nullptr && !isLaterStep(*found, entry)
                && (first == nullptr || earlierFor(moment.rank, found->moment, first->moment))) {
                first = found;
            }
        };
        if (!moment.update) {
            take(firstIn(half.datedOfRank, moment.rank, entry));
            take(otherRanks ? half.dated.firstUntil(moment.time - fastestStepMs, entry) : nullptr);
        } else {
            const auto own = half.datedOfRank.find(moment.rank);
            take(firstBetween(half.dated, since, *moment.update));
            take(own != half.datedOfRank.end() ? firstBetween(own->second, since, *moment.update) : nullptr);
            take(moment.oneUpdate ? nullptr
                                  : firstIn(half.ofUpdateAndRank, std::pair(moment.update, moment.rank), entry));
        }
        take(firstOfEarlierSteps(half, entry, since));
        take(firstIn(half.undatedOfRank, moment.rank, entry));
        take(otherRanks ? half.undated.firstUntil(moment.time - fastestStepMs, entry) : nullptr);
        return first;
    }

    std::array<Half, 2> m_halves; ///< captures of whole tensors, and of parts
};

/// Weights that a helper found finite in a later step of an optimizer, or before one: what was damaged before did not
/// reach them, and no update heals a NaN. A weight that is not finite in the middle of a step, or after it, tells
/// nothing.
class SoundWeights
{
public:
    explicit SoundWeights(const RunData& run)
    {
        for (const auto& capture : run.captures) {
            const auto& scene = capture.scene;
            if (capture.pid && scene.optimizerStep && foundAllFinite(capture)) {
                auto& last = m_last.try_emplace(keyOf(capture), *scene.optimizerStep).first->second;
                last = std::max(last, *scene.optimizerStep);
            }
        }
    }

    /// All parameters that this call can have been of were finite in a later step.
    bool after(const Capture& capture) const
    {
        const auto found = m_last.find(keyOf(capture));
        const auto& step = capture.scene.optimizerStep;
        return found != m_last.end() && step && found->second > *step;
    }

private:
    using Key = std::tuple<std::optional<int>, std::optional<int>, std::int64_t, std::int64_t>;

    static bool foundAllFinite(const Capture& capture)
    {
        const auto& known = capture.scene.parameters;
        if (!coversTheCall(capture) || known->coverage->shards) {
            return false;
        }
        const bool before = known->badWeightsBefore == 0 && known->weightsBefore == known->coverage->all;
        return before || (known->badWeights == 0 && known->weights == known->coverage->all);
    }

    static Key keyOf(const Capture& capture)
    {
        const auto shape = matrixShape(capture.input.shape);
        return {capture.rank, capture.pid, std::min(shape.rows, shape.cols), std::max(shape.rows, shape.cols)};
    }

    std::map<Key, std::int64_t> m_last; ///< the step, over all optimizers of the process
};

/// Of what another attempt of the run left, no order of steps tells what a process began with.
class ByAttempt
{
public:
    void add(const Entry& entry)
    {
        m_attempts[entry.moment.attempt].add(entry);
        noteFirst(m_firstOfAttempt[entry.moment.attempt], entry);
        noteFirst(m_firstOfProcess[{entry.moment.rank, entry.moment.pid}], entry);
    }

    /// As Reaching::firstFor(), of its own attempt and of ranks that show another number of them.
    const Entry* firstFor(const Entry& entry, std::int64_t since = std::numeric_limits<std::int64_t>::min()) const
    {
        return firstBy(entry, [&](const Reaching& reaching) { return reaching.firstFor(entry, since); });
    }

    const Entry* firstOfItsStep(const Entry& entry) const
    {
        return firstBy(entry, [&](const Reaching& reaching) { return reaching.firstOfItsStep(entry); });
    }

    const Entry* firstOfOtherClock(const Entry& entry) const
    {
        return firstBy(entry, [&](const Reaching& reaching) { return reaching.firstOfOtherClock(entry); });
    }

    /// The first in time of earlier attempts, and of other processes of its rank. Each may count its steps anew.
    const Entry* firstBefore(const Entry& entry) const
    {
        const auto& moment = entry.moment;
        const Entry* first = nullptr;
        for (const auto& [attempt, other] : m_firstOfAttempt) {
            if (attempt.of == moment.attempt.of && attempt.number < moment.attempt.number) {
                noteFirst(first, *other);
            }
        }
        if (!moment.pid) {
            return first;
        }
        // No process is the first of a rank in their order.
        for (auto one = m_firstOfProcess.upper_bound({moment.rank, std::nullopt});
             one != m_firstOfProcess.end() && one->first.first == moment.rank; ++one) {
            if (one->first.second != moment.pid && one->second->moment.time < moment.time) {
                noteFirst(first, *one->second);
            }
        }
        return first;
    }

private:
    template <class Find>
    const Entry* firstBy(const Entry& entry, const Find& find) const
    {
        const Entry* first = nullptr;
        for (const auto& [attempt, reaching] : m_attempts) {
            const bool own = attempt.of != entry.moment.attempt.of || attempt == entry.moment.attempt;
            const auto* found = own ? find(reaching) : nullptr;
            if (found != nullptr && (first == nullptr || earlierFor(entry.moment.rank, found->moment, first->moment))) {
                first = found;
            }
        }
        return first;
    }

    static void noteFirst(const Entry*& first, const Entry& entry)
    {
        if (first == nullptr || entry.moment.time < first->moment.time) {
            first = &entry;
        }
    }

    std::map<Attempt, Reaching> m_attempts;
    std::map<Attempt, const Entry*> m_firstOfAttempt;
    std::map<Process, const Entry*> m_firstOfProcess;
};

/// Damaged calls of which nothing can be read: their files are cut off, or named by a log and not here.
class UnreadCalls
{
public:
    UnreadCalls(const RunData& run, const StepLinks& links, const std::map<Process, Attempt>& attempts)
    {
        for (const auto* line : missingDumpsOf(run).missing) {
            add(line->capture, "is named by a log and is not here", links, attempts);
        }
        for (const auto& file : run.rejected) {
            add(file.path, "could not be read", links, attempts);
        }
    }

    struct Call
    {
        std::string file;
        const char* problem;
        Moment moment;
    };

    /// The first that can have reached it; null for none.
    const Call* before(const Moment& moment, std::int64_t since) const
    {
        const Call* first = nullptr;
        for (const auto& call : m_calls) {
            const auto& own = call.moment;
            const bool dated = own.update && moment.update;
            const auto lag = own.rank == moment.rank ? 0 : fastestStepMs;
            const bool mayReach =
                dated ? *own.update < *moment.update && *own.update >= since : own.time < moment.time - lag;
            if (mayReach && (first == nullptr || earlier(own, first->moment))) {
                first = &call;
            }
        }
        return first;
    }

private:
    void add(const std::string& path, const char* problem, const StepLinks& links,
        const std::map<Process, Attempt>& attempts)
    {
        const std::filesystem::path file(path);
        const auto stem = file.stem().string();
        const auto said = tensorfile::parseDumpName(stem);
        if (!said || !stem.starts_with("dion_nan_capture") || file.extension() != ".pt") {
            return;
        }
        Capture capture;
        capture.file = file.filename().string();
        capture.rank = said->rank;
        capture.pid = said->pid;
        capture.timestampMs = said->timestampMs;
        m_calls.push_back({capture.file, problem, momentOf(links.of(capture), capture, attempts)});
    }

    std::vector<Call> m_calls;
};

/// Zero matrices that came out damaged. Those of padding do so in update after update and reach no weight; what is the
/// first of its kind may have spoilt the weights of the next update.
class ZeroMatrices
{
public:
    void add(const Entry& entry)
    {
        if (entry.moment.update && (m_first == nullptr || entry.moment.update != m_first->moment.update)) {
            m_several = m_several || m_first != nullptr;
            m_first = m_first == nullptr ? &entry : m_first;
        }
    }

    /// Null where they are padding, or too long ago. Lines of a log and updates may be counted one apart.
    const Entry* beforeThe(const Moment& moment) const
    {
        const bool next = m_first != nullptr && !m_several && moment.update && *moment.update > *m_first->moment.update
            && *moment.update <= *m_first->moment.update + 2;
        return next ? m_first : nullptr;
    }

private:
    const Entry* m_first = nullptr;
    bool m_several = false;
};

/// What was damaged before, as far as it is known when a capture is looked at.
struct Earlier
{
    const ByAttempt& causes;
    const FiniteSteps& finite;
    const UnreadCalls& unread;
    ByAttempt upstream {};
    ZeroMatrices zeros {};
};

/// The first update whose damage a loss or a gradient norm may still have to show: what an update spoils is in the line
/// after the next at the latest.
std::int64_t notShownSince(const Entry& entry, const FiniteSteps& finite)
{
    const auto last = entry.moment.update ? finite.lastUpTo(*entry.moment.update, entry.moment.rank) : std::nullopt;
    return last ? *last - 1 : std::numeric_limits<std::int64_t>::min();
}

/// Why an earlier damaged capture is not taken for the cause.
std::optional<EvidenceLine> withoutEffect(const Entry& entry, const Earlier& earlier, std::int64_t since)
{
    const auto* cause = earlier.causes.firstFor(entry);
    const auto* first = cause != nullptr ? cause : earlier.upstream.firstFor(entry);
    if (first == nullptr) {
        return std::nullopt;
    }
    return EvidenceLine {fmt::format("{} was damaged at step {}, and what is logged since is finite up to step {}",
                             first->verdict.capture, *first->moment.update, since + 1),
        "captures, logs"};
}

/// Why it stays open whether damaged values came from elsewhere or from a call before.
struct Doubt
{
    const char* kind;
    std::string why;
    std::string question;
};

/// A damaged weight that takes part in no loss, of an expert without tokens for one, shows in none.
std::optional<Doubt> notShown(const Entry& entry, const Earlier& earlier)
{
    constexpr std::int64_t longIdle = 100; // updates
    const auto* cause = earlier.causes.firstFor(entry);
    const auto* first = cause != nullptr ? cause : earlier.upstream.firstFor(entry);
    const auto& update = entry.moment.update;
    if (first == nullptr || !update || !first->moment.update || *update - *first->moment.update > longIdle) {
        return std::nullopt;
    }
    const auto& name = first->verdict.capture;
    return Doubt {"an earlier call went bad",
        fmt::format("{} was damaged at step {}, and losses that are finite since show only weights that take part in "
                    "them",
            name, *first->moment.update),
        fmt::format(
            "was the update of step {} left out (a guard, a loss scaler), or did the weights of {} take part in "
            "the losses since? If so, this came with the gradient or its own weights; if not, it followed from "
            "that call",
            *first->moment.update, name)};
}

std::optional<Doubt> ofAnotherProcess(const Entry* first)
{
    if (first == nullptr) {
        return std::nullopt;
    }
    const auto& name = first->verdict.capture;
    return Doubt {"another process went bad before", fmt::format("{} of another process was damaged before", name),
        fmt::format("did the process of this call begin with weights that were written after {}? If so, it followed "
                    "from that; if not, or if that was another run, this came with the gradient or its own weights",
            name)};
}

std::optional<Doubt> ofUnread(const Entry& entry, const Earlier& earlier, std::int64_t since)
{
    const auto* call = earlier.unread.before(entry.moment, since);
    if (call == nullptr) {
        return std::nullopt;
    }
    return Doubt {"an earlier dump is missing",
        fmt::format("{} was dumped before, {}, and holds a damaged output", call->file, call->problem),
        fmt::format("what does {} hold? Fetch it, or a dump of the next run: with a finite input that call may have "
                    "made what came in here",
            call->file)};
}

std::optional<Doubt> ofUnwritten(const Scene& scene)
{
    if (scene.badNotWritten == 0 && scene.notLookedAt == 0) {
        return std::nullopt;
    }
    const bool bad = scene.badNotWritten > 0;
    return Doubt {bad ? "earlier damaged calls were not written" : "earlier calls were not looked at",
        bad ? fmt::format("the helper had seen {} before that it did not write (NANSCOPE_CAPTURE_MAX_DUMPS and other "
                          "limits)",
            counted(scene.badNotWritten, "damaged call"))
            : fmt::format("the helper had left out {} before (NANSCOPE_CAPTURE_EVERY, _FROM)",
                counted(scene.notLookedAt, "call")),
        bad ? "does it come again with a higher limit? The first damaged call is the one that counts"
            : "does it come again with NANSCOPE_CAPTURE_EVERY=1? One of the calls that were left out may have made "
              "what "
              "came in here"};
}

/// Damaged weights make every gradient of the next update bad, and whole: of a part of the values a step says enough.
std::optional<Doubt> ofItsStep(const Entry& entry, const Earlier& earlier)
{
    const auto* first = inputState(*entry.capture) == InputState::bad ? earlier.causes.firstOfItsStep(entry) : nullptr;
    if (first == nullptr) {
        return std::nullopt;
    }
    const auto& name = first->verdict.capture;
    return Doubt {"several updates may share a step",
        fmt::format("{}, which has the same step, was damaged {} ms before, and what is counted as one step may hold "
                    "several updates",
            name, entry.moment.time - first->moment.time),
        fmt::format(
            "is step {} one call of optimizer.step()? If it is, this came with the gradient or its own weights; "
            "if the optimizer steps several times within it, it may have followed from {}",
            *entry.moment.update, name)};
}

std::optional<Doubt> ofOtherClock(const Entry& entry, const Earlier& earlier)
{
    const auto* first = entry.moment.rank ? earlier.causes.firstOfOtherClock(entry) : nullptr;
    if (first == nullptr) {
        return std::nullopt;
    }
    const auto& name = first->verdict.capture;
    return Doubt {"ordered by two clocks",
        fmt::format("{} was damaged by itself, {} ms later by the clock of its own rank, and nothing says of which "
                    "updates the two are",
            name, first->moment.time - entry.moment.time),
        fmt::format("which update is each of the two of (a log with steps, a step in the sidecar)? If {} is of an "
                    "earlier one, this followed from it; if not, it came with the gradient or its own weights",
            name)};
}

std::optional<Doubt> doubtOf(const Entry& entry, const Earlier& earlier, std::int64_t since)
{
    if (auto doubt = ofItsStep(entry, earlier)) {
        return doubt;
    }
    if (auto doubt = notShown(entry, earlier)) {
        return doubt;
    }
    const auto* cause = earlier.causes.firstBefore(entry);
    if (auto doubt = ofAnotherProcess(cause != nullptr ? cause : earlier.upstream.firstBefore(entry))) {
        return doubt;
    }
    if (auto doubt = ofUnread(entry, earlier, since)) {
        return doubt;
    }
    if (auto doubt = ofOtherClock(entry, earlier)) {
        return doubt;
    }
    return ofUnwritten(entry.capture->scene);
}

void judgeAsUpstream(Entry& entry, const Earlier& earlier, std::int64_t since, const std::optional<Doubt>& doubt)
{
    auto& v = entry.verdict;
    v.role = Role::upstream;
    v.facts.scene = entry.capture->scene;
    v.rule = RuleId::damagedInput;
    v.blame = doubt ? Blame::undecided : Blame::upstream;
    v.summary = upstreamSummary(*entry.capture);
    if (!doubt) {
        v.kind = entry.capture->scene.badBefore() == BadBefore::weights ? "weights that were bad before" : "";
        argueUpstream(v, *entry.capture, withoutEffect(entry, earlier, since));
        return;
    }
    v.kind = doubt->kind;
    v.summary = fmt::format("{}. But {}", countedBad(*entry.capture), doubt->why);
    v.question = doubt->question;
    v.notTestable.push_back({doubt->why, "captures"});
}

/// A function that leaves NaN in no place is fed with none: the dumped input is not what it read, or it replaces them.
bool outputRefutesInput(const Capture& capture)
{
    if (!capture.output || capture.output->batches.size() != capture.input.batches.size()) {
        return false;
    }
    for (std::size_t i = 0; i < capture.input.batches.size(); ++i) {
        const auto& out = capture.output->batches[i];
        if (!capture.input.batches[i].finite() && out.nonFinite() == out.count) {
            return false;
        }
    }
    return true;
}

void askWhichInput(CaptureVerdict& v)
{
    v.role = Role::birth;
    v.rule = RuleId::inputMayBeResult;
    v.blame = Blame::undecided;
    v.kind = "the input is not what the call read";
    v.summary =
        "the dumped input is not finite, and finite values stand in the output: an iteration hands NaN and Inf on "
        "to the whole matrix";
    v.question =
        "was the input copied right before the call (input.clone()), and does the function replace NaN and Inf "
        "(nan_to_num)? If it does neither, the dump does not hold what the call read";
}

void askWhichTensor(CaptureVerdict& v)
{
    v.role = Role::birth;
    v.rule = RuleId::inputMayBeResult;
    v.blame = Blame::undecided;
    v.kind = "one tensor, and nothing says which";
    v.summary = "the file holds one tensor with values that are not finite; whether it went into the function or came "
                "out of it, neither the file nor its name says";
    v.question = "is it what went in or what came out? Save both in one file, {\"input\": x, \"output\": y}, or in two "
                 "whose names differ in one word: .._in.pt and .._out.pt";
}

void judgeDamagedInput(Entry& entry, const Earlier& earlier)
{
    auto& v = entry.verdict;
    if (entry.capture->scene.loneTensor) {
        askWhichTensor(v);
        return;
    }
    if (outputRefutesInput(*entry.capture)) {
        askWhichInput(v);
        return;
    }
    const auto since = notShownSince(entry, earlier.finite);
    const auto* cause = earlier.causes.firstFor(entry, since);
    const auto* earlierUpstream = earlier.upstream.firstFor(entry, since);
    const auto* zero = earlier.zeros.beforeThe(entry.moment);
    if (cause == nullptr && earlierUpstream == nullptr && zero == nullptr) {
        judgeAsUpstream(entry, earlier, since, doubtOf(entry, earlier, since));
        return;
    }
    const auto* first = cause != nullptr ? cause : earlierUpstream;
    if (first != nullptr && isOfOtherProcess(entry, *first)) {
        judgeAsUpstream(entry, earlier, since, ofAnotherProcess(first));
        return;
    }
    v.role = Role::downstream;
    v.rule = RuleId::contaminated;
    v.blame = Blame::downstream;
    const bool afterZero = first == nullptr;
    v.causedBy = (afterZero ? zero : first)->verdict.capture;
    v.summary = afterZero
        ? "the input was already non-finite, right after a zero matrix came out damaged, which follows "
          "from it unless that matrix is padding that reaches no weight"
        : "the input was already non-finite, after an earlier call went bad";
}

/// Of a call whose input was bad no matrix is held against a replay.
void noteSoundMatrices(Entry& entry)
{
    const auto& in = entry.capture->input.batches;
    const auto sound = std::ranges::count_if(in, &Scan::finite);
    const auto together = takenTogether(*entry.capture);
    std::ptrdiff_t lost = 0;
    for (std::size_t i = 0; i < together.size(); ++i) {
        lost += in[i].finite() && together[i] == TakenTogether::withBad ? 1 : 0;
    }
    const auto alsoLost = lost > 0
        ? fmt::format("; of these {} came out without a finite value, as a function leaves them that flattens what it "
                      "is given or divides it by one norm",
            lost)
        : std::string();
    if (sound > 0) {
        entry.verdict.notTestable.push_back(
            {fmt::format("{} of {} matrices came in finite{}; whether what came out of {} is right was not asked",
                 sound, in.size(), alsoLost, sound == 1 ? "it" : "them"),
                "captures"});
    }
}

/// Parts by the call that their ranks made together, as far as a helper counted calls. Ranks of another mesh may have
/// made another call of the same number, as stages of a pipeline do; where no mesh is known, two processes share all.
class SharedCalls
{
public:
    void add(const Entry& entry)
    {
        if (const auto call = callOf(*entry.capture)) {
            m_parts[*call].push_back(&entry);
        }
    }

    /// The first part of the same call whose input was not finite; null where there is none.
    const Entry* badPartBeside(const Entry& entry) const
    {
        const auto call = callOf(*entry.capture);
        const auto found = call ? m_parts.find(*call) : m_parts.end();
        if (found == m_parts.end()) {
            return nullptr;
        }
        const auto bad = std::ranges::find_if(found->second, [&](const Entry* other) {
            const bool sameUpdate = other->moment.update == entry.moment.update;
            return other->moment.rank != entry.moment.rank && sameUpdate
                && other->moment.attempt == entry.moment.attempt && inputState(*other->capture) != InputState::finite;
        });
        return bad == found->second.end() ? nullptr : *bad;
    }

private:
    /// Function, mesh, step of the optimizers, call.
    using Call = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

    static std::optional<Call> callOf(const Capture& capture)
    {
        const auto& scene = capture.scene;
        const bool known = !capture.part.empty() && !scene.function.empty() && scene.optimizerStep && scene.callIndex
            && (!scene.mesh.empty() || scene.world == 2);
        return known ? std::optional(Call {scene.function, scene.mesh, *scene.optimizerStep, *scene.callIndex})
                     : std::nullopt;
    }

    std::map<Call, std::vector<const Entry*>> m_parts;
};

/// What ran was given the whole, so a part proves nothing alone: what it lacks may have been damaged, or large.
void judgePart(Entry& entry, const Entry* badPart)
{
    auto& v = entry.verdict;
    if (badPart != nullptr) {
        v.role = Role::downstream;
        v.rule = RuleId::contaminated;
        v.blame = Blame::downstream;
        v.causedBy = badPart->verdict.capture;
        v.summary =
            fmt::format("what this rank held of the input was finite, and what rank {} held for the same call was "
                        "not: its products mix the parts",
                badPart->moment.rank.value_or(0));
        return;
    }
    v.role = Role::birth;
    v.blame = Blame::undecided;
    v.summary = fmt::format(
        "{}: a part alone can be neither replayed nor judged. Parts of a DTensor are put together by nanscope "
        "inspect --stitch -o whole.pt, and nanscope diagnose judges the whole",
        entry.capture->part);
}

/// What the helper saw when it made the call again; false where that does not tell.
bool judgeByRetries(CaptureVerdict& v, const Scene& scene, const char* lost)
{
    v.facts.scene = scene;
    v.facts.calledAgain = callsAtTheScene(v.capture, v.facts);
    const auto& again = v.facts.calledAgain;
    if (std::ranges::none_of(again, cameOutFinite)) {
        return false;
    }
    v.rule = RuleId::calledAgainFinite;
    v.blame = Blame::nondeterministic;
    v.kind = "the same input, another output";
    v.question.clear();
    v.summary = fmt::format("the output was not finite, which the sidecar says; made again, {}, so no function of its "
                            "input did it. {}",
        callsText(again.front()), lost);
    v.speaksFor.push_back({callsText(again.front()) + ": the same bits end in two ways", "retries"});
    return true;
}

void noteScene(CaptureVerdict& v, const Scene& scene)
{
    for (const auto& note : notesOf(scene)) {
        v.notTestable.push_back({note, "sidecar"});
    }
}

/// A helper saw that the output was not finite, and could not keep it: the birth is known, and what was called again.
void judgeWithoutOutput(Entry& entry)
{
    auto& v = entry.verdict;
    v.role = Role::birth;
    v.rule = RuleId::noOutput;
    v.kind = "no output";
    v.blame = Blame::undecided;
    v.summary =
        "the input was finite and the output was not, which the sidecar says: it was gone when the step ended, and "
        "without it no replay is held against it";
    v.question = "does it come again with NANSCOPE_CAPTURE_KEEP=1, which holds the outputs of a step until it ends?";
    judgeByRetries(v, entry.capture->scene, "The output itself was gone when the step ended");
}

/// Counts tell where it began and nothing of which values: no replay can be held against them.
void judgeCounted(Entry& entry)
{
    auto& v = entry.verdict;
    const auto& scene = entry.capture->scene;
    v.role = damagedOnZero(*entry.capture) ? Role::padding : Role::birth;
    v.kind = "counts alone";
    v.blame = Blame::undecided;
    v.summary =
        fmt::format("by counts alone, what went in was finite and what came out was not; {}, so there is nothing "
                    "to replay",
            withheldText(scene));
    v.question = fmt::format("does it come again with its tensors? {}", whatKeepsMore(scene));
    judgeByRetries(v, scene, "There are no tensors to hold a replay against");
    noteScene(v, scene);
}

constexpr const char* raisedKind = "the call raised an exception";

/// Whichever of them the call was of.
bool allGradientsBad(const Capture& capture)
{
    const auto& known = capture.scene.parameters;
    return coversTheCall(capture) && known->badGradients == known->coverage->all;
}

/// Of the input nothing is known. Where a damaged capture can have reached it, that is the likelier reading.
void judgeUncounted(Entry& entry, const Earlier& known)
{
    auto& v = entry.verdict;
    const auto& scene = entry.capture->scene;
    if (!scene.outputBad) {
        const bool raised = !scene.exception.empty();
        v.role = raised ? Role::noOutput : Role::healthy;
        v.rule = raised ? RuleId::callRaised : RuleId::unjudged;
        v.kind = raised ? raisedKind : "no input";
        v.summary = raised ? "the call raised " + scene.exception : withheldText(scene);
        noteScene(v, scene);
        return;
    }
    const auto* cause = known.causes.firstFor(entry);
    const auto* earlier = cause != nullptr ? cause : known.upstream.firstFor(entry);
    if (earlier == nullptr && allGradientsBad(*entry.capture)) {
        v.role = Role::upstream;
        v.rule = RuleId::damagedInput;
        v.blame = Blame::upstream;
        v.summary =
            fmt::format("{}; but {}: it came in with them", withheldText(scene), parametersText(*scene.parameters));
        v.speaksFor.push_back({parametersText(*scene.parameters), "sidecar"});
        noteScene(v, scene);
        return;
    }
    v.blame = Blame::undecided;
    v.kind = "no input";
    v.role = earlier != nullptr ? Role::downstream : Role::birth;
    v.causedBy = earlier != nullptr ? earlier->verdict.capture : std::string();
    v.summary = fmt::format("the output was not finite; {}, so whether it was finite is not known{}",
        withheldText(scene), earlier != nullptr ? ", and an earlier damaged capture can have reached it" : "");
    v.question = fmt::format("does it come again with its input? {}", whatKeepsMore(scene));
    if (scene.parameters && scene.parameters->gradients + scene.parameters->momenta > 0) {
        v.speaksFor.push_back({parametersText(*scene.parameters), "sidecar"});
    }
    noteScene(v, scene);
}

/// A rotation mixes every value with the others: one NaN becomes a matrix of them, a single large value many small
/// ones.
void judgeTurned(Entry& entry)
{
    auto& v = entry.verdict;
    v.role = Role::birth;
    v.kind = "turned tensors";
    v.blame = Blame::undecided;
    v.summary = "what went in was finite and what came out was not; the tensors were turned at random to hide them, so "
                "where the damage lay and which values were largest is lost";
    v.question = "does it come again with NANSCOPE_CAPTURE_PRIVACY=none, on a run whose matrices may be kept?";
    judgeByRetries(v, entry.capture->scene, "Where the damage lay is lost with the rotation");
    noteScene(v, entry.capture->scene);
}

void judgeHealthy(Entry& entry)
{
    auto& v = entry.verdict;
    const auto& capture = *entry.capture;
    if (capture.output) {
        v.role = Role::healthy;
        v.summary =
            capture.holdsTheCall() ? "finite in and out" : "finite in and out, and no replay is held against it";
        noteScene(v, capture.scene);
        return;
    }
    v.role = Role::noOutput;
    const bool raised = !capture.scene.exception.empty();
    v.rule = raised ? RuleId::callRaised : RuleId::noOutput;
    v.kind = raised ? raisedKind : "no output";
    v.summary = raised ? fmt::format("the call raised {}: there is no output to judge", capture.scene.exception)
                       : "an input alone: there is no output to judge";
}

void judgeRole(Entry& entry, const Earlier& earlier, const SharedCalls& shared)
{
    const auto& capture = *entry.capture;
    if (!capture.hasTensors() && !capture.input.scanned()) {
        judgeUncounted(entry, earlier);
        return;
    }
    const bool whole = capture.part.empty();
    const bool born = bornHere(capture);
    if (!whole && born && inputState(capture) == InputState::finite) {
        judgePart(entry, shared.badPartBeside(entry));
    } else if (whole && born && !capture.hasTensors()) {
        judgeCounted(entry);
    } else if (whole && born && !capture.output) {
        judgeWithoutOutput(entry);
    } else if (whole && born && capture.scene.rotated) {
        judgeTurned(entry);
    } else if (whole && born) {
        entry.verdict.role = damagedOnZero(capture) ? Role::padding : Role::birth;
    } else if (inputState(capture) == InputState::finite) {
        judgeHealthy(entry);
    } else {
        judgeDamagedInput(entry, earlier);
        noteSoundMatrices(entry);
    }
}

int rolePlace(Role role)
{
    switch (role) {
    case Role::birth:
        return 0;
    case Role::padding:
        return 1;
    case Role::upstream:
        return 2;
    case Role::downstream:
        return 3;
    case Role::healthy:
        return 4;
    case Role::noOutput:
        return 5;
    }
    return 6;
}

/// Once for the calls of a step: each looks at every point.
void argueByLogs(std::vector<CaptureVerdict>& verdicts, const RunData& run)
{
    std::map<std::pair<std::optional<int>, std::optional<std::pair<std::int64_t, std::int64_t>>>,
        std::optional<EvidenceLine>>
        known;
    for (auto& verdict : verdicts) {
        if (verdict.role != Role::upstream || verdict.blame != Blame::upstream) {
            continue;
        }
        const auto [line, isNew] = known.try_emplace({verdict.rank, verdict.step});
        line->second = isNew ? wentBadFirst(run, verdict) : line->second;
        if (line->second) {
            verdict.speaksFor.push_back(*line->second);
        }
    }
}

} // namespace

std::vector<CaptureVerdict> triage(const RunData& run)
{
    const StepLinks links(run);
    const ControlNames names(run);
    const auto attempts = attemptsOf(run);
    std::vector<Entry> entries;
    for (const auto& capture : run.captures) {
        entries.push_back(makeEntry(links, names, attempts, capture));
    }
    std::stable_sort(
        entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return earlier(a.moment, b.moment); });
    SharedCalls shared;
    std::ranges::for_each(entries, [&](const Entry& entry) { shared.add(entry); });
    const SoundWeights sound(run);
    ByAttempt causes;
    for (const auto& entry : entries) {
        if (isCause(entry) && shared.badPartBeside(entry) == nullptr && !sound.after(*entry.capture)) {
            causes.add(entry);
        }
    }
    // Reads every point: a run without a damaged input asks for none.
    const bool damaged = std::ranges::any_of(
        run.captures, [](const Capture& capture) { return inputState(capture) != InputState::finite; });
    const RunData nothing;
    const FiniteSteps finite(damaged ? run : nothing);
    const UnreadCalls unread(run, links, attempts);
    Earlier earlier {causes, finite, unread};
    for (auto& entry : entries) {
        judgeRole(entry, earlier, shared);
        entry.verdict.facts.role = entry.verdict.role;
        // A birth that is no cause has an input that nobody counted: what came of it is damaged all the same.
        const bool uncounted =
            entry.verdict.role == Role::birth && entry.verdict.rule != RuleId::inputMayBeResult && !isCause(entry);
        if ((entry.verdict.role == Role::upstream || uncounted) && !sound.after(*entry.capture)) {
            earlier.upstream.add(entry);
        }
        if (entry.verdict.role == Role::padding) {
            earlier.zeros.add(entry);
        }
    }
    std::vector<CaptureVerdict> verdicts;
    for (auto& entry : entries) {
        verdicts.push_back(std::move(entry.verdict));
    }
    argueByLogs(verdicts, run);
    sortByRole(verdicts);
    return verdicts;
}

namespace {

/// Whether what came in was brought by the gradient, or the part of one, that another rank held.
bool isOfOtherRanks(const CaptureVerdict& verdict)
{
    const auto& scene = verdict.facts.scene;
    const auto& known = scene.parameters;
    const bool shards =
        known && known->coverage && known->coverage->shards && known->badGradients + known->badMomenta == 0;
    return verdict.role == Role::upstream && (shards || (scene.world > 1 && scene.badBefore() == BadBefore::nothing));
}

} // namespace

void sortByRole(std::vector<CaptureVerdict>& verdicts)
{
    std::ranges::stable_sort(verdicts, {}, [](const CaptureVerdict& verdict) {
        const auto update = verdict.step ? verdict.step->first : std::numeric_limits<std::int64_t>::max();
        return std::tuple(rolePlace(verdict.role), update, isOfOtherRanks(verdict));
    });
}

namespace {

bool oneMemory(const tensorfile::Tensor& a, const tensorfile::Tensor& b)
{
    return !a.storageKey().empty() && a.source() == b.source() && a.storageKey() == b.storageKey()
        && a.storageOffset() == b.storageOffset();
}

bool sameBits(const tensorfile::CaptureFile& file)
{
    for (std::int64_t batch = 0; batch < file.input.matrices().batch; ++batch) {
        const auto in = file.input.readBits(batch);
        const auto out = file.output->readBits(batch);
        if (!in || !out || *in != *out) {
            return false;
        }
    }
    return true;
}

bool logsShowNonFinite(const RunData& run)
{
    return std::ranges::any_of(
        run.series, [](const Series& series) { return series.nan + series.posInf + series.negInf > 0; });
}

/// What clones its input leaves two.
bool sharesMemory(const tensorfile::CaptureFile& file)
{
    return file.output && oneMemory(file.input, *file.output);
}

/// What is finite of a damaged matrix has about the norm that is left of 1: what divides its input by the norm in place
/// leaves that, and a gradient has it by chance alone. Functions divide by up to 1.05 times the norm. An infinite norm
/// leaves zeros, and NaN of the few values that were infinite; whole rows of NaN among zeros are an embedding's.
bool restIsNormalised(const Scan& scan)
{
    constexpr double least = 0.85;
    constexpr double most = 1.02;
    const auto rest = scan.count - scan.nonFinite();
    const double share = static_cast<double>(rest) / static_cast<double>(scan.count);
    const bool ofNormOne = scan.sumSquares >= least * share && scan.sumSquares <= most * share;
    const bool few = scan.nan * scan.nan < scan.count && scan.posInf + scan.negInf == 0;
    return !scan.finite() && rest > 0 && (ofNormOne || (few && scan.zero == rest));
}

/// Neither the wrapper nor a helper dumped it, which copy the input before the call.
bool inputMayBeNormalised(const tensorfile::CaptureFile& file, const Capture& scanned)
{
    const bool copiedBefore = file.wrapped || !scanned.scene.function.empty();
    return !copiedBefore && std::ranges::any_of(scanned.input.batches, restIsNormalised);
}

/// The same memory, or the same bits. That all of both is NaN is what an input gives that was NaN, too; where a log of
/// the run shows something non-finite, it is taken for that.
bool inputMayBeResult(const tensorfile::CaptureFile& file, const Capture& scanned, const RunData& run)
{
    if (sharesMemory(file)) {
        return true;
    }
    if (!file.output || file.wrapped) {
        return false;
    }
    const auto in = scanned.input.total();
    const bool alike = scanned.input.shape == scanned.output->shape && scanned.input.dtype == scanned.output->dtype;
    const bool handsOn = in.zero + in.nonFinite() < in.count;
    return alike && (handsOn || !logsShowNonFinite(run)) && sameBits(file);
}

constexpr const char* clonedBefore = "was the input cloned before the call? If it was, it was non-finite already; if "
                                     "not, dump input.clone() taken before the call";

void askForInputBefore(CaptureVerdict& verdict)
{
    const bool healthy = verdict.role == Role::healthy;
    verdict.role = healthy ? Role::healthy : Role::birth;
    verdict.blame = Blame::undecided;
    verdict.rule = RuleId::inputMayBeResult;
    verdict.kind = "the input may be the result";
    verdict.summary = healthy
        ? "finite, and input and output are one memory in the file: the input is what the call left there, and no "
          "replay of it is held against the output"
        : "input and output are the same values, non-finite ones among them: what a function that works in place "
          "leaves "
          "when both are saved after the call";
    verdict.question =
        healthy ? "was the input cloned before the call? Dump input.clone() taken before it" : clonedBefore;
    verdict.next = nextExperiments(verdict);
}

void askWhetherNormalised(CaptureVerdict& verdict)
{
    askForInputBefore(verdict);
    verdict.summary =
        "a part of the input is not finite, and the rest is zero or has the norm of a matrix that was divided by its "
        "own: a function that works in place leaves that, with what it wrote itself among it";
}

} // namespace

void doubtInput(
    CaptureVerdict& verdict, const tensorfile::CaptureFile& file, const Capture& scanned, const RunData& run)
{
    const bool upstream = verdict.role == Role::upstream;
    const bool doubted = upstream || verdict.rule == RuleId::inputMayBeResult;
    const bool isResult =
        verdict.role == Role::healthy ? sharesMemory(file) : doubted && inputMayBeResult(file, scanned, run);
    if (isResult) {
        askForInputBefore(verdict);
    } else if (upstream && inputMayBeNormalised(file, scanned)) {
        askWhetherNormalised(verdict);
    }
}

} // namespace nanscope::diagnose
