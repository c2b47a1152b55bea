// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>

#include <re2/re2.h>

#include "core/report/redaction.h"

namespace nanscope {

/// What gives a private text away, and what stands for it.
struct RedactionRule
{
    RE2 pattern;
    std::string replacement;
    int RedactionCounts::*counter;
    RedactionRule(const std::string& regex, std::string with, int RedactionCounts::*what)
        : pattern(regex)
        , replacement(std::move(with))
        , counter(what)
    { }
};

/// In the order they apply: addresses with a user before bare hosts, whole home paths before names inside them.
const std::deque<RedactionRule>& redactionRules();

/// False where no rule can match, found in one pass over the text.
bool anyRuleMatches(const std::string& text);

} // namespace nanscope
