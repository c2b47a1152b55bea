// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// How compileProgram() puts a program together: an emitter that every part appends to, and the parts.
#pragma once

#include "core/replay/program/program.h"

namespace nanscope::replay {

/// A program under construction: appends instructions and buffers, knows the orientation of X and which side products
/// are taken on.
class Emitter
{
public:
    Emitter(const Variant& variant, const MatrixShape& shape, const CompileOptions& options);

    const Variant& variant() const { return m_variant; }
    const CompileOptions& options() const { return m_options; }
    Program& program() { return m_program; }
    const std::vector<Coefficients>& steps() const { return m_program.steps; }

    Precision compute() const { return m_compute; } ///< fp32 for a tf32 replay
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

/// From the input to what enters the first step; where AOL has formed and scaled its Gram matrix already, that one.
std::optional<BufferId> emitEntry(Emitter& e);

/// All steps; `gram` is that of the first one where there is one.
void emitSteps(Emitter& e, std::optional<BufferId> gram);

/// From the last step to the output.
void emitExit(Emitter& e);

} // namespace nanscope::replay
