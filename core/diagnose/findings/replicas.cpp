// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that hold the same matrix have to hold the same bits of it.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "core/tensorfile/capture/comparetensors.h"

namespace nanscope::diagnose::cards {

namespace {

constexpr std::size_t mostPairs = 64;

/// Captures of one update that may be the same matrix on several ranks.
struct Replicas
{
    std::pair<std::int64_t, std::int64_t> step;
    std::vector<const Capture*> captures;

    bool severalRanks() const
    {
        std::set<std::optional<int>> ranks;
        std::transform(captures.begin(), captures.end(), std::inserter(ranks, ranks.end()),
            [](const Capture* capture) { return capture->rank; });
        return ranks.size() > 1;
    }

    /// Two of one rank are two parameters, or two processes of groups that count their ranks alike.
    bool oneEach() const
    {
        std::set<std::optional<int>> ranks;
        return std::all_of(captures.begin(), captures.end(),
            [&ranks](const Capture* capture) { return ranks.insert(capture->rank).second; });
    }
};

/// dion hands a single matrix over as it is, and a stack of several: those every rank computes itself, these are
/// divided among the ranks. Of other optimizers a single matrix tells nothing.
bool everyRankComputesIt(const Capture& capture)
{
    return capture.timestampFromName && capture.holdsTheCall() && capture.part.empty()
        && capture.input.shape.size() == 2;
}

bool knowsItsStep(const CaptureVerdict& verdict)
{
    return verdict.step && (verdict.stepSource == StepSource::capture || verdict.stepSource == StepSource::console);
}

std::vector<Replicas> replicasIn(const RunSummary& summary)
{
    std::map<std::tuple<std::pair<std::int64_t, std::int64_t>, Shape, DType>, Replicas> groups;
    std::map<std::pair<std::string_view, std::int64_t>, const CaptureVerdict*> verdicts;
    for (const auto& verdict : summary.verdicts) {
        if (knowsItsStep(verdict)) {
            verdicts.try_emplace({verdict.capture, verdict.captureId}, &verdict);
        }
    }
    for (const auto& capture : summary.run.captures) {
        const auto verdict = verdicts.find({capture.file, capture.id});
        if (verdict != verdicts.end() && capture.rank && everyRankComputesIt(capture)) {
            const auto& step = *verdict->second->step;
            auto& group = groups[{step, capture.input.shape, capture.input.dtype}];
            group.step = step;
            group.captures.push_back(&capture);
        }
    }
    std::vector<Replicas> result;
    for (auto& [key, group] : groups) {
        if (group.severalRanks()) {
            result.push_back(std::move(group));
        }
    }
    return result;
}

/// Two parameters of one shape differ nearly everywhere and by much; a replica that drifted does not.
bool sameParameter(const tensorfile::MatrixDifference& difference, const Capture& capture)
{
    constexpr double share = 0.01;
    return 2 * difference.differing <= difference.count || difference.largest <= share * capture.input.total().absmax;
}

struct Comparisons
{
    std::size_t pairs = 0;
    std::size_t unlike = 0; ///< too different to be one parameter
    std::size_t ambiguous = 0;
    std::size_t unread = 0;
    std::optional<CardOutcome> drift;
};

CardOutcome driftOf(
    const Replicas& group, const Capture& a, const Capture& b, const tensorfile::MatrixDifference& difference)
{
    const auto first = indexText(indexIn(a.input.shape, difference.first->index));
    const auto ulps = difference.ulps && difference.ulps->largest > 0
        ? fmt::format(", at most {} ulp apart where both are finite", difference.ulps->largest)
        : std::string();
    auto reason = fmt::format("ranks {} and {} hold other bits of the same {} matrix: {} of {} elements differ, first "
                              "at {}{}",
        *a.rank, *b.rank, shapeText(a.input.shape), countText(difference.differing), countText(difference.count), first,
        ulps);
    return at(fired(Confidence::medium, std::move(reason),
                  {evidenceOf(a, fmt::format("{} is {}", first, numberText(difference.first->a))),
                      evidenceOf(b, fmt::format("{} is {}", first, numberText(difference.first->b)))}),
        group.step.second, b.rank);
}

void comparePair(const Replicas& group, const Capture& a, const Capture& b, Comparisons& all)
{
    ++all.pairs;
    const auto fileA = tensorfile::openCapture(a);
    const auto fileB = tensorfile::openCapture(b);
    const auto difference = fileA && fileB
        ? tensorfile::compareTensors("input", fileA->input, fileB->input)
        : Result<tensorfile::TensorDifference>(failure(ErrorKind::io, "not readable"));
    if (!difference || !difference->problem.empty()) {
        ++all.unread;
        return;
    }
    const auto total = difference->total();
    if (total.differing == 0) {
        return;
    }
    if (!sameParameter(total, a)) {
        ++all.unlike;
    } else if (!all.drift) {
        all.drift = driftOf(group, a, b, total);
    }
}

Comparisons compareAll(const std::vector<Replicas>& groups)
{
    Comparisons all;
    for (const auto& group : groups) {
        if (!group.oneEach()) {
            ++all.ambiguous;
            continue;
        }
        for (std::size_t i = 1; i < group.captures.size() && all.pairs < mostPairs; ++i) {
            comparePair(group, *group.captures.front(), *group.captures[i], all);
        }
    }
    return all;
}

std::string whyNothingToCompare(const RunSummary& summary)
{
    std::set<int> ranks;
    for (const auto& capture : summary.run.captures) {
        if (capture.rank) {
            ranks.insert(*capture.rank);
        }
    }
    if (ranks.size() < 2) {
        return "there are no captures of two ranks";
    }
    return "no two captures are known to be the same matrix on two ranks in one update: a stack is divided among them";
}

CardOutcome replicaDrift(const RunSummary& summary)
{
    const auto groups = replicasIn(summary);
    if (groups.empty()) {
        return notCheckable(whyNothingToCompare(summary));
    }
    auto all = compareAll(groups);
    if (all.drift) {
        return std::move(*all.drift);
    }
    if (all.unlike > 0) {
        return notCheckable("captures of one shape and update differ so much that they may be two parameters");
    }
    if (all.ambiguous > 0 || all.unread > 0) {
        return notCheckable(all.ambiguous > 0 ? "a rank has several captures of this shape in one update"
                                              : "the captures cannot be read any more");
    }
    return clear(fmt::format("{} of ranks that hold the same matrix hold the same bits", howMany(all.pairs, "pair")));
}

} // namespace

std::vector<Card> replicaCards()
{
    return {
        {"replica-drift", "Different bits of one matrix on several ranks", "error",
            "two ranks captured a matrix of one shape in the same update, each computes it itself (dion: not a stack), "
            "and the inputs differ in bits",
            {"a collective, a launch order or a machine: nanscope diff A.pt B.pt shows where and by how many ulps",
                "weights that were loaded or initialised differently on two ranks drift from the first step on"},
            replicaDrift},
    };
}

} // namespace nanscope::diagnose::cards
