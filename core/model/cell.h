// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
enum class OpName { input, cast, norm, normalize, gram, polynomial, update, output, z, q, r, restart };

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

/// One capture x variant x precision x device x lowering, replayed.
struct Cell
{
    std::int64_t id = 0;
    std::string capture; ///< the capture's file name
    std::string variant;
    Precision precision = Precision::fp32;
    std::string device = "cpu";
    Lowering lowering = Lowering::eager;
    bool native = false; ///< false: the format was emulated
    double epsilon = 0;
    Outcome outcome = Outcome::finite; ///< the worst of the batch
    std::optional<NonFinite> firstNonFinite; ///< the earliest of the batch
    std::optional<NonFinite> birth; ///< the same, or none where that op is the input
    std::vector<BatchOutcome> batches;
    std::vector<Gauge> gauges; ///< of the batch element that is worst off
    std::vector<OpTrace> ops;
    double seconds = 0;
    Environment environment;
    std::string error; ///< not empty: the cell could not be computed, and why
};

} // namespace nanscope
