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

namespace nanscope {

struct RunWords
{
    std::string silentRanks; ///< which ranks left no dump, and why that says nothing; empty where none
    std::vector<std::pair<std::optional<int>, EvidenceLine>> machine; ///< hardware errors, with the rank that is said
    bool severalRanks = false;
};

RunWords wordsOf(const RunData& run);

/// A hardware error that was this rank's. A line that names no rank is that of the only one.
std::optional<EvidenceLine> hardwareErrorOf(const RunWords& words, const std::optional<int>& rank);

} // namespace nanscope
