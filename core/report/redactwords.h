// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nanscope {

/// Names that also mean something else would tear holes into the text, so only tell-tale ones count.
bool tellTale(const std::string& host);

/// Not the account of a machine, and not what folders are called anyway.
bool namesAPerson(const std::string& name);

/// Of this machine and this user; empty where they give nothing away.
const std::string& ownHost();
std::string ownHome();

/// Each byte that is no part of a UTF-8 character as a character of its own, so that a rule can match the whole of a
/// name in an old encoding; and back.
std::string withStandIns(const std::string& text);
std::string withoutStandIns(const std::string& text);

bool alphanumeric(const std::string& text, std::size_t at);
bool insideWord(const std::string& text, std::size_t begin, std::size_t end);

/// What differs between a match and what replaced it, `with`, which is cut likewise: the context that gave a name away
/// is not private.
std::string_view privatePart(std::string_view match, std::string& with);

} // namespace nanscope
