// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// The words and numbers that every answer is made of.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/model/model.h"
#include "core/model/verdict.h"

namespace nanscope {
namespace {

/// Names of all values from 0 to `last`, found to differ and not to be empty.
template <class Enum>
std::vector<std::string> namesUpTo(Enum last)
{
    std::vector<std::string> names;
    std::set<std::string> different;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        names.emplace_back(name(static_cast<Enum>(i)));
        EXPECT_FALSE(names.back().empty());
        EXPECT_TRUE(different.insert(names.back()).second) << names.back();
    }
    return names;
}

template <class Enum, class Parse>
void expectReadBack(Enum last, Parse parse)
{
    const auto names = namesUpTo(last);
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(parse(names[i]), static_cast<Enum>(i)) << names[i];
    }
    for (const auto* other : {"", "Finite", " nan", "nan ", "unknown-word"}) {
        EXPECT_FALSE(parse(other)) << other;
    }
}

TEST(Names, AreReadBackAsTheyAreWritten)
{
    expectReadBack(Outcome::nan, parseOutcome);
    expectReadBack(Lowering::fused, parseLowering);
    expectReadBack(OpName::restart, parseOpName);
    expectReadBack(Blame::machine, parseBlame);
    expectReadBack(lastPrecision, parsePrecision);
}

TEST(Names, ThatScriptsDependOnStayAsTheyAre)
{
    using Words = std::vector<std::string>;
    EXPECT_EQ(namesUpTo(ValueClass::negInf), (Words {"normal", "zero", "subnormal", "nan", "inf", "-inf"}));
    EXPECT_EQ(namesUpTo(Outcome::nan), (Words {"finite", "degenerate", "zero", "inf", "nan"}));
    EXPECT_EQ(namesUpTo(OpName::restart),
        (Words {
            "input", "cast", "norm", "normalize", "gram", "polynomial", "update", "output", "z", "q", "r", "restart"}));
    EXPECT_EQ(namesUpTo(lastRole), (Words {"birth", "upstream", "downstream", "padding", "healthy", "no-output"}));
    EXPECT_EQ(namesUpTo(lastOffAs), (Words {"unknown", "input", "multiple", "other-steps", "not-of-input"}));
    EXPECT_EQ(namesUpTo(Blame::machine),
        (Words {"undecided", "upstream", "downstream", "numerics", "implementation", "nondeterministic", "machine"}));
    EXPECT_EQ(namesUpTo(StepSource::unknown), (Words {"capture", "console", "mtime", "unknown"}));
    EXPECT_EQ(namesUpTo(IdentifiedBy::unknown), (Words {"sidecar", "given", "console", "fit", "unknown"}));
    EXPECT_EQ(namesUpTo(lastPrecision), (Words {"fp64", "fp32", "tf32", "bf16", "fp16", "fp16-acc16"}));
    EXPECT_EQ(namesUpTo(EventKind::other).size(), 14U);
    EXPECT_EQ(namesUpTo(CheckpointFact::loaded), (Words {"found", "saved", "removed", "loaded"}));
    EXPECT_EQ(namesUpTo(FindingState::silenced), (Words {"fired", "clear", "not_checkable", "silenced"}));
    EXPECT_EQ(
        namesUpTo(CheckpointStatus::unverified), (Words {"safe", "suspect", "poisoned", "missing", "unverified"}));
}

TEST(Names, OfElementTypesAreThoseOfTorchWithAndWithoutPrefix)
{
    for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
        const auto dtype = static_cast<DType>(i);
        EXPECT_EQ(parseDType(torchName(dtype)), dtype);
        EXPECT_EQ(parseDType("torch." + std::string(torchName(dtype))), dtype);
        EXPECT_EQ(parseDType(shortName(dtype)), dtype);
    }
    EXPECT_EQ(torchName(DType::boolean), "bool");
    EXPECT_EQ(shortName(DType::bfloat16), "bf16");
    for (const auto* other : {"", "torch.", "float", "half", "torch.torch.float32", "FP32"}) {
        EXPECT_FALSE(parseDType(other)) << other;
    }
}

TEST(ElementTypes, HaveTheSizesOfTheirFormats)
{
    const std::pair<DType, std::size_t> sizes[] = {{DType::float64, 8}, {DType::float32, 4}, {DType::float16, 2},
        {DType::bfloat16, 2}, {DType::float8_e4m3fn, 1}, {DType::float8_e8m0fnu, 1}, {DType::complex32, 4},
        {DType::complex64, 8}, {DType::complex128, 16}, {DType::int64, 8}, {DType::int8, 1}, {DType::uint16, 2},
        {DType::boolean, 1}};
    for (const auto& [dtype, size] : sizes) {
        EXPECT_EQ(sizeOf(dtype), size) << torchName(dtype);
    }
    EXPECT_TRUE(isFloating(DType::float8_e5m2));
    EXPECT_FALSE(isFloating(DType::complex64));
    EXPECT_FALSE(isFloating(DType::int32));
}

