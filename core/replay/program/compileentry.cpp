// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What is done to X before the first step and after the last one.
#include <algorithm>
#include <cmath>

#include "core/replay/program/compile.h"

namespace nanscope::replay {

namespace {

// nanochat's, before it divides by the norm of a row and by that of the result.
constexpr double smallestNorm = 1e-6;

// X_i <- X_i (||X||_F / sqrt(rows)) / max(||X_i||, 1e-6), rows as the capture has them; the factor is rounded to the
// format of X before it is applied.
void equalizeRows(Emitter& e, BufferId x, Precision format)
{
    const auto rows = e.program().shape.rows;
    const auto target = e.scalar();
    e.norm(target, x, e.wide());
    e.denominator(target, 1 / std::sqrt(static_cast<double>(rows)), 0, false, e.wide());
    const auto factors = e.vector(rows);
    e.ofVector(Code::rowNorms, factors, -1, x, e.wide()).transposeA = e.transposed();
    auto& factor = e.ofVector(Code::reciprocal, factors, -1, -1, e.wideNorm() ? e.wide() : format);
    factor.scalar = target;
    factor.beta = smallestNorm;
    const auto code = e.transposed() ? Code::scaleColumns : Code::scaleRows;
    e.label(e.ofVector(code, factors, x, x, format), OpName::equalize, 0);
}

void divideByNorm(Emitter& e, BufferId x, Precision format)
{
    const auto& variant = e.variant();
    const auto scalar = e.scalar();
    const auto rounded = e.wideNorm() ? e.wide() : format;
    const bool asked = e.options().rounding.fp32Norm;
    const auto own = variant.normPrecision.value_or(format);
    e.norm(scalar, x, std::min(own, asked ? e.wide() : own));

    const bool clamp = variant.epsilonRule == EpsilonRule::clamp;
    const bool separateFactor = variant.normFactor != 1 && rounded == format && format != e.wide();
    if (separateFactor) {
        e.denominator(scalar, variant.normFactor, 0, false, rounded);
    }
    auto& last = e.denominator(scalar, separateFactor ? 1 : variant.normFactor, e.program().epsilon, clamp, rounded);
    last.normUlps = e.options().rounding.normUlps;
    e.label(last, OpName::norm, 0);

    auto& divide = e.emit(Code::divide, x, x);
    divide.scalar = scalar;
    divide.round = format;
    if (e.options().scale != 1) {
        e.scale(x, e.options().scale, x).round = format;
    }
    e.label(e.program().code.back(), OpName::normalize, 0);
}

void prepare(Emitter& e, BufferId x, Precision format)
{
    if (e.variant().equalizeRows) {
        equalizeRows(e, x, format);
    }
    if (e.variant().normalization == Normalization::frobenius) {
        divideByNorm(e, x, format);
    }
}

// s_i = rsqrt(max(sum_j |A_ij|, epsilon)); X <- s X; A_ij <- s_i A_ij s_j, two roundings as torch takes them.
BufferId scaleByGram(Emitter& e)
{
    const auto gram = e.gramSized();
    e.label(e.gramProduct(gram), OpName::gram, 0);
    const auto format = e.wideNorm() ? e.wide() : e.compute();
    const auto factors = e.vector(e.program().buffers[static_cast<std::size_t>(gram)].rows);
    e.ofVector(Code::rowAbsSums, factors, -1, gram, format);
    auto& factor = e.ofVector(Code::rsqrt, factors, -1, -1, format);
    factor.beta = e.program().epsilon;
    factor.normUlps = e.options().rounding.normUlps;
    e.ofVector(e.left() ? Code::scaleRows : Code::scaleColumns, factors, e.x(), e.x(), e.compute());
    if (e.options().scale != 1) {
        e.scale(e.x(), e.options().scale, e.x());
    }
    e.label(e.program().code.back(), OpName::aolScale, 0);
    e.ofVector(Code::scaleRows, factors, gram, gram, e.compute());
    e.ofVector(Code::scaleColumns, factors, gram, gram, e.compute());
    if (e.options().scale != 1) {
        e.scale(gram, e.options().scale * e.options().scale, gram);
    }
    e.label(e.program().code.back(), OpName::gram, 1);
    e.markGram(gram);
    return gram;
}

} // namespace

std::optional<BufferId> emitEntry(Emitter& e)
{
    const auto input = e.rectangular(e.wide());
    auto& read = e.emit(Code::cast, input, input);
    read.round = e.wide();
    e.label(read, OpName::input, 0);

    e.makeX();
    if (e.variant().castOrder == CastOrder::castFirst) {
        e.label(e.emit(Code::cast, e.x(), input), OpName::cast, 0);
        prepare(e, e.x(), e.compute());
    } else {
        const auto format = e.compute() == Precision::fp64 ? Precision::fp64 : e.variant().normalizeIn;
        if (format != e.wide()) {
            e.emit(Code::cast, input, input).round = format;
        }
        prepare(e, input, format);
        e.label(e.emit(Code::cast, e.x(), input), OpName::cast, 0);
    }
    return e.variant().normalization == Normalization::aol ? std::optional(scaleByGram(e)) : std::nullopt;
}

void emitExit(Emitter& e)
{
    const auto last = static_cast<int>(e.steps().size());
    auto result = e.x();
    if (e.variant().rescaleOutput) {
        // In fp32: what is rescaled is the update of parameters that are kept in it.
        const auto size = std::sqrt(static_cast<double>(std::min(e.program().shape.rows, e.program().shape.cols)));
        result = e.rectangular(e.wide());
        e.emit(Code::cast, result, e.x()).round = e.wide();
        const auto scalar = e.scalar();
        e.norm(scalar, result, e.wide());
        e.denominator(scalar, 1 / size, smallestNorm / size, true, e.wide());
        auto& divide = e.emit(Code::divide, result, result);
        divide.scalar = scalar;
        divide.round = e.wide();
        e.label(divide, OpName::rescale, last);
    }
    const auto format = e.variant().rescaleOutput ? e.wide() : e.compute();
    const auto output = e.rectangular(format);
    auto& write = e.emit(Code::cast, output, result);
    write.round = format;
    e.label(write, OpName::output, last);
    e.program().output = output;
}

} // namespace nanscope::replay
