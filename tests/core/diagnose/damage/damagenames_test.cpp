// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnose/damage/damage.h"
#include "core/diagnose/damage/damagenames.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

struct SpoiledMatrix
{
    SpoiledMatrix(std::int64_t height, std::int64_t width)
        : rows(height)
        , cols(width)
        , values(static_cast<std::size_t>(height * width), 1.0)
    { }

    double& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * cols + c)]; }

    template <class Bad>
    SpoiledMatrix& spoil(Bad bad, double value = NAN)
    {
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = 0; c < cols; ++c) {
                at(r, c) = bad(r, c) ? value : at(r, c);
            }
        }
        return *this;
    }
    DamagePattern pattern() const { return diagnose::describeDamage(values, rows, cols); }
    std::string_view name() const { return nanscope::name(pattern().shape); }
    std::string text() const { return pattern().text; }

    std::int64_t rows;
    std::int64_t cols;
    std::vector<double> values;
};

bool within(std::int64_t i, std::int64_t begin, std::int64_t end)
{
    return i >= begin && i < end;
}

TEST(DamageNames, EverySecondRowOfSomeColumns)
{
    SpoiledMatrix m(96, 160);
    m.spoil([](auto r, auto c) { return r % 2 == 0 && within(c, 40, 48); }, INFINITY);
    EXPECT_EQ(m.name(), "strided rectangle");
    EXPECT_EQ(m.text(), "every second row 0:96:2 × columns 40–47 are +Inf");
    EXPECT_EQ(m.pattern().count, 384);
    // One row too many is no stride any more.
    m.spoil([](auto r, auto c) { return r == 1 && within(c, 40, 48); }, INFINITY);
    EXPECT_EQ(m.name(), "blocks");
    EXPECT_EQ(m.text(), "49 rows within 0–94 × columns 40–47 are +Inf");
}

TEST(DamageNames, StridesOfWholeRowsAndColumns)
{
    SpoiledMatrix rows(40, 10);
    rows.spoil([](auto r, auto) { return r >= 4 && r % 4 == 0; });
    EXPECT_EQ(rows.name(), "rows");
    EXPECT_EQ(rows.text(), "the whole of every fourth row 4:40:4 is NaN");
    SpoiledMatrix cols(10, 40);
    cols.spoil([](auto, auto c) { return c % 7 == 1 && c < 20; });
    EXPECT_EQ(cols.text(), "the whole of every 7th column 1:22:7 is NaN");
    cols.spoil([](auto, auto c) { return c == 2; });
    EXPECT_EQ(cols.text(), "4 whole columns within 1–15 are NaN");
}

TEST(DamageNames, TwoTilesBelowEachOtherAreBlocks)
{
    SpoiledMatrix m(32, 32);
    m.spoil([](auto r, auto c) { return (within(r, 0, 4) || within(r, 8, 12)) && within(c, 4, 8); });
    EXPECT_EQ(m.name(), "blocks");
    m.at(0, 4) = 1;
    EXPECT_EQ(m.name(), "scattered");
}

TEST(DamageNames, AFewValuesInLineAreNoTile)
{
    EXPECT_EQ(
        SpoiledMatrix(32, 32).spoil([](auto r, auto c) { return r == 3 && within(c, 8, 11); }).name(), "scattered");
    EXPECT_EQ(
        SpoiledMatrix(32, 32).spoil([](auto r, auto c) { return r == 3 && within(c, 8, 12); }).name(), "rectangle");
    const auto crossings = [](auto r, auto c) { return (r == 3 || r == 17) && (c == 2 || c == 5 || c == 30); };
    EXPECT_EQ(SpoiledMatrix(32, 32).spoil(crossings).name(), "scattered");
    EXPECT_EQ(SpoiledMatrix(32, 32).spoil([](auto r, auto c) { return r == 3 && c % 8 == 0; }).name(), "scattered");
    EXPECT_EQ(SpoiledMatrix(32, 32).spoil([](auto r, auto c) { return r % 8 == 0 && c % 8 == 0; }).name(),
        "strided rectangle");
}

TEST(DamageNames, AMirroredPairIsOnlyThatOfASquareMatrix)
{
    const auto pair = [](auto r, auto c) {
        return (within(r, 8, 16) && within(c, 0, 4)) || (within(c, 8, 16) && within(r, 0, 4));
    };
    SpoiledMatrix m(32, 32);
    m.spoil(pair);
    EXPECT_EQ(m.name(), "mirrored pair");
    EXPECT_EQ(m.text(), "rows 8–15 × columns 0–3 and their mirror image are NaN");
    EXPECT_EQ(SpoiledMatrix(32, 33).spoil(pair).name(), "scattered");
    m.at(0, 8) = 1;
    EXPECT_EQ(m.name(), "scattered");
    // Two that are not each other's image, and one that its image overlaps.
    const auto apart = [](auto r, auto c) {
        return (within(r, 8, 16) && within(c, 0, 4)) || (within(c, 16, 24) && within(r, 0, 4));
    };
    EXPECT_EQ(SpoiledMatrix(32, 32).spoil(apart).name(), "scattered");
    const auto crossing = [](auto r, auto c) {
        return (within(r, 8, 16) && within(c, 4, 12)) || (within(c, 8, 16) && within(r, 4, 12));
    };
    EXPECT_EQ(SpoiledMatrix(32, 32).spoil(crossing).name(), "scattered");
}

TEST(DamageNames, TrianglesWithAndWithoutTheDiagonal)
{
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c <= r; }).name(), "lower triangle");
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c < r; }).text(), "the lower triangle is NaN");
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c >= r; }).name(), "upper triangle");
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c > r; }).name(), "upper triangle");
    EXPECT_EQ(SpoiledMatrix(9, 10).spoil([](auto r, auto c) { return c > r; }).name(), "scattered");
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c > r && r != 3; }).name(), "scattered");
}

