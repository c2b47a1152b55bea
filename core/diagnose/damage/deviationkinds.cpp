// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/deviationkinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/diagnose/damage/provenance.h"
#include "core/diagnose/identify/fits.h"

namespace nanscope::diagnose {

namespace {

// Rows, or columns, of a matrix, whichever way it lies.
struct LineView
{
    ValueView values;
    std::int64_t count;
    std::int64_t length;
    std::int64_t stride; ///< from a line to the next
    std::int64_t step; ///< along a line

    double at(std::int64_t line, std::int64_t i) const
    {
        return values[static_cast<std::size_t>(line * stride + i * step)];
    }
};

double product(const LineView& a, std::int64_t line, const LineView& b, std::int64_t other)
{
    double sum = 0;
    for (std::int64_t i = 0; i < a.length; ++i) {
        sum += a.at(line, i) * b.at(other, i);
    }
    return sum;
}

// A wrong tile of a product inside the iteration adds multiples of a few lines of the result to a few others. These
// lines are nearly orthonormal: what stands across them has no large share in any.
bool isMixtureOf(const LineView& apart, std::int64_t first, std::int64_t last, const LineView& result)
{
    constexpr std::int64_t looked = 32;
    constexpr double inFewLines = 0.5;
    const auto step = std::max<std::int64_t>(1, (last - first) / looked);
    std::vector<double> shares(static_cast<std::size_t>(result.count), 0);
    double energy = 0;
    for (auto line = first; line < last; line += step) {
        energy += product(apart, line, apart, line);
        for (std::int64_t other = 0; other < result.count; ++other) {
            const double along = product(apart, line, result, other);
            shares[static_cast<std::size_t>(other)] += along * along;
        }
    }
    std::ranges::sort(shares, std::greater {});
    const auto few = shares.begin() + static_cast<std::ptrdiff_t>((shares.size() + 3) / 4);
    const double within = std::accumulate(shares.begin(), shares.end(), 0.0);
    const double byChance = static_cast<double>(result.count) / static_cast<double>(result.length);
    return std::accumulate(shares.begin(), few, 0.0) >= inFewLines * energy || within >= (1 + byChance) / 2 * energy;
}

bool isMixtureOfTheRest(const MatrixShape& shape, ValueView apart, ValueView replay, const Region& region)
{
    if (region.colBegin == 0 && region.colEnd == shape.cols && shape.rows <= shape.cols) {
        const LineView rows {replay, shape.rows, shape.cols, shape.cols, 1};
        return isMixtureOf({apart, shape.rows, shape.cols, shape.cols, 1}, region.rowBegin, region.rowEnd, rows);
    }
    if (region.rowBegin == 0 && region.rowEnd == shape.rows && shape.cols <= shape.rows) {
        const LineView cols {replay, shape.cols, shape.rows, 1, shape.cols};
        return isMixtureOf({apart, shape.cols, shape.rows, 1, shape.cols}, region.colBegin, region.colEnd, cols);
    }
    return false;
}

struct Products
{
    double sum = 0;
    double count = 0;
    std::vector<double> ofRows;
    std::vector<double> ofCols;
};

Products sumOfProducts(const MatrixShape& shape, ValueView a, ValueView b, const Region& region)
{
    Products products;
    products.ofRows.resize(static_cast<std::size_t>(region.rowEnd - region.rowBegin));
    products.ofCols.resize(static_cast<std::size_t>(region.colEnd - region.colBegin));
    products.count = static_cast<double>(products.ofRows.size() * products.ofCols.size());
    for (auto row = region.rowBegin; row < region.rowEnd; ++row) {
        for (auto col = region.colBegin; col < region.colEnd; ++col) {
            const auto i = static_cast<std::size_t>(row * shape.cols + col);
            const double product = a[i] * b[i];
            products.sum += product;
            products.ofRows[static_cast<std::size_t>(row - region.rowBegin)] += product;
            products.ofCols[static_cast<std::size_t>(col - region.colBegin)] += product;
        }
    }
    return products;
}

// A factor of its own for each line explains all that is off, and it is not zero.
bool isScaled(const std::vector<double>& own, const std::vector<double>& off, const std::vector<double>& both)
{
    constexpr double unexplained = 0.05;
    constexpr double smallestFactor = 0.1;
    double rest = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
        const double slope = own[i] > 0 ? both[i] / own[i] : 0;
        if (std::abs(1 + slope) < smallestFactor) {
            return false;
        }
        rest += off[i] - slope * both[i];
    }
    return rest <= unexplained * std::accumulate(off.begin(), off.end(), 0.0);
}

} // namespace

