// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/replay/engine/outcome.h"
#include "core/replay/engine/replay.h"
#include "core/replay/program/formats.h"
#include "core/replay/variants/variant.h"
#include "tests/core/replay/devicearound.h"
#include "tests/core/replay/replayvectors.h"

namespace nanscope {
namespace {

Vectors loadRecorded(const std::string& name)
{
    return loadVectors("replay/" + name);
}

/// The first variants, which these files hold; published_test.cpp has all of them on smaller inputs.
std::vector<replay::Variant> recorded()
{
    const auto all = replay::variants();
    return {all.begin(), all.begin() + 9};
}

replay::Replay run(const Vectors& v, std::string_view variant, Precision precision, replay::Rounding rounding)
{
    return replayOn(v, *replay::builtInVariant(variant), precision, rounding);
}

Outcome outcomeOf(const replay::Replay& replayed, std::size_t element = 0)
{
    return replay::judgeOutcomes(replayed)[element];
}

replay::Replay runOwnLowering(const Vectors& v, std::string_view variant, Precision precision)
{
    replay::Rounding rounding;
    rounding.lowering = replay::builtInVariant(variant)->lowering;
    return run(v, variant, precision, rounding);
}

const std::vector<std::string> inputs {"wide_24x40_gaussian", "wide_24x40_log3", "wide_24x40_log7",
    "square_32x32_rank16", "wide_24x40_rank1", "tall_40x24_gaussian", "batch_3x16x24_mixed", "row_1x16", "column_16x1"};

TEST(Replay, Fp64AgreesWithTorchOnEverySpectrumAndShape)
{
    for (const auto& name : inputs) {
        const auto v = loadRecorded(name);
        for (const auto& variant : recorded()) {
            const auto expected = v.read(keyOf(variant, Precision::fp64));
            const auto got = joined(runOwnLowering(v, variant.name, Precision::fp64));
            EXPECT_LT(replay::relativeDistance(got, expected), 1e-9) << name << " " << variant.name;
        }
    }
}

TEST(Replay, Fp32AgreesWithTorchWithinTheGainOnRounding)
{
    for (const auto& name : inputs) {
        const auto v = loadRecorded(name);
        for (const auto& variant : recorded()) {
            if (!variant.published) {
                continue;
            }
            double slope = 1;
            for (const auto& step : variant.steps) {
                slope *= step[0];
            }
            const auto expected = v.read(keyOf(variant, Precision::fp32));
            const auto got = joined(runOwnLowering(v, variant.name, Precision::fp32));
            // Two orders of summation in torch itself differ by up to 2.3 eps slope0 on the rank-1 input.
            const double bound = 3 * epsilonOf(Precision::fp32) * slope;
            EXPECT_LT(replay::relativeDistance(got, expected), bound) << name << " " << variant.name;
        }
    }
}

TEST(Replay, SixteenBitFormatsFollowTorchCloserThanRoundingLetsThemDrift)
{
    // On well-conditioned spectra the two agree in most bits; on degenerate ones only outcomes can be compared.
    for (const auto& name : {"wide_24x40_gaussian", "tall_40x24_gaussian", "wide_24x40_log3"}) {
        const auto v = loadRecorded(name);
        for (const auto& variant : recorded()) {
            for (const auto precision : {Precision::bf16, Precision::fp16}) {
                if (!variant.published) {
                    continue;
                }
                const auto key = keyOf(variant, precision);
                const auto expected = v.read(key);
                const auto exact = v.read(keyOf(variant, Precision::fp64));
                const auto got = joined(runOwnLowering(v, variant.name, precision));
                const double rounding = replay::relativeDistance(expected, exact);
                // Torch's own Gram form, summed in two orders, differs by up to 1.4 times its rounding error.
                const bool gram = variant.form == replay::Form::gram || variant.form == replay::Form::gramFromLeft;
                EXPECT_LT(replay::relativeDistance(got, expected), (gram ? 2.0 : 0.7) * rounding) << name << " " << key;
                EXPECT_LT(replay::relativeDistance(got, exact), (gram ? 2.0 : 1.3) * rounding) << name << " " << key;
            }
        }
    }
}

TEST(Replay, EveryRoundingOfTheEnvelopeIsTheSameMathematics)
{
    const auto v = loadRecorded("tall_40x24_gaussian");
    for (const auto& variant : recorded()) {
        const auto expected = v.read(keyOf(variant, Precision::fp64));
        for (const auto lowering : {Lowering::eager, Lowering::fused}) {
            for (const bool elementwise : {false, true}) {
                for (const bool otherSide : {false, true}) {
                    replay::Rounding rounding;
                    rounding.lowering = lowering;
                    rounding.fuseElementwise = elementwise;
                    rounding.otherSide = otherSide;
                    const auto got = joined(run(v, variant.name, Precision::fp64, rounding));
                    EXPECT_LT(replay::relativeDistance(got, expected), 1e-9) << variant.name;
                }
            }
        }
    }
}

// Eight times as far in fp16 would hide a wrong half of a product among the roundings.
TEST(Replay, MovesTheInputByAnUlpOfTheFormatThatRuns)
{
    const auto v = loadRecorded("wide_24x40_gaussian");
    const std::string_view variant = "dion-ns5";
    replay::Rounding moved;
    moved.inputUlps = 1;
    for (const auto format : {Precision::bf16, Precision::fp16}) {
        auto other = loadRecorded("wide_24x40_gaussian");
        for (std::size_t i = 0; i < other.input.size(); ++i) {
            other.input[i] = replay::stepUlps(format, v.input[i], i % 2 == 0 ? 1 : -1);
        }
        EXPECT_EQ(joined(run(v, variant, format, moved)), joined(run(other, variant, format, {}))) << name(format);
    }
}

// What divides by the norm before it casts takes inputs that fp16 does not hold.
TEST(Replay, AnInputBeyondFp16StaysFiniteWhenItIsMoved)
{
    auto v = loadRecorded("wide_24x40_gaussian");
    for (auto& x : v.input) {
        x *= 1e8;
    }
    ASSERT_GT(std::abs(v.input.front()), 65504);
    replay::Rounding moved;
    moved.inputUlps = 1;
    const auto far = run(v, "gns-gram", Precision::fp16, moved);
    const auto own = run(v, "gns-gram", Precision::fp16, {});
    EXPECT_EQ(outcomeOf(far), Outcome::finite);
    EXPECT_LT(replay::relativeDistance(joined(far), joined(own)), 0.1);
}

TEST(Replay, PaddingMatricesGiveZeroUnlessEpsilonRoundsAway)
{
    const auto v = loadRecorded("padded_2x12x16");
    const auto fine = runOwnLowering(v, "gns-gram", Precision::fp16);
    EXPECT_TRUE(fine.ops.back().batches[0].allZero() || fine.ops.back().batches[1].allZero());
    EXPECT_TRUE(fine.ops.back().batches[0].finite() && fine.ops.back().batches[1].finite());

    // 1e-8 is 0 in fp16: 0 / 0 for the zero matrix, and for it alone.
    const auto broken = runOwnLowering(v, "dion-polar-express", Precision::fp16);
    int nan = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        nan += outcomeOf(broken, i) == Outcome::nan ? 1 : 0;
    }
    EXPECT_EQ(nan, 1);
}

TEST(Replay, CastFirstToFp16OverflowsAtTheCast)
{
    auto v = loadRecorded("wide_24x40_gaussian");
    v.input[41] = 65520; // rounds to infinity; 65519 would round to 65504
    const auto replayed = runOwnLowering(v, "deepspeed-gram", Precision::fp16);
    EXPECT_EQ(outcomeOf(replayed), Outcome::nan);
    const auto first = replay::firstNonFinite(replayed, 0, true);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->op, OpName::cast);
    EXPECT_EQ(first->iteration, 0);
    EXPECT_EQ(first->kind, ValueClass::posInf);
    EXPECT_EQ(first->index, (std::vector<std::int64_t> {0, 1, 1}));

