// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/replay/program/formats.h"
#include "core/replay/program/program.h"

namespace nanscope::replay {

namespace {

/// A program under construction: appends instructions and buffers, keeps the orientation of X and which side products
/// are taken on.
class Emitter
{
public:
    Emitter(const Variant& variant, const MatrixShape& shape, const CompileOptions& options);

    const Variant& variant() const { return m_variant; }
    const CompileOptions& options() const { return m_options; }
    Program& program() { return m_program; }
    const std::vector<Coefficients>& steps() const { return m_program.steps; }

    Precision compute() const { return m_compute; } ///< what matrices are held in
    Precision wide() const { return m_compute == Precision::fp64 ? Precision::fp64 : Precision::fp32; }
    bool fused() const { return m_options.rounding.lowering == Lowering::fused; }
    bool fuseElementwise() const { return m_options.rounding.fuseElementwise; }
    bool fromLeft() const { return m_variant.form == Form::gramFromLeft; }
    bool gramForm() const;
    /// Scalars and vectors before the first step stay wide: asked for, or as a compiler keeps them.
    bool wideNorm() const;

    bool transposed() const { return m_transposed; }
    bool left() const { return m_left; }
    bool square() const { return m_rows == m_cols; }

    /// X, and a buffer of its size that the next product goes to.
    BufferId x() const { return m_x; }
    BufferId spare() const { return m_spare; }
    void makeX();
    void swapX() { std::swap(m_x, m_spare); }

    BufferId rectangular(Precision format) { return buffer(m_rows, m_cols, m_transposed, format); }
    BufferId gramSized() { return buffer(m_small, m_small, false, m_compute); }
    ScalarId scalar() { return m_program.scalarCount++; }
    VectorId vector(std::int64_t length);

    Instruction& emit(Code code, BufferId out, BufferId a = -1, BufferId b = -1);
    Instruction& gemm(BufferId out, double alpha, BufferId a, BufferId b, double beta = 0, BufferId c = -1);
    Instruction& scale(BufferId out, double alpha, BufferId a);
    Instruction& add(BufferId out, double alpha, BufferId a, double beta, BufferId b);
    Instruction& ofVector(Code code, VectorId vector, BufferId out, BufferId a, Precision round);
    Instruction& norm(ScalarId scalar, BufferId a, Precision round);
    Instruction& denominator(ScalarId scalar, double factor, double epsilon, bool clamp, Precision round);

    void label(Instruction& instruction, OpName op, int iteration);
    void markGram(BufferId gram);
    /// out = X X^T or X^T X, on the smaller side.
    Instruction& gramProduct(BufferId out);

    Program take() { return std::move(m_program); }

private:
    BufferId buffer(std::int64_t rows, std::int64_t cols, bool transposed, Precision format);

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

Emitter::Emitter(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
    : m_variant(variant)
    , m_options(options)
    , m_compute(heldIn(options.precision))
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
    m_program.epsilon =
        options.forceEpsilon && options.epsilon ? *options.epsilon : epsilonUsed(variant, options.epsilon);
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

/// From the input to what enters the first step; where AOL has formed and scaled its Gram matrix already, that one.
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

/// From the last step to the output.
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

class Steps
{
public:
    explicit Steps(Emitter& emitter)
        : m_e(emitter)
    { }

    void standard(std::optional<BufferId> firstGram)
    {
        const auto gram = firstGram ? *firstGram : m_e.gramSized();
        const auto scaled = m_e.gramSized();
        const auto squared = m_e.gramSized();
        const auto steps = m_e.steps();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto& [a, b, c] = steps[i];
            const int iteration = static_cast<int>(i) + 1;
            if (i > 0 || !firstGram) {
                formGram(gram, iteration);
            }
            if (c == 0 && m_e.fused()) {
                update(gram, a, b, iteration);
                continue;
            }
            m_e.label(polynomial(gram, scaled, squared, b, c), OpName::polynomial, iteration);
            update(squared, a, 1, iteration);
        }
    }

    void gram()
    {
        auto r = m_e.gramSized();
        auto q = m_e.gramSized();
        auto next = m_e.gramSized();
        const auto z = m_e.gramSized();
        const auto temporary = m_e.gramSized();
        bool haveQ = false;
        const auto steps = m_e.steps();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto [a, b, c] = steps[i];
            const int iteration = static_cast<int>(i) + 1;
            if (i == 0 || restartsBefore(i)) {
                if (haveQ) {
                    m_e.label(multiplyX(q), OpName::restart, iteration);
                    m_e.swapX();
                    haveQ = false;
                }
                formGram(r, iteration);
            }
            m_e.label(polynomial(r, temporary, z, b, c), OpName::z, iteration);
            if (haveQ) {
                m_e.label(multiplyByZ(next, z, q, a, temporary), OpName::q, iteration);
                std::swap(q, next);
            } else {
                auto& first = m_e.emit(Code::addDiagonal, q, z);
                first.alpha = m_e.fromLeft() ? a : roundTo(m_e.compute(), a);
                m_e.label(first, OpName::q, iteration);
                haveQ = true;
            }
            if (i + 1 < steps.size() && !restartsBefore(i + 1)) {
                multiplyByZ(next, z, r, a, temporary);
                // R is free now; Z (RZ) + a (RZ) goes back into it.
                m_e.label(accumulate(r, z, next, a, next, temporary), OpName::r, iteration);
                m_e.markGram(r);
            }
        }
        m_e.label(multiplyX(q), OpName::update, static_cast<int>(steps.size()));
        m_e.swapX();
    }

private:
    void formGram(BufferId out, int iteration)
    {
        m_e.label(m_e.gramProduct(out), OpName::gram, iteration);
        m_e.markGram(out);
    }

