// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/work.h"

#include <iterator>

#include <fmt/format.h>

namespace nanscope::replay {

std::string workOf(const Program& program)
{
    std::string text;
    auto out = std::back_inserter(text);
    fmt::format_to(out, "{} {} {} {} {} {}\n", name(program.precision), program.shape.batch, program.shape.rows,
        program.shape.cols, program.rounding.inputUlps, program.output);
    for (const auto& plan : program.buffers) {
        fmt::format_to(out, "{} {} {} {}\n", plan.rows, plan.cols, plan.transposed, name(plan.format));
    }
    for (const auto& in : program.code) {
        const int op = in.label ? static_cast<int>(*in.label) : -1;
        fmt::format_to(out, "{} {} {} {} {} {}{}{} {} {} {} {} {} {} {} {}\n", static_cast<int>(in.code), in.out, in.a,
            in.b, in.c, static_cast<int>(in.transposeA), static_cast<int>(in.transposeB), static_cast<int>(in.clamp),
            in.scalar, in.vector, in.alpha, in.beta, name(in.round), in.normUlps, op, in.iteration);
    }
    return text;
}

} // namespace nanscope::replay
