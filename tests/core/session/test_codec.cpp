// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/session/chunks.h"
#include "core/session/codec.h"

namespace nanscope {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr auto leastInteger = std::numeric_limits<std::int64_t>::min();
constexpr auto mostInteger = std::numeric_limits<std::int64_t>::max();

TEST(Codec, IntegersOfEverySizeAndDifferenceComeBack)
{
    for (const auto& values :
        {Integers {}, Integers {0}, Integers {leastInteger, mostInteger, leastInteger, 0, -1, 1}, Integers {5, 4, 3},
            Integers(5000, 7), Integers {mostInteger, mostInteger - 1}, Integers {63, 64, 127, 128, 8191, 8192}}) {
        EXPECT_EQ(session::unpackIntegers(session::packIntegers(values), values.size()), values);
    }
}

TEST(Codec, StepsThatCountUpTakeAlmostNoRoom)
{
    Integers steps;
    for (std::int64_t i = 0; i < 4096; ++i) {
        steps.push_back(1'000'000 + 10 * i);
    }
    EXPECT_LT(session::packIntegers(steps).size(), 100U);
}

TEST(Codec, DoublesKeepTheirBits)
{
    const std::vector<double> values {std::bit_cast<double>(0xfff8'dead'beef'0001ULL), -0.0, 0.1, HUGE_VAL};
    const auto back = session::unpackDoubles(session::packDoubles(values), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i]), std::bit_cast<std::uint64_t>(values[i]));
    }
}

TEST(Codec, ACountThatDoesNotFitIsRefused)
{
    const auto integers = session::packIntegers(Integers {1, 2, 3});
    EXPECT_THROW(session::unpackIntegers(integers, 4), session::DatabaseFailure);
    EXPECT_THROW(session::unpackIntegers({}, 1), session::DatabaseFailure);
    EXPECT_THROW(session::unpackDoubles(session::packDoubles(std::vector<double> {1, 2}), 3), session::DatabaseFailure);
    EXPECT_THROW(session::unpackDoubles(session::packDoubles(std::vector<double> {1, 2}), 1), session::DatabaseFailure);
}

TEST(Codec, EveryCutOfABlobIsRefused)
{
    const auto integers = session::packIntegers(Integers {1, 200, 30'000, -4, 5});
    for (std::size_t size = 0; size < integers.size(); ++size) {
        EXPECT_THROW(session::unpackIntegers(std::span(integers).first(size), 5), session::DatabaseFailure) << size;
    }
    const auto tiles = session::packTiles({4, 4, 2, 2, 2, 2, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 1, 1, 1}});
    for (std::size_t size = 0; size < tiles.size(); ++size) {
        EXPECT_THROW(session::unpackTiles(std::span(tiles).first(size)), session::DatabaseFailure) << size;
    }
}

TEST(Codec, TilesBeyondTheLargestMapAreRefused)
{
    TileMap tiles {300, 1, 1, 1, 300, 1, std::vector<float>(300, 1), std::vector<float>(300, 1),
        std::vector<float>(300, 1), std::vector<std::uint8_t>(300, 1)};
    EXPECT_THROW(session::unpackTiles(session::packTiles(tiles)), session::DatabaseFailure);
    tiles.height = -1;
    EXPECT_THROW(session::unpackTiles(session::packTiles(tiles)), session::DatabaseFailure);
}

TEST(Codec, ShapesAreReadAsTheyAreWritten)
{
    for (const auto& shape : {Shape {}, Shape {5}, Shape {1, 160, 96}, Shape {0, 3}, Shape {mostInteger, 2}}) {
        EXPECT_EQ(session::parseShape(shapeText(shape)), shape);
    }
    for (const auto* bad : {"x1", "1xx2", "1x2y", "abc", "99999999999999999999", "1 x 2"}) {
        EXPECT_THROW(session::parseShape(bad), session::DatabaseFailure) << bad;
    }
}

TEST(ChunkFacts, AreThoseOfTheFinitePointsAndCountTheOthers)
{
    const std::vector<Point> points {{1, NAN, PointState::nan, 1}, {2, 3, PointState::finite, 2},
        {3, 0, PointState::reported, 3}, {4, -7, PointState::finite, 4}, {5, HUGE_VAL, PointState::posInf, 5},
        {6, 5, PointState::finite, 6}, {7, -HUGE_VAL, PointState::negInf, 7}};
    const auto facts = session::factsOf(points);
    EXPECT_EQ(facts.min, -7);
    EXPECT_EQ(facts.max, 5);
    EXPECT_EQ(facts.first, 3);
    EXPECT_EQ(facts.last, 5);
    EXPECT_EQ(facts.nan, 1);
    EXPECT_EQ(facts.posInf, 1);
    EXPECT_EQ(facts.negInf, 1);
    EXPECT_EQ(facts.missingAt, Integers {2});
    const auto none = session::factsOf(std::span(points).first(1));
    EXPECT_FALSE(none.min || none.max || none.first || none.last) << "nothing finite has no extremes";
}

} // namespace
} // namespace nanscope
