// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/replay/engine/outcome.h"
#include "core/replay/variants/variant.h"
#include "gpu/gpu.h"
#include "gpu/kernels/tiles.cuh"
#include "gpu/torchops.h"
#include "tests/gpu/plainscan.h"
#include "tests/gpu/samples.h"

namespace nanscope {

namespace {

class Cuda : public testing::Test
{
protected:
    void SetUp() override
    {
        auto device = makeTorchDevice("cuda:0");
        if (!device) {
            GTEST_SKIP() << device.error().what;
        }
        m_device = std::move(*device);
    }

    std::unique_ptr<replay::Device> m_device;
};

using CudaDeathTest = Cuda;

/// A kernel that reads past its input, as torch itself finds it.
void breakTheContext()
{
    const auto cuda = at::TensorOptions().device(at::kCUDA);
    const auto picked = at::zeros({4}, cuda).index_select(0, at::full({1}, 1 << 20, cuda.dtype(at::kLong)));
}

TEST_F(CudaDeathTest, aKernelThatFaultsCostsTheProcessOnce)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto replayed = [] {
        const auto device = makeTorchDevice("cuda:0", [](const Error&) { std::_Exit(7); }).value();
        const auto program = replay::compileProgram(replay::variants().front(), {1, 8, 16}, {});
        breakTheContext();
        (void)device->prepare(*program, 1);
        (void)device->scans();
    };
    EXPECT_EXIT(replayed(), testing::ExitedWithCode(7), "");
}

TEST_F(Cuda, replaysAgreeWithTheCpuUpToRounding)
{
    const auto cpu = makeTorchDevice("cpu").value();
    const MatrixShape shape {2, 96, 160};
    const auto input = test::normalInput(shape, 4);
    for (const auto& variant : replay::variants()) {
        double slope = 1;
        for (const auto& step : variant.steps) {
            slope *= step[0];
        }
        for (const auto precision : usualPrecisions()) {
            if (!m_device->native(precision)) {
                continue;
            }
            replay::ReplayOptions options;
            options.precision = precision;
            options.keepOutput = true;
            const auto gpu = replay::replay(variant, shape, input, *m_device, options);
            const auto host = replay::replay(variant, shape, input, *cpu, options);
            ASSERT_TRUE(gpu) << gpu.error().what;
            ASSERT_TRUE(host) << host.error().what;
            EXPECT_LE(test::distance(gpu->outputs, host->outputs), 2 * epsilonOf(precision) * slope)
                << variant.name << " " << name(precision);
        }
    }
}

TEST_F(Cuda, sumsInFp16WhereAskedAndPutsTheSwitchBack)
{
    if (!m_device->native(Precision::fp16Acc16)) {
        GTEST_SKIP() << "sums in fp16 need compute capability 7.0";
    }
    const MatrixShape shape {1, 256, 8192};
    const auto input = test::normalInput(shape, 8);
    replay::ReplayOptions options;
    options.keepOutput = true;
    const auto outputIn = [&](Precision precision) {
        options.precision = precision;
        const auto replayed = replay::replay(test::variantNamed("keller-jordan"), shape, input, *m_device, options);
        EXPECT_TRUE(replayed);
        return replayed->outputs;
    };
    const auto exact = outputIn(Precision::fp64);
    const auto before = outputIn(Precision::fp16);
    const auto inHalf = outputIn(Precision::fp16Acc16);
    EXPECT_NE(m_device->environment().flags.find("fp16_accumulation=on"), std::string::npos);
    // A sum of 8192 terms has its rounding errors in fp32 in the one, and in fp16 in the other.
    EXPECT_GT(test::distance(inHalf, exact), 1.5 * test::distance(before, exact));
    EXPECT_EQ(test::distance(outputIn(Precision::fp16), before), 0) << "the switch is put back";
    EXPECT_NE(m_device->environment().flags.find("fp16_accumulation=off"), std::string::npos);
}

TEST_F(Cuda, measuresOutputsAsTheHostDoes)
{
    for (const MatrixShape shape : {MatrixShape {2, 96, 160}, MatrixShape {1, 2300, 2100}}) {
        const auto input = test::normalInput(shape, 4);
        const auto directions = replay::signalDirections(shape, input);
        replay::ReplayOptions options;
        options.keepOutput = true;
        options.directions = &directions;
        options.precision = Precision::fp64;
        options.keepReferences = true;
        const auto& variant = test::variantNamed("dion-ns5");
        auto exact = replay::replay(variant, shape, input, *m_device, options);
        ASSERT_TRUE(exact) << exact.error().what;
        options.precision = Precision::fp32;
        options.keepReferences = false;
        options.references = &exact->references;
        const auto replayed = replay::replay(variant, shape, input, *m_device, options);
        ASSERT_TRUE(replayed) << replayed.error().what;
        for (std::size_t i = 0; i < replayed->outputs.size(); ++i) {
            EXPECT_TRUE(exact->references[i].there) << "kept on the GPU";
            const double distance = replay::relativeDistance(replayed->outputs[i], exact->outputs[i]);
            EXPECT_NEAR(replayed->distances[i], distance, 1e-11 * distance);
            const auto gains = replay::gainsAlong(directions[i], replayed->outputs[i], shape.cols);
            ASSERT_EQ(replayed->gains[i].size(), gains.size());
            for (std::size_t k = 0; k < gains.size(); ++k) {
                EXPECT_NEAR(replayed->gains[i][k], gains[k], 1e-12 * gains[k]);
            }
        }
    }
}

TEST_F(Cuda, findsTheSameFirstNonFiniteAsTheCpu)
{
    const auto cpu = makeTorchDevice("cpu").value();
    const MatrixShape shape {2, 160, 96};
    auto input = test::normalInput(shape, 6);
    input[static_cast<std::size_t>(shape.elements()) + 1234] = std::nan("");
    replay::ReplayOptions options;
    options.precision = Precision::bf16;
    const auto gpu = replay::replay(test::variantNamed("dion-ns5"), shape, input, *m_device, options);
    const auto host = replay::replay(test::variantNamed("dion-ns5"), shape, input, *cpu, options);
    ASSERT_TRUE(gpu && host);
    for (std::size_t op = 0; op < gpu->ops.size(); ++op) {
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(gpu->ops[op].batches[i].firstNonFinite, host->ops[op].batches[i].firstNonFinite);
            EXPECT_EQ(gpu->ops[op].batches[i].nan, host->ops[op].batches[i].nan);
        }
    }
}

