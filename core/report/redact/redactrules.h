// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "core/report/input/reportoptions.h"
#include "core/report/redact/redactwords.h"

namespace nanscope::report {

constexpr std::size_t mostRuleGroups = 10;

/// One row of the table: what gives a private text away, and what stands for it.
struct RuleText
{
    std::string id;
    std::string what;
    std::string hint; ///< a line without a match of it has none of the pattern either; empty: the pattern itself
    std::string pattern; ///< of one line, or of the whole text where it begins with (?s)
    std::string replacement; ///< may name groups of the pattern
    int RedactionCounts::*counter;
    std::string source; ///< where the form is known from
    bool (*holds)(RuleGroups) = nullptr; ///< what no pattern can tell; null: every match counts
};

/// In the order they apply: addresses with a user before bare hosts, whole home paths before names inside them.
std::vector<RuleText> ruleTexts();

/// A row made ready.
struct RedactionRule
{
    RuleText text;
    RE2 pattern;
    bool wholeText;
    explicit RedactionRule(RuleText row)
        : text(std::move(row))
        , pattern(text.pattern)
        , wholeText(text.pattern.starts_with("(?s)"))
    { }
};

const std::deque<RedactionRule>& redactionRules();

/// Those whose hint is there, in their order, found in one pass over the line.
std::vector<int> rulesThatMayMatch(const std::string& line);

} // namespace nanscope::report
