// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gmock/gmock.h>

#include "core/replay/engine/frame.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/scan/scantensor.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

constexpr std::int64_t filmRows = 10;
constexpr std::int64_t filmCols = 14;
constexpr auto filmSize = static_cast<std::size_t>(filmRows * filmCols);
constexpr std::size_t planted = 3 * filmCols + 5;

replay::CellRequest cell(const char* variant, Precision precision, Lowering lowering = Lowering::eager)
{
    return {variant, precision, lowering, {}, {}, "cpu", true};
}

const OpTrace& opOf(const replay::ReplayedFilm& film, OpName op, int iteration = 0)
{
    const auto found = std::find_if(film.ops.begin(), film.ops.end(),
        [&](const OpTrace& each) { return each.op == op && each.iteration == iteration; });
    if (found == film.ops.end()) {
        throw std::runtime_error("no such op");
    }
    return *found;
}

std::optional<double> distanceOf(const replay::ReplayedFilm& film, OpName op, int iteration = 0)
{
    return film.distances.at(static_cast<std::size_t>(&opOf(film, op, iteration) - film.ops.data()));
}

/// What replays of one matrix measure step by step; the distance to fp64 takes a second replay.
std::vector<std::vector<double>> numbersOf(const Cell& cell)
{
    std::vector<std::vector<double>> numbers;
    for (const Gauge& gauge : cell.gauges) {
        numbers.push_back(
            {static_cast<double>(gauge.iteration), gauge.spectralBound.value_or(-1), gauge.spectralLimit.value_or(-1),
                gauge.absmaxQ.value_or(-1), gauge.orthogonality.value_or(-1), gauge.absmaxX});
    }
    return numbers;
}

class Films : public testing::Test
{
protected:
    void SetUp() override { write(waveValues(filmSize)); }

    void write(const std::vector<double>& input, const std::vector<double>& output = {})
    {
        m_path = writeFrameCapture(m_folder / "x.pt", {filmRows, filmCols}, input, output);
        ASSERT_FALSE(m_path.empty());
    }

    void plant(double value)
    {
        auto values = waveValues(filmSize);
        values[planted] = value;
        write(values);
    }

    Result<replay::ReplayedFilm> tryFilm(
        const replay::CellRequest& wanted, const replay::Against& against = {}, const JobContext& job = {})
    {
        return replay::replayFilm({m_path, wanted, 0, against}, replay::makeCoreDevice, job);
    }

    replay::ReplayedFilm film(const replay::CellRequest& wanted, const replay::Against& against = {})
    {
        auto made = tryFilm(wanted, against);
        EXPECT_TRUE(made) << sentence(made.error());
        return made.value_or(replay::ReplayedFilm {});
    }

    replay::ReplayedFrame frame(const replay::CellRequest& wanted, std::size_t op, const replay::Against& against = {})
    {
        auto made = replay::FrameReplay(replay::makeCoreDevice).frame({{m_path, wanted, 0, against}, op, {}});
        EXPECT_TRUE(made) << sentence(made.error());
        return made.value_or(replay::ReplayedFrame {});
    }

    std::vector<double> valuesOf(const replay::CellRequest& wanted, std::size_t op)
    {
        const auto shown = frame(wanted, op);
        return shown.doubles.empty() ? std::vector<double>(shown.floats.begin(), shown.floats.end()) : shown.doubles;
    }

    TemporaryFolder m_folder;
    std::string m_path;
};

TEST(Difference, KeepsWhatIsNotFinite)
{
    const struct
    {
        double value;
        double other;
        double difference;
    } cases[] = {{3, 1, 2}, {0, 0, 0}, {nan, nan, 0}, {infinity, infinity, 0}, {-infinity, -infinity, 0}, {nan, 1, nan},
        {1, nan, nan}, {nan, infinity, nan}, {infinity, nan, nan}, {infinity, 1, infinity}, {-infinity, 1, -infinity},
        {1, infinity, -infinity}, {1, -infinity, infinity}, {infinity, -infinity, infinity},
        {-infinity, infinity, -infinity}, {largest, -largest, largest}, {-largest, largest, -largest}};
    for (const auto& [value, other, difference] : cases) {
        std::vector<double> values {value};
        replay::subtract(values, std::vector {other});
        EXPECT_TRUE(values[0] == difference || (std::isnan(values[0]) && std::isnan(difference)))
            << value << " - " << other << " = " << values[0];
    }
}

