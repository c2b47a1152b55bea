// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/rules.h"
#include "core/model/model.h"

namespace nanscope {

/// Fills the members of P and says how they were found: the sidecar, else what the user says ran, else what fits, else
/// what a control fits, else every variant in its own format. Forms that nobody recommends stay among the members, not
/// among the names.
void choosePlausible(Case& c, const Capture& stored, const std::vector<Member>& given);

/// Takes the word of the sidecar or the user for what ran, whatever fits best.
void sayRan(Identification& id, std::vector<std::string> names, IdentifiedBy how = IdentifiedBy::given);

/// A zero matrix that ends all NaN is 0 / 0 where epsilon rounds to zero, which is a matter of the format the norm
/// was taken in; a dump does not tell that format, so each member is tried in fp16 too, unless the user named it.
void addHalfPrecision(std::vector<Member>& members, const Identification& id);

/// True for the members that are named, and for an unpublished form that reproduces the dump.
bool counts(const MemberResult& result, const Identification& id);

} // namespace nanscope
