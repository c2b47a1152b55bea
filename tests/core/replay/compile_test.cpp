// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

replay::Program compiled(const replay::Variant& variant, MatrixShape shape, const replay::CompileOptions& options = {})
{
    auto program = replay::compileProgram(variant, shape, options);
    EXPECT_TRUE(program) << (program ? "" : program.error().what);
    return program.value_or(replay::Program {});
}

const replay::Variant& variantNamed(std::string_view name)
{
    return *replay::builtInVariant(name);
}

const std::vector<MatrixShape> shapes {{1, 8, 12}, {1, 12, 8}, {2, 8, 8}, {1, 1, 5}, {1, 5, 1}, {3, 1, 1}};

/// Every program that a sweep or a verdict may run.
template <class F>
void forEveryProgram(F&& check)
{
    for (const auto& variant : replay::variants()) {
        for (const auto& shape : shapes) {
            for (int bits = 0; bits < 16; ++bits) {
                replay::CompileOptions options;
                options.precision = (bits & 8) != 0 ? Precision::tf32 : variant.precision;
                options.rounding.lowering = (bits & 1) != 0 ? Lowering::fused : Lowering::eager;
                options.rounding.fuseElementwise = (bits & 2) != 0;
                options.rounding.otherSide = (bits & 4) != 0;
                const auto program = compiled(variant, shape, options);
                SCOPED_TRACE(std::string(variant.name) + " " + std::to_string(shape.rows) + "x"
                    + std::to_string(shape.cols) + " " + std::to_string(bits));
                check(program);
                if (testing::Test::HasFailure()) {
                    return;
                }
            }
        }
    }
}

std::pair<std::int64_t, std::int64_t> shapeOf(const replay::Program& program, replay::BufferId id, bool transposed)
{
    const auto& plan = program.buffers[static_cast<std::size_t>(id)];
    return transposed ? std::pair(plan.cols, plan.rows) : std::pair(plan.rows, plan.cols);
}

TEST(Compile, EveryOperandWasWrittenBefore)
{
    forEveryProgram([](const replay::Program& program) {
        std::set<replay::BufferId> written {0};
        std::set<replay::ScalarId> scalars;
        for (const auto& in : program.code) {
            for (const auto operand : {in.a, in.b, in.c}) {
                EXPECT_TRUE(operand < 0 || written.contains(operand));
            }
            EXPECT_TRUE(in.code != replay::Code::divide || scalars.contains(in.scalar));
            written.insert(in.out);
            scalars.insert(in.scalar);
        }
        EXPECT_TRUE(written.contains(program.output));
    });
}

TEST(Compile, ShapesOfEveryProductFitTogether)
{
    forEveryProgram([](const replay::Program& program) {
        for (const auto& in : program.code) {
            if (in.code != replay::Code::gemm) {
                EXPECT_TRUE(in.out < 0 || in.a < 0 || shapeOf(program, in.a, false) == shapeOf(program, in.out, false));
                continue;
            }
            const auto a = shapeOf(program, in.a, in.transposeA);
            const auto b = shapeOf(program, in.b, in.transposeB);
            EXPECT_EQ(a.second, b.first);
            EXPECT_EQ(std::pair(a.first, b.second), shapeOf(program, in.out, false));
            EXPECT_TRUE(in.c < 0 || shapeOf(program, in.c, false) == shapeOf(program, in.out, false));
        }
    });
}

TEST(Compile, ScanSlotsAreCountedInOrderAndIterationsNeverFall)
{
    forEveryProgram([](const replay::Program& program) {
        int slot = 0;
        int iteration = 0;
        for (const auto& in : program.code) {
            EXPECT_EQ(in.scanSlot >= 0, in.label.has_value());
            if (in.label) {
                EXPECT_EQ(in.scanSlot, slot++);
                EXPECT_GE(in.iteration, iteration);
                iteration = in.iteration;
            }
        }
        EXPECT_EQ(slot, program.scanCount);
        EXPECT_EQ(program.code.back().label, OpName::output);
        EXPECT_EQ(program.grams.size(), program.steps.size());
    });
}

TEST(Compile, ProductsAreTakenOnTheSmallerSide)
{
    forEveryProgram([](const replay::Program& program) {
        const auto small = std::min(program.shape.rows, program.shape.cols);
        for (const auto& gram : program.grams) {
            EXPECT_EQ(shapeOf(program, gram.buffer, false), std::pair(small, small));
        }
    });
}

TEST(Compile, WorkspaceOfTheStandardFormIsFourMatricesAndThreeGrams)
{
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t> {8, 12}, {12, 8}, {64, 64}, {1, 100}}) {
        const auto small = std::min(rows, cols);
        const auto program = compiled(variantNamed("dion-ns5"), {7, rows, cols});
        EXPECT_EQ(program.workspaceBytes(4), 4 * (4 * rows * cols + 3 * small * small)) << "of one matrix";
        EXPECT_EQ(program.workspaceBytes(8), 2 * program.workspaceBytes(4));
    }
}

