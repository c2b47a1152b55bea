// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the rules of damaged and of finite outputs share: questions to all members of a case, and their words.
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/rules.h"

namespace nanscope {

using Property = bool (*)(const MemberResult&);

bool any(const Case& c, Property property);
bool all(const Case& c, Property property);

/// "a in bf16, b in fp16" of the members that have the property; a few, and how many more.
std::string membersWith(const Case& c, Property property);
std::string membersWithout(const Case& c, Property property);

/// "3 of 12 plausible variants and formats"
std::string partOfMembers(const Case& c, std::size_t part);

bool fitsNothingKnown(const Case& c);

/// True where the members with the property are those that cast an input to fp16 which does not hold it.
bool castFails(const Case& c, Property concerned);

Judgement zeroInput(const Case& c);
Judgement unknownFunction(const Case& c);
Judgement dependsOnVariant(const Case& c, Property concerned);

} // namespace nanscope
