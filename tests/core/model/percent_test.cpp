// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/words.h"

#include <gtest/gtest.h>

namespace nanscope {
namespace {

TEST(Percent, IsReadableAtAnySize)
{
    EXPECT_EQ(percentText(0.0000042), "0.00042 %");
    EXPECT_EQ(percentText(0.0061), "0.61 %");
    EXPECT_EQ(percentText(0.05), "5 %");
    EXPECT_EQ(percentText(0.0996), "10 %");
    EXPECT_EQ(percentText(1.2), "120 %");
    EXPECT_EQ(percentText(1.534), "153 %");
    EXPECT_EQ(percentText(399994.38), "4e+05 times its size");
    EXPECT_EQ(offByText(0.54), "54 % off");
    EXPECT_EQ(offByText(15), "off by 15 times its size");
    EXPECT_EQ(percentText(2.116520336e37), "2.1e+37 times its size");
}

} // namespace
} // namespace nanscope