TEST(Difference, DistanceIsOverWhatIsFiniteInBoth)
{
    const auto distance = [](std::vector<double> values, const std::vector<double>& other) {
        return replay::subtract(values, other);
    };
    EXPECT_THAT(distance({3, 4, nan, 7, infinity}, {3, 2, 1, infinity, infinity}), Optional(2 / std::sqrt(13.0)));
    EXPECT_THAT(distance({0, 0}, {0, 0}), Optional(0.0));
    EXPECT_THAT(distance({1, 0}, {0, 0}), Optional(infinity));
    EXPECT_THAT(distance({1e200, 3e200}, {1e200, 1e200}), Optional(std::sqrt(2.0)));
    EXPECT_EQ(distance({nan, 1}, {nan, infinity}), std::nullopt);
}

TEST_F(Films, AreTheOpsOfTheSweep)
{
    for (const auto& wanted :
        {cell("torch-muon", Precision::bf16), cell("gns-gram", Precision::fp16, Lowering::fused)}) {
        const auto device = replay::makeEigenDevice();
        const auto swept = *replay::replayCell(*tensorfile::openCapture(m_path), wanted, {}, *device);
        const auto shown = film(wanted);
        ASSERT_EQ(shown.ops.size(), swept.ops.size());
        EXPECT_THAT(shown.distances, IsEmpty());
        for (std::size_t op = 0; op < swept.ops.size(); ++op) {
            EXPECT_EQ(shown.ops[op].op, swept.ops[op].op);
            EXPECT_EQ(shown.ops[op].iteration, swept.ops[op].iteration);
            EXPECT_EQ(shown.ops[op].batches, swept.ops[op].batches);
            EXPECT_EQ(shown.ops[op].tiles, swept.ops[op].tiles);
        }
        EXPECT_EQ(shown.cell.environment, swept.environment);
        EXPECT_EQ(shown.cell.epsilon, swept.epsilon);
        EXPECT_FALSE(shown.cell.gauges.empty());
        EXPECT_EQ(numbersOf(shown.cell), numbersOf(swept));
    }
}

TEST_F(Films, OfADifferenceThereAreNoGauges)
{
    const auto wanted = cell("gns-gram", Precision::fp16);
    EXPECT_THAT(film(wanted, replay::againstFp64(wanted)).cell.gauges, IsEmpty());
}

TEST_F(Films, Fp64AgainstItselfIsZeroEverywhere)
{
    for (const char* variant : {"torch-muon", "gns-gram"}) {
        const auto wanted = cell(variant, Precision::fp64);
        const auto shown = film(wanted, replay::againstFp64(wanted));
        ASSERT_EQ(shown.distances.size(), shown.ops.size());
        EXPECT_THAT(shown.distances, Each(Optional(0.0)));
        for (const auto& op : shown.ops) {
            ASSERT_THAT(op.batches, SizeIs(1));
            EXPECT_TRUE(op.batches[0].allZero());
            EXPECT_EQ(op.tiles.size(), op.op == OpName::norm ? 0U : 1U);
        }
    }
}

TEST_F(Films, AgainstFp64IsTheDifferenceOfTwoFrames)
{
    for (const char* variant : {"torch-muon", "gns-gram"}) {
        const auto wanted = cell(variant, Precision::fp16);
        const auto exact = cell(variant, Precision::fp64);
        const auto shown = film(wanted, replay::againstFp64(wanted));
        for (std::size_t op = 0; op < shown.ops.size(); ++op) {
            auto values = valuesOf(wanted, op);
            const auto other = valuesOf(exact, op);
            double apart = 0;
            double whole = 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] -= other[i];
                apart += values[i] * values[i];
                whole += other[i] * other[i];
            }
            const auto& trace = shown.ops[op];
            EXPECT_THAT(trace.batches,
                ElementsAre(
                    tensorfile::scanMatrix(std::span<const double>(values), trace.rows, trace.cols, false, 0x1p-1022)));
            if (trace.op != OpName::norm) {
                EXPECT_THAT(trace.tiles,
                    ElementsAre(tensorfile::tileMatrix(
                        std::span<const double>(values), trace.rows, trace.cols, false, 0x1p-1022)));
            }
            ASSERT_TRUE(shown.distances[op]);
            EXPECT_NEAR(*shown.distances[op], std::sqrt(apart / whole), 1e-12);
            EXPECT_EQ(frame(wanted, op, replay::againstFp64(wanted)).doubles, values);
            EXPECT_EQ(frame(wanted, op, replay::againstFp64(wanted)).distance, shown.distances[op]);
        }
        EXPECT_GT(*distanceOf(shown, OpName::output, 5), 1e-5);
    }
}