TEST(Precisions, AreAllListedOnceAndTheUsualOnesFirst)
{
    ASSERT_EQ(allPrecisions().size(), static_cast<std::size_t>(lastPrecision) + 1);
    for (std::size_t i = 0; i < allPrecisions().size(); ++i) {
        EXPECT_EQ(allPrecisions()[i], static_cast<Precision>(i));
    }
    EXPECT_EQ(usualPrecisions().size(), 5U) << "who sums in fp16 says so";
    EXPECT_EQ(std::ranges::find(usualPrecisions(), Precision::fp16Acc16), usualPrecisions().end());
}

TEST(Precisions, KnowTheirLargestNumberAndTheirStep)
{
    EXPECT_EQ(largestFinite(Precision::fp64), DBL_MAX);
    EXPECT_EQ(largestFinite(Precision::fp32), FLT_MAX);
    EXPECT_EQ(largestFinite(Precision::bf16), (2 - std::ldexp(1, -7)) * std::ldexp(1, 127));
    EXPECT_EQ(largestFinite(Precision::fp16), 65504);
    EXPECT_EQ(largestFinite(Precision::fp16Acc16), 65504);
    EXPECT_EQ(epsilonOf(Precision::fp64), DBL_EPSILON);
    EXPECT_EQ(epsilonOf(Precision::fp32), FLT_EPSILON);
    EXPECT_EQ(epsilonOf(Precision::tf32), std::ldexp(1, -10));
    EXPECT_EQ(epsilonOf(Precision::bf16), std::ldexp(1, -7));
    EXPECT_EQ(epsilonOf(Precision::fp16), std::ldexp(1, -10));
}

TEST(Shapes, AreMatricesInTheirLastTwoDimensions)
{
    EXPECT_EQ(matrixShape({1, 160, 96}), (MatrixShape {1, 160, 96}));
    EXPECT_EQ(matrixShape({2, 3, 4, 5}), (MatrixShape {6, 4, 5}));
    EXPECT_EQ(matrixShape({7}), (MatrixShape {1, 1, 7})) << "one row";
    EXPECT_EQ(matrixShape({}), (MatrixShape {1, 1, 1}));
    EXPECT_EQ(matrixShape({0, 5}).elements(), 0);
    EXPECT_EQ(shapeText({1, 160, 96}), "1x160x96");
    EXPECT_EQ(shapeText({}), "scalar");
}

Scan scanOf(std::int64_t count, std::int64_t firstBad, double absmax, double least)
{
    Scan scan;
    scan.count = count;
    scan.nan = firstBad < 0 ? 0 : 2;
    scan.zero = 1;
    scan.subnormal = 3;
    scan.absmax = absmax;
    scan.minNonzero = least;
    scan.sumSquares = 10;
    scan.trace = -1;
    scan.firstNonFinite = firstBad;
    scan.firstClass = firstBad < 0 ? ValueClass::normal : ValueClass::negInf;
    return scan;
}

TEST(Totals, SumTheBatchAndIndexTheWholeTensor)
{
    CaptureTensor tensor;
    EXPECT_FALSE(tensor.scanned());
    tensor.shape = {3, 4, 5};
    tensor.batches = {scanOf(20, -1, 1, 0), scanOf(20, 7, 4, 0.5), scanOf(20, 0, 2, 0.25)};
    const auto total = tensor.total();
    EXPECT_TRUE(tensor.scanned());
    EXPECT_EQ(total.count, 60);
    EXPECT_EQ(total.nan, 4);
    EXPECT_EQ(total.zero, 3);
    EXPECT_EQ(total.subnormal, 9);
    EXPECT_EQ(total.absmax, 4);
    EXPECT_EQ(total.minNonzero, 0.25) << "a matrix of zeros has no smallest magnitude";
    EXPECT_EQ(total.sumSquares, 30);
    EXPECT_EQ(total.trace, -3);
    EXPECT_EQ(total.firstNonFinite, 27);
    EXPECT_EQ(total.firstClass, ValueClass::negInf);
}

TEST(Totals, OfFiniteAndOfZeroMatricesSaySo)
{
    Scan scan;
    EXPECT_TRUE(scan.finite());
    EXPECT_FALSE(scan.allZero()) << "nothing is not all zero";
    scan.count = 4;
    scan.zero = 4;
    EXPECT_TRUE(scan.allZero());
    scan.posInf = 1;
    EXPECT_FALSE(scan.finite());
    EXPECT_EQ(scan.nonFinite(), 1);
}

TEST(Points, StateIsThatOfTheValue)
{
    EXPECT_EQ(stateOf(0.5), PointState::finite);
    EXPECT_EQ(stateOf(-DBL_MAX), PointState::finite);
    EXPECT_EQ(stateOf(-std::nan("")), PointState::nan);
    EXPECT_EQ(stateOf(HUGE_VAL), PointState::posInf);
    EXPECT_EQ(stateOf(-HUGE_VAL), PointState::negInf);
}

TEST(Cancel, CopiesShareOneFlagAndOthersDoNot)
{
    const CancelToken mine;
    auto copy = mine;
    const CancelToken other;
    EXPECT_FALSE(mine.cancelled());
    copy.cancel();
    EXPECT_TRUE(mine.cancelled());
    EXPECT_FALSE(other.cancelled());
}

} // namespace
} // namespace nanscope
