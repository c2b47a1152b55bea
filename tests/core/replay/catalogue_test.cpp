// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variant.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nanscope {

namespace {

using replay::Catalogue;
using testing::HasSubstr;

replay::Variant made(std::string name, double slope = 2)
{
    replay::Variant variant;
    variant.name = std::move(name);
    variant.steps = {{slope, -1.5, 0.5}};
    return variant;
}

TEST(Catalogue, BeginsWithTheBuiltInOnes)
{
    const Catalogue catalogue;
    EXPECT_TRUE(catalogue.added().empty());
    EXPECT_EQ(catalogue.all().size(), replay::variants().size());
    EXPECT_EQ(*catalogue.find("gns-gram"), replay::builtInVariant("gns-gram"));
}

TEST(Catalogue, AddsOnceAndRefusesAnotherOfTheName)
{
    Catalogue catalogue;
    ASSERT_TRUE(catalogue.add(made("mine")));
    const auto* const first = *catalogue.find("mine");
    EXPECT_TRUE(catalogue.add(made("mine")));
    EXPECT_EQ(*catalogue.find("mine"), first) << "the same one again changes nothing";

    const auto clash = catalogue.add(made("mine", 3));
    ASSERT_FALSE(clash);
    EXPECT_EQ(clash.error().what, "there are two different variants 'mine' (steps differs); rename one");
    EXPECT_EQ(catalogue.added().size(), 1U);
}

TEST(Catalogue, AnEpsilonInTheNameIsTakenWhateverTheCallerPasses)
{
    const Catalogue catalogue;
    const auto* const none = *catalogue.find("keller-jordan@0");
    auto expected = **catalogue.find("keller-jordan");
    expected.name = "keller-jordan@0";
    expected.epsilon = 0;
    expected.ignoresCallerEpsilon = true;
    EXPECT_EQ(*none, expected);
    EXPECT_EQ(*catalogue.find("keller-jordan@0.0"), none) << "however it is written";
    Catalogue copy = catalogue;
    ASSERT_TRUE(copy.add(made("mine")));
    EXPECT_EQ(*copy.find("keller-jordan@0"), none) << "copies share it";
    EXPECT_EQ((*catalogue.find("torch-muon@0.0000001"))->name, "torch-muon@1e-07");
    EXPECT_EQ(catalogue.all().size(), replay::variants().size()) << "none but what is included is compared";
    for (const auto* bad : {"keller-jordan@", "keller-jordan@-1", "keller-jordan@nan", "keller-jordan@inf",
             "keller-jordan@1e-7x", "keller-jordan@0@0", "keller-jordan@ 0"}) {
        const auto found = catalogue.find(bad);
        ASSERT_FALSE(found) << bad;
        EXPECT_THAT(found.error().what, HasSubstr("after '@' comes a finite number from 0 on")) << bad;
    }
    EXPECT_THAT(catalogue.find("keler-jordan@0").error().what, HasSubstr("there is no variant 'keler-jordan'; the"));
}

TEST(Catalogue, WhatIsIncludedIsComparedOnce)
{
    Catalogue catalogue;
    ASSERT_TRUE(catalogue.add(made("mine")));
    const auto before = catalogue.all().size();
    for (const auto* name : {"mine@0", "mine@0", "mine", "gns-gram"}) {
        EXPECT_TRUE(catalogue.include(name));
    }
    ASSERT_EQ(catalogue.all().size(), before + 1);
    EXPECT_EQ(catalogue.all().back(), *catalogue.find("mine@0"));
    EXPECT_EQ(catalogue.own("mine@0"), *catalogue.find("mine@0"));
    EXPECT_EQ(catalogue.added().size(), 1U) << "nobody keeps a definition of what its name defines";
    EXPECT_FALSE(catalogue.include("mine@x"));
    ASSERT_TRUE(catalogue.put(made("mine", 3)));
    EXPECT_EQ((*catalogue.find("mine@1"))->steps[0][0], 3) << "of the mine there is now";
}

TEST(Catalogue, RefusesWhatCannotBeRunAndBuiltInNames)
{
    Catalogue catalogue;
    for (const auto& bad : {made("all"), made("gns-gram"), replay::Variant()}) {
        EXPECT_FALSE(catalogue.add(bad));
        EXPECT_FALSE(catalogue.put(bad));
    }
    EXPECT_TRUE(catalogue.added().empty());
}

TEST(Catalogue, PutReplacesAndWhoHoldsTheOldOneGoesOn)
{
    Catalogue catalogue;
    ASSERT_TRUE(catalogue.add(made("mine")));
    const auto held = catalogue.added().front();
    ASSERT_TRUE(catalogue.put(made("mine", 3)));
    EXPECT_EQ((*catalogue.find("mine"))->steps[0][0], 3);
    EXPECT_EQ(held->steps[0][0], 2);
    EXPECT_EQ(catalogue.added().size(), 1U);
}

TEST(Catalogue, TellsTheUsersOwnFromTheBuiltInOnes)
{
    Catalogue catalogue;
    ASSERT_TRUE(catalogue.add(made("mine")));
    EXPECT_EQ(catalogue.own("mine"), *catalogue.find("mine"));
    EXPECT_EQ(catalogue.own("gns-gram"), nullptr);
    EXPECT_EQ(catalogue.own("never-there"), nullptr);
}

TEST(Catalogue, EqualsWhatHoldsTheSameVariants)
{
    Catalogue one;
    Catalogue other;
    ASSERT_TRUE(one.add(made("mine")));
    EXPECT_NE(one, other);
    ASSERT_TRUE(other.add(made("mine")));
    EXPECT_EQ(one, other) << "whoever made them";
    ASSERT_TRUE(other.put(made("mine", 3)));
    EXPECT_NE(one, other);
}

TEST(Catalogue, CopiesAreIndependentAndShareEntries)
{
    Catalogue one;
    ASSERT_TRUE(one.add(made("mine")));
    Catalogue other = one;
    EXPECT_EQ(*one.find("mine"), *other.find("mine"));
    ASSERT_TRUE(other.put(made("mine", 3)));
    ASSERT_TRUE(other.add(made("second")));
    EXPECT_EQ((*one.find("mine"))->steps[0][0], 2) << "two of one name in one process";
    EXPECT_EQ((*other.find("mine"))->steps[0][0], 3);
    EXPECT_FALSE(one.find("second"));
}

TEST(Catalogue, NamesTheNearest)
{
    Catalogue catalogue;
    ASSERT_TRUE(catalogue.add(made("zebra")));
    const auto unknown = catalogue.find("zebr");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
    EXPECT_THAT(unknown.error().what, HasSubstr("there is no variant 'zebr'; the nearest are zebra"));
}

TEST(Catalogue, HoldsSixtyFourOfTheUsersOwn)
{
    Catalogue catalogue;
    for (int i = 0; i < 64; ++i) {
        ASSERT_TRUE(catalogue.add(made(fmt::format("own-{}", i))));
    }
    EXPECT_FALSE(catalogue.add(made("one-more")));
    EXPECT_TRUE(catalogue.put(made("own-7", 3))) << "it takes the place of another";
    EXPECT_EQ(catalogue.added().size(), 64U);
}

} // namespace

} // namespace nanscope
