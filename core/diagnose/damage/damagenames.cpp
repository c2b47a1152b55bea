// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/damagenames.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

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

namespace {

/// The damaged lines of one direction.
struct Extent
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t hit = 0; ///< how many lines in between hold damage
    std::int64_t stride = 1; ///< 0: not evenly apart
    std::int64_t size = 0; ///< lines of the matrix

    std::int64_t length() const { return end - begin; }
    bool contiguous() const { return hit == length(); }
};

std::int64_t strideOf(const std::vector<std::int64_t>& lines, const Extent& extent)
{
    if (extent.hit < 3) {
        return extent.contiguous() ? 1 : 0;
    }
    const auto stride = (extent.length() - 1) / (extent.hit - 1);
    std::int64_t met = 0;
    for (auto line = extent.begin; line < extent.end; line += stride) {
        met += lines[static_cast<std::size_t>(line)] > 0 ? 1 : 0;
    }
    return met == extent.hit && stride * (extent.hit - 1) == extent.length() - 1 ? stride : 0;
}

Extent extentOf(const std::vector<std::int64_t>& lines)
{
    Extent extent;
    const auto damaged = [](std::int64_t count) { return count > 0; };
    extent.size = std::ssize(lines);
    extent.begin = std::find_if(lines.begin(), lines.end(), damaged) - lines.begin();
    extent.end = lines.rend() - std::find_if(lines.rbegin(), lines.rend(), damaged);
    extent.hit = std::count_if(lines.begin(), lines.end(), damaged);
    extent.stride = strideOf(lines, extent);
    return extent;
}

struct Extents
{
    Extent rows;
    Extent cols;
};

std::string kinds(const DamageTally& t)
{
    std::vector<std::string_view> names;
    if (t.nan > 0) {
        names.emplace_back("NaN");
    }
    if (t.posInf > 0) {
        names.emplace_back("+Inf");
    }
    if (t.negInf > 0) {
        names.emplace_back("-Inf");
    }
    return fmt::format("{}", fmt::join(names, " or "));
}

std::string range(std::string_view what, const Extent& extent)
{
    if (extent.length() == 1) {
        return fmt::format("{} {}", what, extent.begin);
    }
    return fmt::format("{}s {}–{}", what, extent.begin, extent.end - 1);
}

/// "row 3", "rows 0-95", "every second row 0:96:2", "12 rows within 0-95".
std::string lines(std::string_view what, const Extent& extent)
{
    constexpr std::array<std::string_view, 4> ordinals {"second", "third", "fourth", "fifth"};
    if (extent.contiguous()) {
        return range(what, extent);
    }
    if (extent.stride < 2) {
        return fmt::format("{} {}s within {}–{}", extent.hit, what, extent.begin, extent.end - 1);
    }
    const auto place = static_cast<std::size_t>(extent.stride - 2);
    const auto which = place < ordinals.size() ? std::string(ordinals[place]) : fmt::format("{}th", extent.stride);
    const auto end = std::min(extent.end - 1 + extent.stride, extent.size);
    return fmt::format("every {} {} {}:{}:{}", which, what, extent.begin, end, extent.stride);
}

