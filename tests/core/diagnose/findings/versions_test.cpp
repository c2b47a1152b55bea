// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/diagnose/findings/versions.h"

namespace nanscope {
namespace {

diagnose::Version versionOf(std::string_view text)
{
    const auto version = diagnose::parseVersion(text);
    EXPECT_TRUE(version) << text;
    return version.value_or(diagnose::Version {});
}

TEST(Versions, StandInTheOrderOfPep440)
{
    const std::vector<std::string_view> inOrder {"0.3.10", "0.3.11", "0.4", "1.0.dev1", "1.0a1.dev2", "1.0a1", "1.0a2",
        "1.0b1", "1.0rc1", "1.0", "1.0.post1.dev1", "1.0.post1", "1.0.1", "1.10", "2.9.1+cu130", "2.11.0", "1!0.1"};
    for (std::size_t i = 1; i < inOrder.size(); ++i) {
        EXPECT_LT(versionOf(inOrder[i - 1]), versionOf(inOrder[i])) << inOrder[i - 1] << " and " << inOrder[i];
    }
}

TEST(Versions, TorchsOwnBuildsStandInOrder)
{
    const std::vector<std::string_view> inOrder {"2.8.0", "2.9.0.dev20250801+cu129", "2.9.0a0+145a3a7bda.nv25.10",
        "2.9.0b1", "2.9.0rc1.dev3", "2.9.0rc1", "2.9.0rc10", "2.9.0+cu130", "2.9.0.post1.dev2", "2.9.0.post1", "2.9.1"};
    for (std::size_t i = 1; i < inOrder.size(); ++i) {
        EXPECT_LT(versionOf(inOrder[i - 1]), versionOf(inOrder[i])) << inOrder[i - 1] << " and " << inOrder[i];
    }
    EXPECT_EQ(versionOf("2.9.0+cu130"), versionOf("2.9.0+cpu"));
    EXPECT_EQ(versionOf("2.9.0a0+gitabc123"), versionOf("2.9.0a0"));
}

TEST(Versions, SeveralSpellingsAreOneVersion)
{
    EXPECT_EQ(versionOf("2.11.0"), versionOf("2.11"));
    EXPECT_EQ(versionOf("2.11.0+cu130"), versionOf("v2.11.0"));
    EXPECT_EQ(versionOf("1.0-RC.1"), versionOf("1.0c1"));
    EXPECT_EQ(versionOf("1.0-1"), versionOf("1.0.post1"));
    EXPECT_EQ(versionOf("1.0dev"), versionOf("1.0.dev0"));
}

TEST(Versions, OtherTextsAreNone)
{
    for (const auto* text : {"", "main", "0.4.x", "1..2", "1.2 beta of mine", "99999999999999999999.1", "60d8808"}) {
        EXPECT_FALSE(diagnose::parseVersion(text)) << text;
    }
}

TEST(VersionRange, HoldsOnlyWhereEveryPartDoes)
{
    const auto range = diagnose::VersionRange::parse(">=0.3.11,<=0.6.4");
    ASSERT_TRUE(range);
    for (const auto* inside : {"0.3.11", "0.4.1", "0.6.4", "0.6.4+local"}) {
        EXPECT_TRUE(range->contains(versionOf(inside))) << inside;
    }
    for (const auto* outside : {"0.3.10", "0.6.5", "1.0", "0.6.4.post1", "0.3.11rc1"}) {
        EXPECT_FALSE(range->contains(versionOf(outside))) << outside;
    }
    EXPECT_TRUE(diagnose::VersionRange::parse("== 0.3.11")->contains(versionOf("0.3.11.0")));
    EXPECT_FALSE(diagnose::VersionRange::parse(">0.3")->contains(versionOf("0.3")));
}

TEST(VersionRange, RefusesWhatIsNone)
{
    for (const auto* text : {"", "0.3", "~=0.3", ">=", ">=0.3,", ">=0.3,,<1", "=>1"}) {
        EXPECT_FALSE(diagnose::VersionRange::parse(text)) << text;
    }
}

TEST(PackageName, IsComparedAsRegistriesDo)
{
    EXPECT_EQ(diagnose::packageName("Gram_Newton.Schulz"), "gram-newton-schulz");
    EXPECT_EQ(diagnose::packageName("quack__kernels"), "quack-kernels");
}

} // namespace
} // namespace nanscope
