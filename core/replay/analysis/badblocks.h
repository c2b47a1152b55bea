// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which elements of a matrix went bad, as a grid of blocks: exact whatever the size of the matrix, as long as the
// damage has few different lines.
#pragma once

#include <cstdint>
#include <vector>

#include "core/replay/device/device.h"

namespace nanscope::replay {

/// Rows and columns cut at the edges, of which the first is 0 and the last the size; each block is all bad or all good.
struct BadBlocks
{
    std::vector<std::int64_t> rowEdges;
    std::vector<std::int64_t> colEdges;
    std::vector<std::uint8_t> bad; ///< row-major, 1 where a block is bad

    std::size_t height() const { return rowEdges.size() - 1; }
    std::size_t width() const { return colEdges.size() - 1; }
    std::int64_t rows() const { return rowEdges.back(); }
    std::int64_t cols() const { return colEdges.back(); }
    bool at(std::size_t row, std::size_t col) const { return bad[row * width() + col] != 0; }
    bool operator==(const BadBlocks&) const = default;
};

/// Without the edges that nothing changes at: two of these are equal where the same elements are bad.
BadBlocks simplified(const BadBlocks& blocks);

std::int64_t badElements(const BadBlocks& blocks);
bool allBad(const BadBlocks& blocks);

/// The smallest region that holds everything bad; none of any size where nothing is.
Region boundsOf(const BadBlocks& blocks);

} // namespace nanscope::replay
