// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/program.h"

#include <fmt/format.h>

namespace nanscope::replay {

namespace {

/// Appends the bytes of numbers and enumerators: the key is compared and never read, and writing them out as text took
/// half the time of a verdict on a small matrix.
template <class... Values>
void put(std::string& key, const Values&... values)
{
    (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
}

} // namespace

std::int64_t Program::workspaceBytes(std::size_t elementSize) const
{
    std::int64_t elements = 0;
    for (const auto& plan : buffers) {
        elements += plan.rows * plan.cols;
    }
    return elements * static_cast<std::int64_t>(elementSize);
}

double Program::gemmFlops() const
{
    double flops = 0;
    for (const auto& instruction : code) {
        if (instruction.code == Code::gemm) {
            const auto& a = buffers[static_cast<std::size_t>(instruction.a)];
            const auto& out = buffers[static_cast<std::size_t>(instruction.out)];
            const auto inner = instruction.transposeA ? a.rows : a.cols;
            flops += 2.0 * static_cast<double>(out.rows) * static_cast<double>(out.cols) * static_cast<double>(inner);
        }
    }
    return flops * static_cast<double>(shape.batch);
}

std::vector<OpTrace> opsOf(const Program& program)
{
    std::vector<OpTrace> traces(static_cast<std::size_t>(program.scanCount));
    for (const auto& instruction : program.code) {
        if (instruction.scanSlot < 0) {
            continue;
        }
        auto& trace = traces[static_cast<std::size_t>(instruction.scanSlot)];
        trace.iteration = instruction.iteration;
        trace.op = *instruction.label;
        if (instruction.out < 0) {
            trace.rows = trace.cols = 1;
            continue;
        }
        const auto& plan = program.buffers[static_cast<std::size_t>(instruction.out)];
        trace.rows = plan.transposed ? plan.cols : plan.rows;
        trace.cols = plan.transposed ? plan.rows : plan.cols;
    }
    return traces;
}

std::vector<Rounding> envelopeOf(Lowering own)
{
    Rounding plain;
    plain.lowering = own;
    std::vector<Rounding> all(8, plain);
    all[1].lowering = own == Lowering::eager ? Lowering::fused : Lowering::eager;
    all[2].lowering = Lowering::eager;
    all[2].fuseElementwise = true;
    all[3].fp32Norm = true;
    all[4].normUlps = 1;
    all[5].normUlps = -1;
    all[6].inputUlps = 1;
    all[7].otherSide = true;
    return all;
}

std::string describe(const Rounding& rounding)
{
    std::string text(name(rounding.lowering));
    if (rounding.fuseElementwise) {
        text += ", sums rounded once";
    }
    if (rounding.fp32Norm) {
        text += ", norm in fp32";
    }
    if (rounding.normUlps != 0) {
        text += fmt::format(", norm {:+} ulp", rounding.normUlps);
    }
    if (rounding.inputUlps != 0) {
        text += fmt::format(", input moved by {} ulp", rounding.inputUlps);
    }
    if (rounding.otherSide) {
        text += ", products on the other side";
    }
    return text;
}

std::string workOf(const Program& program)
{
    std::string key;
    put(key, program.precision, program.shape.batch, program.shape.rows, program.shape.cols, program.rounding.inputUlps,
        program.output, program.buffers.size());
    for (const auto& plan : program.buffers) {
        put(key, plan.rows, plan.cols, plan.transposed, plan.format);
    }
    for (const auto& in : program.code) {
        const int op = in.label ? static_cast<int>(*in.label) : -1;
        put(key, in.code, in.out, in.a, in.b, in.c, in.transposeA, in.transposeB, in.clamp, in.scalar, in.vector,
            in.alpha, in.beta, in.round, in.normUlps, op, in.iteration);
    }
    return key;
}

} // namespace nanscope::replay
