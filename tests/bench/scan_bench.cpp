// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A scan of values in memory beside the plainest pass over the same bytes.
#include <numeric>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/tensorfile/scantensor.h"

namespace nanscope {
namespace {

constexpr std::int64_t side = 2048;

std::vector<float> values()
{
    std::mt19937 generator(7);
    std::normal_distribution<float> normal;
    std::vector<float> all(side * side);
    for (auto& x : all) {
        x = normal(generator);
    }
    return all;
}

void plainSum(benchmark::State& state)
{
    const auto all = values();
    for (auto _ : state) {
        benchmark::DoNotOptimize(std::accumulate(all.begin(), all.end(), 0.0F));
    }
    state.SetBytesProcessed(state.iterations() * side * side * 4);
}

void scanned(benchmark::State& state)
{
    const auto all = values();
    for (auto _ : state) {
        benchmark::DoNotOptimize(scanMatrix(std::span<const float>(all), side, side, false, 0x1p-126));
    }
    state.SetBytesProcessed(state.iterations() * side * side * 4);
}

void tiled(benchmark::State& state)
{
    const auto all = values();
    for (auto _ : state) {
        benchmark::DoNotOptimize(tileMatrix(std::span<const float>(all), side, side, false, 0x1p-126));
    }
    state.SetBytesProcessed(state.iterations() * side * side * 4);
}

BENCHMARK(plainSum)->Unit(benchmark::kMillisecond);
BENCHMARK(scanned)->Unit(benchmark::kMillisecond);
BENCHMARK(tiled)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace nanscope
