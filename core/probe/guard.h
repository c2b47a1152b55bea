// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace nanscope::probe {

/// With whom a guard behind the Newton-Schulz step shares its flag before it leaves an update out.
enum class GuardScope {
    local, ///< with no other: each rank decides for itself
    group, ///< the process group of the shape group's own exchange, where there is one
    full, ///< the optimizer's whole process group
};

/// How the matrices of one shape reach the ranks, and so who sees a bad one. Read off dion's megabatch paths.
enum class Layout {
    gathered, ///< replicated and divided among the ranks; the results are gathered, every rank sees all of them
    single, ///< replicated and alone of its shape: every rank computes it itself
    headSplit, ///< replicated and split into heads: every rank computes all of them itself, without a group
    matrixSharded, ///< every rank has rows of each matrix: assembled, computed once, sent back in rows
    batchSharded, ///< every rank has whole matrices of a larger tensor and computes them itself, without a group
};

std::string_view name(GuardScope scope);
std::string_view name(Layout layout);
std::optional<GuardScope> parseGuardScope(std::string_view name);
std::optional<Layout> parseLayout(std::string_view name);

/// All ranks are meant to hold the same bits: where some update and others do not, they drift apart. Elsewhere one
/// logical tensor lies on several ranks, and is torn.
bool replicated(Layout layout);

/// The shape group's exchange has a process group of its own to share a flag with.
bool hasGroup(Layout layout);

enum class Sight { finite, nonFinite, unknown };

/// What one rank's Newton-Schulz call returned.
struct NsOutput
{
    Sight sight = Sight::unknown;
    std::vector<bool> badRows {}; ///< of the matrices it computed, one over the other; empty where not known
};

/// What each rank finds in its stack of results (`U_stacked`), which is what the guard looks at.
std::vector<Sight> stacksOf(Layout layout, std::span<const NsOutput> outputs);

enum class Decision { apply, skip, unknown };

/// Which ranks leave the update out. Whatever a call returns ends in some rank's stack, so that a shared flag is set
/// even where it is not known in whose.
std::vector<Decision> decide(GuardScope scope, Layout layout, std::span<const NsOutput> outputs);

enum class Agreement { allApply, allSkip, split, unknown };

Agreement agreementOf(std::span<const Decision> decisions);

} // namespace nanscope::probe
