// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "core/model/run.h"

namespace nanscope::diagnose {

/// Which of the processes that dumped on its rank; every restart makes another.
struct Attempt
{
    int number = 1;
    int of = 1;
    bool operator==(const Attempt&) const = default;
    bool operator<(const Attempt& other) const { return of != other.of ? of < other.of : number < other.number; }
};

using Process = std::pair<std::optional<int>, std::optional<int>>; ///< rank and process

/// Of the captures whose names give both. Ranks that show as many attempts are taken to have made them together.
std::map<Process, Attempt> attemptsOf(const RunData& run);

} // namespace nanscope::diagnose
