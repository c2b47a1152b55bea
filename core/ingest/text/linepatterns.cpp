// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/linepatterns.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>
#include <re2/set.h>

namespace nanscope::ingest {

namespace {

/// States of the automaton are made as lines ask for them. Where they no longer fit it begins anew, which is slow.
constexpr std::int64_t memoryForStates = 64 << 20;

RE2::Options options()
{
    RE2::Options options(RE2::Latin1);
    options.set_max_mem(memoryForStates);
    return options;
}

re2::StringPiece piece(std::string_view text)
{
    return {text.data(), text.size()};
}

} // namespace

struct LinePatterns::Automaton
{
    RE2::Set set {options(), RE2::UNANCHORED};
};

LinePatterns::LinePatterns(const std::vector<const char*>& patterns)
    : m_automaton(std::make_unique<Automaton>())
{
    for (const char* text : patterns) {
        m_automaton->set.Add(text, nullptr);
        auto pattern = std::make_unique<RE2>(text, RE2::Latin1);
        m_withGroups.push_back(pattern->NumberOfCapturingGroups() > 0 ? std::move(pattern) : nullptr);
    }
    m_automaton->set.Compile();
}

LinePatterns::~LinePatterns() = default;

bool LinePatterns::match(std::string_view text, std::vector<int>& hits) const
{
    // To be told which they are takes memory, and nearly every line fits none.
    if (!m_automaton->set.Match(piece(text), nullptr) || !m_automaton->set.Match(piece(text), &hits)) {
        return false;
    }
    std::sort(hits.begin(), hits.end());
    return !hits.empty();
}

std::optional<std::string_view> LinePatterns::group(std::size_t pattern, const char* name, std::string_view text) const
{
    constexpr int mostGroups = 4;
    const auto& own = m_withGroups[pattern];
    if (!own) {
        return std::nullopt;
    }
    const auto index = own->NamedCapturingGroups().find(name);
    std::array<re2::StringPiece, mostGroups + 1> groups;
    if (index == own->NamedCapturingGroups().end() || index->second > mostGroups
        || !own->Match(piece(text), 0, text.size(), RE2::UNANCHORED, groups.data(), index->second + 1)
        || groups[static_cast<std::size_t>(index->second)].empty()) {
        return std::nullopt;
    }
    const auto& taken = groups[static_cast<std::size_t>(index->second)];
    return std::string_view(taken.data(), taken.size());
}

} // namespace nanscope::ingest
