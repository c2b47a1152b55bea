// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/values.h"
#include "core/instruments/celltarget.h"
#include "core/instruments/measurement.h"

namespace nanscope::instruments {

/// Singular triplets of a matrix, descending.
struct Triplets
{
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::vector<double> sigma;
    std::vector<double> left; ///< sigma.size() x rows
    std::vector<double> right; ///< sigma.size() x cols
    bool exact = true;
};

/// All of them where the shorter side is at most `exactUpTo`, else those of at least a hundredth of the norm that
/// Lanczos finds. The matrix is finite and not zero. Nothing of use once `cancel` is set.
Triplets singularTriplets(std::span<const double> matrix, std::int64_t rows, std::int64_t cols, std::int64_t exactUpTo,
    const CancelToken& cancel = {});

/// u^T X v for each of them.
std::vector<double> along(const Triplets& triplets, ValueView matrix);

/// A singular triplet sigma, u, v of the input, and what became of it: X = U p(Sigma) V^T, so that u^T X v = p(sigma).
struct SpectrumLine
{
    double sigma = 0;
    double share = 0; ///< sigma / ||G||_F
    double found = 0; ///< u^T X v
    std::optional<double> expected; ///< none: it claims to be no variant
    double allowed = 0; ///< by how much rounding alone may move it
    bool flagged = false;
};

/// The iterate after some steps, or what a function returned.
struct SpectrumStage
{
    int step = 0; ///< 0: the output of a function
    bool finite = true; ///< false: there are no lines
    std::vector<SpectrumLine> lines; ///< descending sigma
    /// Share of ||X||_F that lies outside of the lines: rounding, and what is not among the leading ones.
    double outside = 0;
};

struct SpectrumAnswer
{
    std::int64_t batch = 0;
    bool exact = true; ///< all singular values, else the leading ones by Lanczos
    bool closedForm = true; ///< expected is p(sigma) itself, else that of the variant's fp64 replay
    double frobenius = 0;
    std::string variant; ///< held against; empty: none
    std::vector<SpectrumStage> stages; ///< the last is the output
    std::string sentence;
};

/// Full decomposition up to this many rows or columns, whichever are fewer.
constexpr std::int64_t mostForExact = 1024;

/// `reference` is the cell itself, or a cell of the variant that a function claims to be; null: not said.
Result<SpectrumAnswer> checkSpectrum(Measurement& measurement, CellTarget* reference);

} // namespace nanscope::instruments
