// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/tensorfile/scan/scantensor.h"
#include "gpu/kernels/tiles.cuh"
#include "gpu/torchops.h"
#include "tests/gpu/plainscan.h"

namespace nanscope {

namespace {

struct Format
{
    at::ScalarType type;
    scan::Format format;
    double smallestNormal;
};

constexpr Format formats[] {
    {at::kDouble, scan::Format::fp64, 0x1p-1022},
    {at::kFloat, scan::Format::fp32, 0x1p-126},
    {at::kBFloat16, scan::Format::bf16, 0x1p-126},
    {at::kHalf, scan::Format::fp16, 0x1p-14},
};

struct Layout
{
    std::int64_t batch;
    std::int64_t rows;
    std::int64_t cols;
};

// Below a vector, not a multiple of one, several blocks.
constexpr Layout layouts[] {{1, 1, 1}, {2, 3, 5}, {3, 257, 129}, {1, 64, 1024}};

class Scans : public testing::TestWithParam<Format>
{
protected:
    // Nothing here is large enough to share.
    void SetUp() override { at::set_num_threads(1); }

    // A tensor of the format and the very values it holds.
    static at::Tensor tensor(const std::vector<double>& values, const Layout& layout)
    {
        auto* data = const_cast<double*>(values.data());
        const auto view =
            at::from_blob(data, {layout.batch, layout.rows, layout.cols}, at::TensorOptions().dtype(at::kDouble));
        return view.to(GetParam().type, false, true);
    }

    static std::vector<double> matrix(const at::Tensor& held, std::int64_t batch)
    {
        const auto wide = held.select(0, batch).to(at::kDouble).contiguous();
        const auto* data = wide.const_data_ptr<double>();
        return {data, data + wide.numel()};
    }

    static std::vector<Scan> twin(const at::Tensor& held, bool transposed)
    {
        std::vector<scan::Totals> totals(static_cast<std::size_t>(held.size(0)));
        scan::Job job;
        job.data = held.const_data_ptr();
        job.format = GetParam().format;
        job.batch = held.size(0);
        job.layout = {held.size(1), held.size(2), transposed};
        job.totals = totals.data();
        scan::twin(job);
        return toScans(totals, held);
    }

    static std::vector<Scan> byTorch(const at::Tensor& held, bool transposed)
    {
        const auto words = scanWithTorch(held, transposed);
        std::vector<scan::Totals> totals(static_cast<std::size_t>(held.size(0)));
        std::memcpy(static_cast<void*>(totals.data()), words.const_data_ptr(), totals.size() * sizeof(scan::Totals));
        return toScans(totals, held);
    }

    static std::vector<Scan> toScans(const std::vector<scan::Totals>& totals, const at::Tensor& held)
    {
        std::vector<Scan> result;
        for (const auto& each : totals) {
            result.push_back(scanFromTotals(each, held.size(1) * held.size(2)));
        }
        return result;
    }

    static void expectSame(Scan actual, Scan expected)
    {
        EXPECT_NEAR(actual.sumSquares, expected.sumSquares, 1e-12 * expected.sumSquares);
        EXPECT_NEAR(
            actual.trace, expected.trace, 1e-12 * std::sqrt(expected.sumSquares * static_cast<double>(expected.count)));
        actual.sumSquares = expected.sumSquares = 0;
        actual.trace = expected.trace = 0;
        EXPECT_EQ(actual.nan, expected.nan);
        EXPECT_EQ(actual.zero, expected.zero);
        EXPECT_EQ(actual.subnormal, expected.subnormal);
        EXPECT_EQ(actual.minNonzero, expected.minNonzero);
        EXPECT_EQ(actual.firstNonFinite, expected.firstNonFinite);
        EXPECT_TRUE(actual == expected);
    }

