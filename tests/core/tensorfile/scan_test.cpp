// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scankernels.h"
#include "core/tensorfile/scan/scantensor.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// What a scan must say, by the plainest loop there is. `at(row, col)` gives the element.
template <class At>
Scan plainScan(std::int64_t rows, std::int64_t cols, double smallest, At at)
{
    Scan scan;
    long double squares = 0; // millions of additions would cost a double too many digits
    scan.count = rows * cols;
    for (std::int64_t i = 0; i < scan.count; ++i) {
        const double value = at(i / cols, i % cols);
        const auto kind = std::isnan(value) ? ValueClass::nan
            : value == infinite             ? ValueClass::posInf
            : value == -infinite            ? ValueClass::negInf
                                            : ValueClass::normal;
        scan.nan += kind == ValueClass::nan;
        scan.posInf += kind == ValueClass::posInf;
        scan.negInf += kind == ValueClass::negInf;
        if (kind != ValueClass::normal) {
            if (scan.firstNonFinite < 0) {
                scan.firstNonFinite = i;
                scan.firstClass = kind;
            }
            continue;
        }
        const double magnitude = std::abs(value);
        scan.zero += magnitude == 0;
        scan.subnormal += magnitude != 0 && magnitude < smallest;
        scan.absmax = std::max(scan.absmax, magnitude);
        if (magnitude != 0 && (scan.minNonzero == 0 || magnitude < scan.minNonzero)) {
            scan.minNonzero = magnitude;
        }
        squares += static_cast<long double>(magnitude) * magnitude;
        scan.trace += i / cols == i % cols ? value : 0;
    }
    scan.sumSquares = static_cast<double>(squares);
    return scan;
}

void expectSame(const Scan& found, const Scan& expected, const std::string& where)
{
    EXPECT_EQ(found.count, expected.count) << where;
    EXPECT_EQ(found.nan, expected.nan) << where;
    EXPECT_EQ(found.posInf, expected.posInf) << where;
    EXPECT_EQ(found.negInf, expected.negInf) << where;
    EXPECT_EQ(found.zero, expected.zero) << where;
    EXPECT_EQ(found.subnormal, expected.subnormal) << where;
    EXPECT_EQ(found.absmax, expected.absmax) << where;
    EXPECT_EQ(found.minNonzero, expected.minNonzero) << where;
    EXPECT_EQ(found.firstNonFinite, expected.firstNonFinite) << where;
    EXPECT_EQ(found.firstClass, expected.firstClass) << where;
    if (std::isinf(expected.sumSquares)) {
        EXPECT_EQ(found.sumSquares, expected.sumSquares) << where;
    } else {
        EXPECT_NEAR(found.sumSquares, expected.sumSquares, 1e-13 * expected.sumSquares) << where;
        EXPECT_NEAR(found.trace, expected.trace, 1e-12 * std::sqrt(expected.sumSquares)) << where;
    }
}

/// IEEE bits to double by arithmetic on the fields, no conversion of the CPU's involved.
double decode(unsigned bits, int exponentBits, int mantissaBits)
{
    const int bias = (1 << (exponentBits - 1)) - 1;
    const int exponent = static_cast<int>(bits >> mantissaBits) & ((1 << exponentBits) - 1);
    const int mantissa = static_cast<int>(bits & ((1U << mantissaBits) - 1));
    const double sign = (bits >> (exponentBits + mantissaBits)) != 0 ? -1 : 1;
    if (exponent == (1 << exponentBits) - 1) {
        return mantissa == 0 ? sign * infinite : std::numeric_limits<double>::quiet_NaN();
    }
    const int leading = exponent == 0 ? 0 : 1 << mantissaBits;
    return sign * std::ldexp(leading + mantissa, std::max(exponent, 1) - bias - mantissaBits);
}

std::vector<std::uint16_t> everyPattern()
{
    std::vector<std::uint16_t> bits(65536);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        bits[i] = static_cast<std::uint16_t>(i);
    }
    return bits;
}

class ScanTest : public testing::Test
{
protected:
    tensorfile::Tensor load(const std::string& type, const std::string& data, std::int64_t elements, const Shape& shape,
        const Shape& strides, std::int64_t offset = 0)
    {
        const auto body = pickle(tensor(type, "0", elements, shape, strides, offset));
        const auto file = tensorfile::openTensorFile(folder.write("x.pt", torchFile(body, {data})));
        EXPECT_TRUE(file) << sentence(file.error());
        return file ? *file->root.tensor() : tensorfile::Tensor();
    }

