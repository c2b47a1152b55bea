// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/damagetally.h"

#include <algorithm>

namespace nanscope::diagnose {

namespace {

// 64 MiB of bits: more than any matrix that an optimizer orthogonalises.
constexpr std::int64_t mostElements = std::int64_t {1} << 29;
constexpr std::int64_t wordBits = 64;

} // namespace

DamageTally::DamageTally(std::int64_t rows, std::int64_t cols)
    : perRow(static_cast<std::size_t>(rows), 0)
    , perCol(static_cast<std::size_t>(cols), 0)
    , m_height(rows)
    , m_width(cols)
    , m_words(static_cast<std::size_t>((cols + wordBits - 1) / wordBits))
    , m_exact(cols > 0 && rows <= mostElements / cols)
{ }

void DamageTally::add(std::int64_t row, std::int64_t col, Damage damage)
{
    ++perRow[static_cast<std::size_t>(row)];
    ++perCol[static_cast<std::size_t>(col)];
    onDiagonal += row == col ? 1 : 0;
    nan += damage == Damage::nan ? 1 : 0;
    posInf += damage == Damage::posInf ? 1 : 0;
    negInf += damage == Damage::negInf ? 1 : 0;
    if (!m_exact) {
        return;
    }
    if (m_bits.empty()) {
        m_bits.resize(static_cast<std::size_t>(m_height) * m_words);
    }
    const auto word = static_cast<std::size_t>(row) * m_words + static_cast<std::size_t>(col / wordBits);
    m_bits[word] |= std::uint64_t {1} << (col % wordBits);
}

bool DamageTally::damaged(std::int64_t row, std::int64_t col) const
{
    const auto word = static_cast<std::size_t>(row) * m_words + static_cast<std::size_t>(col / wordBits);
    return ((m_bits[word] >> (col % wordBits)) & 1U) != 0;
}

bool DamageTally::likeRowBefore(std::int64_t row) const
{
    const auto begin = m_bits.begin() + row * static_cast<std::ptrdiff_t>(m_words);
    const auto words = static_cast<std::ptrdiff_t>(m_words);
    return std::equal(begin, begin + words, begin - words);
}

std::optional<replay::BadBlocks> DamageTally::blocks(std::size_t mostLines) const
{
    if (!m_exact) {
        return std::nullopt;
    }
    if (m_bits.empty()) {
        return replay::BadBlocks {{0, m_height}, {0, m_width}, {0}};
    }
    replay::BadBlocks blocks {{0}, {0}, {}};
    for (std::int64_t row = 1; row < m_height && blocks.rowEdges.size() <= mostLines; ++row) {
        if (!likeRowBefore(row)) {
            blocks.rowEdges.push_back(row);
        }
    }
    const auto differs = [&](std::int64_t col) {
        return std::ranges::any_of(
            blocks.rowEdges, [&](std::int64_t row) { return damaged(row, col) != damaged(row, col - 1); });
    };
    for (std::int64_t col = 1; col < m_width && blocks.colEdges.size() <= mostLines; ++col) {
        if (differs(col)) {
            blocks.colEdges.push_back(col);
        }
    }
    if (blocks.rowEdges.size() > mostLines || blocks.colEdges.size() > mostLines) {
        return std::nullopt;
    }
    for (const auto row : blocks.rowEdges) {
        for (const auto col : blocks.colEdges) {
            blocks.bad.push_back(damaged(row, col) ? 1 : 0);
        }
    }
    blocks.rowEdges.push_back(m_height);
    blocks.colEdges.push_back(m_width);
    return blocks;
}

} // namespace nanscope::diagnose
