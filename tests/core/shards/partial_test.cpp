// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "../tensorfile/fixtures.h"
#include "core/replay/program/formats.h"
#include "core/shards/partial.h"
#include "core/tensorfile/convert.h"

namespace nanscope {

using namespace fixtures;
using testing::ElementsAre;

namespace {

class Partials : public testing::Test
{
protected:
    /// A row of these values in this type, in a file of its own.
    tensorfile::Tensor row(DType dtype, const std::string& storageType, const std::vector<double>& values)
    {
        std::vector<std::byte> bits(values.size() * sizeOf(dtype));
        replay::encode(dtype, values, bits.data());
        const auto count = static_cast<std::int64_t>(values.size());
        const auto body = tensor(storageType, "0", count, {1, count}, {count, 1});
        const auto bytes = std::string(reinterpret_cast<const char*>(bits.data()), bits.size());
        const auto file = tensorfile::openTensorFile(
            m_folder.write(std::to_string(++m_files) + ".pt", torchFile(pickle(body), {bytes})));
        EXPECT_TRUE(file) << (file ? "" : sentence(file.error()));
        return file && file->root.tensor() != nullptr ? *file->root.tensor() : tensorfile::Tensor {};
    }

    tensorfile::Tensor half(const std::vector<double>& values) { return row(DType::float16, "HalfStorage", values); }
    tensorfile::Tensor single(const std::vector<double>& values) { return row(DType::float32, "FloatStorage", values); }

    static shards::ReducedBlock reduced(const std::vector<tensorfile::Tensor>& parts, shards::Reduction reduction)
    {
        const auto cols = parts.front().shape()[1];
        auto block = shards::reduceBlock(parts, reduction, {0, 0, 1, 0, cols});
        EXPECT_TRUE(block);
        return block.value_or(shards::ReducedBlock {});
    }

    TemporaryFolder m_folder;
    int m_files = 0;
};

} // namespace

TEST_F(Partials, SumsInTheirOwnTypeAndInAWiderOne)
{
    // 2048 + 1 is 2048 in fp16: adding in order loses both ones, adding in fp32 first keeps them.
    const auto sums = reduced({half({2048, 40000}), half({1, 40000}), half({1, -40000})}, shards::Reduction::sum);
    EXPECT_THAT(sums.own, ElementsAre(2048, INFINITY));
    EXPECT_THAT(sums.wide, ElementsAre(2050, 40000));
    EXPECT_THAT(sums.finite, ElementsAre(1, 1));
}

TEST_F(Partials, AnOverflowInFp16IsNoneInFp32UntilItIsRounded)
{
    const auto sums = reduced({half({60000}), half({60000})}, shards::Reduction::sum);
    EXPECT_EQ(sums.own[0], INFINITY);
    EXPECT_EQ(sums.wide[0], 120000);
    EXPECT_EQ(shards::roundTo(DType::float16, sums.wide[0]), INFINITY);
}

TEST_F(Partials, AnAverageOverflowsWhileItIsAdded)
{
    const auto mean = reduced({half({60000}), half({60000})}, shards::Reduction::average);
    EXPECT_EQ(mean.own[0], INFINITY);
    EXPECT_EQ(mean.wide[0], 60000);
}

TEST_F(Partials, Fp32IsAddedInFp64AsWell)
{
    const auto sums = reduced({single({1, 3e38}), single({1e-9, 3e38})}, shards::Reduction::sum);
    EXPECT_THAT(sums.own, ElementsAre(1, INFINITY));
    EXPECT_EQ(sums.wide[0], 1 + static_cast<double>(1e-9F));
    EXPECT_TRUE(std::isfinite(sums.wide[1]));
}

TEST_F(Partials, LargestAndSmallestKeepANan)
{
    const std::vector<tensorfile::Tensor> parts {
        single({1, -INFINITY, std::nan(""), 2}), single({-3, 5, 4, std::nan("")})};
    const auto largest = reduced(parts, shards::Reduction::largest);
    EXPECT_EQ(largest.own[0], 1);
    EXPECT_EQ(largest.own[1], 5) << "-Inf of one part is gone";
    EXPECT_TRUE(std::isnan(largest.own[2]));
    EXPECT_TRUE(std::isnan(largest.own[3])) << "whichever part it comes in";
    EXPECT_TRUE(largest.wide.empty());
    EXPECT_THAT(largest.finite, ElementsAre(1, 0, 0, 0));
    EXPECT_EQ(reduced(parts, shards::Reduction::smallest).own[0], -3);
}

TEST_F(Partials, EncodesWhatItRounded)
{
    for (const auto dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
        for (const double given : {0.0, -0.0, 1.0, -2.5, 65504.0, 1e-7, 6.1e-5, 3e38, HUGE_VAL, -HUGE_VAL}) {
            const auto value = shards::roundTo(dtype, given);
            std::array<std::byte, 8> bits {};
            replay::encode(dtype, std::span(&value, 1), bits.data());
            double back = 7;
            tensorfile::convert(dtype, bits.data(), 1, &back);
            EXPECT_EQ(back, value) << torchName(dtype) << " " << given;
            EXPECT_EQ(std::signbit(back), std::signbit(value));
        }
        const auto nan = std::nan("");
        std::array<std::byte, 8> bits {};
        replay::encode(dtype, std::span(&nan, 1), bits.data());
        double back = 7;
        tensorfile::convert(dtype, bits.data(), 1, &back);
        EXPECT_TRUE(std::isnan(back)) << torchName(dtype);
    }
}

TEST_F(Partials, KnowsWhatItCanReduce)
{
    EXPECT_EQ(shards::parseReduction("sum"), shards::Reduction::sum);
    EXPECT_EQ(shards::parseReduction("avg"), shards::Reduction::average);
    EXPECT_FALSE(
        shards::parseReduction("product") || shards::parseReduction("masked sum") || shards::parseReduction(""));
    EXPECT_FALSE(shards::canReduce(DType::int64) || shards::canReduce(DType::float8_e4m3fn));
}

} // namespace nanscope
