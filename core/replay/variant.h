// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/cell.h"
#include "core/model/dtype.h"
#include "core/model/result.h"

namespace nanscope {

/// p(s) = a s + b s^3 + c s^5 on every singular value s.
using Coefficients = std::array<double, 3>;

/// What is done to the input before the first step, in the order of the original.
enum class CastOrder {
    castFirst, ///< round to the compute format, then take the norm in it
    normalizeFirst, ///< norm and division in fp32, then round to the compute format
};

enum class EpsilonRule {
    add, ///< X / (norm * factor + epsilon)
    clamp, ///< X / max(norm * factor, epsilon)
};

/// The two ways of writing one step; they round differently in eager mode.
enum class Form {
    /// A = X X^T; B = b A + (c A) A; X = a X + B X
    standardScaled,
    /// A = X X^T; B = b A + c (A A); X = a X + B X
    standard,
    /// R = X X^T once; Z = b R + c R R; Q <- Q (Z + a I); R <- (Z + a I) R (Z + a I); X <- Q X at restarts and the end
    /// a I is rounded to the compute format before it is added.
    gram,
    /// The same with Z on the left of every product (Z Q, Z R), and a added to the diagonal as an fp32 scalar.
    gramFromLeft,
};

/// How a matrix with more rows than columns is treated.
enum class TallRule {
    transpose, ///< X^T is iterated and transposed back
    multiplyRight, ///< A = X^T X and X = a X + X B
};

/// One published way of running the iteration, as data.
struct Variant
{
    std::string_view name;
    std::string_view title;
    std::string_view source; ///< repository, path and commit the digits were read from
    std::vector<Coefficients> steps;
    CastOrder castOrder = CastOrder::castFirst;
    Precision precision = Precision::bf16; ///< its own compute format
    Lowering lowering = Lowering::eager; ///< fused where its source itself calls addmm or baddbmm
    EpsilonRule epsilonRule = EpsilonRule::add;
    double epsilon = 1e-7; ///< used where the capture has none, or where the variant ignores the caller's
    bool ignoresCallerEpsilon = false;
    double normFactor = 1; ///< multiplies the Frobenius norm before epsilon
    Form form = Form::standard;
    /// The factor f that every step of the schedule already holds as p(s / f); 1 where it was published without one.
    double safetyFactor = 1;
    std::vector<int> restarts; ///< gram form: 0-based steps before which X <- Q X and R <- X X^T
    TallRule tall = TallRule::transpose;
    bool squareUsesStandard = false; ///< gram form falls back to the standard loop for square matrices
    bool published = true; ///< false: run in the wild, but never recommended by its authors
    std::string_view family; ///< variants of one family can rarely be told apart from an output
};

/// All built-in variants, in the order of their names in the documentation.
std::span<const Variant> variants();

/// Fails with the nearest names for an unknown one.
Result<const Variant*> findVariant(std::string_view name);

/// Every step with p(s / factor) in place of p(s).
std::vector<Coefficients> withSafetyFactor(std::vector<Coefficients> steps, double factor);

/// The schedule as it runs: the first `count` steps, the last one repeated where there are not as many, and `safety` in
/// place of the variant's own factor.
std::vector<Coefficients> stepsOf(const Variant& variant, std::optional<int> count, std::optional<double> safety);

/// Scalar behaviour of a schedule: the result of all steps on one singular value.
double applySchedule(std::span<const Coefficients> steps, double sigma);

/// For each step, the largest singular value on entry for which the rest of the schedule stays below 1.5
/// (reference: the cliff of newton_schulz section 1.7; the composed output exceeds 1.5 just beyond it).
std::vector<double> divergenceLimits(std::span<const Coefficients> steps);

/// Smallest and largest output of the schedule over sigma in [0.01, 1].
std::array<double, 2> outputRange(std::span<const Coefficients> steps);

} // namespace nanscope
