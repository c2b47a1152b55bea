// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "core/instruments/functiontarget.h"
#include "core/instruments/measurement.h"

namespace nanscope::instruments {

/// How often the same input gave other bits.
struct RepeatCount
{
    std::int64_t calls = 0; ///< that gave an output
    std::int64_t failed = 0; ///< that gave none
    std::int64_t differ = 0; ///< from the reference, which is one of them or was called before
    std::int64_t nonFinite = 0;
    std::int64_t distinct = 0; ///< different outputs, the reference's included
    std::optional<std::int64_t> firstDiffering {}; ///< which call was the first, from 1 on
    std::optional<std::int64_t> firstNonFinite {};

    bool clean() const { return differ == 0 && calls > 0; }
    /// Of k = 0: at 95 % confidence fewer than this share of calls differs (3 / n).
    std::optional<double> bound() const;
};

RepeatCount countRepeats(const Burst& burst, const std::string& reference);
/// `part` was called after `total`.
RepeatCount& operator+=(RepeatCount& total, const RepeatCount& part);

struct RepeatAnswer
{
    RepeatCount count;
    std::optional<Outcome> outcome; ///< of the first call, which is looked at
    std::string output {}; ///< what the others are held against, as 128 bits in hex; empty where no call gave one
    std::string sentence; ///< what it means and what it does not
};

Result<RepeatAnswer> repeatBitwise(Measurement& measurement, int calls);

/// "not reproduced in this setting: ...", or how many differ.
std::string repeatSentence(const RepeatCount& count);

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
    std::string output {}; ///< as in RepeatAnswer
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
Result<StormAnswer> storm(Measurement& measurement, const FunctionChoice& choice, const StormRequest& request);

} // namespace nanscope::instruments
