// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Values that recur from elsewhere: a tile of an output that holds the input, another matrix of the batch, an earlier
// dump or a neighbouring tile was read or written in the wrong place, or never written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/identify/element.h"
#include "core/model/model.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

/// A rectangle of rows and columns; ends are exclusive.
struct Region
{
    std::int64_t rowBegin = 0;
    std::int64_t rowEnd = 0;
    std::int64_t colBegin = 0;
    std::int64_t colEnd = 0;
};

/// "every value in it is zero", "it holds the input, bit for bit", "it is also at [0, 64] of the same output"; empty
/// where the values are new.
std::string recursInside(const Element& element, const Region& region);

/// A quarter of it at least, and 32 values, are zero.
bool holdsZeros(const Element& element, const Region& region);
/// As many of them are the input's, and 16 differ.
bool holdsInput(const Element& element, const Region& region);

/// As recursInside(), for another matrix of the same size: "the output of element 1", as `what` names it.
std::string recursIn(const Element& element, const Region& region, ValueView other, const std::string& what);

/// A stretch of a region, read row by row, that stands at the same place of another matrix, bit for bit.
struct Stretch
{
    std::int64_t row = 0; ///< where it begins
    std::int64_t col = 0;
    std::size_t values = 0; ///< different ones and none of them zero: what repeats itself recurs by chance
};

/// The longest stretch that chance does not explain; none where there is no such one. `tries` is how many matrices are
/// looked through in all.
///
/// Two unrelated values of one matrix are equal in 1 of 1000 cases in bf16, less in finer formats; 1 of 100 is reckoned
/// with, or the share p of values outside the region that are equal where that is more, because matrices of one weight
/// resemble each other from update to update. n values in a row are equal by chance with p^n, and there are as many
/// places to begin as the region has values, so that n has to reach log(10^9 * tries * values) / log(1 / p): one false
/// line in 10^9 tiles. It is at least 16. Where p is above 1/4, or too little lies outside, nothing is said: of such
/// matrices a whole tile may be equal for the same reason as all else.
std::optional<Stretch> recursBeyondChance(
    const Element& element, const Region& region, ValueView other, std::size_t tries);

/// The output is the input: nothing was computed, or it was written elsewhere.
bool isCopyOfInput(const Element& element);

// Where the values of a place that is finite and wrong come from: the places that are searched, and their words. It is
// evidence of stale or misplaced data, and decides nothing by itself.

/// Where values stand a second time; no text where they are new.
struct Recurrence
{
    std::string text;
    bool misplaced = false; ///< from elsewhere in this call's results, where code does not put them on purpose
};

/// Searches the matrix itself, the others of its call, then `before`, dumps of the same process and shape that were
/// written earlier; of these one is held in memory at a time.
Recurrence originOf(const Element& element, const Region& region, const tensorfile::CaptureFile& file,
    const std::vector<const Capture*>& before, const CancelToken& cancel);

} // namespace nanscope::diagnose
