// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a sample says of an output is held against what the whole says.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "core/diagnose/identify/fits.h"
#include "core/diagnose/identify/identify.h"
#include "core/replay/analysis/forecast.h"
#include "core/replay/program/formats.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/scan/scantensor.h"
#include "tests/core/diagnose/healthycall.h"

namespace nanscope {
namespace {

using test::Matrix;

constexpr std::int64_t whole = std::numeric_limits<std::int64_t>::max();

enum class Spectrum { gaussian, lowRank, powerLaw, orthogonal };

Matrix normal(std::int64_t size, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> draw;
    Matrix values(static_cast<std::size_t>(size));
    std::ranges::generate(values, [&] { return draw(random); });
    return values;
}

Matrix replayed(std::string_view name, Precision precision, const MatrixShape& shape, ValueView input)
{
    const auto& variant = *replay::builtInVariant(std::string(name));
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    options.precision = precision;
    options.rounding.lowering = variant.lowering;
    options.keepOutput = true;
    auto done = replay::replay(variant, shape, input, *device, options);
    EXPECT_TRUE(done) << name;
    return done ? done->outputs[0].doubles() : Matrix(input.size());
}

/// A sum of `rank` products of a column and a row, the k-th of size 1 / k^decay.
Matrix sumOfProducts(const MatrixShape& shape, std::int64_t rank, double decay)
{
    const auto left = normal(shape.rows * rank, 4);
    const auto right = normal(rank * shape.cols, 5);
    Matrix matrix(static_cast<std::size_t>(shape.elements()), 0);
    for (std::int64_t k = 0; k < rank; ++k) {
        const double size = std::pow(1.0 + static_cast<double>(k), -decay);
        for (std::int64_t i = 0; i < shape.elements(); ++i) {
            matrix[static_cast<std::size_t>(i)] += size * left[static_cast<std::size_t>(i / shape.cols * rank + k)]
                * right[static_cast<std::size_t>(k * shape.cols + i % shape.cols)];
        }
    }
    return matrix;
}

Matrix inputOf(Spectrum spectrum, const MatrixShape& shape)
{
    Matrix matrix;
    switch (spectrum) {
    case Spectrum::gaussian:
        matrix = normal(shape.elements(), 3);
        break;
    case Spectrum::lowRank:
        matrix = sumOfProducts(shape, 5, 0);
        break;
    case Spectrum::powerLaw:
        matrix = sumOfProducts(shape, std::min(shape.rows, shape.cols), 0.7);
        break;
    case Spectrum::orthogonal:
        matrix = replayed("polar-express", Precision::fp64, shape, normal(shape.elements(), 3));
        break;
    }
    std::ranges::for_each(matrix, [](double& value) { value = replay::roundTo(Precision::bf16, value); });
    return matrix;
}

void scan(diagnose::Element& element)
{
    const auto& [batch, rows, cols] = element.shape;
    const double smallest = tensorfile::smallestNormal(Precision::fp64);
    element.inputScan = tensorfile::scanMatrix(element.input.doubles(), rows, cols, false, smallest);
    element.outputScan = tensorfile::scanMatrix(element.output.doubles(), rows, cols, false, smallest);
}

diagnose::Element elementOf(Spectrum spectrum, const MatrixShape& shape, std::string_view name)
{
    const auto& variant = *replay::builtInVariant(std::string(name));
    diagnose::Element element;
    element.shape = shape;
    element.input = inputOf(spectrum, shape);
    element.output = replayed(name, variant.precision, shape, element.input);
    element.outputType = variant.precision == Precision::bf16 ? DType::bfloat16
        : variant.precision == Precision::fp16                ? DType::float16
                                                              : DType::float32;
    scan(element);
    return element;
}

void fill(
    diagnose::Element& element, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols, double value)
{
    for (auto r = row; r < row + rows; ++r) {
        for (auto c = col; c < col + cols; ++c) {
            element.output.set(static_cast<std::size_t>(r * element.shape.cols + c), value);
        }
    }
    scan(element);
}

diagnose::ElementFit fitOf(const diagnose::Element& element, std::int64_t sampledFrom)
{
    const auto device = replay::makeEigenDevice(1);
    const auto fit = diagnose::identifyElement(element, {}, {}, *device, {}, {}, sampledFrom);
    EXPECT_TRUE(fit);
    return fit.value_or(diagnose::ElementFit {});
}

std::vector<std::string> sorted(std::vector<std::string> names)
{
    std::ranges::sort(names);
    return names;
}

TEST(Bits, OfWhatIsComputedExactlyAreNobodys)
{
    auto element = elementOf(Spectrum::gaussian, {1, 64, 96}, "polar-express");
    const auto own = fitOf(element, whole).exact;
    EXPECT_NE(std::ranges::find(own, "polar-express"), own.end());
    auto exact = replayed("polar-express", Precision::fp64, element.shape, element.input);
    std::ranges::for_each(exact, [](double& value) { value = replay::roundTo(Precision::bf16, value); });
    element.output = exact;
    scan(element);
    EXPECT_TRUE(fitOf(element, whole).exact.empty()) << "any polar factor in fp32 is within a rounding of it";
}

/// The same names by the same measure, and nearly the same fit.
void expectAlike(const diagnose::Element& element, const std::string& what)
{
    const auto all = fitOf(element, whole);
    const auto part = fitOf(element, 1);
    EXPECT_EQ(sorted(part.identification.names), sorted(all.identification.names)) << what;
    EXPECT_EQ(part.identification.how, all.identification.how) << what;
    EXPECT_EQ(part.identification.matchesNone, all.identification.matchesNone) << what;
    EXPECT_EQ(part.localDamage, all.localDamage) << what;
    EXPECT_EQ(part.signalOnly, all.signalOnly) << what;
    EXPECT_EQ(sorted(part.exact), sorted(all.exact)) << what;
    EXPECT_EQ(part.identification.fit.has_value(), all.identification.fit.has_value()) << what;
    EXPECT_NEAR(part.identification.fit.value_or(0), all.identification.fit.value_or(0),
        0.1 * all.identification.fit.value_or(0) + 1e-5)
        << what;
}

constexpr MatrixShape wide {1, 176, 320};

TEST(SampledFits, AreThoseOfTheWholeWithinAFew)
{
    const auto device = replay::makeEigenDevice(1);
    for (const MatrixShape& shape : {wide, MatrixShape {1, 320, 176}, MatrixShape {1, 192, 192}}) {
        for (const auto spectrum : {Spectrum::gaussian, Spectrum::powerLaw, Spectrum::orthogonal}) {
            const auto element = elementOf(spectrum, shape, "keller-jordan");
            const auto signal = replay::leadingDirections(element.input, shape.rows, shape.cols, 0.01, 8);
            const auto sample = diagnose::SampledFits::of(element, signal, *device, {});
            ASSERT_TRUE(sample);
            for (const char* name : {"keller-jordan", "polar-express", "dion-ns5"}) {
                const auto exact = replayed(name, Precision::fp64, shape, element.input);
                const auto all = diagnose::fitsOf(element, exact, signal);
                const auto gains = replay::gainsOf(*replay::builtInVariant(name), sample->values(),
                    replay::denominatorOf(*replay::builtInVariant(name), std::sqrt(element.inputScan.sumSquares), {}));
                for (const auto& part : {sample->under(gains), sample->of(exact)}) {
                    EXPECT_NEAR(part.plain, all.plain, 0.1 * all.plain) << name << ", " << shape.rows;
                    EXPECT_NEAR(part.typical, all.typical, 0.1 * all.typical) << name << ", " << shape.rows;
                    EXPECT_NEAR(part.signal, all.signal, 0.2 * all.signal + 1e-6) << name << ", " << shape.rows;
                }
            }
        }
    }
}

TEST(SampledFits, LookWhereTheOutputIsFiniteAndTheInputIsNotZero)
{
    auto element = elementOf(Spectrum::gaussian, wide, "keller-jordan");
    auto input = element.input.doubles();
    std::fill_n(input.begin() + 16 * wide.cols, 64 * wide.cols, 0);
    element.input = std::move(input);
    fill(element, 96, 0, 16, wide.cols, NAN);
    fill(element, 0, 128, wide.rows, 96, NAN);
    const auto places = diagnose::samplePlaces(element, {{1, Matrix(wide.rows, 1)}});
    EXPECT_EQ(places.rows.size(), 6U * 16);
    EXPECT_EQ(places.cols.size(), 14U * 16);
    for (const auto row : places.rows) {
        EXPECT_TRUE(row < 16 || (row >= 80 && row < 96) || row >= 112) << row;
    }
    for (const auto col : places.cols) {
        EXPECT_TRUE(col < 128 || col >= 224) << col;
    }
    for (std::size_t row = 0; row < 176; ++row) {
        EXPECT_EQ(places.sums[0][row], row >= 96 && row < 112 ? 0 : 1) << row;
    }
}

TEST(SampledFits, LookIntoAsManyTilesOfALargeMatrixAtDistancesThatDiffer)
{
    diagnose::Element element;
    element.shape = {1, 1024, 2048};
    element.input = std::vector<double>(static_cast<std::size_t>(element.shape.elements()), 1);
    element.output = element.input;
    const auto places = diagnose::samplePlaces(element, {});
    ASSERT_EQ(places.rows.size(), 8U * 16);
    ASSERT_EQ(places.cols.size(), 16U * 16);
    EXPECT_NE(places.rows[16] - places.rows[0], places.rows[32] - places.rows[16]);
    for (std::size_t i = 0; i < places.rows.size(); ++i) {
        EXPECT_EQ(places.rows[i] % 16, static_cast<std::int64_t>(i % 16)) << "whole tiles";
    }
}

TEST(SampledFits, WhatIsWrongElsewhereIsAddedToAllOfThem)
{
    const diagnose::Fits sampled {0.03, 0.02, 0.01, 0};
    const diagnose::Fits near {0.05, 0.02, 0.01, 0.5};
    const diagnose::Fits nearSampled {0.03, 0.02, 0.02, 0.5};
    const auto fits = diagnose::withTheRest(sampled, near, nearSampled);
    EXPECT_NEAR(fits.plain, 0.05, 1e-12);
    EXPECT_EQ(fits.typical, 0.02);
    EXPECT_EQ(fits.signal, 0.01) << "a sample that is worse than the whole takes nothing off";
}

TEST(SampledFits, NameWhatTheWholeNames)
{
    const std::pair<Spectrum, const char*> cases[] = {
        {Spectrum::gaussian, "gaussian"},
        {Spectrum::powerLaw, "power law"},
        {Spectrum::lowRank, "low rank"},
        {Spectrum::orthogonal, "orthogonal"},
    };
    for (const auto& [spectrum, what] : cases) {
        for (const char* name : {"keller-jordan", "gns-gram", "polar-express", "emerging-quintic", "emerging-aol"}) {
            expectAlike(elementOf(spectrum, wide, name), std::string(what) + ", " + name);
        }
    }
    expectAlike(elementOf(Spectrum::gaussian, {1, 320, 176}, "dion-ns5"), "tall");
    expectAlike(elementOf(Spectrum::powerLaw, {1, 192, 192}, "deepspeed-gram"), "square");
}

TEST(SampledFits, OnAnOrthogonalMatrixWhatRanIsNamedThoughAnotherScheduleIsFourTimesNearer)
{
    expectAlike(elementOf(Spectrum::orthogonal, {1, 64, 640}, "modded-nanogpt"), "one singular value");
}

TEST(SampledFits, NameTheSameBesideDamage)
{
    const auto healthy = elementOf(Spectrum::gaussian, wide, "dion-ns5");
    auto unwritten = healthy;
    fill(unwritten, 32, 64, 32, 64, NAN);
    expectAlike(unwritten, "a tile of NaN");
    auto half = healthy;
    fill(half, 0, 0, wide.rows, wide.cols / 2, NAN);
    expectAlike(half, "half NaN");
    auto rows = healthy;
    fill(rows, 16, 0, 112, wide.cols, NAN);
    expectAlike(rows, "rows of NaN");
    auto wrong = healthy;
    fill(wrong, 32, 64, 16, 16, 0.7);
    expectAlike(wrong, "a wrong tile");
    auto huge = healthy;
    fill(huge, 32, 64, 16, 16, 1e4);
    expectAlike(huge, "a tile of large values");
    auto lost = healthy;
    fill(lost, 0, 0, 96, wide.cols, 0);
    expectAlike(lost, "half of it zero");
}

TEST(SampledFits, AForeignOutputMatchesNone)
{
    auto element = elementOf(Spectrum::gaussian, wide, "dion-ns5");
    element.output = normal(wide.elements(), 99);
    scan(element);
    expectAlike(element, "noise");
}

TEST(SampledFits, AreNotWaitedForOnceCancelled)
{
    const auto element = elementOf(Spectrum::gaussian, wide, "dion-ns5");
    const auto device = replay::makeEigenDevice(1);
    CancelToken cancel;
    cancel.cancel();
    const auto fit = diagnose::identifyElement(element, {}, {}, *device, cancel, {}, 1);
    ASSERT_FALSE(fit);
    EXPECT_EQ(fit.error().kind, ErrorKind::cancelled);
}

TEST(SampledFits, LeaveReplaysOutOnlyOfWhatIsFarBehind)
{
    const auto element = elementOf(Spectrum::gaussian, wide, "dion-ns5");
    const auto device = replay::makeEigenDevice(1);
    std::vector<std::string> replayed;
    const diagnose::ReplayWatch watch = [&](const replay::Variant& variant, Precision, diagnose::ReplayPlace) {
        replayed.push_back(variant.name);
    };
    ASSERT_TRUE(diagnose::identifyElement(element, {}, {}, *device, {}, watch, 1));
    const auto few = replayed.size();
    EXPECT_NE(std::ranges::find(replayed, "dion-ns5"), replayed.end());
    replayed.clear();
    ASSERT_TRUE(diagnose::identifyElement(element, {}, {}, *device, {}, watch, whole));
    EXPECT_LT(few + 5, replayed.size());
}

/// Cheap comparisons refute what they can; of the rest nothing is guessed.
TEST(SampledFits, WhatTheOperationsDoNotSufficeForStaysPossible)
{
    const auto element = elementOf(Spectrum::gaussian, wide, "dion-ns5");
    const auto device = replay::makeEigenDevice(1);
    for (const auto sampledFrom : {std::int64_t {1}, whole}) {
        std::vector<std::string> replayed;
        const diagnose::ReplayWatch watch = [&](const replay::Variant& variant, Precision, diagnose::ReplayPlace) {
            replayed.push_back(variant.name);
        };
        const auto all = diagnose::identifyElement(element, {}, {}, *device, {}, {}, sampledFrom);
        const auto none = diagnose::identifyElement(element, {}, {}, *device, {}, watch, sampledFrom, 0);
        ASSERT_TRUE(all && none);
        EXPECT_TRUE(all->leftOut.empty());
        EXPECT_TRUE(replayed.empty());
        EXPECT_EQ(none->operationsLeft, 0);
        const auto names = sorted(none->identification.names);
        EXPECT_TRUE(std::ranges::includes(names, sorted(all->identification.names)));
        EXPECT_TRUE(std::ranges::includes(names, sorted(none->leftOut)));
        EXPECT_NE(std::ranges::find(none->leftOut, "dion-ns5"), none->leftOut.end());
        EXPECT_NE(std::ranges::find(none->leftOut, "nanochat"), none->leftOut.end()) << "it has no exact output here";
        EXPECT_LT(names.size(), replay::Catalogue().all().size()) << "other schedules are refuted without a replay";
        EXPECT_FALSE(none->identification.matchesNone);
    }
}

TEST(SampledFits, OperationsAreSpentOnWhatIsNearest)
{
    const auto element = elementOf(Spectrum::gaussian, wide, "dion-ns5");
    const auto device = replay::makeEigenDevice(1);
    double needed = 0;
    std::vector<std::string> every;
    const diagnose::ReplayWatch note = [&](const replay::Variant& variant, Precision, diagnose::ReplayPlace) {
        every.push_back(variant.name);
    };
    const auto all = diagnose::identifyElement(element, {}, {}, *device, {}, note, 1, 1e15);
    ASSERT_TRUE(all && every.size() > 3);
    needed = 1e15 - all->operationsLeft;
    EXPECT_TRUE(all->leftOut.empty());
    std::vector<std::string> some;
    const diagnose::ReplayWatch watch = [&](const replay::Variant& variant, Precision, diagnose::ReplayPlace) {
        some.push_back(variant.name);
    };
    const auto part = diagnose::identifyElement(element, {}, {}, *device, {}, watch, 1, 0.7 * needed);
    ASSERT_TRUE(part);
    EXPECT_FALSE(some.empty());
    EXPECT_LT(some.size(), every.size());
    EXPECT_FALSE(part->leftOut.empty());
    EXPECT_LE(0, part->operationsLeft);
    EXPECT_EQ(some.front(), every.front());
}

TEST(SampledFits, AForeignOutputIsNotCalledOneWhileReplaysAreLeftOut)
{
    auto element = elementOf(Spectrum::gaussian, wide, "dion-ns5");
    element.output = normal(wide.elements(), 99);
    scan(element);
    const auto device = replay::makeEigenDevice(1);
    const auto none = diagnose::identifyElement(element, {}, {}, *device, {}, {}, 1, 0);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->leftOut.empty());
    EXPECT_FALSE(none->identification.matchesNone);
}

} // namespace
} // namespace nanscope
