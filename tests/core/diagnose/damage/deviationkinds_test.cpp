// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/deviationkinds.h"

#include <cmath>
#include <functional>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "tests/core/diagnose/healthycall.h"

namespace nanscope {
namespace {

constexpr std::int64_t deviationRows = 96;
constexpr std::int64_t deviationCols = 256;
constexpr diagnose::Region block {32, 64, 64, 112};
constexpr diagnose::Region wholeRows {32, 48, 0, deviationCols};

using Value = std::function<double(std::int64_t row, std::int64_t col)>;

/// A healthy output and what becomes of it in a region.
class MadeDeviation
{
public:
    explicit MadeDeviation(MatrixShape shape = {1, deviationRows, deviationCols})
        : m_replay(test::healthyOutput(
            "gns-gram", test::waves(static_cast<std::size_t>(shape.elements()), 0.4), shape.rows, shape.cols))
    {
        element.shape = shape;
        element.output = m_replay;
    }

    double was(std::int64_t row, std::int64_t col) const
    {
        return m_replay[static_cast<std::size_t>(row * element.shape.cols + col)];
    }

    bool looksDeliberateWith(const diagnose::Region& region, const Value& value)
    {
        element.output = m_replay;
        for (auto row = region.rowBegin; row < region.rowEnd; ++row) {
            for (auto col = region.colBegin; col < region.colEnd; ++col) {
                element.output.set(static_cast<std::size_t>(row * element.shape.cols + col), value(row, col));
            }
        }
        return diagnose::looksDeliberate(element, m_replay, region);
    }

    diagnose::Element element;

private:
    test::Matrix m_replay;
};

/// As large as the typical element of an orthogonal matrix.
Value noise(double size)
{
    auto generator = std::make_shared<std::mt19937>(7U);
    return [=](auto, auto) { return std::normal_distribution<double>(0, size)(*generator); };
}

constexpr double typical = 0.0625; // 1 / sqrt(cols)

TEST(LooksDeliberate, WhatStandsOnTopOfTheResult)
{
    MadeDeviation made;
    for (const auto& region : {block, wholeRows}) {
        const auto term = noise(0.3 * typical);
        EXPECT_TRUE(
            made.looksDeliberateWith(region, [&](auto row, auto col) { return made.was(row, col) + term(row, col); }));
    }
}

TEST(LooksDeliberate, WhatIsTheResultTimesAFactor)
{
    MadeDeviation made;
    EXPECT_TRUE(made.looksDeliberateWith(block, [&](auto row, auto col) { return 0.8 * made.was(row, col); }));
    const auto perRow = [&](auto row, auto col) { return (1 + 0.05 * static_cast<double>(row)) * made.was(row, col); };
    EXPECT_TRUE(made.looksDeliberateWith(wholeRows, perRow));
    const auto perCol = [&](auto row, auto col) { return (1 + 0.05 * static_cast<double>(col)) * made.was(row, col); };
    EXPECT_TRUE(made.looksDeliberateWith(block, perCol));
}

TEST(LooksDeliberate, NotWhatStandsInItsPlace)
{
    MadeDeviation made;
    EXPECT_FALSE(made.looksDeliberateWith(block, noise(0.5 * typical)));
    EXPECT_FALSE(made.looksDeliberateWith(block, [](auto, auto) { return 0.0; }));
    EXPECT_FALSE(made.looksDeliberateWith(block, [&](auto row, auto col) { return made.was(row - 32, col); }));
}

TEST(LooksDeliberate, NotWhatIsLargerThanTheResult)
{
    MadeDeviation made;
    const auto term = noise(2 * typical);
    EXPECT_FALSE(
        made.looksDeliberateWith(block, [&](auto row, auto col) { return made.was(row, col) + term(row, col); }));
}

// A tile of a symmetric product that was not mirrored takes multiples of its columns' rows from its rows.
TEST(LooksDeliberate, NotWhatAWrongTileInsideTheIterationLeaves)
{
    for (const MatrixShape shape :
        {MatrixShape {1, deviationRows, deviationCols}, MatrixShape {1, deviationRows, deviationRows}}) {
        MadeDeviation made(shape);
        EXPECT_FALSE(made.looksDeliberateWith({32, 48, 0, shape.cols}, [&](auto row, auto col) {
            double value = made.was(row, col);
            for (std::int64_t other = 64; other < 80; ++other) {
                value += 0.05 * std::sin(static_cast<double>(row * 31 + other * 17)) * made.was(other, col);
            }
            return value;
        }));
    }
    MadeDeviation tall({1, deviationCols, deviationRows});
    EXPECT_FALSE(tall.looksDeliberateWith({0, deviationCols, 32, 48}, [&](auto row, auto col) {
        double value = tall.was(row, col);
        for (std::int64_t other = 64; other < 80; ++other) {
            value += 0.05 * std::sin(static_cast<double>(col * 31 + other * 17)) * tall.was(row, other);
        }
        return value;
    }));
}

TEST(EndsLikeACast, OnlyWhereAllThatIsGoneIsAmongTheLargest)
{
    diagnose::Element element;
    const std::vector<double> replay {0.5, -2, 1, 0.1, 2.01, -0.3};
    element.output = std::vector<double> {0.5, -INFINITY, 1, 0.1, INFINITY, -0.3};
    EXPECT_TRUE(diagnose::endsLikeACast(element, replay));
    element.output.set(1, INFINITY);
    EXPECT_FALSE(diagnose::endsLikeACast(element, replay)) << "a cast keeps the sign";
    element.output.set(1, NAN);
    EXPECT_FALSE(diagnose::endsLikeACast(element, replay)) << "Inf and NaN are of two formats";
    element.output.set(4, NAN);
    EXPECT_TRUE(diagnose::endsLikeACast(element, replay)) << "float8_e4m3fn has no Inf";
    element.output = std::vector<double> {0.5, -2, 1, INFINITY, 2.01, -0.3};
    EXPECT_FALSE(diagnose::endsLikeACast(element, replay)) << "larger ones went through";
    element.output = replay;
    EXPECT_FALSE(diagnose::endsLikeACast(element, replay));
}

} // namespace
} // namespace nanscope
