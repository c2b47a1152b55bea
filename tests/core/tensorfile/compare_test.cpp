// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>

#include "core/tensorfile/capture/comparetensors.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

class Compare : public testing::Test
{
protected:
    tensorfile::Tensor floats(
        const std::string& name, const std::vector<float>& values, const Shape& shape, const Shape& strides)
    {
        const auto count = static_cast<std::int64_t>(values.size());
        const auto bytes = torchFile(pickle(tensor("FloatStorage", "0", count, shape, strides)), {bytesOf(values)});
        return opened(m_folder.write(name, bytes));
    }

    tensorfile::Tensor written(
        const std::string& name, DType dtype, const Shape& shape, const std::vector<std::uint16_t>& bits)
    {
        const auto bytes = std::as_bytes(std::span(bits));
        const auto path = m_folder.path() / name;
        EXPECT_TRUE(tensorfile::writePt(
            path, {{"input", tensorfile::TensorToWrite {"input", dtype, shape, {bytes.begin(), bytes.end()}}}}));
        const auto file = tensorfile::openTensorFile(path);
        return file ? *file->root.find("input")->tensor() : tensorfile::Tensor {};
    }

    static tensorfile::Tensor opened(const std::filesystem::path& path)
    {
        const auto file = tensorfile::openTensorFile(path);
        EXPECT_TRUE(file) << (file ? "" : sentence(file.error()));
        return file && file->root.tensor() != nullptr ? *file->root.tensor() : tensorfile::Tensor {};
    }

    static tensorfile::TensorDifference compared(const tensorfile::Tensor& a, const tensorfile::Tensor& b)
    {
        const auto difference = tensorfile::compareTensors("input", a, b);
        EXPECT_TRUE(difference) << (difference ? "" : sentence(difference.error()));
        return difference.value_or(tensorfile::TensorDifference {});
    }

    TemporaryFolder m_folder;
};

std::vector<float> counting(std::size_t count)
{
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0F);
    return values;
}

} // namespace

TEST_F(Compare, CountsUlpsOfTheTensorsOwnType)
{
    // 1 in bf16 is 0x3f80. Elements: equal, +1, +2, +10, +11, -0 for 0, NaN for NaN of other bits, Inf for 1.
    const std::vector<std::uint16_t> a {0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x0000, 0x7fc0, 0x3f80};
    const std::vector<std::uint16_t> b {0x3f80, 0x3f81, 0x3f82, 0x3f8a, 0x3f8b, 0x8000, 0xffff, 0x7f80};
    const auto difference =
        compared(written("a.pt", DType::bfloat16, {2, 4}, a), written("b.pt", DType::bfloat16, {2, 4}, b));
    ASSERT_EQ(difference.batches.size(), 1U);
    const auto& matrix = difference.batches[0];
    EXPECT_EQ(matrix.count, 8);
    EXPECT_EQ(matrix.differing, 7);
    EXPECT_EQ(matrix.classChanges, 1);
    EXPECT_EQ(matrix.nanBits, 1);
    ASSERT_TRUE(matrix.ulps);
    EXPECT_EQ(*matrix.ulps, (tensorfile::UlpCounts {1, 1, 2, 1, 11}));
    ASSERT_TRUE(matrix.first);
    EXPECT_EQ(matrix.first->index, 1);
    EXPECT_DOUBLE_EQ(matrix.first->b, 1.0078125);
    EXPECT_DOUBLE_EQ(matrix.largest, 11 * 0.0078125);
}

TEST_F(Compare, UlpsGoAcrossZeroAndToTheEndsOfTheRange)
{
    EXPECT_EQ(tensorfile::ulpDistance(DType::float16, 0x0001, 0x8001), 2U);
    EXPECT_EQ(tensorfile::ulpDistance(DType::float32, 0x00000000, 0x80000000), 0U);
    EXPECT_EQ(
        tensorfile::ulpDistance(DType::float64, 0x7fefffffffffffff, 0xffefffffffffffff), 2 * 0x7fefffffffffffffULL);
    EXPECT_EQ(tensorfile::ulpDistance(DType::int32, 1, 2), std::nullopt);
}

TEST_F(Compare, EachMatrixOfAStackIsToldApart)
{
    auto values = counting(24);
    const auto a = floats("a.pt", values, {2, 3, 4}, {12, 4, 1});
    values[17] = std::nextafter(values[17], 100.0F);
    values[13] = std::numeric_limits<float>::quiet_NaN();
    const auto difference = compared(a, floats("b.pt", values, {2, 3, 4}, {12, 4, 1}));
    ASSERT_EQ(difference.batches.size(), 2U);
    EXPECT_EQ(difference.batches[0].differing, 0);
    EXPECT_FALSE(difference.batches[0].first);
    EXPECT_EQ(difference.batches[1].differing, 2);
    EXPECT_EQ(difference.batches[1].classChanges, 1);
    EXPECT_EQ(difference.batches[1].first->index, 13);
    EXPECT_EQ(difference.total().first->index, 13);
    EXPECT_EQ(difference.total().ulps->one, 1);
    EXPECT_EQ(difference.total().count, 24);
}

// Neither the order in the file nor the size of a block may change what is said: 300 x 200 takes three blocks.
TEST_F(Compare, LayoutsOfTheFileDoNotMatter)
{
    constexpr std::int64_t rows = 300;
    constexpr std::int64_t cols = 200;
    const auto values = counting(rows * cols);
    std::vector<float> turned(values.size());
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            turned[static_cast<std::size_t>(c * rows + r)] = values[static_cast<std::size_t>(r * cols + c)];
        }
    }
    // Column-major, [250, 3] lies before [2, 150]; row-major it comes after.
    turned[static_cast<std::size_t>(3 * rows + 250)] += 1;
    turned[static_cast<std::size_t>(150 * rows + 2)] += 1;
    const auto straight = floats("a.pt", values, {rows, cols}, {cols, 1});
    const auto columns = floats("b.pt", turned, {rows, cols}, {1, rows});
    for (const auto& difference : {compared(straight, columns), compared(columns, straight)}) {
        ASSERT_EQ(difference.batches.size(), 1U);
        EXPECT_EQ(difference.batches[0].differing, 2);
        ASSERT_TRUE(difference.batches[0].first);
        EXPECT_EQ(difference.batches[0].first->index, 2 * cols + 150);
        EXPECT_DOUBLE_EQ(difference.batches[0].largest, 1);
    }
    const auto sameTwice = compared(columns, floats("c.pt", turned, {rows, cols}, {1, rows}));
    EXPECT_EQ(sameTwice.batches[0].differing, 0);
}

TEST_F(Compare, WhatCannotBeComparedIsSaid)
{
    const auto a = floats("a.pt", counting(12), {3, 4}, {4, 1});
    const auto b = floats("b.pt", counting(12), {4, 3}, {3, 1});
    const auto difference = compared(a, b);
    EXPECT_EQ(difference.problem, "3x4 fp32 against 4x3 fp32");
    EXPECT_TRUE(difference.batches.empty());
    EXPECT_EQ(difference.total().ulps, std::nullopt);
}

} // namespace nanscope
