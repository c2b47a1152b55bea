// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A variant with other numbers is told by its name alone, NAME[@STEPS][@EPSILON], so that nothing is kept beside it:
// "keller-jordan@0" adds no epsilon, "torch-muon@6x" makes six steps, "torch-muon@5xdion-ns5" five with the
// coefficients of dion-ns5, "torch-muon@5x2_-1.5_0.5" five with these. STEPS is a count, "x", and the name of a
// built-in variant, or triples joined by "+", of which the last repeats, where the coefficients are not its own.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// NAME of NAME[@STEPS][@EPSILON].
std::string_view baseOf(std::string_view name);

/// NAME[@STEPS] of it: what ran, but for its epsilon.
std::string_view withoutEpsilon(std::string_view name);

/// NAME[@STEPS] of it with this epsilon.
std::string withEpsilon(std::string_view name, double epsilon);

/// The name with this number of steps of the same schedule.
std::string withSteps(std::string_view name, int count);

/// `base`, a variant without such numbers, with those of `name`, and named as they are written at their shortest. Its
/// epsilon is then taken whatever its caller passes.
Result<Variant> withNumbers(Variant base, std::string_view name);

} // namespace nanscope::replay