#if defined(NANSCOPE_CUDA_KERNELS)

struct Format
{
    at::ScalarType type;
    scan::Format format;
    double smallestNormal;
};

constexpr Format formats[] {{at::kDouble, scan::Format::fp64, 0x1p-1022}, {at::kFloat, scan::Format::fp32, 0x1p-126},
    {at::kBFloat16, scan::Format::bf16, 0x1p-126}, {at::kHalf, scan::Format::fp16, 0x1p-14}};

TEST_F(Cuda, tileKernelGivesTheBitsOfItsTwin)
{
    for (const auto& [type, format, smallest] : formats) {
        for (const auto& shape : {MatrixShape {1, 1, 1}, MatrixShape {1, 257, 129}, MatrixShape {1, 4100, 4099}}) {
            for (const bool transposed : {false, true}) {
                SCOPED_TRACE(fmt::format("{} {}x{} {}", c10::toString(type), shape.rows, shape.cols, transposed));
                auto values = test::mixedValues(shape.elements(), 30, smallest, 2);
                const auto options = at::TensorOptions().dtype(at::kDouble);
                const auto host = at::from_blob(values.data(), {shape.rows, shape.cols}, options).to(type);
                const auto grid = tileGridOf(shape.rows, shape.cols, transposed);
                std::vector<scan::Tile> expected(static_cast<std::size_t>(grid.height * grid.width));
                scan::twin(scan::TileJob {host.const_data_ptr(), format, grid, expected.data()});

                const auto device = host.to(at::Device(at::kCUDA, 0));
                auto tiles = at::zeros({grid.height * grid.width, scan::tileWords}, device.options().dtype(at::kInt));
                const scan::TileJob job {device.const_data_ptr(), format, grid,
                    reinterpret_cast<scan::Tile*>(tiles.mutable_data_ptr<std::int32_t>())};
                ASSERT_EQ(scan::launch(job, nullptr), nullptr);
                const auto fetched = tiles.cpu();
                EXPECT_EQ(
                    std::memcmp(fetched.const_data_ptr(), expected.data(), expected.size() * sizeof(scan::Tile)), 0);
            }
        }
    }
}

TEST_F(Cuda, kernelGivesTheBitsOfItsTwin)
{
    const MatrixShape shapes[] {{1, 1, 1}, {2, 3, 5}, {3, 257, 129}, {1, 64, 4096}, {5, 1030, 517}, {1, 4100, 4099}};
    for (const auto& [type, format, smallest] : formats) {
        for (const auto& shape : shapes) {
            SCOPED_TRACE(fmt::format("{} {}x{}x{}", c10::toString(type), shape.batch, shape.rows, shape.cols));
            auto values = test::mixedValues(shape.batch * shape.elements(), 30, smallest, 1);
            const auto host = at::from_blob(
                values.data(), {shape.batch, shape.rows, shape.cols}, at::TensorOptions().dtype(at::kDouble))
                                  .to(type);
            const auto device = host.to(at::Device(at::kCUDA, 0));
            std::vector<scan::Totals> expected(static_cast<std::size_t>(shape.batch));
            scan::Job job;
            job.data = host.const_data_ptr();
            job.format = format;
            job.batch = shape.batch;
            job.layout = {shape.rows, shape.cols, true};
            job.totals = expected.data();
            scan::twin(job);

            const auto options = at::TensorOptions().device(device.device());
            const auto bytes = static_cast<std::int64_t>(
                scan::workspaceBytes(shape.elements(), static_cast<std::int64_t>(host.element_size()), shape.batch));
            const auto workspace = at::zeros({bytes}, options.dtype(at::kByte));
            const auto totals = at::zeros({shape.batch, scan::totalsWords}, options.dtype(at::kLong));
            job.data = device.const_data_ptr();
            job.totals = reinterpret_cast<scan::Totals*>(totals.mutable_data_ptr<std::int64_t>());
            // Twice: the workspace has to be fit for the next launch.
            for (int round = 0; round < 2; ++round) {
                ASSERT_EQ(scan::launch(job, workspace.mutable_data_ptr(), nullptr), nullptr);
                const auto fetched = totals.cpu();
                EXPECT_EQ(
                    std::memcmp(fetched.const_data_ptr(), expected.data(), expected.size() * sizeof(scan::Totals)), 0);
            }
        }
    }
}

#endif

} // namespace

} // namespace nanscope
