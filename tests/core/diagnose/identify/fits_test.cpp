// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What is summed in one pass, over columns that several threads share, is held against sums taken one by one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "core/diagnose/identify/fits.h"
#include "core/replay/program/formats.h"

namespace nanscope {
namespace {

using Matrix = std::vector<double>;

Matrix normal(std::int64_t count, unsigned seed, Precision format)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> draw;
    Matrix values(static_cast<std::size_t>(count));
    std::ranges::generate(values, [&] { return replay::roundTo(format, draw(random)); });
    return values;
}

Values narrow(const Matrix& values)
{
    return std::vector<float>(values.begin(), values.end());
}

/// An output in bf16 whose second half of columns is that of the replay, and which is damaged here and there.
struct Case
{
    Case(std::int64_t rows, std::int64_t cols)
        : reference(normal(rows * cols, 1, Precision::fp32))
    {
        element.shape = {1, rows, cols};
        element.outputType = DType::bfloat16;
        captured = normal(rows * cols, 2, Precision::bf16);
        for (std::size_t i = 0; i < captured.size(); ++i) {
            const bool same = i % static_cast<std::size_t>(cols) >= static_cast<std::size_t>(cols / 2);
            captured[i] = same ? replay::roundTo(Precision::bf16, reference[i]) : reference[i] + captured[i] / 8;
            captured[i] = replay::roundTo(Precision::bf16, captured[i]);
        }
        captured[3] = std::numeric_limits<double>::quiet_NaN();
        captured[captured.size() / 2] = std::numeric_limits<double>::infinity();
        captured.back() = -std::numeric_limits<double>::infinity();
        element.output = narrow(captured);
        for (unsigned k = 0; k < 3; ++k) {
            signal.push_back({1, normal(rows, 3 + k, Precision::fp64)});
        }
    }

    diagnose::Element element;
    Matrix captured;
    Matrix reference;
    std::vector<replay::SingularDirection> signal;
};

/// One at a time, in long doubles.
struct PlainSums
{
    explicit PlainSums(const Case& of)
    {
        for (std::size_t i = 0; i < of.captured.size(); ++i) {
            const long double x = of.reference[i];
            const long double o = of.captured[i];
            if (std::isfinite(of.captured[i])) {
                difference += (o - x) * (o - x);
                reference += x * x;
                own += o * o;
                both += o * x;
                ++compared;
                same += replay::roundTo(Precision::bf16, of.reference[i]) == of.captured[i] ? 1 : 0;
            }
        }
    }

    long double difference = 0;
    long double reference = 0;
    long double own = 0;
    long double both = 0;
    double compared = 0;
    double same = 0;
};

double plainSignal(const Case& of)
{
    long double kept = 0;
    long double off = 0;
    const auto cols = static_cast<std::size_t>(of.element.shape.cols);
    for (const auto& direction : of.signal) {
        for (std::size_t c = 0; c < cols; ++c) {
            long double x = 0;
            long double d = 0;
            for (std::size_t r = 0; r < direction.left.size(); ++r) {
                const double o = of.captured[r * cols + c];
                x += std::isfinite(o) ? direction.left[r] * of.reference[r * cols + c] : 0;
                d += std::isfinite(o) ? direction.left[r] * (o - of.reference[r * cols + c]) : 0;
            }
            kept += x * x;
            off += d * d;
        }
    }
    return static_cast<double>(std::sqrt(off / kept));
}

/// Of the tile that begins there.
diagnose::TileError plainTile(const Case& of, std::int64_t row, std::int64_t col)
{
    diagnose::TileError tile;
    for (auto r = row; r < std::min(row + 16, of.element.shape.rows); ++r) {
        for (auto c = col; c < std::min(col + 16, of.element.shape.cols); ++c) {
            const auto i = static_cast<std::size_t>(r * of.element.shape.cols + c);
            const double d = of.captured[i] - of.reference[i];
            tile.difference += std::isfinite(d) ? d * d : 0;
            tile.reference += std::isfinite(d) ? of.reference[i] * of.reference[i] : 0;
        }
    }
    return tile;
}

class FitsOf : public ::testing::TestWithParam<std::pair<std::int64_t, std::int64_t>>
{ };

// Less than a tile, a tile and a bit, and more columns than are compared together, on one and on several threads.
INSTANTIATE_TEST_SUITE_P(Shapes, FitsOf,
    ::testing::Values(std::pair {5, 7}, std::pair {16, 512}, std::pair {33, 513}, std::pair {250, 1100}));

TEST_P(FitsOf, AreThoseOfPlainSums)
{
    const Case of(GetParam().first, GetParam().second);
    const PlainSums sums(of);
    const auto explained = sums.both * sums.both / sums.reference;
    for (const auto& reference : {Values(of.reference), narrow(of.reference)}) {
        const auto fits = diagnose::fitsOf(of.element, reference, of.signal);
        const auto near = [](double found, long double expected) {
            EXPECT_NEAR(found, static_cast<double>(expected), 1e-12 * static_cast<double>(expected));
        };
        near(fits.plain, std::sqrt(sums.difference / sums.reference));
        near(fits.multiple, std::sqrt((sums.own - explained) / explained));
        near(fits.factor, sums.both / sums.reference);
        near(fits.signal, plainSignal(of));
        EXPECT_EQ(fits.exact, sums.same / sums.compared);
    }
}

TEST_P(FitsOf, AndTilesToo)
{
    const Case of(GetParam().first, GetParam().second);
    const auto errors = diagnose::tileErrors(of.element, of.reference);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < errors.tiles.size(); ++i) {
        const auto expected = plainTile(of, errors.rowOf(i), errors.colOf(i));
        EXPECT_NEAR(errors.tiles[i].difference, expected.difference, 1e-12 * expected.difference) << i;
        EXPECT_NEAR(errors.tiles[i].reference, expected.reference, 1e-12 * expected.reference) << i;
        if (expected.reference > 0) {
            ratios.push_back(std::sqrt(expected.difference / expected.reference));
        }
    }
    std::ranges::sort(ratios);
    EXPECT_NEAR(diagnose::fitsOf(of.element, of.reference, {}).typical, ratios[ratios.size() / 2], 1e-12);
}

TEST(FitsOfNothing, FitsAReplayThatIsNotFinite)
{
    Case of(40, 600);
    // Also where the captured output is not finite.
    of.reference[3] = std::numeric_limits<double>::infinity();
    const auto fits = diagnose::fitsOf(of.element, of.reference, of.signal);
    EXPECT_EQ(fits.plain, std::numeric_limits<double>::infinity());
    EXPECT_EQ(fits.typical, std::numeric_limits<double>::infinity());
    EXPECT_EQ(fits.exact, 0);
}

} // namespace
} // namespace nanscope