    Scan scanOf(const tensorfile::Tensor& tensor)
    {
        const auto scans = tensorfile::scanTensor(tensor);
        EXPECT_TRUE(scans) << sentence(scans.error());
        return scans && !scans->empty() ? scans->front() : Scan {};
    }

    TemporaryFolder folder;
};

/// Mostly ordinary numbers, with a little of everything else.
std::vector<float> mixture(std::size_t count, unsigned seed, bool nonFinite)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (auto& value : values) {
        const auto roll = random() % 200;
        value = normal(random) * std::exp2(static_cast<float>(static_cast<int>(random() % 60) - 30));
        value = roll == 0 ? 0.0F : roll == 1 ? -0.0F : roll == 2 ? 3e-42F : value;
        if (nonFinite && roll > 195) {
            value = std::bit_cast<float>(roll == 196 ? 0x7f800000U : roll == 197 ? 0xff800000U : 0xffc00001U);
        }
    }
    return values;
}

} // namespace

TEST_F(ScanTest, EveryBfloat16AndHalfIsConvertedExactly)
{
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto half = tensorfile::halfToFloat(static_cast<std::uint16_t>(bits));
        const auto brain = tensorfile::bfloat16ToFloat(static_cast<std::uint16_t>(bits));
        const double halfTrue = decode(bits, 5, 10);
        const double brainTrue = decode(bits, 8, 7);
        if (std::isnan(halfTrue)) {
            ASSERT_TRUE(std::isnan(half)) << bits;
            ASSERT_EQ(std::bit_cast<std::uint32_t>(half) & 0x7fffffU, (bits & 0x3ffU) << 13) << bits;
        } else {
            ASSERT_EQ(std::bit_cast<std::uint64_t>(double {half}), std::bit_cast<std::uint64_t>(halfTrue)) << bits;
        }
        ASSERT_EQ(std::bit_cast<std::uint32_t>(brain), bits << 16);
        if (!std::isnan(brainTrue)) {
            ASSERT_EQ(double {brain}, brainTrue) << bits;
        }
    }
}

TEST_F(ScanTest, CountsEveryBfloat16AndHalfPatternOnce)
{
    const auto data = bytesOf(everyPattern());
    const auto half = load("HalfStorage", data, 65536, {256, 256}, {256, 1});
    const auto brain = load("BFloat16Storage", data, 65536, {256, 256}, {256, 1});
    const auto brainFile = scanOf(brain);
    expectSame(brainFile,
        plainScan(256, 256, 0x1p-126, [](auto r, auto c) { return decode(static_cast<unsigned>(r * 256 + c), 8, 7); }),
        "bf16");
    EXPECT_EQ(brainFile.nan, 2 * 127);
    EXPECT_EQ(brainFile.subnormal, 2 * 127);
    const auto again = load("HalfStorage", data, 65536, {256, 256}, {256, 1});
    const auto halfFile = scanOf(again);
    expectSame(halfFile,
        plainScan(256, 256, 0x1p-14, [](auto r, auto c) { return decode(static_cast<unsigned>(r * 256 + c), 5, 10); }),
        "fp16");
    EXPECT_EQ(halfFile.nan, 2 * 1023);
    EXPECT_EQ(halfFile.subnormal, 2 * 1023);
    EXPECT_EQ(halfFile.zero, 2);
}

TEST_F(ScanTest, AllInstructionSetsAgree)
{
    const std::vector<const tensorfile::ScanKernels*> sets {&tensorfile::baselineKernels, &tensorfile::scanKernels()};
    for (const bool nonFinite : {false, true}) {
        for (const std::size_t count : {1U, 31U, 32U, 33U, 4095U, 4097U, 20000U}) {
            const auto values = mixture(count, 7, nonFinite);
            std::vector<std::uint16_t> shorts(count);
            for (std::size_t i = 0; i < count; ++i) {
                shorts[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(values[i]) >> 16);
            }
            std::vector<tensorfile::ScanSums> sums(sets.size() * 3);
            for (std::size_t i = 0; i < sets.size(); ++i) {
                sets[i]->single(reinterpret_cast<const std::uint32_t*>(values.data()), count, 0x800000, sums[3 * i]);
                sets[i]->bfloat16(shorts.data(), count, 0x80, sums[3 * i + 1]);
                sets[i]->half(shorts.data(), count, 0x400, sums[3 * i + 2]);
            }
            for (std::size_t kind = 0; kind < 3; ++kind) {
                const auto& one = sums[kind];
                const auto& other = sums[3 + kind];
                EXPECT_EQ(one.squares, other.squares) << kind << " " << count;
                EXPECT_EQ(one.largest, other.largest);
                EXPECT_EQ(one.smallest, other.smallest);
                EXPECT_EQ(one.zero, other.zero);
                EXPECT_EQ(one.subnormal, other.subnormal);
                EXPECT_EQ(one.nan, other.nan);
                EXPECT_EQ(one.nonFinite(), other.nonFinite());
            }
        }
    }
}

