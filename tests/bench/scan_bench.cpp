// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Scans and tile maps of values in memory, one thread each, beside reading the same bytes as fast as one thread can,
// and of captures in files beside reading the same bytes with the same calls. The smaller matrices stay in the last
// level of cache, the larger ones do not.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/platform/platform.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scankernels.h"
#include "core/tensorfile/scan/scantensor.h"
#include "gpu/kernels/tiles.cuh"

namespace nanscope {
namespace {

constexpr std::int64_t inCache = 2048;
constexpr std::int64_t beyondCache = 8192;

template <class T>
std::vector<T> values(std::int64_t side, bool zeros = false)
{
    std::mt19937 generator(7);
    std::normal_distribution<float> normal;
    std::vector<float> some(1 << 20);
    std::ranges::generate(some, [&] { return normal(generator); });
    std::vector<T> result(static_cast<std::size_t>(side * side));
    for (std::size_t i = 0; i < result.size(); ++i) {
        const float value = zeros && i % 64 == 5 ? 0.0F : some[i % some.size()];
        if constexpr (std::is_same_v<T, std::uint16_t>) {
            result[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
        } else {
            result[i] = value;
        }
    }
    return result;
}

/// What memory gives: wide loads into as many sums as hide the latency of an addition.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
std::uint64_t
sumOfWords(const std::uint64_t* words, std::size_t count)
{
    constexpr std::size_t lanes = 32;
    std::uint64_t sums[lanes] {};
    for (std::size_t i = 0; i + lanes <= count; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sums[lane] += words[i + lane];
        }
    }
    return std::accumulate(std::begin(sums), std::end(sums), std::uint64_t {0});
}

template <class T, class Work>
void timed(benchmark::State& state, const std::vector<T>& all, const Work& work)
{
    for (auto _ : state) {
        work(all);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(all.size() * sizeof(T)));
}

template <class T>
void memoryRead(benchmark::State& state)
{
    timed(state, values<T>(state.range(0)), [](const std::vector<T>& all) {
        benchmark::DoNotOptimize(
            sumOfWords(reinterpret_cast<const std::uint64_t*>(all.data()), all.size() * sizeof(T) / 8));
    });
}

template <class T, bool zeros = false>
void scanned(benchmark::State& state)
{
    timed(state, values<T>(state.range(0), zeros), [side = state.range(0)](const std::vector<T>& all) {
        if constexpr (std::is_same_v<T, std::uint16_t>) {
            tensorfile::ScanSums sums;
            tensorfile::scanKernels().bfloat16(all.data(), all.size(), 0x0080, sums);
            benchmark::DoNotOptimize(sums);
        } else {
            benchmark::DoNotOptimize(tensorfile::scanMatrix(std::span<const T>(all), side, side, false, 0x1p-126));
        }
    });
}

std::vector<tensorfile::TileSums> tilesOfBfloat16(const std::uint16_t* bits, std::int64_t side)
{
    const auto map = tensorfile::cutIntoTiles(side, side);
    std::vector<tensorfile::TileSums> sums(static_cast<std::size_t>(map.height) * static_cast<std::size_t>(map.width));
    for (std::int64_t band = 0; band < map.height; ++band) {
        const auto first = band * map.tileRows;
        const auto lines = static_cast<std::size_t>(std::min(map.tileRows, side - first));
        tensorfile::scanKernels().tileBfloat16(
            {bits + first * side, static_cast<std::size_t>(side), lines, static_cast<std::size_t>(side),
                static_cast<std::size_t>(map.tileCols)},
            0x0080, &sums[static_cast<std::size_t>(band * map.width)]);
    }
    return sums;
}

template <class T, bool zeros = false>
void tiled(benchmark::State& state)
{
    timed(state, values<T>(state.range(0), zeros), [side = state.range(0)](const std::vector<T>& all) {
        if constexpr (std::is_same_v<T, std::uint16_t>) {
            benchmark::DoNotOptimize(tilesOfBfloat16(all.data(), side));
        } else {
            benchmark::DoNotOptimize(tensorfile::tileMatrix(std::span<const T>(all), side, side, false, 0x1p-126));
        }
    });
}

template <class T>
constexpr auto kernelFormat = scan::Format::fp32;
template <>
constexpr auto kernelFormat<double> = scan::Format::fp64;
template <>
constexpr auto kernelFormat<std::uint16_t> = scan::Format::bf16;

/// What the kernel of a GPU is held against.
template <class T>
void scannedByTwin(benchmark::State& state)
{
    timed(state, values<T>(state.range(0)), [side = state.range(0)](const std::vector<T>& all) {
        scan::Totals totals;
        scan::twin(scan::Job {all.data(), kernelFormat<T>, 1, {side, side, false}, &totals});
        benchmark::DoNotOptimize(totals);
    });
}

template <class T>
void tiledByTwin(benchmark::State& state)
{
    timed(state, values<T>(state.range(0)), [side = state.range(0)](const std::vector<T>& all) {
        const auto map = tensorfile::cutIntoTiles(side, side);
        std::vector<scan::Tile> tiles(static_cast<std::size_t>(map.height) * static_cast<std::size_t>(map.width));
        scan::twin(scan::TileJob {all.data(), kernelFormat<T>,
            {{side, side, false}, map.tileRows, map.tileCols, map.height, map.width}, tiles.data()});
        benchmark::DoNotOptimize(tiles);
    });
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

// The sides are those of matrices of fp32; others have as many elements.
void bothSizes(benchmark::internal::Benchmark* one)
{
    one->Unit(benchmark::kMillisecond)->Arg(inCache)->Arg(beyondCache);
}

BENCHMARK(memoryRead<float>)->Apply(bothSizes);
BENCHMARK(scanned<float>)->Apply(bothSizes);
BENCHMARK(scanned<float, true>)->Apply(bothSizes);
BENCHMARK(tiled<float>)->Apply(bothSizes);
BENCHMARK(tiled<float, true>)->Apply(bothSizes);
BENCHMARK(scannedByTwin<float>)->Apply(bothSizes);
BENCHMARK(tiledByTwin<float>)->Apply(bothSizes);
BENCHMARK(memoryRead<std::uint16_t>)->Apply(bothSizes);
BENCHMARK(scanned<std::uint16_t>)->Apply(bothSizes);
BENCHMARK(tiled<std::uint16_t>)->Apply(bothSizes);
BENCHMARK(scannedByTwin<std::uint16_t>)->Apply(bothSizes);
BENCHMARK(tiledByTwin<std::uint16_t>)->Apply(bothSizes);
BENCHMARK(memoryRead<double>)->Apply(bothSizes);
BENCHMARK(scanned<double>)->Apply(bothSizes);
BENCHMARK(tiled<double>)->Apply(bothSizes);
BENCHMARK(scannedByTwin<double>)->Apply(bothSizes);
BENCHMARK(tiledByTwin<double>)->Apply(bothSizes);
BENCHMARK(readOnly)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(readAndScanned)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace
} // namespace nanscope