TEST_F(Films, OneSideOverflowingShowsWhereAndHow)
{
    plant(-70000);
    const auto wanted = cell("deepspeed-gram", Precision::fp16);
    const auto shown = film(wanted, replay::againstFp64(wanted));
    EXPECT_TRUE(opOf(shown, OpName::input).batches[0].allZero());
    const auto& cast = opOf(shown, OpName::cast);
    EXPECT_EQ(cast.batches[0].negInf, 1);
    EXPECT_EQ(cast.batches[0].nonFinite(), 1);
    EXPECT_EQ(cast.batches[0].firstNonFinite, static_cast<std::int64_t>(planted));
    EXPECT_EQ(cast.tiles[0].classes[planted], classNegInf);
    EXPECT_GT(opOf(shown, OpName::gram, 1).batches[0].nan, 0);
    EXPECT_LT(*distanceOf(shown, OpName::cast), 1e-3) << "of what is finite";
    EXPECT_EQ(distanceOf(shown, OpName::output, 5), std::nullopt) << "nothing is";
    const auto turned = film(cell("deepspeed-gram", Precision::fp64), {replay::Against::Kind::cell, wanted});
    EXPECT_EQ(opOf(turned, OpName::cast).batches[0].posInf, 1) << "an infinity of the other has its sign turned";
}

TEST_F(Films, BothOverflowingAlikeIsNoDifference)
{
    plant(70000);
    const auto wanted = cell("deepspeed-gram", Precision::fp16);
    const auto fused = cell("deepspeed-gram", Precision::fp16, Lowering::fused);
    const auto shown = film(wanted, {replay::Against::Kind::cell, fused});
    EXPECT_TRUE(opOf(shown, OpName::cast).batches[0].allZero());
    EXPECT_EQ(distanceOf(shown, OpName::cast), 0.0);
    EXPECT_FALSE(film(wanted).ops.back().batches[0].finite());
}

TEST_F(Films, DamageOfTheInputIsOnBothSides)
{
    plant(nan);
    const auto wanted = cell("torch-muon", Precision::bf16);
    const auto shown = film(wanted, replay::againstFp64(wanted));
    EXPECT_TRUE(opOf(shown, OpName::input).batches[0].allZero());
    EXPECT_TRUE(opOf(shown, OpName::output, 5).batches[0].finite()) << "NaN everywhere, in both";
}

TEST_F(Films, OpsThatRunInAnotherOrderMeetAllTheSame)
{
    const auto orderOf = [](replay::CastOrder order) {
        const auto found =
            std::find_if(replay::variants().begin(), replay::variants().end(), [&](const replay::Variant& each) {
                return each.castOrder == order && each.form == replay::Form::standard;
            });
        return found == replay::variants().end() ? std::string() : std::string(found->name);
    };
    const auto castFirst = orderOf(replay::CastOrder::castFirst);
    const auto normalizeFirst = orderOf(replay::CastOrder::normalizeFirst);
    ASSERT_FALSE(castFirst.empty() || normalizeFirst.empty());
    for (const auto& [one, other] : {std::pair(castFirst, normalizeFirst), std::pair(normalizeFirst, castFirst)}) {
        const auto shown = film(
            cell(one.c_str(), Precision::fp64), {replay::Against::Kind::cell, cell(other.c_str(), Precision::fp64)});
        for (const auto op : {OpName::input, OpName::cast, OpName::norm, OpName::normalize, OpName::gram}) {
            const int iteration = op == OpName::gram ? 1 : 0;
            EXPECT_TRUE(distanceOf(shown, op, iteration)) << name(op);
            EXPECT_THAT(opOf(shown, op, iteration).batches, SizeIs(1)) << name(op);
        }
        EXPECT_EQ(distanceOf(shown, OpName::input), 0.0);
        const auto exact = valuesOf(cell(other.c_str(), Precision::fp64), 0);
        EXPECT_LT(*distanceOf(shown, OpName::normalize), 1e-6);
    }
}

