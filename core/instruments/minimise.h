// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/instruments/matrices.h"
#include "core/instruments/measurement.h"

namespace nanscope::instruments {

/// A rectangle of some matrices of a batch.
struct Cut
{
    std::vector<std::int64_t> batches;
    std::int64_t row = 0;
    std::int64_t rows = 0;
    std::int64_t col = 0;
    std::int64_t cols = 0;
};

/// As many dimensions as before; row-major, whatever the strides were.
Matrices cutOut(const Matrices& from, const Cut& cut);

/// The same with a rectangle of every matrix set to zero.
Matrices withZeros(const Matrices& from, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols);

std::int64_t nonZeroIn(const Matrices& matrices);

/// What of a shape decides which kernel a function takes (gram-newton-schulz and quack: more than 256 rows and columns,
/// not square, both multiples of 8). A reproducer of another class would prove nothing.
struct DispatchClass
{
    bool square = false;
    bool tall = false;
    bool multipleOf8 = false;
    std::int64_t leastSide = 1; ///< of both sides; 257 where the smaller one was more than 256

    bool has(std::int64_t rows, std::int64_t cols) const;
};

/// `ofCell`: a replay only asks whether the matrix is square or tall.
DispatchClass dispatchClass(std::int64_t rows, std::int64_t cols, bool ofCell);
std::string describe(const DispatchClass& dispatch);

/// How a reply is recognised: its worst outcome, and how much of each bad matrix is bad.
struct Symptom
{
    Outcome outcome = Outcome::finite;
    bool wholeMatrix = false; ///< every element of the worst matrix is non-finite
    bool operator==(const Symptom&) const = default;
};
std::string describe(const Symptom& symptom);

struct MinimiseRequest
{
    int calls = 300; ///< at most
    std::optional<int> tries {}; ///< of each candidate: one that shows the symptom is enough; none: see minimise()
};

struct MinimiseAnswer
{
    Symptom symptom;
    DispatchClass dispatch;
    Shape before;
    Shape after;
    std::int64_t nonZeroBefore = 0;
    std::int64_t nonZeroAfter = 0;
    std::vector<std::int64_t> batches; ///< of the capture, that are left
    int tries = 1; ///< of each candidate
    bool exhausted = false; ///< the calls were used up: a smaller one may exist
    std::string sentence;
    Matrices input; ///< what is left
    Matrices output; ///< what came of it
    std::optional<double> epsilon; ///< it was called with
};

/// The smallest input found that still shows the symptom: matrices of the batch are dropped, then rows and columns by
/// halves, then blocks are set to zero. Fails where there is no symptom, or it does not come a second time. Of a
/// symptom that does not come every time each candidate gets so many tries that one as frequent is missed once in 20.
Result<MinimiseAnswer> minimise(Measurement& measurement, const MinimiseRequest& request);

/// Writes what is left as a capture. Never over `original`, under whatever name or link.
Result<void> writeMinimised(const MinimiseAnswer& answer, const std::string& path, const std::string& original);

} // namespace nanscope::instruments