TEST(DamageNames, TheDiagonalAndOtherPermutations)
{
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c == r; }).name(), "diagonal");
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c == 8 - r; }).name(), "scattered");
    EXPECT_EQ(SpoiledMatrix(9, 9).spoil([](auto r, auto c) { return c == r && r != 4; }).name(), "scattered");
}

TEST(DamageNames, TilesAreNamedWhereTheEdgesLieOnTheirGrid)
{
    const auto rectangle = [](std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
        return SpoiledMatrix(512, 600)
            .spoil([=](auto r, auto c) { return within(r, row, row + rows) && within(c, col, col + cols); })
            .text();
    };
    EXPECT_THAT(rectangle(128, 128, 64, 64), EndsWith("are NaN, aligned to 128 × 64 tiles"));
    EXPECT_THAT(rectangle(0, 256, 256, 256), EndsWith("are NaN, aligned to 256 × 256 tiles"));
    // The last tile of a row is cut by the edge.
    EXPECT_THAT(rectangle(64, 64, 512, 88), EndsWith("are NaN, aligned to 64 × 256 tiles"));
    EXPECT_THAT(rectangle(64, 64, 500, 88), Not(HasSubstr("grid")));
    EXPECT_THAT(rectangle(3, 64, 5, 64), Not(HasSubstr("grid")));
    SpoiledMatrix rows(512, 16);
    rows.spoil([](auto r, auto) { return within(r, 192, 256); });
    EXPECT_EQ(rows.text(), "the whole of rows 192–255 is NaN, aligned to tiles of 64 rows");
}

TEST(DamageNames, HalvesOfRowsAndColumns)
{
    EXPECT_EQ(SpoiledMatrix(10, 6).spoil([](auto r, auto) { return r < 5; }).text(),
        "the whole of rows 0–4 is NaN, the upper half");
    EXPECT_THAT(SpoiledMatrix(10, 6).spoil([](auto r, auto) { return r >= 5; }).text(), EndsWith("the lower half"));
    EXPECT_THAT(SpoiledMatrix(10, 6).spoil([](auto, auto c) { return c < 3; }).text(), EndsWith("the left half"));
    EXPECT_THAT(SpoiledMatrix(10, 6).spoil([](auto, auto c) { return c >= 3; }).text(), EndsWith("the right half"));
    EXPECT_THAT(
        SpoiledMatrix(10, 6).spoil([](auto r, auto) { return within(r, 2, 7); }).text(), Not(HasSubstr("half")));
    EXPECT_THAT(SpoiledMatrix(10, 6).spoil([](auto r, auto) { return r < 4; }).text(), Not(HasSubstr("half")));
}

TEST(DamageNames, NanAndInfAreWeighedAgainstEachOther)
{
    SpoiledMatrix m(8, 8);
    m.spoil([](auto r, auto c) { return r < 4 && c < 4; });
    m.spoil([](auto r, auto c) { return r < 4 && c == 0; }, -INFINITY);
    EXPECT_EQ(m.text(), "rows 0–3 × columns 0–3 are NaN or -Inf; 3 NaN to 1 Inf");
    m.at(0, 1) = INFINITY;
    EXPECT_EQ(m.text(), "rows 0–3 × columns 0–3 are NaN or +Inf or -Inf; 11 NaN to 5 Inf");
    EXPECT_THAT(SpoiledMatrix(8, 8).spoil([](auto r, auto) { return r == 1; }).text(), Not(HasSubstr(" to ")));
}

TEST(DamageNames, TheOnlyDamagedMatrixOfABatchIsNamed)
{
    const TemporaryFolder folder;
    const auto write = [&](const std::vector<std::size_t>& bad) {
        std::vector<double> output(std::size_t {3} * 4 * 6, 1.0);
        for (const auto element : bad) {
            std::fill_n(output.begin() + static_cast<std::ptrdiff_t>(element * 24), 24, NAN);
        }
        const auto path = writeFrameCapture(folder / "x.pt", {3, 4, 6}, waveValues(72), output);
        return diagnose::damagePatterns(tensorfile::openCapture(path).value()).value();
    };
    const auto one = write({1});
    EXPECT_EQ(one[1].text, "every value is NaN in element 1 of the batch; the other 2 are finite");
    EXPECT_EQ(one[0].text, "every value is finite");
    EXPECT_EQ(write({0, 1})[1].text, "every value is NaN");
}

TEST(DamageTally, BlocksAreExactOrNone)
{
    diagnose::DamageTally tally(100, 200);
    for (std::int64_t r = 10; r < 20; ++r) {
        for (std::int64_t c = 60; c < 140; ++c) {
            tally.add(r, c, diagnose::Damage::posInf);
        }
    }
    const replay::BadBlocks expected {{0, 10, 20, 100}, {0, 60, 140, 200}, {0, 0, 0, 0, 1, 0, 0, 0, 0}};
    EXPECT_EQ(tally.blocks(3), expected);
    EXPECT_EQ(tally.blocks(2), std::nullopt);
    tally.add(99, 199, diagnose::Damage::nan);
    EXPECT_EQ(tally.blocks(3), std::nullopt);
    EXPECT_EQ(replay::badElements(tally.blocks(4).value()), 801);
    EXPECT_EQ(diagnose::DamageTally(3, 4).blocks(1), (replay::BadBlocks {{0, 3}, {0, 4}, {0}}));
    // Too large to remember each element: nothing is said, and no memory taken.
    diagnose::DamageTally huge(1 << 16, 1 << 16);
    huge.add(1, 1, diagnose::Damage::nan);
    EXPECT_EQ(huge.blocks(8), std::nullopt);
}

} // namespace
} // namespace nanscope
