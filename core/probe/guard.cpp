// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/probe/guard.h"

#include <algorithm>
#include <array>

namespace nanscope::probe {

namespace {

constexpr std::array<std::string_view, 3> scopeNames {"local", "group", "full"};
constexpr std::array<std::string_view, 5> layoutNames {
    "gathered", "single", "head-split", "matrix-sharded", "batch-sharded"};

template <class Enum, class Names>
std::optional<Enum> parse(std::string_view name, const Names& names)
{
    const auto* found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? std::nullopt : std::optional(static_cast<Enum>(found - names.begin()));
}

/// What a maximum over the flags gives: one bad rank decides, whatever is not known of the others.
Sight anyOf(std::span<const Sight> sights)
{
    const auto has = [&](Sight wanted) { return std::find(sights.begin(), sights.end(), wanted) != sights.end(); };
    return has(Sight::nonFinite) ? Sight::nonFinite : has(Sight::unknown) ? Sight::unknown : Sight::finite;
}

std::vector<Sight> ownSights(std::span<const NsOutput> outputs)
{
    std::vector<Sight> sights;
    for (const auto& output : outputs) {
        sights.push_back(output.sight);
    }
    return sights;
}

/// What one of `ranks` even parts of the rows holds of a result.
Sight partOf(const NsOutput& output, std::size_t part, std::size_t ranks)
{
    if (output.sight != Sight::nonFinite) {
        return output.sight;
    }
    const auto rows = output.badRows.size();
    if (rows == 0 || rows % ranks != 0) {
        return Sight::unknown;
    }
    const auto begin = output.badRows.begin() + static_cast<std::ptrdiff_t>(part * (rows / ranks));
    const auto end = begin + static_cast<std::ptrdiff_t>(rows / ranks);
    return std::find(begin, end, true) != end ? Sight::nonFinite : Sight::finite;
}

std::vector<Sight> sightsOfRows(std::span<const NsOutput> outputs)
{
    std::vector<Sight> stacks;
    for (std::size_t part = 0; part < outputs.size(); ++part) {
        std::vector<Sight> pieces;
        for (const auto& output : outputs) {
            pieces.push_back(partOf(output, part, outputs.size()));
        }
        stacks.push_back(anyOf(pieces));
    }
    return stacks;
}

Decision decisionOn(Sight sight)
{
    return sight == Sight::nonFinite ? Decision::skip : sight == Sight::finite ? Decision::apply : Decision::unknown;
}

} // namespace

std::string_view name(GuardScope scope)
{
    return scopeNames[static_cast<std::size_t>(scope)];
}

std::string_view name(Layout layout)
{
    return layoutNames[static_cast<std::size_t>(layout)];
}

std::optional<GuardScope> parseGuardScope(std::string_view name)
{
    return parse<GuardScope>(name, scopeNames);
}

std::optional<Layout> parseLayout(std::string_view name)
{
    return parse<Layout>(name, layoutNames);
}

bool replicated(Layout layout)
{
    return layout != Layout::matrixSharded && layout != Layout::batchSharded;
}

bool hasGroup(Layout layout)
{
    return layout != Layout::headSplit && layout != Layout::batchSharded;
}

std::vector<Sight> stacksOf(Layout layout, std::span<const NsOutput> outputs)
{
    auto own = ownSights(outputs);
    switch (layout) {
    case Layout::gathered:
        return std::vector<Sight>(outputs.size(), anyOf(own));
    case Layout::matrixSharded:
        return sightsOfRows(outputs);
    case Layout::single:
    case Layout::headSplit:
    case Layout::batchSharded:
        break;
    }
    return own;
}

std::vector<Decision> decide(GuardScope scope, Layout layout, std::span<const NsOutput> outputs)
{
    const bool shared = scope == GuardScope::full || (scope == GuardScope::group && hasGroup(layout));
    if (shared) {
        return std::vector<Decision>(outputs.size(), decisionOn(anyOf(ownSights(outputs))));
    }
    std::vector<Decision> decisions;
    for (const auto own : stacksOf(layout, outputs)) {
        decisions.push_back(decisionOn(own));
    }
    return decisions;
}

Agreement agreementOf(std::span<const Decision> decisions)
{
    const auto has = [&](Decision wanted) {
        return std::find(decisions.begin(), decisions.end(), wanted) != decisions.end();
    };
    if (has(Decision::skip) && has(Decision::apply)) {
        return Agreement::split;
    }
    if (has(Decision::unknown)) {
        return Agreement::unknown;
    }
    return has(Decision::skip) ? Agreement::allSkip : Agreement::allApply;
}

} // namespace nanscope::probe
