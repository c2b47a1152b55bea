// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/pythonprogram.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/utf8.h"

namespace nanscope::reproduce {

namespace {

/// Writes the instructions of one program; a result takes the name of the buffer it would lie in.
class Writer
{
public:
    explicit Writer(const replay::Program& program)
        : m_program(program)
    { }

    std::string lines()
    {
        std::string text;
        for (const auto& in : m_program.code) {
            text += stepComment(in) + fmt::format("    {} = {}\n", target(in), labelled(in));
        }
        return text + fmt::format("    return {}\n", turned(m_program.output, matrix(m_program.output)));
    }

private:
    const replay::BufferPlan& plan(replay::BufferId id) const
    {
        return m_program.buffers[static_cast<std::size_t>(id)];
    }

    /// x for what has the size of the input, g for what has that of its Gram matrix.
    std::string matrix(replay::BufferId id) const
    {
        const auto& one = plan(id);
        const auto& input = plan(0);
        return fmt::format("{}{}", one.rows == input.rows && one.cols == input.cols ? "x" : "g", id);
    }

    static std::string scalar(const replay::Instruction& in) { return fmt::format("s{}", in.scalar); }
    static std::string vector(const replay::Instruction& in) { return fmt::format("v{}", in.vector); }

    std::string turned(replay::BufferId id, const std::string& text) const
    {
        return plan(id).transposed ? text + ".mT" : text;
    }

    std::string target(const replay::Instruction& in) const
    {
        if (in.out >= 0) {
            return matrix(in.out);
        }
        return in.vector >= 0 ? vector(in) : scalar(in);
    }

    /// The very first instruction reads the capture, which lies as it was dumped.
    std::string source(const replay::Instruction& in) const
    {
        return in.label == OpName::input ? turned(in.a, "x") : matrix(in.a);
    }

    std::string stepComment(const replay::Instruction& in)
    {
        // Only the last instruction of an op carries its label, so a step begins behind that of the one before.
        const auto step = static_cast<std::size_t>(iterationOf(in));
        if (step <= m_step || step > m_program.steps.size()) {
            return {};
        }
        m_step = step;
        const auto& [a, b, c] = m_program.steps[step - 1];
        return fmt::format("    # Step {}: a, b, c = {}, {}, {}\n", step, a, b, c);
    }

    int iterationOf(const replay::Instruction& in) const
    {
        const auto* at = &in;
        while (!at->label && at != &m_program.code.back()) {
            ++at;
        }
        return at->iteration;
    }

    std::string labelled(const replay::Instruction& in) const
    {
        const auto value = expression(in);
        return in.label ? fmt::format("op.say(\"{}\", {}, {})", name(*in.label), in.iteration, value) : value;
    }

    std::string product(const replay::Instruction& in) const
    {
        const auto a = matrix(in.a) + (in.transposeA ? ".mT" : "");
        const auto b = matrix(in.b) + (in.transposeB ? ".mT" : "");
        return in.c < 0 ? fmt::format("op.mm({}, {}, {}, \"{}\")", in.alpha, a, b, name(in.round))
                        : fmt::format("op.addmm({}, {}, {}, {}, {}, \"{}\")", in.alpha, a, b, in.beta, matrix(in.c),
                            name(in.round));
    }

    std::string expression(const replay::Instruction& in) const
    {
        const auto form = name(in.round);
        switch (in.code) {
        case replay::Code::cast:
            return fmt::format("op.cast({}, \"{}\")", source(in), form);
        case replay::Code::norm:
            return fmt::format("op.norm({}, \"{}\")", matrix(in.a), form);
        case replay::Code::denominator:
            return fmt::format(
                "op.{}({}, {}, {}, \"{}\")", in.clamp ? "at_least" : "plus", scalar(in), in.alpha, in.beta, form);
        case replay::Code::divide:
            return fmt::format("op.divide({}, {}, \"{}\")", matrix(in.a), scalar(in), form);
        case replay::Code::scale:
            return fmt::format("op.scale({}, {}, \"{}\")", in.alpha, matrix(in.a), form);
        case replay::Code::add:
            return fmt::format("op.add({}, {}, {}, {}, \"{}\")", in.alpha, matrix(in.a), in.beta, matrix(in.b), form);
        case replay::Code::gemm:
            return product(in);
        case replay::Code::addDiagonal:
            return fmt::format("op.add_diagonal({}, {}, \"{}\")", matrix(in.a), in.alpha, form);
        case replay::Code::rowNorms:
        case replay::Code::rowAbsSums:
            return fmt::format("op.{}({}{}, \"{}\")", in.code == replay::Code::rowNorms ? "row_norms" : "row_abs_sums",
                matrix(in.a), in.transposeA ? ".mT" : "", form);
        case replay::Code::reciprocal:
            return fmt::format("op.reciprocal({}, {}, {}, {}, \"{}\")", in.alpha,
                in.scalar >= 0 ? scalar(in) : std::string("1"), vector(in), in.beta, form);
        case replay::Code::rsqrt:
            return fmt::format("op.rsqrt({}, {}, \"{}\")", vector(in), in.beta, form);
        case replay::Code::scaleRows:
        case replay::Code::scaleColumns:
            return fmt::format("op.scale_{}({}, {}, \"{}\")", in.code == replay::Code::scaleRows ? "rows" : "columns",
                matrix(in.a), vector(in), form);
        }
        return "None";
    }

    const replay::Program& m_program;
    std::size_t m_step = 0;
};

std::string restartText(const replay::Variant& variant)
{
    if (variant.restarts.empty()) {
        return {};
    }
    std::vector<int> steps;
    std::transform(
        variant.restarts.begin(), variant.restarts.end(), std::back_inserter(steps), [](int step) { return step + 1; });
    return fmt::format(", restart before step {}", fmt::join(steps, ", "));
}

std::string heading(const replay::Variant& variant, const replay::Program& program)
{
    const bool castFirst = variant.castOrder == replay::CastOrder::castFirst;
    const bool fused = program.rounding.lowering == Lowering::fused;
    return fmt::format("# {}: {}\n# {}, {} steps{}, epsilon {}, {}.\n", printable(variant.title),
        printable(variant.source), castFirst ? "Casts, then takes the norm" : "Divides by the norm, then casts",
        program.steps.size(), restartText(variant), program.epsilon,
        fused ? "one rounding per addmm" : "a rounding after every operation");
}

} // namespace

std::string pythonName(std::string_view variant, Precision precision)
{
    auto text = fmt::format("{}_{}", variant, name(precision));
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')); }, '_');
    return (text[0] <= '9' ? "v" : "") + text;
}

std::string pythonFunction(const replay::Variant& variant, const replay::Program& program)
{
    return fmt::format("{}def {}(op, x):\n{}", heading(variant, program), pythonName(variant.name, program.precision),
        Writer(program).lines());
}

} // namespace nanscope::reproduce
