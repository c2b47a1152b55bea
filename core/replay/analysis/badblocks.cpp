// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/badblocks.h"

#include <algorithm>

namespace nanscope::replay {

namespace {

bool sameRows(const BadBlocks& blocks, std::size_t a, std::size_t b)
{
    for (std::size_t col = 0; col < blocks.width(); ++col) {
        if (blocks.at(a, col) != blocks.at(b, col)) {
            return false;
        }
    }
    return true;
}

bool sameCols(const BadBlocks& blocks, std::size_t a, std::size_t b)
{
    for (std::size_t row = 0; row < blocks.height(); ++row) {
        if (blocks.at(row, a) != blocks.at(row, b)) {
            return false;
        }
    }
    return true;
}

/// The lines that differ from the one before, and the edges they begin at.
template <class Same>
std::vector<std::size_t> firstLines(std::size_t count, Same same)
{
    std::vector<std::size_t> lines {0};
    for (std::size_t line = 1; line < count; ++line) {
        if (!same(line - 1, line)) {
            lines.push_back(line);
        }
    }
    return lines;
}

std::vector<std::int64_t> edgesAt(const std::vector<std::int64_t>& edges, const std::vector<std::size_t>& lines)
{
    std::vector<std::int64_t> kept;
    for (const auto line : lines) {
        kept.push_back(edges[line]);
    }
    kept.push_back(edges.back());
    return kept;
}

} // namespace

BadBlocks simplified(const BadBlocks& blocks)
{
    const auto rows = firstLines(blocks.height(), [&](auto a, auto b) { return sameRows(blocks, a, b); });
    const auto cols = firstLines(blocks.width(), [&](auto a, auto b) { return sameCols(blocks, a, b); });
    BadBlocks result {edgesAt(blocks.rowEdges, rows), edgesAt(blocks.colEdges, cols), {}};
    for (const auto row : rows) {
        for (const auto col : cols) {
            result.bad.push_back(blocks.at(row, col) ? 1 : 0);
        }
    }
    return result;
}

std::int64_t badElements(const BadBlocks& blocks)
{
    std::int64_t count = 0;
    for (std::size_t row = 0; row < blocks.height(); ++row) {
        for (std::size_t col = 0; col < blocks.width(); ++col) {
            if (blocks.at(row, col)) {
                count += (blocks.rowEdges[row + 1] - blocks.rowEdges[row])
                    * (blocks.colEdges[col + 1] - blocks.colEdges[col]);
            }
        }
    }
    return count;
}

bool allBad(const BadBlocks& blocks)
{
    return std::find(blocks.bad.begin(), blocks.bad.end(), 0) == blocks.bad.end();
}

Region boundsOf(const BadBlocks& blocks)
{
    std::int64_t top = blocks.rows();
    std::int64_t left = blocks.cols();
    std::int64_t bottom = 0;
    std::int64_t right = 0;
    for (std::size_t row = 0; row < blocks.height(); ++row) {
        for (std::size_t col = 0; col < blocks.width(); ++col) {
            if (blocks.at(row, col)) {
                top = std::min(top, blocks.rowEdges[row]);
                left = std::min(left, blocks.colEdges[col]);
                bottom = std::max(bottom, blocks.rowEdges[row + 1]);
                right = std::max(right, blocks.colEdges[col + 1]);
            }
        }
    }
    return bottom == 0 ? Region {} : Region {top, left, bottom - top, right - left};
}

} // namespace nanscope::replay
