// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// One automaton for all the patterns a line is compared with: a line is gone through once, however many there are.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
} // namespace re2

namespace nanscope::ingest {

class LinePatterns
{
public:
    explicit LinePatterns(const std::vector<const char*>& patterns);
    ~LinePatterns();

    /// The patterns that fit somewhere in the text, in order. False if there is none.
    bool match(std::string_view text, std::vector<int>& hits) const;

    /// What a named group of a pattern took; none where it took nothing or has no group of that name.
    std::optional<std::string_view> group(std::size_t pattern, const char* name, std::string_view text) const;

private:
    struct Automaton;

    std::unique_ptr<Automaton> m_automaton;
    std::vector<std::unique_ptr<re2::RE2>> m_withGroups; ///< empty for a pattern without groups
};

} // namespace nanscope::ingest