    v.input[41] = 65519;
    const auto below = runOwnLowering(v, "deepspeed-gram", Precision::fp16);
    EXPECT_NE(outcomeOf(below), Outcome::nan);
}

TEST(Replay, NormBeyondFp16IsASilentZeroBornAtTheNorm)
{
    auto v = loadRecorded("wide_24x40_gaussian");
    for (auto& x : v.input) {
        x = 30000; // norm 30000 sqrt(960) is beyond 65504, every element is not
    }
    const auto replayed = runOwnLowering(v, "deepspeed-gram", Precision::fp16);
    EXPECT_EQ(outcomeOf(replayed), Outcome::zero);
    const auto first = replay::firstNonFinite(replayed, 0, false);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->op, OpName::norm);
    EXPECT_EQ(first->kind, ValueClass::posInf);
}

TEST(Replay, Fp32NormOverflowsWhereTheSumOfSquaresDoes)
{
    auto v = loadRecorded("wide_24x40_gaussian");
    const auto scaleTo = [&](double norm) {
        auto scaled = v;
        double sum = 0;
        for (const double x : scaled.input) {
            sum += x * x;
        }
        for (auto& x : scaled.input) {
            x *= norm / std::sqrt(sum);
        }
        return outcomeOf(runOwnLowering(scaled, "keller-jordan", Precision::fp32));
    };
    EXPECT_EQ(scaleTo(1.8446e19), Outcome::finite);
    EXPECT_EQ(scaleTo(1.8448e19), Outcome::zero);
}

