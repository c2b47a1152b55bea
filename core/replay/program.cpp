// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/replay/formats.h"

namespace nanscope {

namespace {

constexpr int maxSteps = 100;

bool positive(double factor)
{
    return factor > 0 && std::isfinite(factor);
}

/// Appends instructions and buffers; knows the orientation of X and which side products are taken on.
class Compiler
{
public:
    Compiler(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
        : m_variant(variant)
        , m_options(options)
        , m_compute(options.precision == Precision::tf32 ? Precision::fp32 : options.precision)
    {
        const bool tall = shape.rows > shape.cols;
        m_transposed = (tall && variant.tall == TallRule::transpose) != options.rounding.otherSide;
        m_rows = m_transposed ? shape.cols : shape.rows;
        m_cols = m_transposed ? shape.rows : shape.cols;
        m_left = m_rows <= m_cols;
        m_small = std::min(m_rows, m_cols);

        m_program.variant = variant.name;
        m_program.precision = options.precision;
        m_program.rounding = options.rounding;
        m_program.shape = shape;
        m_program.steps = stepsOf(variant, options.steps, options.safety);
        const bool useGiven = options.epsilon && (options.forceEpsilon || !variant.ignoresCallerEpsilon);
        m_program.epsilon = useGiven ? *options.epsilon : variant.epsilon;
    }

    Program compile()
    {
        prepareInput();
        const bool square = m_rows == m_cols;
        if (gramForm() && !(square && m_variant.squareUsesStandard)) {
            gramSteps();
        } else {
            standardSteps();
        }
        m_program.output = rectangular(m_compute);
        auto& out = emit(Code::cast, m_program.output, m_x);
        label(out, OpName::output, static_cast<int>(m_program.steps.size()));
        return std::move(m_program);
    }

private:
    bool fused() const { return m_options.rounding.lowering == Lowering::fused; }
    bool fromLeft() const { return m_variant.form == Form::gramFromLeft; }
    bool gramForm() const { return m_variant.form == Form::gram || fromLeft(); }
    bool fuseElementwise() const { return m_options.rounding.fuseElementwise; }

    BufferId buffer(std::int64_t rows, std::int64_t cols, bool transposed, Precision format)
    {
        m_program.buffers.push_back({rows, cols, transposed, format});
        return static_cast<BufferId>(m_program.buffers.size()) - 1;
    }
    BufferId rectangular(Precision format) { return buffer(m_rows, m_cols, m_transposed, format); }
    BufferId square() { return buffer(m_small, m_small, false, m_compute); }

    Instruction& emit(Code code, BufferId out, BufferId a = -1, BufferId b = -1)
    {
        Instruction instruction;
        instruction.code = code;
        instruction.out = out;
        instruction.a = a;
        instruction.b = b;
        const bool product = code == Code::gemm;
        instruction.round = product ? m_options.precision : m_compute;
        m_program.code.push_back(instruction);
        return m_program.code.back();
    }

    void label(Instruction& instruction, OpName op, int iteration)
    {
        instruction.label = op;
        instruction.iteration = iteration;
        instruction.scanSlot = m_program.scanCount++;
    }

    Instruction& gemm(BufferId out, double alpha, BufferId a, BufferId b, double beta = 0, BufferId c = -1)
    {
        auto& instruction = emit(Code::gemm, out, a, b);
        instruction.alpha = alpha;
        instruction.beta = beta;
        instruction.c = c;
        return instruction;
    }

    Instruction& scale(BufferId out, double alpha, BufferId a)
    {
        auto& instruction = emit(Code::scale, out, a);
        instruction.alpha = alpha;
        return instruction;
    }

    Instruction& add(BufferId out, double alpha, BufferId a, double beta, BufferId b)
    {
        auto& instruction = emit(Code::add, out, a, b);
        instruction.alpha = alpha;
        instruction.beta = beta;
        return instruction;
    }

    void prepareInput()
    {
        const auto wide = m_compute == Precision::fp64 ? Precision::fp64 : Precision::fp32;
        const auto input = rectangular(wide);
        auto& read = emit(Code::cast, input, input);
        read.round = wide;
        label(read, OpName::input, 0);

        m_x = rectangular(m_compute);
        m_spare = rectangular(m_compute);
        if (m_variant.castOrder == CastOrder::castFirst) {
            label(emit(Code::cast, m_x, input), OpName::cast, 0);
            normalize(m_x, m_compute);
            return;
        }
        normalize(input, wide);
        label(emit(Code::cast, m_x, input), OpName::cast, 0);
    }

    void normalize(BufferId x, Precision format)
    {
        const auto scalar = m_program.scalarCount++;
        const auto wide = format == Precision::fp64 ? Precision::fp64 : Precision::fp32;
        const auto normFormat = m_options.rounding.fp32Norm || fused() || fuseElementwise() ? wide : format;
        auto& norm = emit(Code::norm, -1, x);
        norm.scalar = scalar;
        norm.round = m_options.rounding.fp32Norm ? wide : format;

        const bool clamp = m_variant.epsilonRule == EpsilonRule::clamp;
        const bool separateFactor = m_variant.normFactor != 1 && normFormat == format && format != wide;
        if (separateFactor) {
            denominator(scalar, m_variant.normFactor, 0, false, normFormat);
        }
        auto& last =
            denominator(scalar, separateFactor ? 1 : m_variant.normFactor, m_program.epsilon, clamp, normFormat);
        last.normUlps = m_options.rounding.normUlps;
        label(last, OpName::norm, 0);

        auto& divide = emit(Code::divide, x, x);
        divide.scalar = scalar;
        divide.round = format;
        if (m_options.scale != 1) {
            scale(x, m_options.scale, x).round = format;
        }
        label(m_program.code.back(), OpName::normalize, 0);
    }

    Instruction& denominator(ScalarId scalar, double factor, double epsilon, bool clamp, Precision format)
    {
        auto& instruction = emit(Code::denominator, -1);
        instruction.scalar = scalar;
        instruction.alpha = factor;
        instruction.beta = epsilon;
        instruction.clamp = clamp;
        instruction.round = format;
        return instruction;
    }

    void formGram(BufferId out, int iteration)
    {
        auto& gram = gemm(out, 1, m_x, m_x);
        (m_left ? gram.transposeB : gram.transposeA) = true;
        label(gram, OpName::gram, iteration);
        markGram(out);
    }

    void markGram(BufferId gram)
    {
        m_program.grams.push_back({m_program.code.size() - 1, gram, m_program.code.back().scanSlot});
    }

    // X <- Q X or X Q: the product that both forms end a step or a restart with.
    Instruction& multiplyX(BufferId q, double beta = 0)
    {
        auto& product = m_left ? gemm(m_spare, 1, q, m_x) : gemm(m_spare, 1, m_x, q);
        if (beta != 0) {
            product.beta = beta;
            product.c = m_x;
        }
        return product;
    }

    void standardSteps()
    {
        const auto gram = square();
        const auto scaled = square();
        const auto squared = square();
        int iteration = 0;
        for (const auto& [a, b, c] : m_program.steps) {
            ++iteration;
            formGram(gram, iteration);
            label(polynomial(gram, scaled, squared, b, c), OpName::polynomial, iteration);
            update(squared, a, iteration);
        }
    }

    // Leaves b A + c A A in `out`.
    Instruction& polynomial(BufferId gram, BufferId scaled, BufferId out, double b, double c)
    {
        if (fused()) {
            return gemm(out, c, gram, gram, b, gram);
        }
        if (fuseElementwise()) {
            gemm(out, 1, gram, gram);
            return add(out, b, gram, c, out);
        }
        if (m_variant.form == Form::standardScaled || fromLeft()) {
            scale(scaled, c, gram);
            gemm(out, 1, scaled, gram);
        } else {
            gemm(out, 1, gram, gram);
            scale(out, c, out);
        }
        scale(scaled, b, gram);
        return add(out, 1, scaled, 1, out);
    }

    void update(BufferId b, double a, int iteration)
    {
        if (fused()) {
            label(multiplyX(b, a), OpName::update, iteration);
            std::swap(m_x, m_spare);
            return;
        }
        multiplyX(b);
        if (fuseElementwise()) {
            label(add(m_x, a, m_x, 1, m_spare), OpName::update, iteration);
            return;
        }
        scale(m_x, a, m_x);
        label(add(m_x, 1, m_x, 1, m_spare), OpName::update, iteration);
    }

    // out = left right + a base: one step of Q or of R.
    Instruction& accumulate(BufferId out, BufferId left, BufferId right, double a, BufferId base, BufferId temporary)
    {
        if (fused()) {
            return gemm(out, 1, left, right, a, base);
        }
        gemm(out, 1, left, right);
        if (fuseElementwise()) {
            return add(out, a, base, 1, out);
        }
        scale(temporary, a, base);
        return add(out, 1, temporary, 1, out);
    }

    // out = other Z + a other, or Z other + a other.
    Instruction& multiplyByZ(BufferId out, BufferId z, BufferId other, double a, BufferId temporary)
    {
        return fromLeft() ? accumulate(out, z, other, a, other, temporary)
                          : accumulate(out, other, z, a, other, temporary);
    }

    bool restartsBefore(std::size_t step) const
    {
        const auto& list = m_variant.restarts;
        return step > 0 && std::find(list.begin(), list.end(), static_cast<int>(step)) != list.end();
    }

    void gramSteps()
    {
        auto r = square();
        auto q = square();
        auto next = square();
        const auto z = square();
        const auto temporary = square();
        bool haveQ = false;
        const auto& steps = m_program.steps;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto [a, b, c] = steps[i];
            const int iteration = static_cast<int>(i) + 1;
            if (i == 0 || restartsBefore(i)) {
                if (haveQ) {
                    label(multiplyX(q), OpName::restart, iteration);
                    std::swap(m_x, m_spare);
                    haveQ = false;
                }
                formGram(r, iteration);
            }
            label(polynomial(r, temporary, z, b, c), OpName::z, iteration);
            if (haveQ) {
                label(multiplyByZ(next, z, q, a, temporary), OpName::q, iteration);
                std::swap(q, next);
            } else {
                auto& first = emit(Code::addDiagonal, q, z);
                first.alpha = fromLeft() ? a : roundTo(m_compute, a);
                label(first, OpName::q, iteration);
                haveQ = true;
            }
            if (i + 1 < steps.size() && !restartsBefore(i + 1)) {
                multiplyByZ(next, z, r, a, temporary);
                // R is free now; Z (RZ) + a (RZ) goes back into it.
                label(accumulate(r, z, next, a, next, temporary), OpName::r, iteration);
                markGram(r);
            }
        }
        label(multiplyX(q), OpName::update, static_cast<int>(steps.size()));
        std::swap(m_x, m_spare);
    }

    const Variant& m_variant;
    const CompileOptions& m_options;
    Precision m_compute;
    Program m_program;
    bool m_transposed = false;
    bool m_left = true;
    std::int64_t m_rows = 0;
    std::int64_t m_cols = 0;
    std::int64_t m_small = 0;
    BufferId m_x = -1;
    BufferId m_spare = -1;
};

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

Result<Program> compileProgram(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
{
    if (shape.batch < 1 || shape.rows < 1 || shape.cols < 1) {
        return failure(ErrorKind::usage,
            fmt::format("a {}x{}x{} tensor holds no matrix to replay", shape.batch, shape.rows, shape.cols));
    }
    if (options.steps && (*options.steps < 1 || *options.steps > maxSteps)) {
        return failure(ErrorKind::usage, fmt::format("{} steps: give 1 to {}", *options.steps, maxSteps));
    }
    if (!positive(options.scale) || !positive(options.safety.value_or(1))) {
        return failure(ErrorKind::usage, "a scale and a safety factor are positive numbers");
    }
    return Compiler(variant, shape, options).compile();
}

} // namespace nanscope
