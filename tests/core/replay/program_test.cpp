// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gtest/gtest.h>

#include "core/replay/program/program.h"
#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

replay::Program compiled(std::string_view variant, MatrixShape shape, replay::CompileOptions options = {})
{
    auto program = replay::compileProgram(*replay::builtInVariant(variant), shape, options);
    EXPECT_TRUE(program) << (program ? "" : program.error().what);
    return *program;
}

std::vector<std::string> labels(const replay::Program& program)
{
    std::vector<std::string> result;
    for (const auto& instruction : program.code) {
        if (instruction.label) {
            result.push_back(std::to_string(instruction.iteration) + " " + std::string(name(*instruction.label)));
        }
    }
    return result;
}

TEST(Program, StandardFormScansEveryOpOnce)
{
    replay::CompileOptions options;
    options.steps = 2;
    const std::vector<std::string> expected {"0 input", "0 cast", "0 norm", "0 normalize", "1 gram", "1 polynomial",
        "1 update", "2 gram", "2 polynomial", "2 update", "2 output"};
    EXPECT_EQ(labels(compiled("keller-jordan", {1, 8, 12}, options)), expected);
}

TEST(Program, NormalizeFirstCastsAfterTheDivision)
{
    const auto all = labels(compiled("gns-standard", {1, 8, 12}));
    EXPECT_EQ(all[1], "0 norm");
    EXPECT_EQ(all[2], "0 normalize");
    EXPECT_EQ(all[3], "0 cast");
}

TEST(Program, GramFormRestartsAfterTwoStepsAndEndsWithOneUpdate)
{
    const std::vector<std::string> expected {"0 input", "0 norm", "0 normalize", "0 cast", "1 gram", "1 z", "1 q",
        "1 r", "2 z", "2 q", "3 restart", "3 gram", "3 z", "3 q", "3 r", "4 z", "4 q", "4 r", "5 z", "5 q", "5 update",
        "5 output"};
    EXPECT_EQ(labels(compiled("gns-gram", {1, 8, 12})), expected);
}

TEST(Program, FusedGramFormCostsTheProductsItsAuthorsCount)
{
    replay::CompileOptions options;
    options.rounding.lowering = Lowering::fused;
    const auto program = compiled("gns-gram", {1, 64, 256}, options);
    int square = 0;
    int rectangular = 0;
    for (const auto& in : program.code) {
        if (in.code == replay::Code::gemm) {
            const auto& out = program.buffers[static_cast<std::size_t>(in.out)];
            (out.rows == out.cols ? square : rectangular) += 1;
        }
    }
    EXPECT_EQ(square, 16);
    EXPECT_EQ(rectangular, 2);
}

TEST(Program, SquareMatricesTakeTheStandardLoopOfGns)
{
    const auto all = labels(compiled("gns-gram", {1, 8, 8}));
    EXPECT_EQ(std::count(all.begin(), all.end(), "1 polynomial"), 1);
    EXPECT_EQ(std::count(all.begin(), all.end(), "1 z"), 0);
}

TEST(Program, NoProductWritesOverAnOperand)
{
    for (const auto& variant : replay::variants()) {
        for (const auto lowering : {Lowering::eager, Lowering::fused}) {
            replay::CompileOptions options;
            options.rounding.lowering = lowering;
            const auto program = compiled(variant.name, {1, 8, 12}, options);
            for (const auto& in : program.code) {
                if (in.code == replay::Code::gemm) {
                    EXPECT_NE(in.out, in.a) << variant.name;
                    EXPECT_NE(in.out, in.b) << variant.name;
                    EXPECT_NE(in.out, in.c) << variant.name;
                }
            }
        }
    }
}

TEST(Program, WorkspaceStaysWithinEightMatrices)
{
    for (const auto& variant : replay::variants()) {
        const MatrixShape shape {1, 96, 160};
        EXPECT_LE(compiled(variant.name, shape).workspaceBytes(8), 8 * shape.elements() * 8) << variant.name;
    }
}

TEST(Program, TallMatricesAreTransposedOrMultipliedFromTheRight)
{
    EXPECT_TRUE(compiled("dion-ns5", {1, 12, 8}).buffers[0].transposed);
    EXPECT_FALSE(compiled("dion-polar-express", {1, 12, 8}).buffers[0].transposed);
    EXPECT_FALSE(compiled("dion-ns5", {1, 8, 12}).buffers[0].transposed);
}

TEST(Program, CallersEpsilonIsUsedUnlessTheVariantIgnoresIt)
{
    replay::CompileOptions options;
    options.epsilon = 1e-3;
    EXPECT_EQ(compiled("dion-ns5", {1, 8, 12}, options).epsilon, 1e-3);
    EXPECT_EQ(compiled("gns-gram", {1, 8, 12}, options).epsilon, 1e-7);
    options.forceEpsilon = true;
    EXPECT_EQ(compiled("gns-gram", {1, 8, 12}, options).epsilon, 1e-3);
}

TEST(Program, RefusesEmptyMatricesAndAbsurdStepCounts)
{
    const auto& variant = *replay::builtInVariant("dion-ns5");
    EXPECT_FALSE(replay::compileProgram(variant, {1, 0, 12}, {}));
    replay::CompileOptions options;
    options.steps = 1000000;
    const auto program = replay::compileProgram(variant, {1, 8, 12}, options);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().kind, ErrorKind::usage);
}

} // namespace
} // namespace nanscope
