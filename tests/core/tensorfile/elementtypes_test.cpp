// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Every element type, against the definition of its format.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/tensorfile.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Out = double>
std::vector<Out> converted(DType dtype, const std::string& bytes)
{
    std::vector<Out> out(bytes.size() / sizeOf(dtype));
    tensorfile::convert(dtype, reinterpret_cast<const std::byte*>(bytes.data()), out.size(), out.data());
    return out;
}

std::string everyByte()
{
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
    }
    return bytes;
}

/// An 8-bit float with a sign, from its definition; what is special about it is put in by the tests.
double small(int bits, int mantissaBits, int bias)
{
    const int exponent = (bits & 0x7f) >> mantissaBits;
    const double mantissa = (bits & ((1 << mantissaBits) - 1)) / std::pow(2, mantissaBits);
    const double magnitude =
        exponent == 0 ? mantissa * std::pow(2, 1 - bias) : (1 + mantissa) * std::pow(2, exponent - bias);
    return bits >= 128 ? -magnitude : magnitude;
}

void expectTable(DType dtype, const std::vector<double>& expected)
{
    const auto found = converted(dtype, everyByte());
    const auto narrow = converted<float>(dtype, everyByte());
    for (std::size_t bits = 0; bits < 256; ++bits) {
        if (std::isnan(expected[bits])) {
            EXPECT_TRUE(std::isnan(found[bits])) << bits;
            EXPECT_TRUE(std::isnan(narrow[bits])) << bits;
            continue;
        }
        EXPECT_EQ(found[bits], expected[bits]) << bits;
        EXPECT_EQ(std::signbit(found[bits]), std::signbit(expected[bits])) << bits;
        EXPECT_EQ(static_cast<double>(narrow[bits]), expected[bits]) << "every one is a float, " << bits;
    }
}

tensorfile::TensorFile safetensor(
    const TemporaryFolder& folder, const std::string& type, const Shape& shape, const std::string& data)
{
    std::string extents;
    for (const auto extent : shape) {
        extents += (extents.empty() ? "" : ",") + std::to_string(extent);
    }
    const auto header = R"({"t":{"dtype":")" + type + R"(","shape":[)" + extents + R"(],"data_offsets":[0,)"
        + std::to_string(data.size()) + "]}}";
    const auto file =
        tensorfile::openTensorFile(folder.write("x.safetensors", little(header.size(), 8) + header + data));
    EXPECT_TRUE(file) << (file ? "" : sentence(file.error()));
    return file.value_or(tensorfile::TensorFile {});
}

TEST(ElementTypes, E4m3fnHasNoInfinityAndEndsAt448)
{
    std::vector<double> expected;
    for (int bits = 0; bits < 256; ++bits) {
        expected.push_back(small(bits, 3, 7));
    }
    EXPECT_EQ(expected[0x7e], 448);
    expected[0x7f] = expected[0xff] = NAN;
    expectTable(DType::float8_e4m3fn, expected);
}

TEST(ElementTypes, E5m2IsTheUpperByteOfAHalf)
{
    std::vector<double> expected;
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        expected.push_back(double {tensorfile::halfToFloat(static_cast<std::uint16_t>(bits << 8U))});
    }
    EXPECT_EQ(expected[0x7b], 57344);
    EXPECT_EQ(expected[0x7c], infinity);
    expectTable(DType::float8_e5m2, expected);
}

TEST(ElementTypes, FnuzFormatsHaveOneZeroAndOneNan)
{
    for (const auto& [dtype, mantissa, bias, largest] :
        {std::tuple {DType::float8_e4m3fnuz, 3, 8, 240.0}, {DType::float8_e5m2fnuz, 2, 16, 57344.0}}) {
        std::vector<double> expected;
        for (int bits = 0; bits < 256; ++bits) {
            expected.push_back(small(bits, mantissa, bias));
        }
        EXPECT_EQ(expected[0x7f], largest);
        expected[0x80] = NAN;
        expectTable(dtype, expected);
    }
}

TEST(ElementTypes, E8m0AreThePowersOfTwo)
{
    std::vector<double> expected;
    for (int bits = 0; bits < 255; ++bits) {
        expected.push_back(std::pow(2, bits - 127));
    }
    expected.push_back(NAN);
    expectTable(DType::float8_e8m0fnu, expected);
}

