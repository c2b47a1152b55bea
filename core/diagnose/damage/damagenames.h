// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/diagnose/identify/element.h"
#include "core/model/model.h"
#include "core/replay/analysis/badblocks.h"

namespace nanscope::diagnose {

/// What one pass over a matrix tells of its damage.
class DamageTally
{
public:
    DamageTally(std::int64_t rows, std::int64_t cols);

    void add(std::int64_t row, std::int64_t col, Damage damage);

    std::int64_t height() const { return m_height; }
    std::int64_t width() const { return m_width; }
    std::int64_t total() const { return nan + posInf + negInf; }

    /// Exactly which elements are damaged; none where that takes more than so many different rows or columns side by
    /// side, or the matrix is too large to remember each element.
    std::optional<replay::BadBlocks> blocks(std::size_t mostLines) const;

    std::vector<std::int64_t> perRow;
    std::vector<std::int64_t> perCol;
    std::int64_t onDiagonal = 0;
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;

private:
    bool damaged(std::int64_t row, std::int64_t col) const;
    bool likeRowBefore(std::int64_t row) const;

    std::int64_t m_height;
    std::int64_t m_width;
    std::size_t m_words; ///< of a row
    bool m_exact;
    std::vector<std::uint64_t> m_bits; ///< of the elements, from the first damage on
};

/// Shape and words of what was tallied.
/// The batch element and the bits of its NaN are not filled in.
DamagePattern patternOf(const DamageTally& tally);

} // namespace nanscope::diagnose
