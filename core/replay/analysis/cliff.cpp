// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/cliff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/replay/engine/outcome.h"
#include "core/replay/program/program.h"

namespace nanscope::replay {

namespace {

/// What every replay of a request shares.
struct Bench
{
    const CliffRequest& request;
    const tensorfile::CaptureFile& file;
    const Variant& variant;
    Device& device;
    MatrixShape shape; ///< of the one matrix
    std::vector<double> input;
    std::vector<std::vector<SingularDirection>> directions;
    std::array<double, 2> published; ///< output range
};

Result<std::vector<double>> readMatrix(const tensorfile::CaptureFile& file, std::int64_t batch)
{
    const auto shape = file.input.matrices();
    if (batch < 0 || batch >= shape.batch) {
        return failure(ErrorKind::usage, fmt::format("there is no matrix {}, the capture holds {}", batch, shape.batch),
            file.capture.path);
    }
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    return file.input.read(batch, std::span(values)).map([&] { return std::move(values); });
}

ReplayOptions optionsFor(const Bench& bench, const Rounding& rounding)
{
    const CellRequest& cell = bench.request.cell;
    ReplayOptions options;
    options.precision = cell.precision;
    options.rounding = rounding;
    options.epsilon = cell.epsilon ? cell.epsilon : bench.file.capture.epsilon;
    options.forceEpsilon = cell.epsilon.has_value();
    options.steps = cell.steps;
    options.scale = bench.request.scale;
    options.safety = bench.request.safety;
    options.directions = &bench.directions;
    options.spectralNorms = true;
    return options;
}

std::optional<NonFinite> firstOf(const Bench& bench, const Replay& replayed)
{
    auto first = firstNonFinite(replayed, 0, false);
    if (first && bench.file.input.shape().size() > 2) {
        first->index.insert(first->index.begin(), bench.request.batch);
    }
    return first;
}

Cell cellOf(const Bench& bench, const Replay& replayed)
{
    const CellRequest& request = bench.request.cell;
    Cell cell;
    cell.capture = bench.file.capture.file;
    cell.variant = request.variant;
    cell.precision = request.precision;
    cell.device = request.device;
    cell.lowering = replayed.program.rounding.lowering;
    cell.native = bench.device.native(request.precision);
    cell.epsilon = replayed.program.epsilon;
    cell.steps = static_cast<int>(replayed.program.steps.size());
    cell.environment = bench.device.environment();
    cell.seconds = replayed.seconds;
    cell.outcome = judgeOutcomes(replayed, bench.published).front();
    cell.firstNonFinite = firstOf(bench, replayed);
    if (cell.firstNonFinite && cell.firstNonFinite->op != OpName::input) {
        cell.birth = cell.firstNonFinite;
    }
    cell.batches = {{static_cast<int>(bench.request.batch), cell.outcome, cell.firstNonFinite}};
    cell.gauges = gauges(replayed, 0);
    return cell;
}

Result<CliffReplay> replayOne(const Bench& bench, const Rounding& rounding, const CancelToken& cancel)
{
    auto replayed = replay(bench.variant, bench.shape, bench.input, bench.device, optionsFor(bench, rounding), cancel);
    return replayed.map([&](Replay& done) {
        return CliffReplay {cellOf(bench, done), describe(rounding), std::move(done.spectralNorms.front())};
    });
}

Result<void> replayAll(ReplayedCliff& cliff, const Bench& bench, const JobContext& job)
{
    Progress progress;
    progress.job = "cliff";
    progress.phase = "replaying";
    progress.unit = "roundings";
    progress.total = bench.request.roundings;
    const auto envelope = envelopeOf(bench.request.cell.lowering);
    for (; progress.done < progress.total; ++progress.done) {
        const auto& rounding = envelope[static_cast<std::size_t>(progress.done)];
        progress.message = describe(rounding);
        job.progress(progress);
        cliff.replays.push_back(TRY(replayOne(bench, rounding, job.cancel)));
    }
    return {};
}

Result<void> check(const CliffRequest& request)
{
    const auto most = static_cast<int>(envelopeOf(request.cell.lowering).size());
    if (request.roundings < 1 || request.roundings > most) {
        return failure(ErrorKind::usage, fmt::format("{} roundings: give 1 to {}", request.roundings, most));
    }
    return {};
}

} // namespace

ScalarCurve scalarCurve(std::span<const Coefficients> rest, double limit, double top, int samples)
{
    ScalarCurve curve;
    for (int i = 1; i <= samples; ++i) {
        curve.sigma.push_back(top * i / samples);
    }
    for (double distance = 0.1; distance > 1e-7; distance /= 2) {
        for (const double sigma : {limit * (1 - distance), limit, limit * (1 + distance)}) {
            if (sigma > 0 && sigma < top) {
                curve.sigma.push_back(sigma);
            }
        }
    }
    std::ranges::sort(curve.sigma);
    curve.sigma.erase(std::unique(curve.sigma.begin(), curve.sigma.end()), curve.sigma.end());
    for (const double sigma : curve.sigma) {
        curve.result.push_back(applySchedule(rest, sigma));
    }
    return curve;
}

std::optional<SigmaRange> sigmaRange(const ReplayedCliff& cliff, std::size_t step)
{
    std::optional<SigmaRange> range;
    for (const auto& each : cliff.replays) {
        if (step < each.sigma.size() && std::isfinite(each.sigma[step])) {
            const double sigma = each.sigma[step];
            range = range ? SigmaRange {std::min(range->low, sigma), std::max(range->high, sigma)}
                          : SigmaRange {sigma, sigma};
        }
    }
    return range;
}

Result<ReplayedCliff> replayCliff(const CliffRequest& request, const DeviceFactory& devices, const JobContext& job)
{
    TRY(check(request));
    const auto variant = TRY(request.catalogue.find(request.cell.variant));
    const auto file = TRY(tensorfile::openCapture(request.capture));
    auto input = TRY(readMatrix(file, request.batch));
    auto device = TRY(devices(request.cell.device));
    const auto matrices = file.input.matrices();
    const MatrixShape shape {1, matrices.rows, matrices.cols};
    auto directions = signalDirections(shape, input);
    const auto published = outputRange(stepsOf(*variant, request.cell.steps, std::nullopt));
    const Bench bench {request, file, *variant, *device, shape, std::move(input), std::move(directions), published};
    ReplayedCliff cliff;
    cliff.batch = request.batch;
    cliff.batches = matrices.batch;
    cliff.scale = request.scale;
    cliff.safety = request.safety.value_or(variant->safetyFactor);
    TRY(replayAll(cliff, bench, job));
    cliff.limits = divergenceLimits(stepsOf(*variant, request.cell.steps, request.safety));
    return cliff;
}

} // namespace nanscope::replay