    template <class F>
    void compareAll(F scanner)
    {
        for (const auto& layout : layouts) {
            for (const int special : {0, 3, 1000}) {
                for (const bool transposed : {false, true}) {
                    SCOPED_TRACE(fmt::format("{}x{}x{} special {} transposed {}", layout.batch, layout.rows,
                        layout.cols, special, transposed));
                    const auto count = layout.batch * layout.rows * layout.cols;
                    const auto values = test::mixedValues(count, special, GetParam().smallestNormal, 7);
                    const auto held = tensor(values, layout);
                    const auto actual = scanner(held, transposed);
                    for (std::int64_t i = 0; i < layout.batch; ++i) {
                        expectSame(actual[static_cast<std::size_t>(i)],
                            test::plainScan(
                                matrix(held, i), layout.rows, layout.cols, transposed, GetParam().smallestNormal));
                    }
                }
            }
        }
    }
};

TEST_P(Scans, twinOfTheKernelMatchesTheDefinition)
{
    compareAll(twin);
}

// Vectors that hold zeros and subnormals, and are finite, take a path of their own.
TEST_P(Scans, twinCountsZerosAndSubnormalsAmongFiniteValues)
{
    const Layout layout {1, 130, 1021};
    auto values = test::mixedValues(130 * 1021, 300, GetParam().smallestNormal, 5);
    for (auto& value : values) {
        value = std::isfinite(value) ? value : GetParam().smallestNormal / 4;
    }
    const auto held = tensor(values, layout);
    const auto expected = test::plainScan(matrix(held, 0), 130, 1021, false, GetParam().smallestNormal);
    ASSERT_GT(expected.subnormal, 1000);
    expectSame(twin(held, false).front(), expected);
}

TEST_P(Scans, torchReductionsMatchTheDefinition)
{
    compareAll(byTorch);
}

TEST_P(Scans, twinOfTheTileKernelMatchesCore)
{
    // One tile for each element, tiles of several lines and columns, the last of them smaller, and more than a float.
    for (const auto& layout : {Layout {1, 1, 1}, Layout {1, 3, 256}, Layout {1, 257, 129}, Layout {1, 300, 700}}) {
        for (const int special : {0, 3, 1000}) {
            for (const bool transposed : {false, true}) {
                SCOPED_TRACE(
                    fmt::format("{}x{} special {} transposed {}", layout.rows, layout.cols, special, transposed));
                auto values = test::mixedValues(layout.rows * layout.cols, special, GetParam().smallestNormal, 9);
                values.back() = GetParam().type == at::kDouble ? -1e300 : -0.0;
                const auto held = tensor(values, layout);
                const auto grid = tileGridOf(layout.rows, layout.cols, transposed);
                std::vector<scan::Tile> tiles(static_cast<std::size_t>(grid.height * grid.width));
                scan::twin(scan::TileJob {held.const_data_ptr(), GetParam().format, grid, tiles.data()});
                const auto wide = matrix(held, 0);
                const std::vector<float> narrow(wide.begin(), wide.end());
                EXPECT_EQ(tileMapFrom(grid, tiles.data()),
                    GetParam().type == at::kDouble
                        ? tensorfile::tileMatrix(std::span(wide), layout.rows, layout.cols, transposed, 0x1p-1022)
                        : tensorfile::tileMatrix(
                            std::span(narrow), layout.rows, layout.cols, transposed, GetParam().smallestNormal));
            }
        }
    }
}

/// The formats core holds matrices in.
class WideScans : public Scans
{ };

TEST_P(WideScans, twinMatchesCoreOnTheSameMemory)
{
    const Layout layout {1, 301, 77};
    const auto held = tensor(test::mixedValues(301 * 77, 20, GetParam().smallestNormal, 3), layout);
    for (const bool transposed : {false, true}) {
        Scan core;
        if (GetParam().type == at::kFloat) {
            core = tensorfile::scanMatrix(
                std::span(held.const_data_ptr<float>(), 301 * 77), 301, 77, transposed, 0x1p-126);
        } else {
            core = tensorfile::scanMatrix(
                std::span(held.const_data_ptr<double>(), 301 * 77), 301, 77, transposed, 0x1p-1022);
        }
        expectSame(twin(held, transposed).front(), core);
    }
}

TEST_P(WideScans, twinCoversMatricesOfMoreTilesThanBlocks)
{
    const auto rows = 1501 * 8 / static_cast<std::int64_t>(c10::elementSize(GetParam().type));
    ASSERT_GT(rows * 1499 * static_cast<std::int64_t>(c10::elementSize(GetParam().type)),
        scan::maxBlocks * scan::threads * scan::unroll * scan::vectorBytes);
    const auto held = tensor(test::mixedValues(rows * 1499, 2, GetParam().smallestNormal, 8), {1, rows, 1499});
    expectSame(
        twin(held, false).front(), test::plainScan(matrix(held, 0), rows, 1499, false, GetParam().smallestNormal));
}

INSTANTIATE_TEST_SUITE_P(Formats, Scans, testing::ValuesIn(formats),
    [](const auto& info) { return std::string(c10::toString(info.param.type)); });

INSTANTIATE_TEST_SUITE_P(Formats, WideScans, testing::Values(formats[0], formats[1]),
    [](const auto& info) { return std::string(c10::toString(info.param.type)); });

} // namespace

} // namespace nanscope
