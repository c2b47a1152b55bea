// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/cell.h"
#include "core/model/dtype.h"

namespace nanscope::replay {

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

/// What brings the singular values of the input below 1.
enum class Normalization {
    frobenius, ///< X / ||X||_F, as EpsilonRule and normFactor say
    /// s_i = 1 / sqrt(max(sum_j |A_ij|, epsilon)) of A = X X^T; X_ij <- s_i X_ij; A_ij <- s_i A_ij s_j, which the first
    /// step uses. No Frobenius norm is taken.
    aol,
};

/// The schedule after its last published step.
enum class Beyond {
    repeatLast,
    cycle, ///< begins again
    exact, ///< its source refuses any other number of steps
};

/// The ways of writing one step; they round differently in eager mode.
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

/// The most steps that are run.
constexpr int maxSteps = 100;

/// One published way of running the iteration, as data.
struct Variant
{
    std::string name;
    std::string title;
    std::string source; ///< repository, path and commit the digits were read from
    std::vector<Coefficients> steps;
    Beyond beyond = Beyond::repeatLast;
    CastOrder castOrder = CastOrder::castFirst;
    Precision precision = Precision::bf16; ///< its own compute format
    Lowering lowering = Lowering::eager; ///< fused where its source itself calls addmm or baddbmm
    bool equalizeRows = false; ///< first X_i *= (||X||_F / sqrt(rows)) / max(||X_i||, 1e-6), in fp32
    Normalization normalization = Normalization::frobenius;
    Precision normalizeIn = Precision::fp32; ///< normalizeFirst: the format of norm and division
    std::optional<Precision> normPrecision; ///< the norm alone in this format, then rounded to that of the division
    EpsilonRule epsilonRule = EpsilonRule::add;
    double epsilon = 1e-7; ///< used where the capture has none, or where the variant ignores the caller's
    bool ignoresCallerEpsilon = false;
    double normFactor = 1; ///< multiplies the Frobenius norm before epsilon
    Form form = Form::standard;
    bool addInPlace = false; ///< X = a X + B X as two torch calls, also fused: B X rounded, then + a X rounded once
    /// The factor f that every step of the schedule already holds as p(s / f); 1 where it was published without one.
    double safetyFactor = 1;
    std::vector<int> restarts; ///< gram form: 0-based steps before which X <- Q X and R <- X X^T
    TallRule tall = TallRule::transpose;
    bool squareUsesStandard = false; ///< gram form falls back to the standard loop for square matrices
    bool rescaleOutput = false; ///< at last X *= sqrt(min(rows, cols)) / max(||X||_F, 1e-6)
    /// Its source has kernels that compute one triangle of a symmetric product and write it twice. What a user's own
    /// variant is computed by is not known, so that it may have them, too.
    bool symmetricKernels = true;
    bool published = true; ///< false: run in the wild, but never recommended by its authors
    std::string family; ///< variants of one family can rarely be told apart from an output
    bool operator==(const Variant&) const = default;
};

/// What makes a variant impossible to run or to name, or nothing.
Result<void> checkVariant(const Variant& variant);

/// Every step with p(s / factor) in place of p(s).
std::vector<Coefficients> withSafetyFactor(std::vector<Coefficients> steps, double factor);

/// The schedule as it runs: the first `count` steps, where there are not as many gone on with as Beyond says, and
/// `safety` in place of the variant's own factor.
std::vector<Coefficients> stepsOf(const Variant& variant, std::optional<int> count, std::optional<double> safety);

/// What the variant is run with where its caller gives this epsilon, or none.
double epsilonUsed(const Variant& variant, std::optional<double> callers);

/// Refuses what is no epsilon, and as many steps as no schedule is run with, or not this one.
Result<void> checkEpsilon(std::optional<double> epsilon);
Result<void> checkSteps(std::optional<int> steps);
Result<void> checkSteps(const Variant& variant, std::optional<int> steps);

/// Scalar behaviour of a schedule: the result of all steps on one singular value.
double applySchedule(std::span<const Coefficients> steps, double sigma);

/// For each step, the largest singular value on entry for which the rest of the schedule stays below 1.5
/// (reference: the cliff of newton_schulz section 1.7; the composed output exceeds 1.5 just beyond it).
std::vector<double> divergenceLimits(std::span<const Coefficients> steps);

/// Smallest and largest magnitude of the schedule's output over sigma in [0.01, 1].
std::array<double, 2> outputRange(std::span<const Coefficients> steps);

/// The largest value that the iterate can have on entry of each step where it starts anywhere in (0, 1].
std::vector<double> largestOnEntry(std::span<const Coefficients> steps);

/// By how much the iterate may exceed its theoretical maximum on entry of the tightest step before the schedule
/// diverges, in per cent: 5.5 for gns-gram, 1.1 for polar-express, 0.0005 for emerging-cans (newton_schulz
/// section 1.7).
double slackOfSchedule(std::span<const Coefficients> steps);

/// All built-in variants, in the order of their names in the documentation.
std::span<const Variant> variants();

/// Null where none of them has this name.
const Variant* builtInVariant(std::string_view name);

} // namespace nanscope::replay
