// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/dtype.h"
#include "core/model/scan.h"

namespace nanscope {

/// How a replay of one matrix ended, worst last.
enum class Outcome {
    finite,
    degenerate, ///< a signal direction leaves the schedule's published output range by more than 2x
    zero, ///< silently all zero although the input was not
    inf,
    nan,
};

std::string_view name(Outcome outcome);
std::optional<Outcome> parseOutcome(std::string_view name);

/// eager rounds after every torch op, fused rounds once per addmm.
enum class Lowering { eager, fused };

std::string_view name(Lowering lowering);
std::optional<Lowering> parseLowering(std::string_view name);

/// What an op computes, in the words of the film strip and of every answer.
enum class OpName {
    input,
    cast,
    norm,
    normalize,
    gram,
    polynomial,
    update,
    output,
    z,
    q,
    r,
    restart,
    equalize, ///< every row brought to the same norm, before the norm of the whole
    aolScale, ///< rows scaled by the sums of their Gram rows, in place of the norm
    rescale, ///< the output brought to the norm of an orthogonal matrix
};

std::string_view name(OpName op);
std::optional<OpName> parseOpName(std::string_view name);

/// Where a replay first met a value that is not finite.
struct NonFinite
{
    int iteration = 0; ///< 0 is everything before the first step
    OpName op = OpName::input;
    std::vector<std::int64_t> index; ///< [row, col], or [batch, row, col] for a batched capture
    ValueClass kind = ValueClass::nan;
    std::int64_t count = 0;
    bool operator==(const NonFinite&) const = default;
};

/// Per iteration, from values the program computes anyway. Bounds are upper bounds of what they bound.
struct Gauge
{
    int iteration = 0;
    std::optional<double> spectralBound; ///< ||X||_2 <= ||X X^T||_F^(1/2) of the iterate that enters the step
    std::optional<double> spectralLimit; ///< the schedule diverges beyond it
    std::optional<double> absmaxQ; ///< Gram form only
    std::optional<double> orthogonality; ///< ||X X^T - I||_F / sqrt(m) of the same iterate
    double absmaxX = 0; ///< largest finite magnitude of any op of the step
    std::optional<double> distanceToFp64; ///< ||X - X64||_F / ||X64||_F of the output, last iteration only
};

/// One step of DeepGauges. Whatever is absent is not defined for the variant, or the replay was not finite by then; no
/// gauge is ever NaN, and none is 0 for want of a number. All are ratios or, like X itself, without unit.
struct DeepGauge
{
    int iteration = 0;
    /// ||X - X64||_F / ||X64||_F after the step, X64 being the same variant's in fp64. In a Gram form X is Q times the
    /// iterate of the last restart, multiplied out in fp64. Absent for an fp64 cell.
    std::optional<double> iterateDistance;
    /// Smallest eigenvalue of the symmetric part of R, the Gram matrix that enters the step, by Lanczos: the true one
    /// is not above it. Negative: R is no Gram matrix any more, and a Gram form multiplies that part in every step.
    std::optional<double> lambdaMin;
    std::optional<double> symmetryError; ///< ||R - R^T||_F / ||R||_F of the same matrix, 0 to 2
    /// ||A Q - Q A||_F / (||A||_F ||Q||_F) after the step, A being the Gram matrix of the last start; 0 to sqrt(2).
    /// Gram forms only: Q is a polynomial of A, and what does not commute is rounding.
    std::optional<double> commutator;
    std::vector<double> signalGains; ///< ||u^T X||_2 after the step along each direction of DeepGauges::shares
};

/// What is measured on demand, of one matrix of the batch.
struct DeepGauges
{
    int batch = 0;
    std::array<double, 2> outputRange {}; ///< of the schedule for sigma in [0.01, 1]
    std::vector<double> shares; ///< sigma / ||G||_F of at most 32 leading directions of the input, each >= 0.01
    std::vector<DeepGauge> steps; ///< one per iteration
    double seconds = 0;
};

/// One op of one replay: its scans and, where asked for, its picture.
struct OpTrace
{
    int iteration = 0;
    OpName op = OpName::input;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::vector<Scan> batches;
    std::vector<TileMap> tiles; ///< one per batch element, or empty
};

struct BatchOutcome
{
    int batch = 0;
    Outcome outcome = Outcome::finite;
    std::optional<NonFinite> firstNonFinite;
};

/// Where a cell was computed; cells of different environments never merge silently.
struct Environment
{
    std::string engine; ///< "eigen 3.4.0" or "torch 2.11.0"
    std::string device; ///< "cpu" or "cuda:0"
    std::string hardware; ///< GPU name, or the CPU's instruction set
    std::string cuda; ///< runtime and driver, empty on a CPU
    int threads = 1;
    std::string flags; ///< matmul switches
    bool operator==(const Environment&) const = default;
};

/// One capture x variant x precision x device x lowering x epsilon x steps, replayed.
struct Cell
{
    std::int64_t id = 0;
    std::string capture; ///< the capture's name
    std::string variant;
    Precision precision = Precision::fp32;
    std::string device = "cpu";
    Lowering lowering = Lowering::eager;
    bool native = false; ///< false: the format was emulated
    double epsilon = 0;
    int steps = 0; ///< of the iteration; 0 where that is not known
    Outcome outcome = Outcome::finite; ///< the worst of the batch
    std::optional<NonFinite> firstNonFinite; ///< the earliest of the batch
    std::optional<NonFinite> birth; ///< the same, or none where that op is the input
    std::vector<BatchOutcome> batches;
    std::vector<Gauge> gauges; ///< of the batch element that is worst off
    std::optional<DeepGauges> deep; ///< where they were asked for
    std::string deepError; ///< not empty: they were, and why there are none
    std::vector<OpTrace> ops;
    double seconds = 0;
    Environment environment;
    std::string error; ///< not empty: the cell could not be computed, and why
};

/// "native" or "emulated", of a cell that was computed.
inline std::string_view arithmetic(const Cell& cell)
{
    return cell.native ? "native" : "emulated";
}

} // namespace nanscope
