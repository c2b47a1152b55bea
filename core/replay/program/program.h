// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/capture.h"
#include "core/model/cell.h"
#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// Index into Program::buffers, below Program::scalarCount, into Program::vectorLengths.
using BufferId = int;
using ScalarId = int;
using VectorId = int;

/// What an instruction does. Every one rounds its result to `round` once; operands are what earlier ones left.
/// gemm never writes over an operand; the others may. A tf32 gemm rounds its operands to tf32 (not c) and leaves
/// its result in fp32; one in fp16Acc16 rounds alpha and beta to fp16, too. Vectors hold one number per row or column
/// of a buffer, in its orientation, and are changed in place. The scan of norm and denominator is that of the scalar,
/// as a 1 x 1 matrix.
enum class Code {
    cast, ///< out = a
    norm, ///< scalar = ||a||_F per batch element, squared and summed in fp32 range (fp64 for fp64)
    denominator, ///< scalar = scalar * alpha + beta (Instruction::clamp: max(scalar * alpha, beta))
    divide, ///< out = a / scalar
    scale, ///< out = alpha * a
    add, ///< out = alpha * a + beta * b
    gemm, ///< out = alpha * op(a) op(b) + beta * c, products accumulated in fp32 (fp64 for fp64, fp16 for fp16Acc16)
    addDiagonal, ///< out = a + alpha * I
    rowNorms, ///< vector = ||row of a||, or column where transposeA; summed in fp32 range (fp64 for fp64)
    rowAbsSums, ///< vector = sum over the row of |a|
    reciprocal, ///< vector = alpha * scalar / max(vector, beta); without a scalar alpha / max(vector, beta)
    rsqrt, ///< vector = 1 / sqrt(max(vector, beta))
    scaleRows, ///< out_ij = vector_i a_ij
    scaleColumns, ///< out_ij = a_ij vector_j
};

struct Instruction
{
    Code code = Code::cast;
    BufferId out = -1;
    BufferId a = -1;
    BufferId b = -1;
    BufferId c = -1;
    bool transposeA = false;
    bool transposeB = false;
    bool clamp = false;
    ScalarId scalar = -1;
    VectorId vector = -1;
    double alpha = 1;
    double beta = 0;
    Precision round = Precision::fp32;
    int normUlps = 0; ///< denominator, rsqrt: move the result by so many units in the last place
    std::optional<OpName> label; ///< set on the last instruction of an op: the scan is taken here
    int iteration = 0;
    int scanSlot = -1;
};

struct BufferPlan
{
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    bool transposed = false; ///< holds the transpose of the capture's own orientation
    Precision format = Precision::fp32; ///< every element is a number of this format (as heldIn() has it)
};

/// Rounding of a replay beyond variant and precision: the members of the envelope.
struct Rounding
{
    Lowering lowering = Lowering::eager;
    bool fuseElementwise = false; ///< eager as a compiler lowers it: products round, then one rounding per sum
    bool fp32Norm = false; ///< norm and denominator kept in fp32
    int normUlps = 0; ///< denominator moved by so many ulps of its format
    int inputUlps = 0; ///< every input element moved by this many ulps, the direction alternating by index
    bool otherSide = false; ///< iterate on the other side: multiply right instead of transposing, or the reverse
};

/// Where the Gram matrix of the iterate that enters a step is complete.
struct GramPoint
{
    std::size_t instruction = 0; ///< after this one
    BufferId buffer = -1;
    int scanSlot = -1;
};

/// A variant compiled for one shape: a flat list of instructions over planned buffers.
struct Program
{
    std::string variant;
    Precision precision = Precision::fp32;
    Rounding rounding;
    MatrixShape shape; ///< of the capture
    double epsilon = 0; ///< as used
    std::vector<Coefficients> steps;
    std::vector<BufferPlan> buffers; ///< 0 is the input, Program::output the result; all hold the whole batch
    BufferId output = 0;
    int scalarCount = 0;
    std::vector<std::int64_t> vectorLengths;
    int scanCount = 0;
    std::vector<Instruction> code;
    std::vector<GramPoint> grams; ///< one per step

    /// For each buffer the number of the memory it may lie in: buffers of one size that are never in use at once share
    /// it. The input and the result are in use from the first and until the last instruction.
    std::vector<std::size_t> sharedMemory() const;

    /// Bytes all buffers take with elements of this size, for one batch element, where none shares its memory.
    std::int64_t workspaceBytes(std::size_t elementSize) const;
    double gemmFlops() const; ///< for the whole batch
};

struct CompileOptions
{
    Precision precision = Precision::fp32;
    Rounding rounding;
    std::optional<double> epsilon; ///< the capture's; ignored where the variant ignores it
    std::optional<int> steps; ///< first so many steps only; more than the schedule has repeats its last
    bool forceEpsilon = false; ///< use `epsilon` even where the variant would ignore it
    double scale = 1; ///< multiplies the normalised input, which is rounded once more then
    std::optional<double> safety = std::nullopt; ///< factor of the schedule in place of the variant's own
};

/// Fails for an empty matrix, a step count outside 1..100, and a scale or factor that is not a positive number.
Result<Program> compileProgram(const Variant& variant, const MatrixShape& shape, const CompileOptions& options);

/// Name and size of each op, one per scan slot, without scans; sizes are in the capture's own orientation.
std::vector<OpTrace> opsOf(const Program& program);

/// The roundings a result is held against: what was written itself first, then the other lowering, a compiler's, the
/// norm in fp32, one ulp on the norm either way, one on the input, and the iteration taken on the other side.
std::vector<Rounding> envelopeOf(Lowering own);

/// "fused", "eager, norm +1 ulp".
std::string describe(const Rounding& rounding);

/// All that the numbers of a program depend on, but neither its name nor where its scans are taken: two programs of
/// equal work leave equal bits on one device, so that one replay stands for both.
std::string workOf(const Program& program);

} // namespace nanscope::replay