TEST_F(ScanTest, MatricesInMemoryAgreeWithAPlainLoop)
{
    const std::vector<std::pair<std::int64_t, std::int64_t>> shapes {
        {1, 1}, {1, 5000}, {5000, 1}, {37, 53}, {129, 300}};
    for (const auto& shape : shapes) {
        const auto rows = shape.first;
        const auto cols = shape.second;
        for (const bool nonFinite : {false, true}) {
            const auto data = mixture(static_cast<std::size_t>(rows * cols), 3, nonFinite);
            const std::vector<double> wide(data.begin(), data.end());
            const auto at = [&](auto r, auto c) { return double {data[static_cast<std::size_t>(r * cols + c)]}; };
            const auto turned = [&](auto r, auto c) { return at(c, r); };
            const auto name = std::to_string(rows) + "x" + std::to_string(cols);
            const std::span<const float> floats(data);
            const std::span<const double> doubles(wide);
            expectSame(
                tensorfile::scanMatrix(floats, rows, cols, false, 0x1p-126), plainScan(rows, cols, 0x1p-126, at), name);
            expectSame(tensorfile::scanMatrix(floats, rows, cols, true, 0x1p-14),
                plainScan(cols, rows, 0x1p-14, turned), name);
            expectSame(tensorfile::scanMatrix(doubles, rows, cols, false, 0x1p-1022),
                plainScan(rows, cols, 0x1p-1022, at), name);
            expectSame(tensorfile::scanMatrix(doubles, rows, cols, true, 0x1p-126),
                plainScan(cols, rows, 0x1p-126, turned), name);
        }
    }
}

TEST_F(ScanTest, TheFirstNonFiniteIsFirstInTheOriginalsRows)
{
    std::vector<float> data(12, 1.0F); // 4 x 3 in memory, 3 x 4 originally
    data[1 * 3 + 2] = std::numeric_limits<float>::quiet_NaN(); // original [2, 1]
    data[3 * 3 + 1] = -std::numeric_limits<float>::infinity(); // original [1, 3]
    const auto scan = tensorfile::scanMatrix(std::span<const float>(data), 4, 3, true, 0x1p-126);
    EXPECT_EQ(scan.firstNonFinite, 1 * 4 + 3);
    EXPECT_EQ(scan.firstClass, ValueClass::negInf);
}

TEST_F(ScanTest, AbsurdMagnitudesKeepTheirSquares)
{
    const std::vector<float> data {3e38F, 1e-40F, -3e38F, 1e-45F};
    const auto scan = tensorfile::scanMatrix(std::span<const float>(data), 2, 2, false, 0x1p-126);
    EXPECT_NEAR(scan.sumSquares, 1.8e77, 1e71);
    const std::vector<float> tiny {1e-40F, 0, 0, 1e-40F};
    const double square = double {1e-40F} * double {1e-40F};
    EXPECT_EQ(tensorfile::scanMatrix(std::span<const float>(tiny), 2, 2, false, 0x1p-126).sumSquares, 2 * square);
}

TEST_F(ScanTest, StridedTensorsScanLikeTheirElements)
{
    const auto data = mixture(40 * 60, 11, true);
    const auto bytes = bytesOf(data);
    struct View
    {
        Shape shape;
        Shape strides;
        std::int64_t offset;
    };
    const std::vector<View> views {{{40, 60}, {60, 1}, 0}, {{60, 40}, {1, 60}, 0}, {{20, 20}, {120, 3}, 5},
        {{20, 20}, {3, 120}, 5}, {{30, 60}, {0, 1}, 60}, {{30, 40}, {1, 0}, 7}, {{5, 6}, {0, 0}, 9}, {{40}, {60}, 3},
        {{40, 1}, {60, 1}, 2}, {{1, 40}, {1, 60}, 2}, {{35, 50}, {7, 11}, 0}, {{}, {}, 17}};
    for (const auto& view : views) {
        const auto tensor = load("FloatStorage", bytes, 2400, view.shape, view.strides, view.offset);
        const auto shape = tensor.matrices();
        const auto rowStride = view.shape.size() < 2 ? 0 : view.strides[view.shape.size() - 2];
        const auto colStride = view.shape.empty() ? 0 : view.strides.back();
        expectSame(scanOf(tensor),
            plainScan(shape.rows, shape.cols, 0x1p-126,
                [&](auto r, auto c) {
                    return double {data[static_cast<std::size_t>(view.offset + r * rowStride + c * colStride)]};
                }),
            shapeText(view.shape));
    }
}

