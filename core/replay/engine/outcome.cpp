// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/outcome.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/replay/engine/spectrum.h"

namespace nanscope::replay {

namespace {

constexpr double degenerateFactor = 2;
constexpr int directionsLookedAt = 8;

using GainRange = std::array<double, 2>;

// What a rescale multiplied the result of the last step by.
double rescaleFactor(const Replay& replay, std::size_t element)
{
    const auto found =
        std::find_if(replay.ops.begin(), replay.ops.end(), [](const OpTrace& op) { return op.op == OpName::rescale; });
    if (found == replay.ops.end() || found == replay.ops.begin()) {
        return 1;
    }
    const double before = std::prev(found)->batches[element].sumSquares;
    return before > 0 ? std::sqrt(found->batches[element].sumSquares / before) : 1;
}

bool degenerate(std::span<const double> gains, const GainRange& range)
{
    return std::ranges::any_of(
        gains, [&](double gain) { return gain > degenerateFactor * range[1] || gain < range[0] / degenerateFactor; });
}

NonFinite describe(const OpTrace& op, std::size_t element, bool batched)
{
    const auto& scan = op.batches[element];
    NonFinite result;
    result.iteration = op.iteration;
    result.op = op.op;
    result.kind = scan.firstClass;
    result.count = scan.nonFinite();
    if (batched) {
        result.index.push_back(static_cast<std::int64_t>(element));
    }
    result.index.push_back(scan.firstNonFinite / op.cols);
    result.index.push_back(scan.firstNonFinite % op.cols);
    return result;
}

void readGram(Gauge& gauge, const Scan& gram, std::int64_t size, double limit)
{
    if (!gram.finite()) {
        return;
    }
    const auto m = static_cast<double>(size);
    gauge.spectralBound = std::sqrt(std::sqrt(gram.sumSquares));
    gauge.spectralLimit = limit;
    gauge.orthogonality = std::sqrt(std::max(0.0, gram.sumSquares - 2 * gram.trace + m) / m);
}

} // namespace

std::vector<std::vector<SingularDirection>> signalDirections(
    const MatrixShape& shape, ValueView input, const CancelToken& cancel)
{
    std::vector<std::vector<SingularDirection>> all;
    const auto size = static_cast<std::size_t>(shape.elements());
    for (std::int64_t i = 0; i < shape.batch; ++i) {
        const auto matrix = input.subview(static_cast<std::size_t>(i) * size, size);
        all.push_back(leadingDirections(matrix, shape.rows, shape.cols, signalShare, directionsLookedAt, cancel));
    }
    return all;
}

Outcome judgeOutcome(const Scan& input, const Scan& output, std::span<const double> gains, const GainRange& range)
{
    if (output.nan > 0) {
        return Outcome::nan;
    }
    if (!output.finite()) {
        return Outcome::inf;
    }
    if (output.allZero()) {
        return input.allZero() ? Outcome::finite : Outcome::zero;
    }
    return degenerate(gains, range) ? Outcome::degenerate : Outcome::finite;
}

std::vector<Outcome> judgeOutcomes(const Replay& replay)
{
    return judgeOutcomes(replay, outputRange(replay.program.steps));
}

std::vector<Outcome> judgeOutcomes(const Replay& replay, const GainRange& range)
{
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < replay.gains.size(); ++i) {
        const double factor = rescaleFactor(replay, i);
        outcomes.push_back(judgeOutcome(replay.ops.front().batches[i], replay.ops.back().batches[i], replay.gains[i],
            {range[0] * factor, range[1] * factor}));
    }
    return outcomes;
}

std::optional<NonFinite> firstNonFinite(const Replay& replay, std::size_t element, bool batched)
{
    const auto found = std::find_if(
        replay.ops.begin(), replay.ops.end(), [element](const OpTrace& op) { return !op.batches[element].finite(); });
    if (found == replay.ops.end()) {
        return std::nullopt;
    }
    return describe(*found, element, batched);
}

std::vector<Gauge> gauges(const Replay& replay, std::size_t element)
{
    return gauges(replay.program, replay.ops, element);
}

std::vector<Gauge> gauges(const Program& program, const std::vector<OpTrace>& ops, std::size_t element)
{
    const auto limits = divergenceLimits(program.steps);
    const auto size = std::min(program.shape.rows, program.shape.cols);
    std::vector<Gauge> result(program.steps.size());
    for (std::size_t k = 0; k < result.size(); ++k) {
        result[k].iteration = static_cast<int>(k) + 1;
        const auto slot = static_cast<std::size_t>(program.grams[k].scanSlot);
        readGram(result[k], ops[slot].batches[element], size, limits[k]);
    }
    for (const auto& op : ops) {
        if (op.iteration == 0) {
            continue;
        }
        auto& gauge = result[static_cast<std::size_t>(op.iteration) - 1];
        gauge.absmaxX = std::max(gauge.absmaxX, op.batches[element].absmax);
        const Scan& scan = op.batches[element];
        if (op.op == OpName::q && scan.nonFinite() < scan.count) {
            gauge.absmaxQ = scan.absmax;
        }
    }
    return result;
}

} // namespace nanscope::replay
