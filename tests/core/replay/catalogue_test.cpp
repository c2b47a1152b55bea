// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variant.h"
#include "core/replay/variants/variantname.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
             "keller-jordan@0@0", "keller-jordan@ 0"}) {
        const auto found = catalogue.find(bad);
        ASSERT_FALSE(found) << bad;
        EXPECT_THAT(found.error().what, HasSubstr("after '@' comes a finite number from 0 on")) << bad;
    }
    EXPECT_THAT(catalogue.find("keler-jordan@0").error().what, HasSubstr("there is no variant 'keler-jordan'; the"));
}

TEST(Catalogue, StepsInTheNameAreThoseThatRun)
{
    const Catalogue catalogue;
    const auto& jordan = (*catalogue.find("torch-muon"))->steps;
    const auto& you = (*catalogue.find("dion-ns5"))->steps;
    const auto found = [&](std::string_view name) { return **catalogue.find(name); };
    auto six = found("torch-muon");
    six.name = "torch-muon@6x";
    six.steps.push_back(jordan.back());
    EXPECT_EQ(found("torch-muon@6x"), six);
    EXPECT_EQ(found("emerging-quintic@7x").steps[6], found("emerging-quintic").steps[1]) << "it begins again";
    EXPECT_EQ(found("torch-muon@5xdion-ns5").steps, you);
    EXPECT_EQ(found("torch-muon@7xdion-ns5").steps[6], you.back());
    EXPECT_EQ(found("torch-muon@5x2_-1.5_0.5").steps, std::vector(5, (replay::Coefficients {2, -1.5, 0.5})));
    EXPECT_EQ(found("torch-muon@3x2_-1.5_0.5+1.5_-5e-1_0").steps[2], (replay::Coefficients {1.5, -0.5, 0}));
    const auto both = found("torch-muon@6x@0");
    EXPECT_EQ(both.steps, six.steps);
    EXPECT_EQ(both.epsilon, 0);
    EXPECT_TRUE(both.ignoresCallerEpsilon);
    EXPECT_EQ(found("gns-gram@5x1_0_0").safetyFactor, 1) << "nobody knows one of other coefficients";
    EXPECT_EQ(found("torch-muon@5xgns-gram").safetyFactor, 1.05);
    EXPECT_EQ(found("gns-gram@4x").safetyFactor, 1.05);
}

TEST(Catalogue, StepsAreNamedAtTheirShortest)
{
    const Catalogue catalogue;
    for (const auto& [written, name] : {std::pair {"torch-muon@5x", "torch-muon"},
             {"torch-muon@5x3.4445_-4.775_2.0315", "torch-muon"}, {"torch-muon@05xkeller-jordan", "torch-muon"},
             {"torch-muon@6x3.44450_-4.775_2.0315+3.4445_-4.775_2.0315", "torch-muon@6x"},
             {"torch-muon@5xdion-ns5-triton", "torch-muon@5xdion-ns5"},
             {"torch-muon@4x2_-1.5_0.5+2_-1.5_.5+2.0_-1.5_0.5", "torch-muon@4x2_-1.5_0.5"},
             {"torch-muon@4x2_-1.5_0.5+1_0_0", "torch-muon@4x2_-1.5_0.5+1_0_0"},
             {"torch-muon@2x1_0_0+2_0_0+3_0_0", "torch-muon@2x1_0_0+2_0_0"},
             {"torch-muon@1x9e14_-1e-9_0", "torch-muon@1x900000000000000_-1e-09_0"},
             {"emerging-cubic5@6x1_0_0", "emerging-cubic5@6x1_0_0"}, {"torch-muon@5x@0", "torch-muon@0"},
             {"torch-muon@6x@1e-7", "torch-muon@6x@1e-07"}, {"torch-muon@6.00", "torch-muon@6.0"}}) {
        const auto found = catalogue.find(written);
        ASSERT_TRUE(found) << written;
        EXPECT_EQ((*found)->name, name) << written;
        EXPECT_EQ(*catalogue.find(name), *found) << written;
    }
    EXPECT_EQ(*catalogue.find("torch-muon@5x"), replay::builtInVariant("torch-muon"));
}

TEST(Catalogue, StepsThatCannotBeMadeAreRefused)
{
    Catalogue catalogue;
    for (const auto& [name, why] :
        {std::pair {"torch-muon@0x", "0 steps: give 1 to 100"}, {"torch-muon@101x", "101 steps: give 1 to 100"},
            {"torch-muon@x", "'x' is no number of steps"}, {"torch-muon@1e-7x", "'1e-7x' is no number"},
            {"torch-muon@6.5x", "'6.5x' is no number of steps"}, {"torch-muon@99999999999x", "is no number of steps"},
            {"torch-muon@5xnone", "'none' is neither a variant"}, {"torch-muon@5x2_3", "'2_3' is neither"},
            {"torch-muon@5x2_3_nan", "'2_3_nan' is neither"}, {"torch-muon@5x2_3_1e15", "'2_3_1e15' is neither"},
            {"torch-muon@5x2_3_4+", "'' is neither"}, {"torch-muon@5x1_2_3_4", "'1_2_3_4' is neither"},
            {"emerging-cubic5@6x", "exactly 5 steps"}, {"torch-muon@6xemerging-cubic5", "exactly 5 steps"},
            {"torch-muon@6x@", "'' is no epsilon"}, {"torch-muon@6x@6x", "'6x' is no epsilon"},
            {"torch-muon@0@6x", "'0@6x' is no epsilon"}, {"torch-muon@6X", "'6X' is no epsilon and no number of steps"},
            {"torch-muon@6x@12", "'12' may be steps or an epsilon: write @12x for steps, @12.0 for"}}) {
        const auto found = catalogue.find(name);
        ASSERT_FALSE(found) << name;
        EXPECT_THAT(found.error().what, HasSubstr(why)) << name;
    }
    for (int i = 0; i < 64; ++i) {
        ASSERT_TRUE(catalogue.include(fmt::format("torch-muon@{}x", i + 6)));
    }
    EXPECT_FALSE(catalogue.include("torch-muon@80x")) << "each is compared with every output";
    EXPECT_TRUE(catalogue.include("torch-muon@6x"));
}

TEST(VariantName, PartsOfIt)
{
    EXPECT_EQ(replay::baseOf("gns-gram@6x@0"), "gns-gram");
    EXPECT_EQ(replay::baseOf("gns-gram"), "gns-gram");
    EXPECT_EQ(replay::withoutEpsilon("gns-gram@6x@0"), "gns-gram@6x");
    EXPECT_EQ(replay::withoutEpsilon("gns-gram@0"), "gns-gram");
    EXPECT_EQ(replay::withEpsilon("gns-gram@6x@1", 0), "gns-gram@6x@0");
    EXPECT_EQ(replay::withEpsilon("gns-gram", 1e-7), "gns-gram@1e-07");
    EXPECT_EQ(replay::withSteps("gns-gram", 6), "gns-gram@6x");
    EXPECT_EQ(replay::withSteps("gns-gram@5xdion-ns5@0", 6), "gns-gram@6xdion-ns5@0");
    EXPECT_EQ(replay::withSteps("gns-gram@0", 6), "gns-gram@6x@0");
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
    EXPECT_EQ((*catalogue.find("mine@0.5"))->steps[0][0], 3) << "of the mine there is now";
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