TEST_F(ScanTest, LargeMatricesCrossTheBuffersBorders)
{
    const std::int64_t rows = 301;
    const std::int64_t cols = 40001; // longer than a buffer, and an odd size
    auto data = mixture(static_cast<std::size_t>(rows * cols), 5, false);
    data[static_cast<std::size_t>(200 * cols + 33333)] = std::numeric_limits<float>::infinity();
    const auto at = [&](auto r, auto c) { return double {data[static_cast<std::size_t>(r * cols + c)]}; };
    const auto bytes = bytesOf(data);
    expectSame(scanOf(load("FloatStorage", bytes, rows * cols, {rows, cols}, {cols, 1})),
        plainScan(rows, cols, 0x1p-126, at), "rows");
    expectSame(scanOf(load("FloatStorage", bytes, rows * cols, {cols, rows}, {1, cols})),
        plainScan(cols, rows, 0x1p-126, [&](auto r, auto c) { return at(c, r); }), "columns");
}

TEST_F(ScanTest, BatchesAreScannedOneByOne)
{
    auto data = smallInput();
    data[13] = std::numeric_limits<float>::quiet_NaN();
    const auto scans = tensorfile::scanTensor(load("FloatStorage", bytesOf(data), 24, {2, 3, 4}, {12, 4, 1}));
    ASSERT_TRUE(scans);
    ASSERT_EQ(scans->size(), 2U);
    EXPECT_EQ((*scans)[0].nan, 0);
    EXPECT_EQ((*scans)[1].firstNonFinite, 1);
    EXPECT_EQ((*scans)[0].trace, data[0] + data[5] + data[10]);
}

TEST_F(ScanTest, IntegersAndDoublesAreScannedToo)
{
    const std::vector<std::int64_t> whole {0, -5, 7, 0};
    const auto integers = scanOf(load("LongStorage", bytesOf(whole), 4, {2, 2}, {2, 1}));
    EXPECT_EQ(integers.zero, 2);
    EXPECT_EQ(integers.absmax, 7);
    EXPECT_EQ(integers.minNonzero, 5);
    EXPECT_EQ(integers.sumSquares, 74);
    EXPECT_EQ(integers.subnormal, 0);
    const std::vector<double> wide {1e-310, 1e300, -infinite, 2};
    const auto doubles = scanOf(load("DoubleStorage", bytesOf(wide), 4, {2, 2}, {2, 1}));
    EXPECT_EQ(doubles.subnormal, 1);
    EXPECT_EQ(doubles.absmax, 1e300);
    EXPECT_EQ(doubles.negInf, 1);
    EXPECT_EQ(doubles.firstNonFinite, 2);
    const auto complex = tensorfile::scanTensor(load("ComplexFloatStorage", bytesOf(smallInput()), 12, {3, 4}, {4, 1}));
    EXPECT_FALSE(complex);
}

TEST_F(ScanTest, EmptyTensorsScanToNothing)
{
    const auto scan = scanOf(load("FloatStorage", "", 0, {0, 4}, {4, 1}));
    EXPECT_EQ(scan.count, 0);
    EXPECT_TRUE(scan.finite());
    EXPECT_EQ(tensorfile::scanMatrix(std::span<const float>(), 0, 5, true, 1).count, 0);
}

TEST_F(ScanTest, SmallestNormalsAreThoseOfTheFormats)
{
    EXPECT_EQ(tensorfile::smallestNormal(Precision::fp64), std::numeric_limits<double>::min());
    EXPECT_EQ(tensorfile::smallestNormal(Precision::fp32), double {std::numeric_limits<float>::min()});
    EXPECT_EQ(tensorfile::smallestNormal(Precision::bf16), decode(0x0080, 8, 7));
    EXPECT_EQ(tensorfile::smallestNormal(Precision::fp16), decode(0x0400, 5, 10));
}

} // namespace nanscope
