// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/replay/analysis/deep.h"

namespace nanscope::replay {

namespace {

// What a few CPU cores reach in fp64 products; a GPU is far faster, so that nobody waits longer than told.
constexpr double assumedRate = 2e10;
constexpr double lanczosSteps = 160;

Result<Program> programOf(const MatrixShape& shape, const CellRequest& cell, Precision precision)
{
    const auto variant = findVariant(cell.variant);
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    CompileOptions options;
    options.precision = precision;
    options.rounding.lowering = cell.lowering;
    options.steps = cell.steps;
    return compileProgram(**variant, {1, shape.rows, shape.cols}, options);
}

bool gramForm(const Program& program)
{
    const auto ops = opsOf(program);
    return std::any_of(ops.begin(), ops.end(), [](const OpTrace& op) { return op.op == OpName::q; });
}

double measuringFlops(const Program& program)
{
    const double small = static_cast<double>(std::min(program.shape.rows, program.shape.cols));
    const double large = static_cast<double>(std::max(program.shape.rows, program.shape.cols));
    const double lanczos = 4 * small * small * lanczosSteps;
    // The iterate twice, and A Q and Q A.
    const double products = gramForm(program) ? 4 * small * small * large + 4 * small * small * small : 0;
    return static_cast<double>(program.steps.size()) * (products + lanczos);
}

std::int64_t heldBytes(const MatrixShape& shape)
{
    const auto small = std::min(shape.rows, shape.cols);
    const auto elements = 6 * shape.rows * shape.cols + 6 * small * small;
    return elements * static_cast<std::int64_t>(sizeof(double));
}

std::string secondsText(double seconds)
{
    const auto counted = [](double number, const char* unit) {
        const auto whole = static_cast<long long>(std::ceil(number));
        return fmt::format("about {} {}{}", whole, unit, whole == 1 ? "" : "s");
    };
    if (seconds < 1) {
        return "under a second";
    }
    if (seconds < 90) {
        return counted(seconds, "second");
    }
    return seconds < 5400 ? counted(seconds / 60, "minute") : counted(seconds / 3600, "hour");
}

std::string scaledText(double number, double base, std::string_view unit)
{
    constexpr std::string_view prefixes[] {"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    for (; number >= base && prefix + 1 < std::size(prefixes); ++prefix) {
        number /= base;
    }
    return fmt::format("{:.3g} {}{}", number, prefixes[prefix], unit);
}

std::string bytesText(std::int64_t bytes)
{
    constexpr double mebi = 1024.0 * 1024.0;
    const double size = static_cast<double>(bytes) / mebi;
    return size < 1024 ? fmt::format("{:.0f} MiB", std::ceil(size)) : fmt::format("{:.1f} GiB", size / 1024);
}

} // namespace

Result<DeepCost> deepCost(const MatrixShape& shape, const CellRequest& cell)
{
    const auto program = programOf(shape, cell, cell.precision);
    const auto exact = programOf(shape, cell, Precision::fp64);
    if (!program || !exact) {
        return tl::make_unexpected(!program ? program.error() : exact.error());
    }
    DeepCost cost;
    const bool compared = cell.precision != Precision::fp64;
    cost.flops = program->gemmFlops() + (compared ? exact->gemmFlops() : 0) + measuringFlops(*program);
    cost.bytes = exact->workspaceBytes(sizeof(double)) + heldBytes(program->shape)
        + (compared ? program->workspaceBytes(sizeof(float)) : 0);
    return cost;
}

std::string deepCostText(const DeepCost& cost)
{
    return fmt::format("{} at {} ({}), {}", secondsText(cost.flops / assumedRate),
        scaledText(assumedRate, 1000, "FLOP/s"), scaledText(cost.flops, 1000, "FLOP"), bytesText(cost.bytes));
}

Result<void> allowDeep(const DeepCost& cost)
{
    if (cost.flops <= mostDeepFlops && cost.bytes <= mostDeepBytes) {
        return {};
    }
    return failure(ErrorKind::refused,
        fmt::format("deep gauges of this matrix take {}, and the most they may is {} and {}; ask for fewer steps, or "
                    "for a capture with a smaller matrix",
            deepCostText(cost), scaledText(mostDeepFlops, 1000, "FLOP"), bytesText(mostDeepBytes)));
}

int worstBatch(const Cell& cell)
{
    const auto worst = std::max_element(cell.batches.begin(), cell.batches.end(),
        [](const BatchOutcome& a, const BatchOutcome& b) { return a.outcome < b.outcome; });
    return worst == cell.batches.end() ? 0 : worst->batch;
}

} // namespace nanscope::replay