TEST_F(Films, OpsOfOneFormAloneHaveNoDifference)
{
    const auto shown =
        film(cell("gns-gram", Precision::fp32), {replay::Against::Kind::cell, cell("torch-muon", Precision::fp32)});
    EXPECT_THAT(opOf(shown, OpName::gram, 1).batches, SizeIs(1));
    for (const auto op : {OpName::z, OpName::q}) {
        EXPECT_THAT(opOf(shown, op, 1).batches, IsEmpty());
        EXPECT_THAT(opOf(shown, op, 1).tiles, IsEmpty());
        EXPECT_EQ(distanceOf(shown, op, 1), std::nullopt);
    }
    const auto index = static_cast<std::size_t>(&opOf(shown, OpName::z, 1) - shown.ops.data());
    const auto refused = replay::FrameReplay(replay::makeCoreDevice)
                             .frame({{m_path, cell("gns-gram", Precision::fp32), 0,
                                         {replay::Against::Kind::cell, cell("torch-muon", Precision::fp32)}},
                                 index, {}});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("nothing to compare z of step 1 with"));
}

TEST_F(Films, TheCapturedOutputMeetsWhatHasItsShape)
{
    const auto wanted = cell("torch-muon", Precision::fp32);
    const auto ops = film(wanted).ops;
    const auto output = valuesOf(wanted, ops.size() - 1);
    write(waveValues(filmSize), output);
    const auto shown = film(wanted, {replay::Against::Kind::output, {}});
    EXPECT_EQ(distanceOf(shown, OpName::output, 5), 0.0);
    EXPECT_TRUE(shown.ops.back().batches[0].allZero());
    EXPECT_GT(*distanceOf(shown, OpName::update, 1), *distanceOf(shown, OpName::update, 4));
    for (const auto op : {OpName::gram, OpName::polynomial}) {
        EXPECT_THAT(opOf(shown, op, 2).batches, IsEmpty());
    }
    EXPECT_THAT(opOf(shown, OpName::norm).batches, IsEmpty());
    auto values = waveValues(filmSize);
    for (std::size_t i = 0; i < filmSize; ++i) {
        values[i] -= output[i];
    }
    EXPECT_LT(std::abs(frame(wanted, 0, {replay::Against::Kind::output, {}}).doubles[7] - values[7]), 1e-6);
}

TEST_F(Films, GramsOfASquareAreNotComparedWithTheOutput)
{
    const auto values = waveValues(64);
    m_path = writeFrameCapture(m_folder / "square.pt", {8, 8}, values, values);
    const auto shown = film(cell("torch-muon", Precision::fp32), {replay::Against::Kind::output, {}});
    EXPECT_THAT(opOf(shown, OpName::gram, 1).batches, IsEmpty());
    EXPECT_EQ(distanceOf(shown, OpName::input), 0.0) << "the capture's output is its input";
}

TEST_F(Films, WithoutAnOutputThereIsNothingToCompareWith)
{
    const auto refused = tryFilm(cell("torch-muon", Precision::fp32), {replay::Against::Kind::output, {}});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("holds no output"));
}

TEST_F(Films, CancelEndsThemBetweenOps)
{
    for (const auto& against : {replay::Against {}, replay::againstFp64(cell("torch-muon", Precision::fp16))}) {
        int ops = 0;
        JobContext job;
        job.progress = [&](const Progress& progress) {
            EXPECT_EQ(progress.job, "film");
            EXPECT_EQ(progress.total, 20);
            if (++ops == 4) {
                job.cancel.cancel();
            }
        };
        const auto stopped = tryFilm(cell("torch-muon", Precision::fp16), against, job);
        ASSERT_FALSE(stopped);
        EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
        EXPECT_EQ(ops, 4);
    }
}

TEST_F(Films, WhatTheCounterpartCannotBeIsSaid)
{
    const auto unknown =
        tryFilm(cell("torch-muon", Precision::fp32), {replay::Against::Kind::cell, cell("nobody", Precision::fp32)});
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().what, HasSubstr("nobody"));
    auto elsewhere = cell("torch-muon", Precision::fp32);
    elsewhere.device = "cuda:0";
    EXPECT_FALSE(tryFilm(elsewhere));
    EXPECT_FALSE(tryFilm(cell("torch-muon", Precision::fp32), {replay::Against::Kind::cell, elsewhere}));
}

} // namespace

} // namespace nanscope
