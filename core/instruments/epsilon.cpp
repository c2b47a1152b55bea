// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/epsilon.h"

#include <algorithm>
#include <cmath>

#include "core/base/try.h"
#include "core/instruments/celltarget.h"
#include "core/replay/engine/heldoutput.h"
#include "core/replay/program/formats.h"

namespace nanscope::instruments {

namespace {

constexpr double tried[] {0, 1e-30, 1e-15, 1e-10, 1e-8, 1e-7, 1e-6, 1e-4};

std::vector<Precision> zeroIn(double epsilon)
{
    std::vector<Precision> formats;
    for (const auto format : {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16}) {
        if (replay::roundTo(format, epsilon) == 0) {
            formats.push_back(format);
        }
    }
    return formats;
}

std::vector<double> epsilonsFor(const std::optional<double>& own)
{
    std::vector<double> all(std::begin(tried), std::end(tried));
    if (own) {
        // What was captured in fp32 is 1e-8 but for its last digits: that takes the place of the round one.
        std::erase_if(all, [&](double epsilon) { return std::abs(epsilon - *own) <= 1e-6 * std::abs(*own); });
        all.push_back(*own);
    }
    std::ranges::sort(all);
    return all;
}

std::optional<double> changeOf(const Judged& one, const Judged& own, const MatrixShape& shape)
{
    double largest = 0;
    for (std::size_t i = 0; i < own.outcomes.size(); ++i) {
        const auto a = matrixOf(std::span<const double>(one.values), shape, i);
        const auto b = matrixOf(std::span<const double>(own.values), shape, i);
        const double distance = replay::relativeDistance(a, b);
        if (!std::isfinite(distance)) {
            return std::nullopt;
        }
        largest = std::max(largest, distance);
    }
    return largest;
}

} // namespace

Result<EpsilonRequest> epsilonOf(const CellTarget& cell, const InputBatch& inputBatch)
{
    replay::CompileOptions options;
    options.precision = *cell.facts().format;
    options.rounding.lowering = cell.lowering();
    options.epsilon = inputBatch.epsilon;
    options.forceEpsilon = inputBatch.forceEpsilon;
    options.steps = cell.steps();
    const auto program = TRY(replay::compileProgram(cell.variant(), inputBatch.input.matrices(), options));
    EpsilonRequest request {program.epsilon, cell.variant().ignoresCallerEpsilon, std::nullopt};
    for (const auto& instruction : program.code) {
        const bool takesEpsilon =
            instruction.code == replay::Code::denominator || instruction.code == replay::Code::rsqrt;
        if (takesEpsilon && !request.format) {
            request.format = instruction.round;
        }
    }
    return request;
}

Result<EpsilonAnswer> varyEpsilon(Measurement& measurement, const EpsilonRequest& request)
{
    EpsilonAnswer answer {request.own, std::nullopt, request.ignoresCaller, request.format, {}};
    const auto epsilons = epsilonsFor(request.own);
    measurement.setPhase("epsilon", static_cast<std::int64_t>(epsilons.size()) + 1, "calls");
    const auto& inputBatch = measurement.inputBatch();
    const auto own = TRY(measurement.ask(inputBatch.input, request.own, request.own.has_value()));
    answer.ownOutcome = own.answered() ? std::optional(own.worst) : std::nullopt;
    for (const double epsilon : epsilons) {
        const auto judged = TRY(measurement.ask(inputBatch.input, epsilon, true));
        EpsilonLine line {epsilon, request.own == epsilon, std::nullopt, std::nullopt, zeroIn(epsilon)};
        if (judged.answered()) {
            line.outcome = judged.worst;
            line.change = own.answered() ? changeOf(judged, own, inputBatch.input.matrices()) : std::nullopt;
        }
        answer.lines.push_back(std::move(line));
    }
    return answer;
}

} // namespace nanscope::instruments
