// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/replay/program/formats.h"

namespace nanscope {
namespace {

// Inputs and hashes as tests/reference/README.md defines them; the outputs behind the hashes are numpy's and torch's.
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t infinityBits = 0x7f800000;

std::vector<float> around(const std::vector<std::uint32_t>& midpoints)
{
    std::vector<float> inputs;
    for (const auto m : midpoints) {
        for (const auto bits : {m - 1, m, m + 1}) {
            inputs.push_back(std::bit_cast<float>(bits));
        }
    }
    return inputs;
}

// The value of a finite fp16 pattern, from its definition.
double fp16Value(std::uint32_t pattern)
{
    const auto exponent = pattern >> 10;
    const auto mantissa = static_cast<double>(pattern & 0x3ffU);
    return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
}

std::vector<float> midpointInputs(Precision format)
{
    std::vector<std::uint32_t> midpoints;
    if (format == Precision::bf16) {
        for (std::uint32_t h = 0; h <= 0x7f7f; ++h) {
            midpoints.push_back((h << 16) + 0x8000);
        }
    } else if (format == Precision::tf32) {
        for (std::uint32_t h = 0; h <= 0x3fbff; ++h) {
            midpoints.push_back((h << 13) + 0x1000);
        }
    } else {
        for (std::uint32_t h = 0; h <= 0x7bff; ++h) {
            const double above = h == 0x7bff ? 65536.0 : fp16Value(h + 1);
            midpoints.push_back(std::bit_cast<std::uint32_t>(static_cast<float>((fp16Value(h) + above) / 2)));
        }
    }
    return around(midpoints);
}

std::vector<float> randomInputs(std::size_t count)
{
    std::vector<float> inputs;
    std::uint64_t x = 0x4E616E73636F7065;
    for (std::size_t i = 0; i < count; ++i) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        inputs.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(x >> 32)));
    }
    return inputs;
}

// The bit pattern of a rounded value in its own format, NaN as one agreed pattern.
std::uint32_t wordOf(Precision format, float rounded)
{
    const auto bits = std::bit_cast<std::uint32_t>(rounded);
    const bool nan = std::isnan(rounded);
    if (format == Precision::bf16) {
        return nan ? 0x7fc0 : bits >> 16;
    }
    if (format == Precision::tf32) {
        return nan ? 0x7fc00000 : bits;
    }
    if (nan) {
        return 0x7e00;
    }
    const auto sign = (bits >> 16) & 0x8000U;
    const auto magnitude = std::abs(rounded);
    if (std::isinf(rounded)) {
        return sign | 0x7c00U;
    }
    if (magnitude < 0x1p-14F) {
        return sign | static_cast<std::uint32_t>(std::ldexp(magnitude, 24));
    }
    return sign | ((((bits & 0x7fffffffU) - 0x38000000U)) >> 13);
}

std::vector<std::string> hashesOf(const Words& words)
{
    std::vector<std::string> hashes;
    for (std::size_t begin = 0; begin < words.size(); begin += 4096) {
        std::uint64_t h = 0xcbf29ce484222325;
        for (std::size_t i = begin; i < std::min(words.size(), begin + 4096); ++i) {
            h = (h ^ words[i]) * 0x100000001b3ULL;
        }
        char text[17];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
        hashes.emplace_back(text);
    }
    return hashes;
}

std::vector<std::string> expectedHashes(Precision format, const char* inputs)
{
    std::ifstream file(NANSCOPE_TEST_DATA "/casts/hashes.json");
    const auto all = nlohmann::json::parse(file);
    return all.at("fp32_to_" + std::string(name(format))).at(inputs).at("hashes");
}

void expectHashes(Precision format, const char* which, std::vector<float> inputs)
{
    // The same values one by one and as a vector: the vector code is compiled separately.
    Words single;
    for (const float x : inputs) {
        single.push_back(wordOf(format, replay::roundTo(format, x)));
    }
    EXPECT_EQ(hashesOf(single), expectedHashes(format, which)) << name(format);
    replay::roundTo(format, inputs);
    Words vector;
    for (const float x : inputs) {
        vector.push_back(wordOf(format, x));
    }
    EXPECT_EQ(vector, single) << name(format);
}

class Casts : public testing::TestWithParam<Precision>
{ };

TEST_P(Casts, RoundEveryMidpointAndItsNeighboursAsTorchDoes)
{
    expectHashes(GetParam(), "midpoints", midpointInputs(GetParam()));
}

TEST_P(Casts, RoundAMillionRandomPatternsAsTorchDoes)
{
    expectHashes(GetParam(), "random", randomInputs(1 << 20));
}

TEST_P(Casts, AreOddInTheSign)
{
    for (const float x : midpointInputs(GetParam())) {
        ASSERT_EQ(replay::roundTo(GetParam(), -x), -replay::roundTo(GetParam(), x)) << x;
    }
}

TEST_P(Casts, RoundADoubleOnce)
{
    // Just above a midpoint by less than fp32 can hold: rounding through fp32 first would fall back to even.
    const double step = epsilonOf(GetParam());
    const double justAbove = 1 + step / 2 + 0x1p-45;
    EXPECT_EQ(replay::roundTo(GetParam(), justAbove), 1 + step);
    EXPECT_EQ(replay::roundTo(GetParam(), 1 + step / 2 - 0x1p-45), 1.0);
}

INSTANTIATE_TEST_SUITE_P(Formats, Casts, testing::Values(Precision::bf16, Precision::fp16, Precision::tf32),
    [](const auto& info) { return std::string(name(info.param)); });

TEST(Formats, SixteenBitValuesAreFixedPoints)
{
    for (std::uint32_t pattern = 0; pattern < 0x7c00; ++pattern) {
        const auto value = static_cast<float>(fp16Value(pattern));
        ASSERT_EQ(replay::roundTo(Precision::fp16, value), value) << pattern;
    }
    for (std::uint32_t pattern = 0; pattern <= 0x7f80; ++pattern) {
        const auto value = std::bit_cast<float>(pattern << 16);
        ASSERT_EQ(replay::roundTo(Precision::bf16, value), value) << pattern;
    }
}

TEST(Formats, NanStaysNanWhateverItsPayload)
{
    for (const auto bits : {0x7f800001U, 0xff800001U, 0x7fc00000U, 0xffffffffU, 0x7f801000U}) {
        for (const auto format : {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32}) {
            EXPECT_TRUE(std::isnan(replay::roundTo(format, std::bit_cast<float>(bits)))) << bits;
        }
    }
    EXPECT_EQ(replay::roundTo(Precision::fp16, std::bit_cast<float>(infinityBits)), INFINITY);
}

TEST(Formats, StepUlpsMovesToTheNeighbour)
{
    EXPECT_EQ(replay::stepUlps(Precision::bf16, 1.0, 1), 1 + 0x1p-7);
    EXPECT_EQ(replay::stepUlps(Precision::fp16, 1.0, -1), 1 - 0x1p-10);
    EXPECT_EQ(replay::stepUlps(Precision::fp16, 0x1p-24, 1), 0x1p-23);
    EXPECT_EQ(replay::stepUlps(Precision::fp32, 3.0, 2), 3.0 + 0x1p-21);
    EXPECT_EQ(replay::stepUlps(Precision::bf16, 0.0, 1), 0.0);
    EXPECT_EQ(replay::stepUlps(Precision::fp16, INFINITY, -1), INFINITY);
}

} // namespace
} // namespace nanscope
