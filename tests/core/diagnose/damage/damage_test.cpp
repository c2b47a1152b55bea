// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/diagnose/damage/damage.h"

namespace nanscope {
namespace {

constexpr std::int64_t damagedRows = 8;
constexpr std::int64_t damagedCols = 12;

struct UniformMatrix
{
    std::vector<double> values = std::vector<double>(damagedRows * damagedCols, 1.0);

    double& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * damagedCols + c)]; }
    void fill(std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1, double value)
    {
        for (auto r = r0; r < r1; ++r) {
            for (auto c = c0; c < c1; ++c) {
                at(r, c) = value;
            }
        }
    }
    DamagePattern describe() const { return diagnose::describeDamage(values, damagedRows, damagedCols); }
};

TEST(DamagePattern, NothingIsDamaged)
{
    EXPECT_EQ(UniformMatrix().describe().shape, DamageShape::none);
}

TEST(DamagePattern, RectangleNamesItsRowsAndColumns)
{
    UniformMatrix m;
    m.fill(2, 4, 4, 8, NAN);
    const auto pattern = m.describe();
    EXPECT_EQ(pattern.shape, DamageShape::rectangle);
    EXPECT_EQ(pattern.text, "rows 2–3 × columns 4–7 are NaN");
    EXPECT_EQ(pattern.count, 8);
}

TEST(DamagePattern, ABlockOfABlockDiagonalInputIsItsOwn)
{
    UniformMatrix input;
    input.fill(0, 4, 6, damagedCols, 0);
    input.fill(4, damagedRows, 0, 6, 0);
    UniformMatrix output;
    output.fill(0, 4, 0, 6, NAN);
    const auto isOwn = [&output](const UniformMatrix& matrix) {
        diagnose::Element element;
        element.shape = {1, damagedRows, damagedCols};
        element.input = Values(matrix.values);
        return diagnose::damagedInOwnBlock(element, output.describe());
    };
    EXPECT_TRUE(isOwn(input));
    auto beside = input;
    beside.at(0, 6) = 1;
    EXPECT_FALSE(isOwn(beside)) << "a product hands it on";
    auto alone = input;
    alone.fill(4, damagedRows, 6, damagedCols, 0);
    EXPECT_FALSE(isOwn(alone)) << "there is no other block";
    output.fill(0, 4, 0, 7, NAN);
    EXPECT_FALSE(isOwn(input));
}

TEST(DamagePattern, ABlockThatIsFarSmallerOrLargerThanTheOthersIsOutlying)
{
    UniformMatrix output;
    output.fill(2, 4, 4, 8, NAN);
    UniformMatrix input;
    const auto isOutlying = [&](double value, double others = 1) {
        input.fill(0, damagedRows, 0, damagedCols, others);
        input.fill(2, 4, 4, 8, value);
        diagnose::Element element;
        element.shape = {1, damagedRows, damagedCols};
        element.input = Values(input.values);
        return diagnose::damagedInOutlyingBlock(element, output.describe());
    };
    EXPECT_TRUE(isOutlying(0x1p-7));
    EXPECT_FALSE(isOutlying(0x1p-6));
    EXPECT_TRUE(isOutlying(0x1p7));
    EXPECT_FALSE(isOutlying(0x1p6));
    EXPECT_TRUE(isOutlying(0));
    EXPECT_FALSE(isOutlying(0, 0)) << "all are alike";
    output.fill(0, damagedRows, 4, 8, NAN);
    EXPECT_FALSE(isOutlying(0x1p-7)) << "columns are no block";
}

TEST(DamagePattern, ARectangleWithAHoleIsScattered)
{
    UniformMatrix m;
    m.fill(2, 4, 4, 8, NAN);
    m.at(3, 5) = 0;
    EXPECT_EQ(m.describe().shape, DamageShape::scattered);
}

TEST(DamagePattern, WholeRowsAndColumnsHaveTheirNames)
{
    UniformMatrix m;
    m.fill(3, 5, 0, damagedCols, INFINITY);
    EXPECT_EQ(m.describe().shape, DamageShape::rows);
    EXPECT_EQ(m.describe().text, "the whole of rows 3–4 is +Inf");

    UniformMatrix n;
    n.fill(0, damagedRows, 1, 2, NAN);
    n.fill(0, damagedRows, 6, 7, NAN);
    EXPECT_EQ(n.describe().shape, DamageShape::columns);
    EXPECT_EQ(n.describe().text, "2 whole columns within 1–6 are NaN");
}

TEST(DamagePattern, KindsAreToldApart)
{
    UniformMatrix m;
    m.fill(0, damagedRows, 0, damagedCols, NAN);
    EXPECT_EQ(m.describe().text, "every value is NaN");
    m.at(0, 0) = -INFINITY;
    EXPECT_EQ(m.describe().text, "every value is NaN or -Inf; 95 NaN to 1 Inf");

    UniformMatrix one;
    one.at(7, 11) = NAN;
    EXPECT_EQ(one.describe().shape, DamageShape::singleElement);
    EXPECT_EQ(one.describe().text, "[7, 11] is NaN");
}

} // namespace
} // namespace nanscope
