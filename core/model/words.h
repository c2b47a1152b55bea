// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Facts as short phrases, the same on the terminal, in the report and in the window.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope {

/// "384 NaN, 2 Inf", or "finite".
std::string classesText(const Scan& scan);

/// Row-major index of a tensor as [row, col], or [batch, row, col] where the shape has more than two dimensions.
std::vector<std::int64_t> indexIn(const Shape& shape, std::int64_t flat);

/// "[2,0,0]".
std::string indexText(const std::vector<std::int64_t>& index);

/// How far something is off, of a relative distance: "0.42 %", "54 %", "153 %", and "4e+05 times its size" of what is
/// more than tenfold, which no per cent makes readable.
std::string percentText(double fraction);

/// "54 % off", "off by 15 times its size"
std::string offByText(double fraction);

/// "step 3 gram [12,5] 384 NaN"; iteration 0 has no step.
std::string nonFiniteText(const NonFinite& first);

/// "between the log lines of steps 5 and 6 (console)", or "step not recorded".
std::string stepText(const CaptureVerdict& verdict);

/// A control: finite in and out, and nothing about it is suspect. A finite output that is not what the variants give
/// has that role, too, but is of another kind.
bool isHealthy(const CaptureVerdict& verdict);

/// "birth", and of a zero matrix that came out damaged, "padding" in JSON, "zero input": it may be a real parameter's.
std::string_view roleText(Role role);

/// What the verdict suggests and nobody tried, in its order.
std::vector<const Experiment*> untried(const CaptureVerdict& verdict);

/// "for 5, against 1, neither 3"; empty where there is no evidence at all, as of a healthy call.
std::string strengthText(const CaptureVerdict& verdict);

/// "implementation (kernel or launch order)", with "marginal" where it is; of a call that is not accused of anything
/// its kind alone: "healthy", "not judged in full", "no output".
std::string blameText(const CaptureVerdict& verdict);

/// "gns-standard or gns-gram (off by 0.5 %, next dion-ns5 at 9.3 %, ratio 18)".
std::string variantText(const Identification& variant);

/// "rank 1", "ranks 0, 1"; empty of none.
std::string rankList(const std::vector<int>& ranks);

/// "2026-11-21 04:13:16 UTC".
std::string timeText(std::int64_t unixMilliseconds);

/// By how much ||X||_2 may grow before the schedule diverges, in percent, as far as the gauges guarantee it: limit /
/// bound - 1, the least over the steps. None where the bound is too wide to guarantee any.
std::optional<double> slackPercent(const Cell& cell);

/// "q of steps 3-5, z of step 5 (mirrored)", whatever the variant; "mirrored" where only symmetric kernels can.
std::string placesText(std::span<const SpreadPlace> places);

/// Which places of the iteration the picture leaves open, as one clause: "Rows: a bad tile in q of
/// steps 3-5 ends like this (3 of 17 simulated bad tiles)". Empty where none were tried.
std::string originsText(const CaptureVerdict& verdict);

} // namespace nanscope
