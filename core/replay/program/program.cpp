// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/program.h"

#include <algorithm>
#include <limits>
#include <numeric>

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

/// The instructions that use a buffer, by their index.
struct Uses
{
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = -1;
};

std::vector<Uses> usesOf(const Program& program)
{
    std::vector<Uses> uses(program.buffers.size());
    for (std::size_t i = 0; i < program.code.size(); ++i) {
        const auto& in = program.code[i];
        for (const auto buffer : {in.out, in.a, in.b, in.c}) {
            if (buffer >= 0) {
                auto& use = uses[static_cast<std::size_t>(buffer)];
                use.first = std::min(use.first, static_cast<std::int64_t>(i));
                use.last = static_cast<std::int64_t>(i);
            }
        }
    }
    uses.front().first = -1;
    uses[static_cast<std::size_t>(program.output)].last = std::numeric_limits<std::int64_t>::max();
    return uses;
}

} // namespace

std::vector<std::size_t> Program::sharedMemory() const
{
    const auto uses = usesOf(*this);
    std::vector<std::size_t> byBegin(buffers.size());
    std::iota(byBegin.begin(), byBegin.end(), std::size_t {0});
    std::ranges::stable_sort(byBegin, {}, [&](std::size_t buffer) { return uses[buffer].first; });
    const auto sizeOf = [this](std::size_t buffer) { return buffers[buffer].rows * buffers[buffer].cols; };
    std::vector<std::size_t> memoryOf(buffers.size());
    std::vector<std::size_t> lastIn; ///< for each memory the buffer that was given it last
    for (const auto buffer : byBegin) {
        const auto free = std::ranges::find_if(lastIn, [&](std::size_t before) {
            return sizeOf(before) == sizeOf(buffer) && uses[before].last < uses[buffer].first;
        });
        memoryOf[buffer] = static_cast<std::size_t>(free - lastIn.begin());
        if (free == lastIn.end()) {
            lastIn.push_back(buffer);
        } else {
            *free = buffer;
        }
    }
    return memoryOf;
}

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
