// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

namespace nanscope::report {

/// Names that also mean something else would tear holes into the text, so only tell-tale ones count.
bool tellTale(const std::string& host);

/// Likewise: no word that a log may hold elsewhere.
bool tellTaleSecret(std::string_view secret);

/// Not the account of a machine, and not what folders are called anyway.
bool namesAPerson(const std::string& name);

/// Of this machine and this user; empty where they give nothing away.
const std::string& ownHost();
std::string ownHome();

bool alphanumeric(std::string_view text, std::size_t at);
bool insideWord(std::string_view text, std::size_t begin, std::size_t end);

/// What differs between a match and what replaced it, `with`, which is cut likewise: the context that gave a name away
/// is not private.
std::string_view privatePart(std::string_view match, std::string& with);

/// Parts of a line that look like keys because nobody would have chosen their characters: not the digests, symbols of
/// compilers and files that a log is full of.
std::vector<std::string_view> randomLooking(std::string_view line);

/// The whole match, then what its parentheses hold.
using RuleGroups = std::span<const re2::StringPiece>;

/// What the table of rules asks beyond its patterns, of the last group that holds something.
bool isMixed(RuleGroups groups); ///< letters and digits as in a key, no word and no number
bool isEncoded(RuleGroups groups); ///< base64 rather than a word
bool isSaid(RuleGroups groups); ///< neither a number nor a word such as "none"
bool isSecretPair(RuleGroups groups); ///< a name that tells of a secret in the first group, and such a value
bool isPerson(RuleGroups groups);
bool isPersonsFolder(RuleGroups groups); ///< in the second group
bool isNoModule(RuleGroups groups); ///< of Python
bool isHostWithDomain(RuleGroups groups); ///< in the first group
bool isNodeList(RuleGroups groups); ///< a name and its numbers

} // namespace nanscope::report
