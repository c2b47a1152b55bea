// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "core/instruments/functionsubject.h"
#include "core/instruments/repeat.h"

namespace nanscope::instruments {

/// One way of making it hard for a function.
struct StormLeg
{
    std::string name; ///< "poisoned allocator"
    std::string skipped; ///< why it makes no sense here, in one clause; empty: it ran
    RepeatCount count; ///< held against the first call of the calm leg
};

struct StormAnswer
{
    std::vector<StormLeg> legs; ///< the calm one first
    std::string sentence;
};

struct StormRequest
{
    int calls = 100; ///< of each leg
    int processes = 5; ///< fresh ones
    int streams = 3;
    int threads = 4;
};

/// Only a function can be in a storm: a replay cell would test Nanscope.
Result<StormAnswer> storm(Asker& asker, const FunctionChoice& choice, const StormRequest& request);

} // namespace nanscope::instruments
