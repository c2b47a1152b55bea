// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/probe/guard.h"

namespace nanscope::diagnose {

constexpr int mostRanks = 4096; ///< a rank beyond is a number in a name, not a job of that size

/// What the user states, or restricts the answer to.
struct GuardQuestion
{
    std::optional<probe::GuardScope> scope {};
    std::optional<probe::Layout> layout {}; ///< no capture names it
    std::optional<int> ranks {}; ///< in the optimizer's group; else those that logs and captures name
};

/// One rank's call in one update of one shape group.
struct GuardRank
{
    std::optional<int> rank; ///< none: further ranks, if there are any
    probe::Sight output = probe::Sight::unknown;
    std::string why {}; ///< what shows that, or what is missing
    bool inputBad = false;
    bool onlyZeros = false; ///< bad only where the input is all zero: padding, which is dropped before a guard looks
    std::vector<std::string> captures {};
};

/// What comes of an update that some ranks make and others leave out.
enum class Consequence {
    none, ///< all ranks do the same
    drift, ///< replicated parameters no longer hold the same bits
    torn, ///< of one logical tensor some parts have moved and others have not
    unknown, ///< not known of every rank
};

std::string_view name(Consequence consequence);

struct GuardOutcome
{
    probe::GuardScope scope = probe::GuardScope::full;
    probe::Layout layout = probe::Layout::gathered;
    std::vector<probe::Decision> decisions; ///< in order of the step's ranks
    probe::Agreement agreement = probe::Agreement::unknown;
    Consequence consequence = Consequence::unknown;
    std::string stack {}; ///< "(2, 160, 96)": what the guard looks at, where a capture has one rank's part
};

/// One update of one shape group with an output that was not finite.
struct GuardStep
{
    std::string group; ///< "160x96 bf16"
    std::optional<std::pair<std::int64_t, std::int64_t>> step; ///< between the lines of these two
    StepSource stepSource {};
    Role role = Role::birth; ///< downstream: with a guard from the start, its cause would not have been there
    std::string causedBy;
    std::vector<GuardRank> ranks; ///< ascending
    bool momentumBad = false; ///< an input was not finite, and the momentum keeps that for ever
    std::vector<std::string> captures;
    std::vector<GuardOutcome> outcomes; ///< by layout, then by scope
    std::vector<std::string> otherGroups; ///< of the same update, from a rank whose capture was on: finite, so applied
};

/// A way the matrices may have reached the ranks, with what the stack of its guard looks like.
struct GuardLayout
{
    probe::Layout layout = probe::Layout::gathered;
    bool possible = true;
    std::string why; ///< what rules it out, or what it is
};

struct GuardWhatIf
{
    std::vector<GuardStep> steps; ///< causes first, in order of update
    std::vector<GuardLayout> layouts;
    std::vector<EvidenceLine> layoutHints; ///< what the logs say for one or the other
    std::int64_t guardLines = 0; ///< the run's own guard spoke: at least so many skips
    std::vector<EvidenceLine> notes;
};

/// For every update that a capture shows to have gone bad: which ranks would have left it out under which guard.
GuardWhatIf guardWhatIf(const RunData& run, const GuardQuestion& question = {});

/// How many matrices a gathered stack holds, whose parts have `perRank` each: the last part may be padded.
std::pair<std::int64_t, std::int64_t> gatheredCount(std::int64_t perRank, std::int64_t ranks);

} // namespace nanscope::diagnose