template <class T>
void expectIntegers(DType dtype)
{
    using Limits = std::numeric_limits<T>;
    const std::vector<T> values {Limits::min(), Limits::max(), 0, 1, static_cast<T>(Limits::max() / 3)};
    const auto doubles = converted(dtype, bytesOf(values));
    const auto floats = converted<float>(dtype, bytesOf(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(doubles[i], static_cast<double>(values[i])) << torchName(dtype);
        EXPECT_EQ(floats[i], static_cast<float>(values[i])) << torchName(dtype);
    }
}

TEST(ElementTypes, IntegersOfEveryWidthKeepTheirEnds)
{
    expectIntegers<std::int8_t>(DType::int8);
    expectIntegers<std::int16_t>(DType::int16);
    expectIntegers<std::int32_t>(DType::int32);
    expectIntegers<std::int64_t>(DType::int64);
    expectIntegers<std::uint8_t>(DType::uint8);
    expectIntegers<std::uint16_t>(DType::uint16);
    expectIntegers<std::uint32_t>(DType::uint32);
    expectIntegers<std::uint64_t>(DType::uint64);
    EXPECT_EQ(converted(DType::uint64, std::string(8, '\xff')).at(0), 0x1p64) << "rounded to nearest, not cut";
}

TEST(ElementTypes, ABooleanIsZeroOrOne)
{
    const auto values = converted(DType::boolean, everyByte());
    EXPECT_EQ(values[0], 0);
    for (std::size_t i = 1; i < values.size(); ++i) {
        EXPECT_EQ(values[i], 1) << i;
    }
}

TEST(ElementTypes, DoublesBeyondFloatOverflowAndKeepTheirSign)
{
    const auto floats =
        converted<float>(DType::float64, bytesOf(std::vector<double> {1e300, -1e300, 1e-300, -1e-300, 0.1}));
    EXPECT_EQ(floats[0], infinity);
    EXPECT_EQ(floats[1], -infinity);
    EXPECT_EQ(floats[2], 0);
    EXPECT_TRUE(std::signbit(floats[3]));
    EXPECT_EQ(floats[4], 0.1F);
}

TEST(ElementTypes, BytesAreReversedNumberByNumber)
{
    auto bytes = std::string("\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    auto* const data = reinterpret_cast<std::byte*>(bytes.data());
    tensorfile::swapBytes(data, 4, 2);
    EXPECT_EQ(bytes, "\x04\x03\x02\x01\x08\x07\x06\x05");
    tensorfile::swapBytes(data, 1, 8);
    EXPECT_EQ(bytes, "\x04\x03\x02\x01\x08\x07\x06\x05");
    tensorfile::swapBytes(data, 8, 1);
    EXPECT_EQ(bytes, "\x05\x06\x07\x08\x01\x02\x03\x04");
}

TEST(ElementTypes, SmallFloatsAreReadAndScannedFromAFile)
{
    const TemporaryFolder folder;
    const auto file = safetensor(folder, "F8_E5M2", {16, 16}, everyByte());
    const auto scans = tensorfile::scanTensor(*file.root.find("t")->tensor());
    ASSERT_TRUE(scans);
    const auto& scan = scans->at(0);
    EXPECT_EQ(scan.count, 256);
    EXPECT_EQ(scan.posInf, 1);
    EXPECT_EQ(scan.negInf, 1);
    EXPECT_EQ(scan.nan, 6);
    EXPECT_EQ(scan.zero, 2);
    EXPECT_EQ(scan.subnormal, 6);
    EXPECT_EQ(scan.absmax, 57344);
    EXPECT_EQ(scan.minNonzero, 0x1p-16);
    EXPECT_EQ(scan.firstNonFinite, 0x7c);
    EXPECT_EQ(scan.firstClass, ValueClass::posInf);
}

TEST(ElementTypes, EveryNameOfSafetensorsIsKnown)
{
    const TemporaryFolder folder;
    for (const auto& [type, dtype] : std::vector<std::pair<std::string, DType>> {{"F64", DType::float64},
             {"F32", DType::float32}, {"F16", DType::float16}, {"BF16", DType::bfloat16},
             {"F8_E4M3", DType::float8_e4m3fn}, {"F8_E8M0", DType::float8_e8m0fnu}, {"I64", DType::int64},
             {"I32", DType::int32}, {"I16", DType::int16}, {"I8", DType::int8}, {"U64", DType::uint64},
             {"U32", DType::uint32}, {"U16", DType::uint16}, {"U8", DType::uint8}, {"BOOL", DType::boolean}}) {
        const auto file = safetensor(folder, type, {2, 3}, std::string(6 * sizeOf(dtype), '\1'));
        ASSERT_NE(file.root.find("t")->tensor(), nullptr) << type;
        EXPECT_EQ(file.root.find("t")->tensor()->dtype(), dtype) << type;
        EXPECT_EQ(tensorfile::scanTensor(*file.root.find("t")->tensor()).value().at(0).count, 6) << type;
    }
}

TEST(ElementTypes, ComplexNumbersAreRefusedInASentence)
{
    const TemporaryFolder folder;
    const auto file = safetensor(folder, "C64", {2, 2}, std::string(32, '\0'));
    const auto& tensor = *file.root.find("t")->tensor();
    std::vector<double> room(4);
    const auto read = tensor.read(0, std::span(room));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::unsupported);
    EXPECT_THAT(read.error().what, testing::HasSubstr("complex"));
    EXPECT_FALSE(tensorfile::scanTensor(tensor));
    EXPECT_FALSE(tensorfile::tileTensor(tensor, 0));
    EXPECT_EQ(tensor.readBits(0).value().size(), 32U) << "bits need no meaning";
}

} // namespace
} // namespace nanscope
