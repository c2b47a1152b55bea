// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/program.h"

namespace nanscope::replay {

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

} // namespace nanscope::replay
