// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "core/replay/engine/spectrum.h"
#include "core/replay/program/formats.h"

namespace nanscope::replay {

namespace {

struct Context
{
    const Program& program;
    Device& device;
    const ReplayOptions& options;
    const CancelToken& cancel;
    Replay& result;
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

/// `before` elements of the batch lie before the input.
template <class T>
std::vector<T> perturbed(ValueView input, std::int64_t before, const Context& context)
{
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

Result<void> measureSpectralNorm(Context& context, BufferId gram, std::int64_t first, std::int64_t count)
{
    const auto size = context.program.buffers[static_cast<std::size_t>(gram)].rows;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto largest = largestEigenvalueOf(context.device, gram, i, size);
        if (!largest) {
            return tl::make_unexpected(largest.error());
        }
        const double eigenvalue = *largest;
        context.result.spectralNorms[static_cast<std::size_t>(first + i)].push_back(
            std::sqrt(std::max(0.0, eigenvalue)) + (std::isnan(eigenvalue) ? eigenvalue : 0.0));
    }
    return {};
}

Result<void> collectTiles(Context& context, const Instruction& in, std::int64_t count)
{
    if (!context.options.tileMaps || in.out < 0) {
        return {};
    }
    auto& trace = context.result.ops[static_cast<std::size_t>(in.scanSlot)];
    for (std::int64_t i = 0; i < count; ++i) {
        auto tiles = context.device.tileMap(in.out, i);
        if (!tiles) {
            return tl::make_unexpected(tiles.error());
        }
        trace.tiles.push_back(std::move(*tiles));
    }
    return {};
}

Result<void> runCode(Context& context, std::int64_t first, std::int64_t count)
{
    auto gram = context.program.grams.begin();
    for (std::size_t i = 0; i < context.program.code.size(); ++i) {
        const auto& instruction = context.program.code[i];
        if (auto done = context.device.run(instruction); !done) {
            return done;
        }
        if (context.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the replay was cancelled");
        }
        if (instruction.scanSlot >= 0) {
            if (auto done = collectTiles(context, instruction, count); !done) {
                return done;
            }
        }
        if (gram != context.program.grams.end() && gram->instruction == i) {
            if (context.options.spectralNorms) {
                if (auto done = measureSpectralNorm(context, gram->buffer, first, count); !done) {
                    return done;
                }
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

Result<void> collectOutput(Context& context, HeldOutput& output, std::size_t element)
{
    const auto& options = context.options;
    auto& result = context.result;
    const auto& scan = result.ops.back().batches[element];
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

Result<void> collectOutputs(Context& context, std::int64_t first, std::int64_t count)
{
    for (std::int64_t i = 0; i < count; ++i) {
        HeldOutput output(context.device, context.program, i);
        if (auto done = collectOutput(context, output, static_cast<std::size_t>(first + i)); !done) {
            return done;
        }
    }
    return {};
}

/// The moved input is in memory no longer than it takes to hand it over.
Result<void> upload(Context& context, ValueView input, std::int64_t before)
{
    if (context.options.rounding.inputUlps == 0) {
        return context.device.upload(input);
    }
    return context.program.precision == Precision::fp64
        ? context.device.upload(perturbed<double>(input, before, context))
        : context.device.upload(perturbed<float>(input, before, context));
}

/// How many matrices the device has made room for: `most`, or fewer where its memory is short of what it said.
Result<std::int64_t> prepareFor(Context& context, std::int64_t most)
{
    for (auto count = most;; count /= 2) {
        const auto done = context.device.prepare(context.program, count);
        if (done) {
            return count;
        }
        if (done.error().kind != ErrorKind::refused || count == 1) {
            return tl::make_unexpected(done.error());
        }
    }
}

Result<void> runChunk(Context& context, ValueView input, std::int64_t first, std::int64_t count)
{
    auto& result = context.result;
    if (auto done = upload(context, input, first * context.program.shape.elements()); !done) {
        return done;
    }
    if (auto done = runCode(context, first, count); !done) {
        return done;
    }
    const auto scans = context.device.scans();
    if (!scans) {
        return tl::make_unexpected(scans.error());
    }
    for (std::size_t slot = 0; slot < result.ops.size(); ++slot) {
        const auto begin = scans->begin() + static_cast<std::ptrdiff_t>(slot) * count;
        result.ops[slot].batches.insert(result.ops[slot].batches.end(), begin, begin + count);
    }
    return collectOutputs(context, first, count);
}

} // namespace

Result<Replay> replay(const Variant& variant, const MatrixShape& shape, ValueView input, Device& device,
    const ReplayOptions& options, const CancelToken& cancel)
{
    const auto start = std::chrono::steady_clock::now();
    CompileOptions compile;
    compile.precision = options.precision;
    compile.rounding = options.rounding;
    compile.epsilon = options.epsilon;
    compile.forceEpsilon = options.forceEpsilon;
    compile.steps = options.steps;
    compile.scale = options.scale;
    compile.safety = options.safety;
    auto program = compileProgram(variant, shape, compile);
    if (!program) {
        return tl::make_unexpected(program.error());
    }
    Replay result;
    result.program = std::move(*program);
    result.ops = opsOf(result.program);
    if (options.spectralNorms) {
        result.spectralNorms.resize(static_cast<std::size_t>(shape.batch));
    }
    Context context {result.program, device, options, cancel, result};
    // Before anything is asked: a device that is kept holds the token of the replay before.
    device.heed(cancel);
    auto chunk = std::max<std::int64_t>(1, device.batchLimit(result.program));
    for (std::int64_t first = 0; first < shape.batch; first += chunk) {
        const auto count = prepareFor(context, std::min(chunk, shape.batch - first));
        if (!count) {
            return tl::make_unexpected(count.error());
        }
        chunk = *count;
        const auto part = input.subview(
            static_cast<std::size_t>(first * shape.elements()), static_cast<std::size_t>(chunk * shape.elements()));
        if (auto done = runChunk(context, part, first, chunk); !done) {
            return tl::make_unexpected(done.error());
        }
    }
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

} // namespace nanscope::replay