/// Row r holds `perRow(r)` of them and column c `perCol(c)`: only a triangle has such sums.
template <class PerRow, class PerCol>
bool hasSums(const DamageTally& t, PerRow perRow, PerCol perCol)
{
    for (std::int64_t i = 0; i < t.height(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (t.perRow[at] != perRow(i) || t.perCol[at] != perCol(i)) {
            return false;
        }
    }
    return true;
}

std::optional<DamageShape> triangleOf(const DamageTally& t)
{
    const auto n = t.height();
    if (t.width() != n || n < 3) {
        return std::nullopt;
    }
    const auto upTo = [](std::int64_t i) { return i + 1; };
    const auto before = [](std::int64_t i) { return i; };
    const auto from = [n](std::int64_t i) { return n - i; };
    const auto after = [n](std::int64_t i) { return n - i - 1; };
    if (hasSums(t, upTo, from) || hasSums(t, before, after)) {
        return DamageShape::lowerTriangle;
    }
    return hasSums(t, from, upTo) || hasSums(t, after, before) ? std::optional(DamageShape::upperTriangle)
                                                               : std::nullopt;
}

/// The rectangle below the diagonal of such a pair.
std::optional<replay::Region> mirroredRectangle(const DamageTally& t)
{
    constexpr std::size_t mostLines = 5;
    const auto blocks = t.height() == t.width() ? t.blocks(mostLines) : std::nullopt;
    if (!blocks || blocks->rowEdges != blocks->colEdges) {
        return std::nullopt;
    }
    auto lower = *blocks;
    for (std::size_t row = 0; row < blocks->height(); ++row) {
        for (std::size_t col = row; col < blocks->width(); ++col) {
            if (blocks->at(row, col) != blocks->at(col, row) || (row == col && blocks->at(row, col))) {
                return std::nullopt;
            }
            lower.bad[row * lower.width() + col] = 0;
        }
    }
    const auto region = replay::boundsOf(lower);
    return region.rows * region.cols == replay::badElements(lower) ? std::optional(region) : std::nullopt;
}

// Two or three values beside each other, and the few crossings of some lines, are also where a result of one strong
// direction is largest: what a cast takes is no tile.
constexpr std::int64_t fewestTogether = 4;
constexpr std::int64_t fewestApart = 16;

DamageShape shapeOf(const DamageTally& t, const Extents& e)
{
    const auto total = t.total();
    if (total == t.height() * t.width()) {
        return DamageShape::wholeElement;
    }
    if (total == 1) {
        return DamageShape::singleElement;
    }
    if (total == e.rows.hit * t.width()) {
        return DamageShape::rows;
    }
    if (total == e.cols.hit * t.height()) {
        return DamageShape::columns;
    }
    if (total == e.rows.length() * e.cols.length() && total >= fewestTogether) {
        return DamageShape::rectangle;
    }
    if (total == e.rows.hit * e.cols.hit && total >= fewestApart) {
        return e.rows.stride > 0 && e.cols.stride > 0 ? DamageShape::stridedRectangle : DamageShape::blocks;
    }
    if (t.height() == t.width() && total == t.height() && t.onDiagonal == total) {
        return DamageShape::diagonal;
    }
    if (const auto triangle = triangleOf(t)) {
        return *triangle;
    }
    return mirroredRectangle(t) ? DamageShape::mirroredPair : DamageShape::scattered;
}

std::string linesText(std::string_view noun, const Extent& extent, const std::string& what)
{
    if (extent.contiguous()) {
        return fmt::format("the whole of {} is {}", range(noun, extent), what);
    }
    if (extent.stride > 1) {
        return fmt::format("the whole of {} is {}", lines(noun, extent), what);
    }
    return fmt::format("{} whole {}s within {}–{} are {}", extent.hit, noun, extent.begin, extent.end - 1, what);
}

std::string patternText(const DamagePattern& p, const DamageTally& t, const Extents& e)
{
    const auto what = kinds(t);
    if (p.shape == DamageShape::wholeElement) {
        return fmt::format("every value is {}", what);
    }
    if (p.shape == DamageShape::singleElement) {
        return fmt::format("[{}, {}] is {}", e.rows.begin, e.cols.begin, what);
    }
    if (p.shape == DamageShape::rectangle || p.shape == DamageShape::stridedRectangle
        || p.shape == DamageShape::blocks) {
        return fmt::format("{} × {} are {}", lines("row", e.rows), lines("column", e.cols), what);
    }
    if (p.shape == DamageShape::rows || p.shape == DamageShape::columns) {
        return p.shape == DamageShape::rows ? linesText("row", e.rows, what) : linesText("column", e.cols, what);
    }
    if (p.shape == DamageShape::mirroredPair) {
        const auto [row, col, rows, cols] = *mirroredRectangle(t);
        return fmt::format(
            "rows {}–{} × columns {}–{} and their mirror image are {}", row, row + rows - 1, col, col + cols - 1, what);
    }
    if (p.shape != DamageShape::scattered) {
        return fmt::format("the {} is {}", name(p.shape), what);
    }
    return fmt::format("{} values within {} × {} are {}", p.count, range("row", e.rows), range("column", e.cols), what);
}

/// "the upper half", "the left half": what is computed in two parts breaks in one.
std::string halfText(DamageShape shape, const Extents& e)
{
    const auto& extent = shape == DamageShape::rows ? e.rows : e.cols;
    if ((shape != DamageShape::rows && shape != DamageShape::columns) || !extent.contiguous()
        || 2 * extent.length() != extent.size) {
        return {};
    }
    if (extent.begin != 0 && extent.end != extent.size) {
        return {};
    }
    const bool first = extent.begin == 0;
    return shape == DamageShape::rows ? (first ? ", the upper half" : ", the lower half")
                                      : (first ? ", the left half" : ", the right half");
}

/// The side of the largest usual tile whose grid the edges lie on; 0 where there is none, or where they are those of
/// the matrix.
std::int64_t tileOf(const Extent& extent)
{
    if (!extent.contiguous() || extent.length() == extent.size) {
        return 0;
    }
    for (const std::int64_t side : {256, 128, 64}) {
        if (extent.begin % side == 0 && (extent.end % side == 0 || extent.end == extent.size)) {
            return side;
        }
    }
    return 0;
}

std::string tilesText(DamageShape shape, const Extents& e)
{
    if (shape != DamageShape::rows && shape != DamageShape::columns && shape != DamageShape::rectangle) {
        return {};
    }
    const auto rows = shape == DamageShape::columns ? 0 : tileOf(e.rows);
    const auto cols = shape == DamageShape::rows ? 0 : tileOf(e.cols);
    if (shape == DamageShape::rectangle) {
        return rows > 0 && cols > 0 ? fmt::format(", aligned to {} × {} tiles", rows, cols) : "";
    }
    return rows + cols > 0 ? fmt::format(", aligned to tiles of {} {}", rows + cols, rows > 0 ? "rows" : "columns")
                           : "";
}

/// "; 3 NaN to 1 Inf" in lowest terms where these say something, else as they are.
std::string ratioText(const DamageTally& t)
{
    const auto infinite = t.posInf + t.negInf;
    if (t.nan == 0 || infinite == 0) {
        return {};
    }
    const auto common = std::gcd(t.nan, infinite);
    constexpr std::int64_t simple = 64;
    const auto by = std::max(t.nan, infinite) / common <= simple ? common : 1;
    return fmt::format("; {} NaN to {} Inf", t.nan / by, infinite / by);
}

} // namespace

DamagePattern patternOf(const DamageTally& tally)
{
    DamagePattern pattern;
    pattern.count = tally.total();
    pattern.nan = tally.nan;
    if (pattern.count == 0) {
        pattern.text = "every value is finite";
        return pattern;
    }
    const Extents extents {extentOf(tally.perRow), extentOf(tally.perCol)};
    pattern.rowBegin = extents.rows.begin;
    pattern.rowEnd = extents.rows.end;
    pattern.colBegin = extents.cols.begin;
    pattern.colEnd = extents.cols.end;
    pattern.shape = shapeOf(tally, extents);
    pattern.text = patternText(pattern, tally, extents) + halfText(pattern.shape, extents)
        + tilesText(pattern.shape, extents) + ratioText(tally);
    return pattern;
}

} // namespace nanscope::diagnose