bool looksDeliberate(const Element& element, ValueView replay, const Region& region)
{
    // Of unrelated values, the product is that of a random walk.
    constexpr double deviations = 4;
    std::vector<double> apart(element.output.size());
    std::ranges::transform(element.output, replay, apart.begin(), std::minus {});
    const auto own = sumOfProducts(element.shape, replay, replay, region);
    const auto off = sumOfProducts(element.shape, apart, apart, region);
    const auto both = sumOfProducts(element.shape, apart, replay, region);
    const bool unrelated = std::abs(both.sum) <= deviations * std::sqrt(off.sum * own.sum / both.count);
    if (unrelated && off.sum <= own.sum) {
        return !isMixtureOfTheRest(element.shape, apart, replay, region);
    }
    return isScaled(own.ofRows, off.ofRows, both.ofRows) || isScaled(own.ofCols, off.ofCols, both.ofCols);
}

bool looksMasked(const Element& element, const Region& region)
{
    constexpr double part = 0.05; // fewer zeros are those that an output has anyhow
    const auto zeroAt = [&](std::int64_t row, std::int64_t col) {
        return element.output[static_cast<std::size_t>(row * element.shape.cols + col)] == 0;
    };
    Region zeros {region.rowEnd, region.rowBegin, region.colEnd, region.colBegin};
    std::int64_t count = 0;
    for (auto row = region.rowBegin; row < region.rowEnd; ++row) {
        for (auto col = region.colBegin; col < region.colEnd; ++col) {
            if (zeroAt(row, col)) {
                ++count;
                zeros = {std::min(zeros.rowBegin, row), std::max(zeros.rowEnd, row + 1), std::min(zeros.colBegin, col),
                    std::max(zeros.colEnd, col + 1)};
            }
        }
    }
    const auto area = (region.rowEnd - region.rowBegin) * (region.colEnd - region.colBegin);
    if (count == 0 || static_cast<double>(count) < part * static_cast<double>(area)) {
        return false;
    }
    const auto rows = zeros.rowEnd - zeros.rowBegin;
    const auto cols = zeros.colEnd - zeros.colBegin;
    return count < rows * cols || rows == element.shape.rows || cols == element.shape.cols;
}

bool endsLikeACast(const Element& element, ValueView replay)
{
    constexpr double rounding = 0.95;
    double smallestGone = INFINITY;
    double largestKept = 0;
    bool nan = false;
    bool inf = false;
    for (std::size_t i = 0; i < replay.size(); ++i) {
        const double value = element.output[i];
        if (std::isfinite(value)) {
            largestKept = std::max(largestKept, std::abs(replay[i]));
            continue;
        }
        nan = nan || std::isnan(value);
        inf = inf || std::isinf(value);
        if (std::isinf(value) && std::signbit(value) != std::signbit(replay[i])) {
            return false;
        }
        smallestGone = std::min(smallestGone, std::abs(replay[i]));
    }
    return nan != inf && smallestGone >= rounding * largestKept;
}

