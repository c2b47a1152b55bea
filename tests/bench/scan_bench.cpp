// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A scan of values in memory beside the plainest pass over the same bytes, and of captures in files beside reading
// the same bytes with the same calls.
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/platform/platform.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"

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
        benchmark::DoNotOptimize(tensorfile::scanMatrix(std::span<const float>(all), side, side, false, 0x1p-126));
    }
    state.SetBytesProcessed(state.iterations() * side * side * 4);
}

void tiled(benchmark::State& state)
{
    const auto all = values();
    for (auto _ : state) {
        benchmark::DoNotOptimize(tensorfile::tileMatrix(std::span<const float>(all), side, side, false, 0x1p-126));
    }
    state.SetBytesProcessed(state.iterations() * side * side * 4);
}

/// 32 dumps of bf16 input and output, 1x1024x1024; in the page cache after the first pass.
class Dumps
{
public:
    Dumps()
        : m_folder(std::filesystem::temp_directory_path() / "nanscope_scan_bench")
    {
        std::filesystem::create_directories(m_folder);
        std::mt19937 generator(7);
        constexpr std::size_t elements = std::size_t {1024} * 1024;
        std::vector<std::byte> bits(2 * elements);
        for (std::size_t i = 0; i < elements; ++i) {
            bits[2 * i] = static_cast<std::byte>(generator());
            bits[2 * i + 1] = static_cast<std::byte>(0x3f);
        }
        const tensorfile::TensorToWrite tensor {"", DType::bfloat16, {1, 1024, 1024}, std::move(bits)};
        for (int i = 0; i < 32; ++i) {
            m_files.push_back(m_folder / (std::to_string(i) + ".pt"));
            if (!tensorfile::writePt(m_files.back(), {{"input", tensor}, {"output", tensor}})) {
                m_files.pop_back();
            }
        }
    }
    ~Dumps() { std::filesystem::remove_all(m_folder); }
    Dumps(const Dumps&) = delete;
    Dumps& operator=(const Dumps&) = delete;

    const std::vector<std::filesystem::path>& files() const { return m_files; }
    std::int64_t bytes() const { return static_cast<std::int64_t>(m_files.size()) * 4 * 1024 * 1024; }

private:
    std::filesystem::path m_folder;
    std::vector<std::filesystem::path> m_files;
};

const Dumps& dumps()
{
    static const Dumps all;
    return all;
}

void readOnly(benchmark::State& state)
{
    std::vector<std::byte> buffer(std::size_t {96} << 10);
    dumps();
    for (auto _ : state) {
        for (const auto& path : dumps().files()) {
            const auto file = platform::FileReader::open(path);
            for (std::uint64_t at = 0; at < file->size(); at += buffer.size()) {
                const auto part = std::span(buffer).first(std::min(buffer.size(), file->size() - at));
                benchmark::DoNotOptimize(file->readAt(at, part));
            }
        }
    }
    state.SetBytesProcessed(state.iterations() * dumps().bytes());
}

void readAndScanned(benchmark::State& state)
{
    dumps();
    for (auto _ : state) {
        for (const auto& path : dumps().files()) {
            benchmark::DoNotOptimize(tensorfile::readCapture(path));
        }
    }
    state.SetBytesProcessed(state.iterations() * dumps().bytes());
}

BENCHMARK(plainSum)->Unit(benchmark::kMillisecond);
BENCHMARK(scanned)->Unit(benchmark::kMillisecond);
BENCHMARK(tiled)->Unit(benchmark::kMillisecond);
BENCHMARK(readOnly)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(readAndScanned)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace
} // namespace nanscope