TEST(Compile, WorkspaceOfTheGramFormIsFourMatricesAndFiveGrams)
{
    EXPECT_EQ(compiled(variantNamed("gns-gram"), {1, 8, 12}).workspaceBytes(4), 4 * (4 * 96 + 5 * 64));
    EXPECT_EQ(compiled(variantNamed("deepspeed-gram"), {1, 12, 8}).workspaceBytes(4), 4 * (4 * 96 + 5 * 64));
}

TEST(Compile, FlopsAreThoseOfTheProducts)
{
    const double m = 8;
    const double n = 12;
    const auto standard = compiled(variantNamed("dion-ns5"), {3, 8, 12});
    EXPECT_EQ(standard.gemmFlops(), 3 * 5 * (2 * m * m * n + 2 * m * m * m + 2 * m * m * n));
    replay::CompileOptions fused;
    fused.rounding.lowering = Lowering::fused;
    const auto gram = compiled(variantNamed("gns-gram"), {1, 8, 12}, fused);
    EXPECT_EQ(gram.gemmFlops(), 14 * 2 * m * m * m + 4 * 2 * m * m * n);
    EXPECT_EQ(compiled(variantNamed("gns-gram"), {1, 12, 8}, fused).gemmFlops(), gram.gemmFlops());
}

TEST(Compile, FewerStepsAreTheFirstMoreRepeatTheLast)
{
    const auto& variant = variantNamed("dion-polar-express");
    replay::CompileOptions options;
    options.steps = 2;
    EXPECT_EQ(compiled(variant, {1, 8, 12}, options).steps,
        (std::vector<replay::Coefficients> {variant.steps[0], variant.steps[1]}));
    options.steps = 7;
    const auto longer = compiled(variant, {1, 8, 12}, options).steps;
    ASSERT_EQ(longer.size(), 7U);
    EXPECT_EQ(longer[4], variant.steps[4]);
    EXPECT_EQ(longer[5], variant.steps[4]);
    EXPECT_EQ(longer[6], variant.steps[4]);
}

TEST(Compile, StepCountsHaveBounds)
{
    replay::CompileOptions options;
    for (const int good : {1, 100}) {
        options.steps = good;
        EXPECT_TRUE(replay::compileProgram(variantNamed("gns-gram"), {1, 8, 12}, options)) << good;
    }
    for (const int bad : {0, -1, 101}) {
        options.steps = bad;
        const auto refused = replay::compileProgram(variantNamed("gns-gram"), {1, 8, 12}, options);
        ASSERT_FALSE(refused) << bad;
        EXPECT_NE(refused.error().what.find("give 1 to 100"), std::string::npos);
    }
    for (const MatrixShape& empty : {MatrixShape {0, 8, 12}, {1, 0, 12}, {1, 8, 0}, {1, -8, 12}}) {
        EXPECT_FALSE(replay::compileProgram(variantNamed("gns-gram"), empty, {}));
    }
}

TEST(Compile, RestartsThatLieBehindTheLastStepDoNotHappen)
{
    replay::CompileOptions options;
    options.steps = 2;
    const auto program = compiled(variantNamed("gns-gram"), {1, 8, 12}, options);
    const auto restarts = std::count_if(program.code.begin(), program.code.end(),
        [](const replay::Instruction& in) { return in.label == OpName::restart; });
    EXPECT_EQ(restarts, 0);
    auto often = variantNamed("gns-gram");
    often.restarts = {1, 2, 3, 4};
    const auto all = compiled(often, {1, 8, 12});
    EXPECT_EQ(std::count_if(all.code.begin(), all.code.end(),
                  [](const replay::Instruction& in) { return in.label == OpName::restart; }),
        4);
    EXPECT_EQ(std::count_if(all.code.begin(), all.code.end(),
                  [](const replay::Instruction& in) { return in.label == OpName::r; }),
        0)
        << "R is never carried over";
}

TEST(Compile, TallRulesAndTheOtherSideDecideTheOrientation)
{
    const auto transposed = [](std::string_view variant, MatrixShape shape, bool otherSide) {
        replay::CompileOptions options;
        options.rounding.otherSide = otherSide;
        const auto program = compiled(variantNamed(variant), shape, options);
        EXPECT_EQ(program.buffers[0].transposed, program.buffers[static_cast<std::size_t>(program.output)].transposed);
        return program.buffers[0].transposed;
    };
    EXPECT_TRUE(transposed("dion-ns5", {1, 12, 8}, false));
    EXPECT_FALSE(transposed("dion-ns5", {1, 12, 8}, true));
    EXPECT_TRUE(transposed("dion-ns5", {1, 8, 12}, true));
    EXPECT_FALSE(transposed("dion-ns5", {1, 8, 8}, false)) << "a square matrix is not tall";
    EXPECT_FALSE(transposed("dion-polar-express", {1, 12, 8}, false));
    EXPECT_TRUE(transposed("dion-polar-express", {1, 12, 8}, true));
}