namespace {

// What stands twice is looked for in tiles of 8 x 8, the smallest that kernels write. Half of one, 32 values of bf16,
// is equal to another by chance in 1 of 10^64 cases (see recursBeyondChance()).
constexpr std::int64_t smallSide = 8;
constexpr int rowsNeeded = 4;
constexpr std::size_t differentInRowNeeded = 6; // of a row: what repeats itself recurs by chance

struct Place
{
    std::int64_t row = 0;
    std::int64_t col = 0;
    bool operator==(const Place&) const = default;
};

bool operator<(const Place& left, const Place& right)
{
    return std::tie(left.row, left.col) < std::tie(right.row, right.col);
}

using TileRow = std::array<double, smallSide>;

struct RowHash
{
    std::size_t operator()(const TileRow& row) const
    {
        std::size_t hash = 0;
        for (const double value : row) {
            hash = hash * 1099511628211U + std::hash<double>()(value);
        }
        return hash;
    }
};

TileRow rowAt(ValueView values, std::int64_t cols, Place place)
{
    TileRow row {};
    std::copy_n(values.begin() + place.row * cols + place.col, smallSide, row.begin());
    return row;
}

Place tileOf(Place place)
{
    return {place.row / smallSide * smallSide, place.col};
}

/// For each tile that repeats an earlier one at least in part, the earlier one.
std::map<Place, Place> repeatedTiles(ValueView values, const MatrixShape& shape)
{
    std::unordered_map<TileRow, Place, RowHash> first;
    std::map<std::pair<Place, Place>, int> shared;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t col = 0; col + smallSide <= shape.cols; col += smallSide) {
            const auto at = rowAt(values, shape.cols, {row, col});
            if (std::set<double>(at.begin(), at.end()).size() < differentInRowNeeded) {
                continue;
            }
            const auto [found, isNew] = first.try_emplace(at, Place {row, col});
            if (!isNew) {
                ++shared[{tileOf({row, col}), tileOf(found->second)}];
            }
        }
    }
    std::map<Place, Place> repeated;
    for (const auto& [tiles, rows] : shared) {
        if (rows >= rowsNeeded && tiles.first != tiles.second) {
            repeated.emplace(tiles);
        }
    }
    return repeated;
}

Region regionOf(Place tile, std::int64_t size, const MatrixShape& shape)
{
    return {tile.row, std::min(tile.row + size, shape.rows), tile.col, std::min(tile.col + size, shape.cols)};
}

void take(ExactLeftovers& found, Leftover leftover, const Region& tile)
{
    const auto region = found.leftover == Leftover::none ? tile : found.region;
    found.leftover = leftover;
    found.region = {std::min(region.rowBegin, tile.rowBegin), std::max(region.rowEnd, tile.rowEnd),
        std::min(region.colBegin, tile.colBegin), std::max(region.colEnd, tile.colEnd)};
}

/// Of all tiles, those that hold this in the output and not in the replay.
template <class Holds>
ExactLeftovers tilesThat(
    const Element& element, const Element& replayed, const Region& part, Leftover leftover, Holds holds)
{
    ExactLeftovers found;
    for (auto row = part.rowBegin / TileErrors::side * TileErrors::side; row < part.rowEnd; row += TileErrors::side) {
        for (auto col = part.colBegin / TileErrors::side * TileErrors::side; col < part.colEnd;
             col += TileErrors::side) {
            const auto tile = regionOf({row, col}, TileErrors::side, element.shape);
            if (holds(element, tile) && !holds(replayed, tile)) {
                take(found, leftover, tile);
            }
        }
    }
    return found;
}

ExactLeftovers tilesThatRepeat(const Element& element, const Element& replayed, const Region& part)
{
    ExactLeftovers found;
    const auto inReplay = repeatedTiles(replayed.output, replayed.shape);
    for (const auto& [tile, earlier] : repeatedTiles(element.output, element.shape)) {
        const bool here = tile.row < part.rowEnd && tile.row + smallSide > part.rowBegin && tile.col < part.colEnd
            && tile.col + smallSide > part.colBegin;
        if (!here || inReplay.contains(tile)) {
            continue;
        }
        if (found.leftover == Leftover::none) {
            found.otherRow = earlier.row;
            found.otherCol = earlier.col;
        }
        take(found, Leftover::elsewhere, regionOf(tile, smallSide, element.shape));
    }
    return found;
}

} // namespace

ExactLeftovers findExactLeftovers(const Element& element, ValueView replay, const Region& part)
{
    if (!std::ranges::all_of(replay, [](double value) { return std::isfinite(value); })) {
        return {};
    }
    Element replayed;
    replayed.shape = element.shape;
    replayed.input = element.input;
    replayed.output = inFormatOf(element, replay);
    const auto zeros = tilesThat(element, replayed, part, Leftover::zeros, holdsZeros);
    if (zeros.leftover != Leftover::none) {
        return zeros;
    }
    const auto input = tilesThat(element, replayed, part, Leftover::input, holdsInput);
    return input.leftover != Leftover::none ? input : tilesThatRepeat(element, replayed, part);
}

} // namespace nanscope::diagnose
