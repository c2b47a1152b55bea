// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/diagnose/damage/matricestojudge.h"
#include "core/diagnose/damage/takentogether.h"

namespace nanscope {
namespace {

using diagnose::TakenTogether;
using testing::Each;
using testing::ElementsAre;

constexpr std::int64_t values = 16;

Scan finite(double absmax, double squares = 1)
{
    Scan scan;
    scan.count = values;
    scan.absmax = absmax;
    scan.sumSquares = squares;
    return scan;
}

Scan withNan(std::int64_t nan)
{
    auto scan = finite(1);
    scan.nan = nan;
    return scan;
}

/// Of 4x4 matrices that came in finite and came out without a finite value.
Capture lostCall(std::vector<std::int64_t> leading)
{
    std::size_t matrices = 1;
    for (const auto dim : leading) {
        matrices *= static_cast<std::size_t>(dim);
    }
    Capture capture;
    capture.input.shape = std::move(leading);
    capture.input.shape.insert(capture.input.shape.end(), {4, 4});
    capture.input.batches.assign(matrices, finite(1));
    capture.output = capture.input;
    capture.output->batches.assign(matrices, withNan(values));
    return capture;
}

std::vector<std::int64_t> chosenOf(const Capture& capture, Role role = Role::birth)
{
    std::vector<DamagePattern> patterns(capture.input.batches.size());
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        patterns[i].count = capture.output->batches[i].nonFinite();
    }
    return diagnose::matricesToJudge(role, patterns, capture).chosen;
}

TEST(TakenTogether, OneFiniteValueShowsThatMatricesAreTakenOneByOne)
{
    auto call = lostCall({3});
    EXPECT_THAT(diagnose::takenTogether(call), Each(TakenTogether::perhaps));
    call.input.batches[1] = withNan(1);
    EXPECT_THAT(diagnose::takenTogether(call), Each(TakenTogether::withBad));
    call.output->batches[2] = withNan(values - 1);
    const auto perhaps = TakenTogether::perhaps;
    EXPECT_THAT(diagnose::takenTogether(call), ElementsAre(perhaps, perhaps, TakenTogether::no))
        << "an overflow of the last step may leave some";
    call.output->batches[2] = finite(1);
    EXPECT_THAT(diagnose::takenTogether(call), Each(TakenTogether::no));
}

TEST(TakenTogether, AMatrixVanishesAmongOthersWhereTheirNormTakesItBelowTheNormalNumbers)
{
    auto call = lostCall({2});
    call.input.batches = {finite(1, 4), finite(1e-5, 1e-10)};
    EXPECT_TRUE(diagnose::mayVanishAmongOthers(call, 1, Precision::fp16)) << "5e-6, and 6.1e-5 is normal";
    EXPECT_FALSE(diagnose::mayVanishAmongOthers(call, 0, Precision::fp16));
    EXPECT_FALSE(diagnose::mayVanishAmongOthers(call, 1, Precision::bf16));
    call.variant = "gns-gram";
    call.scene.function = "seen by the helper";
    EXPECT_FALSE(diagnose::mayVanishAmongOthers(call, 1, Precision::fp16)) << "it takes matrices one by one";
    call = lostCall({1});
    call.input.shape = {4, 4};
    EXPECT_FALSE(diagnose::mayVanishAmongOthers(call, 0, Precision::fp16));
}

TEST(TakenTogether, ZerosThatAreFlattenedStayZeros)
{
    auto call = lostCall({2});
    for (auto& scan : call.input.batches) {
        scan = finite(0, 0);
        scan.zero = values;
    }
    EXPECT_THAT(diagnose::takenTogether(call), Each(TakenTogether::no));
}

TEST(TakenTogether, GroupsShareTheirLeadingDimensions)
{
    auto call = lostCall({2, 3});
    call.input.batches[1] = withNan(1);
    call.output->batches[4] = finite(1);
    const auto bad = TakenTogether::withBad;
    const auto no = TakenTogether::no;
    EXPECT_THAT(diagnose::takenTogether(call), ElementsAre(bad, bad, bad, no, no, no));
}

TEST(TakenTogether, OneMatrixAndPublishedCodeThatAHelperSawAreTakenAsTheyAre)
{
    EXPECT_THAT(diagnose::takenTogether(lostCall({1})), ElementsAre(TakenTogether::no));
    EXPECT_THAT(diagnose::takenTogether(lostCall({})), ElementsAre(TakenTogether::no));
    auto seen = lostCall({2});
    seen.variant = "keller-jordan";
    EXPECT_THAT(diagnose::takenTogether(seen), Each(TakenTogether::perhaps)) << "a name alone tells no shape";
    seen.scene.function = "muon.zeropower";
    EXPECT_THAT(diagnose::takenTogether(seen), Each(TakenTogether::no));
}

TEST(MatricesToJudge, TheLargestOfManySizesIsAmongThem)
{
    auto call = lostCall({40});
    for (std::size_t i = 0; i < 40; ++i) {
        call.input.batches[i] = finite(std::ldexp(1.0, static_cast<int>(i / 4)));
    }
    call.input.batches[17] = finite(1e5);
    call.input.batches[33] = finite(1e-20);
    const auto chosen = chosenOf(call);
    EXPECT_THAT(chosen, testing::SizeIs(4));
    EXPECT_THAT(chosen, testing::IsSupersetOf({17, 33}));
}

TEST(MatricesToJudge, EachShapeOfDamageComesBeforeSizes)
{
    auto call = lostCall({8});
    std::vector<DamagePattern> patterns(8);
    for (std::size_t i = 0; i < 8; ++i) {
        call.input.batches[i] = finite(std::ldexp(1.0, static_cast<int>(40 - 5 * i)));
        patterns[i].count = 1;
        patterns[i].shape = i == 5 ? DamageShape::rectangle : DamageShape::wholeElement;
    }
    EXPECT_THAT(diagnose::matricesToJudge(Role::birth, patterns, call).chosen, ElementsAre(0, 1, 5, 7));
}

TEST(MatricesToJudge, WhatABadOneBesideItMayHaveSpoiltIsLeftOut)
{
    auto call = lostCall({2, 2});
    call.input.batches[0] = withNan(1);
    call.output->batches[2] = finite(1);
    EXPECT_THAT(chosenOf(call), ElementsAre(3));
}

TEST(MatricesToJudge, OfAHealthyCallThoseWithStrangeCountsAreAmongThem)
{
    auto call = lostCall({20});
    for (std::size_t i = 0; i < 20; ++i) {
        call.input.batches[i] = finite(1, 1 + static_cast<double>(i));
        call.output->batches[i] = finite(1, 1 + static_cast<double>(i));
    }
    call.output->batches[11].absmax = 0;
    call.output->batches[11].zero = values;
    call.output->batches[15] = call.output->batches[18];
    const auto chosen = chosenOf(call, Role::healthy);
    EXPECT_THAT(chosen, testing::IsSupersetOf({11, 15, 18})) << "zeros, and two results that are one";
}

} // namespace
} // namespace nanscope
