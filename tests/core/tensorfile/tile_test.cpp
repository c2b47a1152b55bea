// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scantensor.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

constexpr float infiniteFloat = std::numeric_limits<float>::infinity();

std::uint8_t classOf(float value, double smallest)
{
    if (std::isnan(value)) {
        return classNan;
    }
    if (std::isinf(value)) {
        return value > 0 ? classPosInf : classNegInf;
    }
    return value == 0 ? classZero : std::abs(value) < smallest ? classSubnormal : classNormal;
}

/// Element by element, each looking up the tile it belongs to.
template <class At>
void expectTiles(const TileMap& map, std::int64_t rows, std::int64_t cols, double smallest, At at)
{
    EXPECT_EQ(map.rows, rows);
    EXPECT_EQ(map.cols, cols);
    ASSERT_EQ(map.height, (rows + map.tileRows - 1) / map.tileRows);
    ASSERT_EQ(map.width, (cols + map.tileCols - 1) / map.tileCols);
    EXPECT_LE(map.height, maxTiles);
    EXPECT_LE(map.width, maxTiles);
    const auto count = static_cast<std::size_t>(map.height) * static_cast<std::size_t>(map.width);
    std::vector<float> low(count, infiniteFloat);
    std::vector<float> high(count, -infiniteFloat);
    std::vector<std::uint8_t> classes(count);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t col = 0; col < cols; ++col) {
            const auto tile = static_cast<std::size_t>(row / map.tileRows * map.width + col / map.tileCols);
            const float value = at(row, col);
            classes[tile] |= classOf(value, smallest);
            if (std::isfinite(value)) {
                low[tile] = std::min(low[tile], value);
                high[tile] = std::max(high[tile], value);
            }
        }
    }
    ASSERT_EQ(map.min.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        const bool any = low[i] <= high[i];
        ASSERT_EQ(map.classes[i], classes[i]) << i;
        ASSERT_EQ(map.min[i], any ? low[i] : 0) << i;
        ASSERT_EQ(map.max[i], any ? high[i] : 0) << i;
        ASSERT_EQ(map.absmax[i], any ? std::max(std::abs(low[i]), std::abs(high[i])) : 0) << i;
    }
}

std::vector<float> mixtureOfFloats(std::int64_t count)
{
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (auto& value : values) {
        const auto roll = random() % 5000;
        value = roll == 0 ? std::numeric_limits<float>::quiet_NaN()
            : roll == 1   ? infiniteFloat
            : roll == 2   ? -infiniteFloat
            : roll < 10   ? 0.0F
            : roll < 12   ? -1e-41F
                          : normal(random);
    }
    return values;
}

} // namespace

TEST(TileMatrix, AgreesWithAPlainLoopInBothOrientations)
{
    const std::vector<std::pair<std::int64_t, std::int64_t>> shapes {
        {1, 1}, {7, 300}, {256, 256}, {257, 513}, {1000, 90}, {1030, 2048}, {3, 300000}};
    for (const auto& shape : shapes) {
        const auto rows = shape.first;
        const auto cols = shape.second;
        const auto data = mixtureOfFloats(rows * cols);
        const std::vector<double> wide(data.begin(), data.end());
        const auto at = [&](auto r, auto c) { return data[static_cast<std::size_t>(r * cols + c)]; };
        const auto turned = [&](auto r, auto c) { return at(c, r); };
        const std::span<const float> floats(data);
        const std::span<const double> doubles(wide);
        expectTiles(tensorfile::tileMatrix(floats, rows, cols, false, 0x1p-126), rows, cols, 0x1p-126, at);
        expectTiles(tensorfile::tileMatrix(floats, rows, cols, true, 0x1p-14), cols, rows, 0x1p-14, turned);
        expectTiles(tensorfile::tileMatrix(doubles, rows, cols, false, 0x1p-126), rows, cols, 0x1p-126, at);
        expectTiles(tensorfile::tileMatrix(doubles, rows, cols, true, 0x1p-14), cols, rows, 0x1p-14, turned);
    }
}

TEST(TileMatrix, ASingleBadElementIsNeverLost)
{
    std::vector<float> data(1000 * 1000, 1.0F);
    data[777 * 1000 + 3] = std::bit_cast<float>(0xffffffffU);
    const auto map = tensorfile::tileMatrix(std::span<const float>(data), 1000, 1000, false, 0x1p-126);
    EXPECT_EQ(map.tileRows, 4);
    const auto tile = static_cast<std::size_t>(777 / map.tileRows * map.width + 3 / map.tileCols);
    EXPECT_EQ(map.classes[tile], classNan | classNormal);
    EXPECT_EQ(std::count(map.classes.begin(), map.classes.end(), classNormal), 250 * 250 - 1);
}

