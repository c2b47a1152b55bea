// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/replay/engine/spectrum.h"
#include "core/replay/program/formats.h"

namespace nanscope::replay {

namespace {

/// Of some matrices of the batch.
struct Context
{
    const Program& program;
    Device& device;
    const ReplayOptions& options;
    const CancelToken& cancel;
    std::int64_t first = 0; ///< of the batch
    std::int64_t count = 0;
    Replay result {}; ///< of these alone
};

/// An ulp of the function's own format away: one of bf16 is eight of fp16. An input may lie outside the range of fp16,
/// where a function divides by the norm before it casts; a step is as large in proportion there. bf16 is the coarsest
/// grid that the input of a wider format was on.
double movedBy(double value, int ulps, Precision format)
{
    if (heldIn(format) != Precision::fp16) {
        return stepUlps(Precision::bf16, value, ulps);
    }
    return value == 0 || !std::isfinite(value) ? value
                                               : value + ulps * epsilonOf(format) * std::exp2(std::ilogb(value));
}

template <class T>
std::vector<T> perturbed(ValueView input, const Context& context)
{
    const auto before = context.first * context.program.shape.elements(); // of the batch
    std::vector<T> moved(input.size());
    for (std::size_t i = 0; i < moved.size(); ++i) {
        const int direction = (static_cast<std::size_t>(before) + i) % 2 == 0 ? 1 : -1;
        moved[i] = static_cast<T>(
            movedBy(input[i], direction * context.options.rounding.inputUlps, context.program.precision));
    }
    return moved;
}

Result<double> largestEigenvalueOf(Device& device, BufferId gram, std::int64_t element, std::int64_t size)
{
    if (size >= largeFrom) {
        const auto there = device.largestEigenvalue(gram, element);
        if (!there || *there) {
            return there.map([](const std::optional<double>& value) { return *value; });
        }
    }
    return device.download(gram, element).map([size](const Values& contents) {
        return largestEigenvalue(contents, size);
    });
}

Result<void> measureSpectralNorm(Context& context, BufferId gram)
{
    const auto size = context.program.buffers[static_cast<std::size_t>(gram)].rows;
    for (std::int64_t i = 0; i < context.count; ++i) {
        const double eigenvalue = TRY(largestEigenvalueOf(context.device, gram, i, size));
        context.result.spectralNorms[static_cast<std::size_t>(i)].push_back(
            std::sqrt(std::max(0.0, eigenvalue)) + (std::isnan(eigenvalue) ? eigenvalue : 0.0));
    }
    return {};
}

Result<void> collectTiles(Context& context, const Instruction& in)
{
    if (!context.options.tileMaps || in.out < 0) {
        return {};
    }
    auto& trace = context.result.ops[static_cast<std::size_t>(in.scanSlot)];
    for (std::int64_t i = 0; i < context.count; ++i) {
        trace.tiles.push_back(TRY(context.device.tileMap(in.out, i)));
    }
    return {};
}

Result<void> runCode(Context& context)
{
    auto gram = context.program.grams.begin();
    for (std::size_t i = 0; i < context.program.code.size(); ++i) {
        const auto& instruction = context.program.code[i];
        TRY(context.device.run(instruction));
        if (context.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the replay was cancelled");
        }
        if (instruction.scanSlot >= 0) {
            TRY(collectTiles(context, instruction));
        }
        if (gram != context.program.grams.end() && gram->instruction == i) {
            if (context.options.spectralNorms) {
                TRY(measureSpectralNorm(context, gram->buffer));
            }
            ++gram;
        }
    }
    return {};
}

template <class T>
Result<void> append(std::vector<T>& all, Result<T> next)
{
    return std::move(next).map([&](T value) { all.push_back(std::move(value)); });
}

/// Row scaling turns the directions of the input: none is followed then.
Result<void> measureGains(Context& context, HeldOutput& output, std::size_t element, const Scan& scan)
{
    const bool open = scan.finite() && !scan.allZero() && !turnsDirections(context.program);
    return append(
        context.result.gains, open ? output.gainsAlong((*context.options.directions)[element]) : std::vector<double>());
}

Result<void> collectOutput(Context& context, HeldOutput& output, std::int64_t i)
{
    const auto& options = context.options;
    auto& result = context.result;
    const auto& scan = result.ops.back().batches[static_cast<std::size_t>(i)];
    const auto element = static_cast<std::size_t>(context.first + i);
    Result<void> done;
    if (options.directions != nullptr) {
        done = measureGains(context, output, element, scan);
    }
    if (done && options.references != nullptr && scan.finite()) {
        done = append(result.distances, output.distanceTo((*options.references)[element]));
    }
    if (done && options.keepReferences) {
        done = append(result.references, output.asReference());
    }
    if (done && (options.keepOutput || options.keepDamaged)) {
        const bool wanted = options.keepOutput || !scan.finite();
        done = append(result.outputs, wanted ? output.take() : Values());
    }
    return done;
}

Result<void> collectOutputs(Context& context)
{
    for (std::int64_t i = 0; i < context.count; ++i) {
        HeldOutput output(context.device, context.program, i);
        TRY(collectOutput(context, output, i));
    }
    return {};
}

/// The moved input is in memory no longer than it takes to hand it over.
Result<void> upload(Context& context, ValueView input)
{
    if (context.options.rounding.inputUlps == 0) {
        return context.device.upload(input);
    }
    return context.program.precision == Precision::fp64 ? context.device.upload(perturbed<double>(input, context))
                                                        : context.device.upload(perturbed<float>(input, context));
}

Result<void> takeScans(Context& context)
{
    return context.device.scans().map([&](const std::vector<Scan>& scans) {
        auto at = scans.begin();
        for (auto& op : context.result.ops) {
            op.batches.assign(at, at + context.count);
            at += context.count;
        }
    });
}

/// `input` is that of these matrices.
Result<void> runChunk(Context& context, ValueView input)
{
    context.result.ops = opsOf(context.program);
    if (context.options.spectralNorms) {
        context.result.spectralNorms.resize(static_cast<std::size_t>(context.count));
    }
    return context.device.prepare(context.program, context.count)
        .and_then([&] { return upload(context, input); })
        .and_then([&] { return runCode(context); })
        .and_then([&] { return takeScans(context); })
        .and_then([&] { return collectOutputs(context); });
}

template <class T>
void moveBehind(std::vector<T>& all, std::vector<T>& more)
{
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void moveBehind(Replay& all, Replay&& chunk)
{
    for (std::size_t op = 0; op < all.ops.size(); ++op) {
        moveBehind(all.ops[op].batches, chunk.ops[op].batches);
        moveBehind(all.ops[op].tiles, chunk.ops[op].tiles);
    }
    moveBehind(all.outputs, chunk.outputs);
    moveBehind(all.references, chunk.references);
    moveBehind(all.distances, chunk.distances);
    moveBehind(all.gains, chunk.gains);
    moveBehind(all.spectralNorms, chunk.spectralNorms);
}

/// A chunk that is short of memory, wherever in the replay that shows, begins again with half as many matrices.
Result<void> runAll(
    Replay& result, ValueView input, Device& device, const ReplayOptions& options, const CancelToken& cancel)
{
    const auto& shape = result.program.shape;
    auto most =
        std::clamp<std::int64_t>(device.batchLimit(result.program), 1, std::max<std::int64_t>(1, options.mostAtOnce));
    for (std::int64_t first = 0; first < shape.batch;) {
        Context chunk {result.program, device, options, cancel, first, std::min(most, shape.batch - first)};
        auto done = runChunk(chunk,
            input.subview(static_cast<std::size_t>(first * shape.elements()),
                static_cast<std::size_t>(chunk.count * shape.elements())));
        if (done) {
            moveBehind(result, std::move(chunk.result));
            first += chunk.count;
        } else if (done.error().kind == ErrorKind::refused && chunk.count > 1) {
            most = chunk.count / 2;
        } else {
            return done;
        }
    }
    return {};
}

} // namespace

Result<Replay> replay(const Variant& variant, const MatrixShape& shape, ValueView input, Device& device,
    const ReplayOptions& options, const CancelToken& cancel)
{
    const auto start = std::chrono::steady_clock::now();
    auto program = TRY(compileProgram(variant, shape, options));
    Replay result;
    result.program = std::move(program);
    result.ops = opsOf(result.program);
    // Before anything is asked: a device that is kept holds the token of the replay before.
    device.heed(cancel);
    TRY(runAll(result, input, device, options, cancel));
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

std::int64_t peakBytes(const Variant& variant, const MatrixShape& shape)
{
    CompileOptions options;
    options.precision = Precision::fp64;
    const auto program = compileProgram(variant, {1, shape.rows, shape.cols}, options);
    if (!program) {
        return 0;
    }
    // The workspace of one matrix, the batch as doubles, and the fp64 output kept for distances.
    const auto batchBytes = shape.batch * shape.elements() * static_cast<std::int64_t>(sizeof(double));
    return program->workspaceBytes(sizeof(double)) + 3 * batchBytes;
}

namespace {

/// Of the tile map of a matrix, compressed; where a tile is one element, its least and its largest are one number.
std::int64_t tileMapBytes(std::int64_t rows, std::int64_t cols)
{
    constexpr std::int64_t ofElement = 3;
    constexpr std::int64_t ofTile = 5;
    const auto along = [](std::int64_t size) {
        const auto perTile = (size + maxTiles - 1) / maxTiles;
        return (size + perTile - 1) / perTile;
    };
    return along(rows) * along(cols) * (std::max(rows, cols) <= maxTiles ? ofElement : ofTile);
}

} // namespace

std::int64_t storedBytes(const Variant& variant, const MatrixShape& shape, std::optional<int> steps)
{
    CompileOptions options;
    options.steps = steps;
    const auto program = compileProgram(variant, {1, shape.rows, shape.cols}, options);
    std::int64_t bytes = 0;
    for (const auto& op : program ? opsOf(*program) : std::vector<OpTrace>()) {
        bytes += tileMapBytes(op.rows, op.cols);
    }
    return bytes * shape.batch;
}

} // namespace nanscope::replay
