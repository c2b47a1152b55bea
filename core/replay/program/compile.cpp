// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/compile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace nanscope::replay {

Emitter::Emitter(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
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

bool Emitter::gramForm() const
{
    const bool form = m_variant.form == Form::gram || fromLeft();
    return form && !(square() && m_variant.squareUsesStandard);
}

bool Emitter::wideNorm() const
{
    // Only a compiler fuses the products of a source that calls none itself, and it keeps what lies between wide.
    const bool compiled = fused() && m_variant.lowering == Lowering::eager;
    return m_options.rounding.fp32Norm || compiled || fuseElementwise();
}

void Emitter::makeX()
{
    m_x = rectangular(m_compute);
    m_spare = rectangular(m_compute);
}

BufferId Emitter::buffer(std::int64_t rows, std::int64_t cols, bool transposed, Precision format)
{
    m_program.buffers.push_back({rows, cols, transposed, format});
    return static_cast<BufferId>(m_program.buffers.size()) - 1;
}

VectorId Emitter::vector(std::int64_t length)
{
    m_program.vectorLengths.push_back(length);
    return static_cast<VectorId>(m_program.vectorLengths.size()) - 1;
}

Instruction& Emitter::emit(Code code, BufferId out, BufferId a, BufferId b)
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

Instruction& Emitter::gemm(BufferId out, double alpha, BufferId a, BufferId b, double beta, BufferId c)
{
    auto& instruction = emit(Code::gemm, out, a, b);
    instruction.alpha = alpha;
    instruction.beta = beta;
    instruction.c = c;
    return instruction;
}

Instruction& Emitter::scale(BufferId out, double alpha, BufferId a)
{
    auto& instruction = emit(Code::scale, out, a);
    instruction.alpha = alpha;
    return instruction;
}

Instruction& Emitter::add(BufferId out, double alpha, BufferId a, double beta, BufferId b)
{
    auto& instruction = emit(Code::add, out, a, b);
    instruction.alpha = alpha;
    instruction.beta = beta;
    return instruction;
}

Instruction& Emitter::ofVector(Code code, VectorId vector, BufferId out, BufferId a, Precision round)
{
    auto& instruction = emit(code, out, a);
    instruction.vector = vector;
    instruction.round = round;
    return instruction;
}

Instruction& Emitter::norm(ScalarId scalar, BufferId a, Precision round)
{
    auto& instruction = emit(Code::norm, -1, a);
    instruction.scalar = scalar;
    instruction.round = round;
    return instruction;
}

Instruction& Emitter::denominator(ScalarId scalar, double factor, double epsilon, bool clamp, Precision round)
{
    auto& instruction = emit(Code::denominator, -1);
    instruction.scalar = scalar;
    instruction.alpha = factor;
    instruction.beta = epsilon;
    instruction.clamp = clamp;
    instruction.round = round;
    return instruction;
}

void Emitter::label(Instruction& instruction, OpName op, int iteration)
{
    instruction.label = op;
    instruction.iteration = iteration;
    instruction.scanSlot = m_program.scanCount++;
}

void Emitter::markGram(BufferId gram)
{
    m_program.grams.push_back({m_program.code.size() - 1, gram, m_program.code.back().scanSlot});
}

Instruction& Emitter::gramProduct(BufferId out)
{
    auto& gram = gemm(out, 1, m_x, m_x);
    (m_left ? gram.transposeB : gram.transposeA) = true;
    return gram;
}

namespace {

bool positive(double factor)
{
    return factor > 0 && std::isfinite(factor);
}

Result<void> check(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
{
    if (shape.batch < 1 || shape.rows < 1 || shape.cols < 1) {
        return failure(ErrorKind::usage,
            fmt::format("a {}x{}x{} tensor holds no matrix to replay", shape.batch, shape.rows, shape.cols));
    }
    if (options.steps && (*options.steps < 1 || *options.steps > maxSteps)) {
        return failure(ErrorKind::usage, fmt::format("{} steps: give 1 to {}", *options.steps, maxSteps));
    }
    const auto own = static_cast<int>(variant.steps.size());
    if (variant.beyond == Beyond::exact && options.steps.value_or(own) != own) {
        return failure(ErrorKind::usage,
            fmt::format("{} is a schedule of exactly {} steps; leave the number of steps out", variant.name, own));
    }
    if (!positive(options.scale) || !positive(options.safety.value_or(1))) {
        return failure(ErrorKind::usage, "a scale and a safety factor are positive numbers");
    }
    return {};
}

} // namespace

Result<Program> compileProgram(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
{
    if (auto possible = check(variant, shape, options); !possible) {
        return tl::make_unexpected(possible.error());
    }
    Emitter e(variant, shape, options);
    emitSteps(e, emitEntry(e));
    emitExit(e);
    return e.take();
}

} // namespace nanscope::replay