TEST(Replay, DamageInTheInputIsNotABirth)
{
    auto v = loadRecorded("wide_24x40_gaussian");
    v.input[7] = NAN;
    const auto first = replay::firstNonFinite(runOwnLowering(v, "dion-ns5", Precision::bf16), 0, false);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->op, OpName::input);
    EXPECT_EQ(first->index, (std::vector<std::int64_t> {0, 7}));
}

TEST(Replay, FirstIndexIsInTheCapturesOwnOrientation)
{
    auto v = loadRecorded("tall_40x24_gaussian");
    v.input[5 * 24 + 3] = 70000;
    const auto first = replay::firstNonFinite(runOwnLowering(v, "deepspeed-gram", Precision::fp16), 0, false);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->index, (std::vector<std::int64_t> {5, 3}));
}

TEST(Replay, TinyInputsAreShrunkToADegenerateResult)
{
    auto v = loadRecorded("wide_24x40_gaussian");
    for (auto& x : v.input) {
        x *= 1e-12;
    }
    EXPECT_EQ(outcomeOf(runOwnLowering(v, "keller-jordan", Precision::fp32)), Outcome::degenerate);
    const auto plain = loadRecorded("wide_24x40_gaussian");
    EXPECT_EQ(outcomeOf(runOwnLowering(plain, "keller-jordan", Precision::fp32)), Outcome::finite);
}

TEST(Replay, GaugesBoundTheSpectralNormAndKnowTheLimit)
{
    const auto v = loadRecorded("wide_24x40_gaussian");
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    options.precision = Precision::fp64;
    options.rounding.lowering = Lowering::eager;
    options.epsilon = v.epsilon;
    options.spectralNorms = true;
    const auto replayed = replay::replay(*replay::builtInVariant("gns-standard"), v.shape, v.input, *device, options);
    ASSERT_TRUE(replayed);
    const auto all = replay::gauges(*replayed, 0);
    ASSERT_EQ(all.size(), 5U);
    EXPECT_NEAR(*all[0].spectralLimit, 1.05468, 1e-5);
    for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_LE(replayed->spectralNorms[0][k], *all[k].spectralBound * (1 + 1e-9)) << k;
        EXPECT_LT(replayed->spectralNorms[0][k], *all[k].spectralLimit) << k;
        EXPECT_GT(all[k].absmaxX, 0) << k;
    }
    EXPECT_LT(*all[4].orthogonality, *all[0].orthogonality);
}

TEST(Replay, MeasuredMaxQOfAHealthyGramIsWhatTheAuthorsReport)
{
    const auto v = loadRecorded("wide_24x40_log3");
    const auto replayed = runOwnLowering(v, "gns-gram", Precision::fp16);
    const auto all = replay::gauges(replayed, 0);
    EXPECT_GT(*all[1].absmaxQ, 5);
    EXPECT_LT(*all[4].absmaxQ, 100);
}

TEST(Replay, OneAndSeveralMatricesGiveTheSameBits)
{
    const auto v = loadRecorded("batch_3x16x24_mixed");
    const auto together = runOwnLowering(v, "dion-polar-express", Precision::bf16);
    const auto size = static_cast<std::size_t>(v.shape.elements());
    for (std::size_t i = 0; i < 3; ++i) {
        auto one = v;
        one.shape.batch = 1;
        one.input.assign(v.input.begin() + static_cast<std::ptrdiff_t>(i * size),
            v.input.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
        EXPECT_EQ(runOwnLowering(one, "dion-polar-express", Precision::bf16).outputs[0], together.outputs[i]);
    }
}

/// Says that it has room for everything, and has it for some.
class SmallDevice : public test::DeviceAround
{
public:
    explicit SmallDevice(std::int64_t room)
        : m_room(room)
    { }
    std::int64_t batchLimit(const replay::Program& /*program*/) const override { return 1000; }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        return batch > m_room ? failure(ErrorKind::refused, "not enough memory")
                              : DeviceAround::prepare(program, batch);
    }

private:
    std::int64_t m_room;
};

