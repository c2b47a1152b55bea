// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/diagnose/rules.h"
#include "core/model/model.h"
#include "core/model/result.h"

namespace nanscope {

/// Fills the members of P and says how they were found: the sidecar, else what the user says ran, else what fits, else
/// what a control fits, else every variant in its own format. Forms that nobody recommends stay among the members, not
/// among the names.
void choosePlausible(Case& c, const Capture& stored, const std::vector<Member>& given);

/// Takes the word of the sidecar or the user for what ran, whatever fits best.
void sayRan(Identification& id, std::vector<std::string> names, IdentifiedBy how = IdentifiedBy::given);

/// "VARIANT" in its own format or "VARIANT:PRECISION", as --ran and sidecars have it.
Result<Member> parseRan(const std::string& text);

/// True where the cast of this input to fp16 makes infinities of its largest values or zeros of all.
bool halfLosesInput(const Scan& input);

/// True where squares of these values, taken in fp16, come short by more than a schedule without slack forgives: under
/// 2^-12 they lose bits, under 2^-12.5 all.
bool halfLosesSquares(std::span<const double> input);

/// 0 / 0 where epsilon rounds to zero, and an input that fp16 does not hold, are matters of the format that the norm
/// and the cast were in; a dump does not tell that format, so members whose format nobody named are tried in fp16 too.
void addHalfPrecision(std::vector<Member>& members);

/// True for the members that are named, and for an unpublished form that reproduces the dump.
bool counts(const MemberResult& result, const Identification& id);

} // namespace nanscope