    // X <- Q X or X Q: the product that both forms end a step or a restart with.
    Instruction& multiplyX(BufferId q, double alpha = 1, double beta = 0)
    {
        auto& product =
            m_e.left() ? m_e.gemm(m_e.spare(), alpha, q, m_e.x()) : m_e.gemm(m_e.spare(), alpha, m_e.x(), q);
        if (beta != 0) {
            product.beta = beta;
            product.c = m_e.x();
        }
        return product;
    }

    // Leaves b A + c A A in `out`; where c is 0, A A is not formed.
    Instruction& polynomial(BufferId gram, BufferId scaled, BufferId out, double b, double c)
    {
        if (c == 0) {
            return m_e.scale(out, b, gram);
        }
        if (m_e.fused()) {
            return m_e.gemm(out, c, gram, gram, b, gram);
        }
        if (m_e.fuseElementwise()) {
            m_e.gemm(out, 1, gram, gram);
            return m_e.add(out, b, gram, c, out);
        }
        if (m_e.variant().form == Form::standardScaled || m_e.fromLeft()) {
            m_e.scale(scaled, c, gram);
            m_e.gemm(out, 1, scaled, gram);
        } else {
            m_e.gemm(out, 1, gram, gram);
            m_e.scale(out, c, out);
        }
        m_e.scale(scaled, b, gram);
        return m_e.add(out, 1, scaled, 1, out);
    }

    // X <- a X + factor B X.
    void update(BufferId b, double a, double factor, int iteration)
    {
        if (m_e.fused() && !m_e.variant().addInPlace) {
            m_e.label(multiplyX(b, factor, a), OpName::update, iteration);
            m_e.swapX();
            return;
        }
        multiplyX(b, factor);
        if (m_e.fuseElementwise() || m_e.variant().addInPlace) {
            m_e.label(m_e.add(m_e.x(), a, m_e.x(), 1, m_e.spare()), OpName::update, iteration);
            return;
        }
        m_e.scale(m_e.x(), a, m_e.x());
        m_e.label(m_e.add(m_e.x(), 1, m_e.x(), 1, m_e.spare()), OpName::update, iteration);
    }

    // out = left right + a base: one step of Q or of R.
    Instruction& accumulate(BufferId out, BufferId left, BufferId right, double a, BufferId base, BufferId temporary)
    {
        if (m_e.fused()) {
            return m_e.gemm(out, 1, left, right, a, base);
        }
        m_e.gemm(out, 1, left, right);
        if (m_e.fuseElementwise()) {
            return m_e.add(out, a, base, 1, out);
        }
        m_e.scale(temporary, a, base);
        return m_e.add(out, 1, temporary, 1, out);
    }

    // out = other Z + a other, or Z other + a other.
    Instruction& multiplyByZ(BufferId out, BufferId z, BufferId other, double a, BufferId temporary)
    {
        return m_e.fromLeft() ? accumulate(out, z, other, a, other, temporary)
                              : accumulate(out, other, z, a, other, temporary);
    }

    bool restartsBefore(std::size_t step) const
    {
        const auto& list = m_e.variant().restarts;
        return step > 0 && std::find(list.begin(), list.end(), static_cast<int>(step)) != list.end();
    }

    Emitter& m_e;
};

/// All steps; `gram` is that of the first one where there is one.
void emitSteps(Emitter& e, std::optional<BufferId> gram)
{
    if (e.gramForm()) {
        Steps(e).gram();
    } else {
        Steps(e).standard(gram);
    }
}

bool positive(double factor)
{
    return factor > 0 && std::isfinite(factor);
}

Result<void> check(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
{
    if (shape.batch < 1 || shape.rows < 1 || shape.cols < 1) {
        return failure(ErrorKind::usage,
            fmt::format("a {} × {} × {} tensor holds no matrix to replay", shape.batch, shape.rows, shape.cols));
    }
    TRY(checkSteps(variant, options.steps));
    if (!positive(options.scale) || !positive(options.safety.value_or(1))) {
        return failure(ErrorKind::usage, "a scale and a safety factor are positive numbers");
    }
    return {};
}

} // namespace

Result<Program> compileProgram(const Variant& variant, const MatrixShape& shape, const CompileOptions& options)
{
    TRY(check(variant, shape, options));
    Emitter e(variant, shape, options);
    emitSteps(e, emitEntry(e));
    emitExit(e);
    return e.take();
}

} // namespace nanscope::replay
