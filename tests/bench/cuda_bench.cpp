// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The kernels on a GPU beside the fastest pass over the same bytes, and a replay with its scans beside one without.
// Inputs take turns, so that none is found in the second-level cache. Times are medians, by CUDA's events.
#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <vector>

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "core/replay/program/program.h"
#include "core/replay/variants/variant.h"
#include "gpu/gpu.h"
#include "gpu/kernels/scan.cuh"
#include "gpu/kernels/tiles.cuh"
#include "gpu/torchops.h"

namespace nanscope {
namespace {

/// Of one call, among `inARow` that are launched together: a kernel of a replay does not wait to be launched, either.
double medianSeconds(const std::function<void(int)>& work, int inARow = 10, int times = 21)
{
    std::vector<double> all;
    for (int i = -2; i < times; ++i) {
        at::cuda::CUDAEvent begin(cudaEventDefault);
        at::cuda::CUDAEvent end(cudaEventDefault);
        begin.record();
        for (int k = 0; k < inARow; ++k) {
            work(k);
        }
        end.record();
        end.synchronize();
        if (i >= 0) {
            all.push_back(begin.elapsed_time(end) / 1e3 / inARow);
        }
    }
    std::ranges::nth_element(all, all.begin() + times / 2);
    return all[static_cast<std::size_t>(times / 2)];
}

void* stream()
{
    return c10::cuda::getCurrentCUDAStream().stream();
}

double copyRate()
{
    const auto from = at::empty({std::int64_t {1} << 30}, at::device(at::kCUDA).dtype(at::kByte)).fill_(3);
    auto to = at::empty_like(from);
    return 2.0 * static_cast<double>(from.numel()) / medianSeconds([&](int) { to.copy_(from); });
}

/// Random matrices of one size, together larger than the second-level cache.
std::vector<at::Tensor> inputs(std::int64_t rows, std::int64_t cols, at::ScalarType type)
{
    const auto bytes = rows * cols * static_cast<std::int64_t>(c10::elementSize(type));
    const auto count = std::max<std::int64_t>(2, (std::int64_t {512} << 20) / bytes);
    std::vector<at::Tensor> all;
    for (std::int64_t i = 0; i < count; ++i) {
        all.push_back(at::randn({1, rows, cols}, at::device(at::kCUDA).dtype(at::kFloat)).to(type));
    }
    return all;
}

scan::Format formatOf(at::ScalarType type)
{
    return type == at::kDouble ? scan::Format::fp64
        : type == at::kFloat   ? scan::Format::fp32
        : type == at::kHalf    ? scan::Format::fp16
                               : scan::Format::bf16;
}

void benchKernels(std::int64_t rows, std::int64_t cols, at::ScalarType type, double copied)
{
    const auto all = inputs(rows, cols, type);
    const auto size = static_cast<std::int64_t>(c10::elementSize(type));
    const auto bytes = static_cast<double>(rows * cols * size);
    const auto workspace = at::zeros({static_cast<std::int64_t>(scan::workspaceBytes(rows * cols, size, 1))},
        at::device(at::kCUDA).dtype(at::kByte));
    const auto totals = at::zeros({1, scan::totalsWords}, at::device(at::kCUDA).dtype(at::kLong));
    scan::Job job;
    job.format = formatOf(type);
    job.layout = {rows, cols, false};
    job.totals = reinterpret_cast<scan::Totals*>(totals.mutable_data_ptr<std::int64_t>());
    const auto input = [&](int i) { return all[static_cast<std::size_t>(i) % all.size()]; };
    const auto scanned = medianSeconds([&](int i) {
        job.data = input(i).const_data_ptr();
        scan::launch(job, workspace.mutable_data_ptr(), stream());
    });

    scan::TileJob tiles;
    tiles.format = job.format;
    tiles.grid = tileGridOf(rows, cols, false);
    auto map =
        at::zeros({tiles.grid.height * tiles.grid.width, scan::tileWords}, at::device(at::kCUDA).dtype(at::kInt));
    tiles.tiles = reinterpret_cast<scan::Tile*>(map.mutable_data_ptr<std::int32_t>());
    const auto tiled = medianSeconds([&](int i) {
        tiles.data = input(i).const_data_ptr();
        scan::launch(tiles, stream());
    });
    const auto largest = medianSeconds([&](int i) { at::amax(input(i)); });
    const auto withTorch = medianSeconds([&](int i) { scanWithTorch(input(i), false); }, 1, 5);
    const auto share = [&](double seconds) { return 100 * bytes / seconds / copied; };
    fmt::print(
        "{:>5}x{:<6} {:<9} scan {:8.1f} us {:5.1f} %   tiles {:8.1f} us {:5.1f} %   torch amax {:8.1f} us {:5.1f} %   "
        "torch's reductions {:9.1f} us\n",
        rows, cols, c10::toString(type), scanned * 1e6, share(scanned), tiled * 1e6, share(tiled), largest * 1e6,
        share(largest), withTorch * 1e6);
}

void runAll(replay::Device& device, const replay::Program& program)
{
    for (const auto& instruction : program.code) {
        if (!device.run(instruction)) {
            fmt::print("an instruction failed\n");
        }
    }
}

/// What the scans after every op cost a replay.
void benchScans(const char* variant, std::int64_t rows, std::int64_t cols, Precision precision)
{
    const MatrixShape shape {1, rows, cols};
    replay::CompileOptions options;
    options.precision = precision;
    options.epsilon = 1e-7;
    auto with = replay::compileProgram(*replay::builtInVariant(variant), shape, options).value();
    auto without = with;
    for (auto& instruction : without.code) {
        instruction.scanSlot = -1;
    }
    const auto device = makeTorchDevice("cuda:0").value();
    std::mt19937 generator(7);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    std::ranges::generate(values, [&] { return normal(generator); });
    if (!device->prepare(with, 1) || !device->upload(ValueView(std::span<const float>(values)))) {
        fmt::print("{} does not fit\n", variant);
        return;
    }
    const auto bare = medianSeconds([&](int) { runAll(*device, without); }, 4, 7);
    const auto scanned = medianSeconds([&](int) { runAll(*device, with); }, 4, 7);
    const auto again = medianSeconds([&](int) { runAll(*device, without); }, 4, 7);
    const auto rate = with.gemmFlops() / std::min(bare, again) / 1e12;
    fmt::print("{} {}x{} {}: without scans {:.3f} and {:.3f} ms ({:.0f} TFLOP/s), with {:.3f} ms, {:.3f}x\n", variant,
        rows, cols, name(precision), bare * 1e3, again * 1e3, rate, scanned * 1e3, scanned / std::min(bare, again));
}

/// Where the time of one cell goes, by the host's clock.
void benchPhases(std::int64_t side, Precision precision)
{
    const MatrixShape shape {1, side, side};
    const auto& variant = *replay::builtInVariant("keller-jordan");
    replay::CompileOptions options;
    options.precision = precision;
    const auto program = replay::compileProgram(variant, shape, options).value();
    const auto device = makeTorchDevice("cuda:0").value();
    const std::vector<float> values(static_cast<std::size_t>(shape.elements()), 0.5F);
    const auto clocked = [](const char* what, auto work) {
        const auto begin = std::chrono::steady_clock::now();
        const bool done = static_cast<bool>(work());
        at::cuda::getCurrentCUDAStream().synchronize();
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        fmt::print("  {} {:.1f} ms{}", what, took.count(), done ? "" : " (failed)");
    };
    for (int round = 0; round < 3; ++round) {
        fmt::print("cell of {}^2 {}:", side, name(precision));
        clocked("prepare", [&] { return device->prepare(program, 1); });
        clocked("upload", [&] { return device->upload(ValueView(std::span<const float>(values))); });
        clocked("run", [&] {
            runAll(*device, program);
            return true;
        });
        clocked("scans", [&] { return device->scans(); });
        clocked("tile map", [&] { return device->tileMap(program.output, 0); });
        clocked("download", [&] { return device->download(program.output, 0); });
        fmt::print("\n");
    }
}

void benchAll()
{
    const c10::InferenceMode inference;
    const auto copied = copyRate();
    fmt::print("copy {:.0f} GB/s, read and written; shares are of it\n", copied / 1e9);
    for (const auto type : {at::kBFloat16, at::kHalf, at::kFloat, at::kDouble}) {
        for (const auto& [rows, cols] : {std::pair {1024L, 1024L}, {4096L, 4096L}, {8192L, 28672L}}) {
            benchKernels(rows, cols, type, copied);
        }
    }
    for (const auto* variant : {"keller-jordan", "dion-ns5", "gns-gram"}) {
        for (const auto precision : {Precision::bf16, Precision::fp32}) {
            benchScans(variant, 4096, 4096, precision);
        }
    }
    benchScans("keller-jordan", 1024, 1024, Precision::bf16);
    benchScans("keller-jordan", 4096, 11008, Precision::bf16);
    benchPhases(4096, Precision::bf16);
    benchPhases(4096, Precision::fp64);
}

} // namespace
} // namespace nanscope

int main()
{
    if (const auto device = nanscope::makeTorchDevice("cuda:0"); !device) {
        fmt::print("skipped: {}\n", device.error().what);
        return 0;
    }
    nanscope::benchAll();
    return 0;
}
