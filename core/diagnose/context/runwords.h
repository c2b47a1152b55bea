// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the logs of a run say to all of its captures alike, read once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// A line of a log that speaks of hardware.
struct HardwareError
{
    std::optional<int> rank; ///< where it is said
    std::optional<int> pid; ///< of the process that the driver names
    bool asWritten = false; ///< begins as the driver or the failing process writes it: no quotation, no search for it
    EvidenceLine line;
};

struct RunWords
{
    std::string silentRanks; ///< which ranks left no dump, and why that says nothing; empty where none
    std::vector<HardwareError> machine;
    bool severalRanks = false;
};

RunWords wordsOf(const RunData& run);

/// A hardware error that was this process's: the driver names it, or nobody and it is of this rank. A line that names
/// no rank is that of the only one.
std::optional<EvidenceLine> hardwareErrorOf(
    const RunWords& words, const std::optional<int>& rank, const std::optional<int>& pid);

} // namespace nanscope::diagnose
