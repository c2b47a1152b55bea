// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/diagnose/identify/envelope.h"
#include "core/replay/variants/variant.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/replay/devicearound.h"

namespace nanscope {
namespace {

/// `value` times the first rows of an identity: every singular value of the normalised input is the same.
diagnose::Element diagonal(std::int64_t rows, std::int64_t cols, double value)
{
    diagnose::Element element;
    element.shape = {1, rows, cols};
    element.input = std::vector<double>(static_cast<std::size_t>(rows * cols), 0);
    for (std::int64_t i = 0; i < rows; ++i) {
        element.input.set(static_cast<std::size_t>(i * cols + i), value);
    }
    element.output = std::vector<double>(element.input.size(), NAN);
    element.outputScan.count = rows * cols;
    element.outputScan.nan = rows * cols;
    return element;
}

MemberResult measured(
    const diagnose::Member& member, const diagnose::Element& element, diagnose::Enough enough = diagnose::Enough::whole)
{
    const auto device = replay::makeEigenDevice(1);
    const auto result = diagnose::replayMember(member, element, 1e-8, enough, *device, {});
    EXPECT_TRUE(result) << (result ? "" : result.error().what);
    return result.value_or(MemberResult {});
}

using Key = std::tuple<Lowering, bool, bool, int, int, bool>;

Key keyOf(const replay::Rounding& r)
{
    return {r.lowering, r.fuseElementwise, r.fp32Norm, r.normUlps, r.inputUlps, r.otherSide};
}

TEST(Envelope, HoldsEightDifferentRoundingsTheOwnOneFirst)
{
    for (const auto& variant : replay::variants()) {
        const auto all = diagnose::envelopeOf({&variant, variant.precision});
        std::set<Key> different;
        for (const auto& rounding : all) {
            different.insert(keyOf(rounding));
        }
        EXPECT_EQ(all.size(), 8U);
        EXPECT_EQ(different.size(), 8U) << variant.name;
        replay::Rounding own;
        own.lowering = variant.lowering;
        EXPECT_EQ(keyOf(all.front()), keyOf(own)) << variant.name;
    }
}

TEST(Envelope, MovesEachKnobBothWaysWhereItHasTwo)
{
    int up = 0;
    int down = 0;
    std::set<Lowering> lowerings;
    for (const auto& rounding : diagnose::envelopeOf(test::memberOf("dion-ns5"))) {
        up += rounding.normUlps > 0 ? 1 : 0;
        down += rounding.normUlps < 0 ? 1 : 0;
        lowerings.insert(rounding.lowering);
    }
    EXPECT_EQ(up, 1);
    EXPECT_EQ(down, 1);
    EXPECT_EQ(lowerings.size(), 2U);
}

TEST(Envelope, AMemberThatIsClearOfEveryLimitTakesTwoRoundings)
{
    const auto result = measured(test::memberOf("dion-ns5"), diagonal(8, 12, 0.5));
    EXPECT_EQ(result.variant, "dion-ns5");
    EXPECT_EQ(result.precision, "bf16");
    EXPECT_EQ(result.roundings, 2);
    EXPECT_EQ(result.finite, 2);
    EXPECT_EQ(result.reproducing, 0);
    EXPECT_TRUE(result.firstBad.empty());
    // bf16 reaches 2^128, and nothing of a normalised iteration exceeds the norm of the input by much.
    EXPECT_GT(result.headroomBinades, 120);
    EXPECT_LT(result.headroomBinades, 128);
    // The input's norm is sqrt(8)/2; every singular value of what enters step 1 is 1/sqrt(8), far from the limit.
    ASSERT_TRUE(result.slackPercent);
    EXPECT_GT(*result.slackPercent, 0);
}

TEST(Envelope, SlackIsTheDistanceOfTheSpectralNormToTheLimit)
{
    // One direction alone has singular value 1 after the division, so the first step's slack is its limit less one.
    const auto member = test::memberOf("gns-standard");
    const auto limits = replay::divergenceLimits(member.variant->steps);
    auto expected = 100 * (limits[0] - 1);
    double sigma = 1;
    for (std::size_t k = 1; k < limits.size(); ++k) {
        sigma = replay::applySchedule(std::span(member.variant->steps).subspan(k - 1, 1), sigma);
        expected = std::min(expected, 100 * (limits[k] / sigma - 1));
    }
    const auto result = measured({member.variant, Precision::fp64}, diagonal(1, 12, 0.5));
    ASSERT_TRUE(result.slackPercent);
    // One ulp of bf16 on the input and of fp64 on the norm are part of the envelope.
    EXPECT_NEAR(*result.slackPercent, expected, 0.01);
}

TEST(Envelope, HeadroomIsThatOfTheComputeFormatOnly)
{
    // 60,000 fits fp16, barely: gns takes norm and division in fp32, DeepSpeed's form casts first.
    const auto big = diagonal(1, 4, 60000);
    EXPECT_GT(measured(test::memberOf("gns-standard"), big).headroomBinades, 10);
    const auto castFirst = measured(test::memberOf("deepspeed-gram"), big);
    EXPECT_LT(castFirst.headroomBinades, 1);
    EXPECT_EQ(castFirst.finite, 8);
}

TEST(Envelope, AnOverflowingCastIsCountedNamedAndReproducesTheDump)
{
    auto element = diagonal(8, 12, 70000);
    element.input.set(1, 0.5);
    const auto result = measured(test::memberOf("deepspeed-gram"), element);
    EXPECT_EQ(result.finite, 0);
    EXPECT_EQ(result.firstBad, "cast");
    EXPECT_EQ(result.headroomBinades, 0);
    EXPECT_EQ(result.reproducing, 8) << "inf / inf leaves no element that is not NaN";
}

class CountingDevice : public test::DeviceAround
{
public:
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override
    {
        ++outputs;
        return DeviceAround::download(buffer, element, part);
    }
    int outputs = 0;
};

TEST(Envelope, FetchesOutputsThatMayEndLikeTheDumpAlone)
{
    const auto fetched = [](std::string_view variant, const diagnose::Element& element) {
        CountingDevice device;
        const auto done =
            diagnose::replayMember(test::memberOf(variant), element, 1e-8, diagnose::Enough::whole, device, {});
        EXPECT_TRUE(done);
        // The Gram matrix of each step is fetched, too, for its norm.
        return device.outputs - done->roundings * static_cast<int>(test::memberOf(variant).variant->steps.size());
    };
    auto overflowing = diagonal(8, 12, 70000);
    overflowing.input.set(1, 0.5);
    EXPECT_EQ(fetched("dion-ns5", diagonal(8, 12, 0.5)), 0) << "finite, and the dump is not";
    EXPECT_EQ(fetched("deepspeed-gram", overflowing), 8);
    overflowing.output = std::vector<double>(overflowing.output.size(), 0.5);
    overflowing.outputScan.nan = 0;
    EXPECT_EQ(fetched("deepspeed-gram", overflowing), 0);
}

TEST(Envelope, WhereTheFunctionIsAskedForAnywayOneReplayThatTellsIsEnough)
{
    const auto healthy = measured(test::memberOf("dion-ns5"), diagonal(8, 12, 0.5), diagnose::Enough::asked);
    EXPECT_EQ(healthy.roundings, 1) << "clear of every limit";
    auto overflowing = diagonal(8, 12, 70000);
    overflowing.input.set(1, 0.5);
    const auto reproducing = measured(test::memberOf("deepspeed-gram"), overflowing, diagnose::Enough::asked);
    EXPECT_EQ(reproducing.roundings, 1) << "ends like the dump";
    EXPECT_EQ(reproducing.reproducing, 1);
    overflowing.output.set(5, 0.25);
    EXPECT_EQ(measured(test::memberOf("deepspeed-gram"), overflowing, diagnose::Enough::asked).roundings, 8)
        << "fails, and not like the dump: another rounding may";
}

TEST(Envelope, AnotherPatternIsNotReproduced)
{
    auto element = diagonal(8, 12, 70000);
    element.output.set(5, INFINITY);
    EXPECT_EQ(measured(test::memberOf("deepspeed-gram"), element).reproducing, 0);
    element.output.set(5, 0.25);
    EXPECT_EQ(measured(test::memberOf("deepspeed-gram"), element).reproducing, 0) << "one finite value is enough";
}

TEST(Envelope, AFiniteDumpIsNeverReproduced)
{
    auto element = diagonal(8, 12, 0.5);
    element.output = std::vector<double>(element.output.size(), 0.5);
    element.outputScan.nan = 0;
    EXPECT_EQ(measured(test::memberOf("dion-ns5"), element).reproducing, 0);
}

TEST(Envelope, QIsMeasuredInTheGramFormOnly)
{
    const auto input = diagonal(8, 12, 0.5);
    EXPECT_FALSE(measured(test::memberOf("gns-standard"), input).absmaxQ);
    EXPECT_TRUE(measured(test::memberOf("gns-gram"), input).absmaxQ);
}

TEST(Envelope, CancelIsAnError)
{
    const auto device = replay::makeEigenDevice(1);
    CancelToken cancel;
    cancel.cancel();
    const auto result = diagnose::replayMember(
        test::memberOf("dion-ns5"), diagonal(2, 3, 1), {}, diagnose::Enough::whole, *device, cancel);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::cancelled);
}

TEST(Envelope, AMemberThatLeavesTheFormatHasNoHeadroomEvenWhereNothingFiniteRemains)
{
    // 70000 on the diagonal and zeros beside it: after the cast to fp16 there are infinities and zeros only.
    const auto result = measured(test::memberOf("deepspeed-gram"), diagonal(8, 12, 70000));
    EXPECT_EQ(result.finite, 0);
    EXPECT_EQ(result.headroomBinades, 0);
}

} // namespace
} // namespace nanscope
