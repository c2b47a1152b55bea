// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/diagnose/identify/envelope.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// Settles what may have run, `facts.identified`, and gives the members that are to be replayed: the sidecar's, else
/// what the user says ran, else what fits, else what a control fits, else every variant in its own format. Unpublished
/// forms stay among the members, not among the names.
std::vector<Member> choosePlausible(
    Facts& facts, const Capture& stored, const std::vector<Member>& given, const replay::Catalogue& catalogue);

/// What the user said of other functions than the one that the sidecar names, or of it in another format or with
/// other numbers than sidecar and dump have: they outweigh it.
std::vector<Member> outweighed(const Member& recorded, const std::vector<Member>& given, const Capture& stored);

/// "gns-gram:fp16 or keller-jordan", as the user said it.
std::string ranText(const std::vector<Member>& said);

/// "VARIANT" in its own format or "VARIANT:PRECISION", as --ran and sidecars have it; VARIANT may be
/// NAME[@STEPS][@EPSILON].
Result<Member> parseRan(const std::string& text, const replay::Catalogue& catalogue);

/// True where squares of these values, taken in fp16, come short by more than a schedule without slack forgives: under
/// 2^-12 they lose bits, under 2^-12.5 all.
bool halfLosesSquares(ValueView input);

/// 0 / 0 where epsilon rounds to zero, and an input that fp16 does not hold, are matters of the format that the norm
/// and the cast were in; a dump does not tell that format, so members whose format was not named are tried in fp16,
/// too.
void addHalfPrecision(std::vector<Member>& members);

/// People name the form that they run, not the digits of its epsilon: where the source of a member takes its own, and
/// that one or the dump's matters beside the norm of the input, it is tried with the dump's as well.
void addRecordedEpsilon(std::vector<Member>& members, const Element& element, std::optional<double> recorded);

/// True for the members that are named, and for an unpublished form that reproduces the dump.
bool counts(const MemberResult& result, const Identification& id);

} // namespace nanscope::diagnose