TEST(Replay, TakesFewerMatricesAtATimeWhereMemoryIsShort)
{
    const auto v = loadRecorded("batch_3x16x24_mixed");
    replay::ReplayOptions options;
    options.keepOutput = true;
    options.spectralNorms = true;
    const auto onDeviceFor = [&](std::int64_t room) {
        SmallDevice device(room);
        return replay::replay(*replay::builtInVariant("dion-ns5"), v.shape, v.input, device, options);
    };
    const auto whole = onDeviceFor(3);
    const auto parts = onDeviceFor(1);
    ASSERT_TRUE(whole && parts);
    EXPECT_EQ(parts->outputs, whole->outputs);
    EXPECT_EQ(parts->spectralNorms, whole->spectralNorms);
    ASSERT_EQ(parts->ops.size(), whole->ops.size());
    EXPECT_EQ(parts->ops.back().batches.size(), 3U);
    const auto none = onDeviceFor(0);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what, "not enough memory");
}

/// Takes what it is given, and finds in the middle of a replay that it is too much.
class LateDevice : public test::DeviceAround
{
public:
    explicit LateDevice(std::int64_t room)
        : m_room(room)
    { }
    std::int64_t batch() const { return m_batch; }
    int prepared() const { return m_prepared; }
    std::int64_t batchLimit(const replay::Program& /*program*/) const override { return 1000; }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        m_batch = batch;
        m_instructions = 0;
        ++m_prepared;
        return DeviceAround::prepare(program, batch);
    }
    Result<void> run(const replay::Instruction& instruction) override
    {
        return ++m_instructions == 12 && m_batch > m_room ? failure(ErrorKind::refused, "not enough memory")
                                                          : DeviceAround::run(instruction);
    }
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override
    {
        return m_batch > m_room ? failure(ErrorKind::refused, "not enough memory")
                                : DeviceAround::download(buffer, element, part);
    }

private:
    std::int64_t m_room;
    std::int64_t m_batch = 0;
    int m_instructions = 0;
    int m_prepared = 0;
};

TEST(Replay, BeginsAgainWithFewerMatricesWhereMemoryEndsOnTheWay)
{
    const auto v = loadRecorded("batch_3x16x24_mixed");
    replay::ReplayOptions options;
    options.keepOutput = true;
    options.spectralNorms = true;
    options.tileMaps = true;
    const auto onDeviceFor = [&](std::int64_t room) {
        LateDevice device(room);
        return replay::replay(*replay::builtInVariant("dion-ns5"), v.shape, v.input, device, options);
    };
    const auto whole = onDeviceFor(3);
    const auto parts = onDeviceFor(1);
    ASSERT_TRUE(whole);
    ASSERT_TRUE(parts) << parts.error().what;
    EXPECT_EQ(parts->outputs, whole->outputs);
    EXPECT_EQ(parts->spectralNorms, whole->spectralNorms);
    ASSERT_EQ(parts->ops.size(), whole->ops.size());
    for (std::size_t op = 0; op < whole->ops.size(); ++op) {
        EXPECT_EQ(parts->ops[op].batches.size(), 3U) << op;
        EXPECT_EQ(parts->ops[op].tiles, whole->ops[op].tiles) << op;
    }
    const auto none = onDeviceFor(0);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what, "not enough memory");
}

TEST(Replay, TakesNoMoreMatricesAtOnceThanItIsTold)
{
    const auto v = loadRecorded("batch_3x16x24_mixed");
    replay::ReplayOptions options;
    options.mostAtOnce = 1;
    LateDevice device(1);
    const auto replayed = replay::replay(*replay::builtInVariant("dion-ns5"), v.shape, v.input, device, options);
    ASSERT_TRUE(replayed);
    EXPECT_EQ(replayed->ops.back().batches.size(), 3U);
    EXPECT_EQ(device.batch(), 1);
    EXPECT_EQ(device.prepared(), 3) << "nothing was tried in vain";
}

TEST(Replay, CancelStopsBetweenInstructions)
{
    const auto v = loadRecorded("wide_24x40_gaussian");
    const auto device = replay::makeEigenDevice(1);
    CancelToken cancel;
    cancel.cancel();
    const auto replayed = replay::replay(*replay::builtInVariant("dion-ns5"), v.shape, v.input, *device, {}, cancel);
    ASSERT_FALSE(replayed);
    EXPECT_EQ(replayed.error().kind, ErrorKind::cancelled);
}

} // namespace
} // namespace nanscope