TEST(TileMatrix, DoublesBeyondFloatStayFinite)
{
    const std::vector<double> data {1e300, -1e300};
    const auto map = tensorfile::tileMatrix(std::span<const double>(data), 1, 2, false, 0x1p-1022);
    EXPECT_EQ(map.max[0], std::numeric_limits<float>::max());
    EXPECT_EQ(map.min[1], std::numeric_limits<float>::lowest());
    EXPECT_EQ(map.classes[0], classNormal);
}

TEST(TileMatrix, NothingHasNoTiles)
{
    const auto map = tensorfile::tileMatrix(std::span<const float>(), 0, 4, false, 1);
    EXPECT_EQ(map.height, 0);
    EXPECT_TRUE(map.classes.empty());
}

TEST(TileTensor, AgreesWithTheMatrixInMemory)
{
    const TemporaryFolder folder;
    const std::int64_t rows = 400;
    const std::int64_t cols = 700;
    const auto data = mixtureOfFloats(2 * rows * cols);
    const auto bytes = bytesOf(data);
    const auto body = pickle("(" + tensor("FloatStorage", "0", 2 * rows * cols, {2, rows, cols}, {rows * cols, cols, 1})
        + tensor("FloatStorage", "0", 2 * rows * cols, {2, cols, rows}, {rows * cols, 1, cols}) + "t");
    const auto file = tensorfile::openTensorFile(folder.write("x.pt", torchFile(body, {bytes})));
    ASSERT_TRUE(file) << sentence(file.error());
    const auto& both = std::get<tensorfile::PickleList>(file->root.value);
    const auto second = std::span<const float>(data).subspan(static_cast<std::size_t>(rows * cols));
    const auto straight = tensorfile::tileTensor(*both[0].tensor(), 1);
    const auto turned = tensorfile::tileTensor(*both[1].tensor(), 1);
    ASSERT_TRUE(straight && turned);
    EXPECT_EQ(*straight, tensorfile::tileMatrix(second, rows, cols, false, 0x1p-126));
    EXPECT_EQ(*turned, tensorfile::tileMatrix(second, rows, cols, true, 0x1p-126));
    EXPECT_FALSE(tensorfile::tileTensor(*both[0].tensor(), 2));
}

/// Each type has loops of its own over the bits that are stored.
TEST(TileTensor, BitsOfSixteenTellWhatTheirValuesDo)
{
    const TemporaryFolder folder;
    const std::int64_t rows = 300;
    const std::int64_t cols = 1100;
    std::mt19937 random(5);
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(rows * cols));
    for (auto& each : bits) {
        each = static_cast<std::uint16_t>(0x3c00 + random() % 0x200 + (random() % 2) * 0x8000);
    }
    // Some tiles get zeros alone, some whatever there is.
    for (std::size_t i = 0; i < 4000; ++i) {
        bits[10 * i] = static_cast<std::uint16_t>(i < 3000 ? 0x8000 * (random() % 2) : random());
    }
    const auto body = [&](const char* type) { return pickle(tensor(type, "0", rows * cols, {rows, cols}, {cols, 1})); };
    const auto expectAlike = [&](const char* type, auto toFloat, double smallest) {
        const auto file = tensorfile::openTensorFile(folder.write(type, torchFile(body(type), {bytesOf(bits)})));
        ASSERT_TRUE(file) << sentence(file.error());
        std::vector<float> values;
        std::ranges::transform(bits, std::back_inserter(values), toFloat);
        const auto tiles = tensorfile::tileTensor(*file->root.tensor(), 0);
        ASSERT_TRUE(tiles) << sentence(tiles.error());
        const auto at = [&](auto r, auto c) { return values[static_cast<std::size_t>(r * cols + c)]; };
        expectTiles(*tiles, rows, cols, smallest, at);
        EXPECT_EQ(*tiles, tensorfile::tileMatrix(std::span<const float>(values), rows, cols, false, smallest));
    };
    expectAlike(
        "BFloat16Storage", [](std::uint16_t each) { return tensorfile::bfloat16ToFloat(each); }, 0x1p-126);
    expectAlike(
        "HalfStorage", [](std::uint16_t each) { return tensorfile::halfToFloat(each); }, 0x1p-14);
}

} // namespace nanscope
