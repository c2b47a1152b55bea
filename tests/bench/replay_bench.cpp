// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A replay beside the bare products it is made of: what scans, roundings and gauges cost on top. Warm, in process.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/replay/device/gemm.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

constexpr std::int64_t side = 1024;

std::vector<double> input()
{
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    std::vector<double> values(side * side);
    for (auto& x : values) {
        x = normal(generator);
    }
    return values;
}

void bareProducts(benchmark::State& state)
{
    const auto values = input();
    const std::vector<float> a(values.begin(), values.end());
    std::vector<float> out(a.size());
    const auto threads = static_cast<int>(state.range(0));
    for (auto _ : state) {
        for (int i = 0; i < 15; ++i) {
            replay::gemm({a.data(), a.data(), out.data(), side, side, side, false, i % 3 == 0}, threads);
            benchmark::DoNotOptimize(out.data());
        }
    }
}

void replayed(benchmark::State& state, Precision precision, Lowering lowering)
{
    const auto values = input();
    const auto device = replay::makeEigenDevice(static_cast<int>(state.range(0)));
    replay::ReplayOptions options;
    options.precision = precision;
    options.rounding.lowering = lowering;
    const auto& variant = *replay::builtInVariant("dion-ns5");
    for (auto _ : state) {
        auto result = replay::replay(variant, {1, side, side}, values, *device, options);
        benchmark::DoNotOptimize(result);
    }
}

BENCHMARK(bareProducts)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(replayed, fused_fp32, Precision::fp32, Lowering::fused)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(replayed, fused_bf16, Precision::bf16, Lowering::fused)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(replayed, eager_bf16, Precision::bf16, Lowering::eager)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(replayed, eager_fp16, Precision::fp16, Lowering::eager)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

} // namespace
} // namespace nanscope
