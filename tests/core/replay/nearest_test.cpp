// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/replay/variants/nearest.h"

namespace nanscope {
namespace {

using testing::ElementsAre;

TEST(Nearest, CountsInsertionsDeletionsAndReplacements)
{
    EXPECT_THAT(replay::nearest("gns-grm", {"dion-ns5", "gns-standard", "gns-gram"}, 1), ElementsAre("gns-gram"));
    EXPECT_THAT(replay::nearest("bf61", {"fp16", "bf16", "fp64"}, 1), ElementsAre("bf16"));
    EXPECT_THAT(
        replay::nearest("kitten", {"sitting", "kitchen", "mitten"}, 3), ElementsAre("mitten", "kitchen", "sitting"));
}

TEST(Nearest, NamesThatHoldTheWordComeFirst)
{
    EXPECT_THAT(replay::nearest("gns", {"cans", "gns-standard", "dion-ns5", "gns-gram"}, 3),
        ElementsAre("gns-standard", "gns-gram", "cans"));
    EXPECT_THAT(replay::nearest("ns", {"dion-ns5", "as"}, 1), ElementsAre("as")) << "two letters are in many";
}

TEST(Nearest, EquallyNearOnesKeepTheirOrder)
{
    EXPECT_THAT(replay::nearest("x", {"b", "a", "c"}, 2), ElementsAre("b", "a"));
}

TEST(Nearest, GivesNoMoreThanThereAre)
{
    EXPECT_THAT(replay::nearest("a", {"b"}, 3), ElementsAre("b"));
    EXPECT_TRUE(replay::nearest("a", {}, 3).empty());
    EXPECT_TRUE(replay::nearest("a", {"b"}, 0).empty());
    EXPECT_THAT(replay::nearest("", {"abc", "a"}, 1), ElementsAre("a"));
}

TEST(Nearest, AVeryLongWordIsCutNotMeasuredWhole)
{
    const std::string word = std::string(64, 'a') + std::string(100'000, 'b');
    const std::string same(64, 'a');
    EXPECT_THAT(replay::nearest(word, {"b", same}, 1), ElementsAre(same));
}

} // namespace
} // namespace nanscope