TEST(Compile, Tf32RoundsProductsAndLeavesTheRestInFp32)
{
    replay::CompileOptions options;
    options.precision = Precision::tf32;
    for (const auto& in : compiled(variantNamed("dion-ns5"), {1, 8, 12}, options).code) {
        EXPECT_EQ(in.round, in.code == replay::Code::gemm ? Precision::tf32 : Precision::fp32);
    }
}

TEST(Compile, SumsInFp16AreOfProductsAlone)
{
    replay::CompileOptions options;
    options.precision = Precision::fp16Acc16;
    const auto program = compiled(variantNamed("deepspeed-gram"), {1, 8, 12}, options);
    EXPECT_EQ(program.precision, Precision::fp16Acc16);
    for (const auto& in : program.code) {
        if (in.label != OpName::input) {
            EXPECT_EQ(in.round, in.code == replay::Code::gemm ? Precision::fp16Acc16 : Precision::fp16);
        }
    }
    for (std::size_t i = 1; i < program.buffers.size(); ++i) {
        EXPECT_EQ(program.buffers[i].format, Precision::fp16) << "held in the format itself";
    }
}

TEST(Compile, NormaliseFirstKeepsNormAndDivisionOutOfTheComputeFormat)
{
    for (const auto& in :
        compiled(variantNamed("gns-standard"), {1, 8, 12}, {Precision::fp16, {}, {}, {}, false}).code) {
        if (in.code == replay::Code::norm || in.code == replay::Code::denominator || in.code == replay::Code::divide) {
            EXPECT_EQ(in.round, Precision::fp32);
        } else if (in.label != OpName::input) {
            EXPECT_EQ(in.round, Precision::fp16);
        }
    }
}

TEST(Compile, TheKnobsOfTheEnvelopeReachTheDenominatorAlone)
{
    replay::CompileOptions options;
    options.precision = Precision::bf16;
    options.rounding.normUlps = -1;
    const auto ulps = compiled(variantNamed("dion-polar-express"), {1, 8, 12}, options);
    for (const auto& in : ulps.code) {
        EXPECT_EQ(in.normUlps, in.label == OpName::norm ? -1 : 0);
    }
    options.rounding = {};
    options.rounding.fp32Norm = true;
    for (const auto& in : compiled(variantNamed("dion-ns5"), {1, 8, 12}, options).code) {
        if (in.code == replay::Code::norm || in.code == replay::Code::denominator) {
            EXPECT_EQ(in.round, Precision::fp32);
        }
    }
}

TEST(Compile, ClampAndFactorAreThoseOfTheVariant)
{
    const auto denominators = [](std::string_view name) {
        std::vector<replay::Instruction> found;
        for (const auto& in : compiled(variantNamed(name), {1, 8, 12}, {Precision::bf16, {}, 1e-5, {}, false}).code) {
            if (in.code == replay::Code::denominator) {
                found.push_back(in);
            }
        }
        return found;
    };
    const auto clamped = denominators("torch-muon");
    ASSERT_EQ(clamped.size(), 1U);
    EXPECT_TRUE(clamped[0].clamp);
    EXPECT_EQ(clamped[0].beta, 1e-5);
    // 1.02 and epsilon are two torch ops, and round twice.
    const auto factored = denominators("dion-polar-express");
    ASSERT_EQ(factored.size(), 2U);
    EXPECT_EQ(factored[0].alpha, 1.02);
    EXPECT_EQ(factored[0].beta, 0);
    EXPECT_EQ(factored[1].alpha, 1);
    EXPECT_EQ(factored[1].beta, 1e-5);
    EXPECT_FALSE(factored[1].clamp);
}

TEST(PeakBytes, IsTheWorkspaceOfOneMatrixAndThreeBatchesOfDoubles)
{
    const std::int64_t elements = 64 * 96;
    EXPECT_EQ(
        replay::peakBytes(variantNamed("dion-ns5"), {1, 64, 96}), 8 * (4 * elements + 3 * 64 * 64 + 3 * elements));
    EXPECT_EQ(
        replay::peakBytes(variantNamed("dion-ns5"), {10, 64, 96}), 8 * (4 * elements + 3 * 64 * 64 + 30 * elements));
    EXPECT_EQ(replay::peakBytes(variantNamed("dion-ns5"), {1, 0, 96}), 0);
    for (const auto& variant : replay::variants()) {
        // The promise of design section 11: the capture and eight matrices of doubles, with the outputs kept twice.
        EXPECT_LE(replay::peakBytes(variant, {1, 96, 160}), 8 * 12 * 96 * 160) << variant.name;
    }
}

} // namespace
} // namespace nanscope
