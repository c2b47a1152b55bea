// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/tiles.cuh"

#include <cuda_runtime_api.h>

namespace nanscope::scan {

namespace {

constexpr int tilesPerBlock = threads / warpSize;

__device__ Tile shuffleDown(const Tile& tile, int offset)
{
    constexpr unsigned all = 0xffffffffU;
    Tile result;
    result.low = __shfl_down_sync(all, tile.low, offset);
    result.high = __shfl_down_sync(all, tile.high, offset);
    result.largest = __shfl_down_sync(all, tile.largest, offset);
    result.classes = __shfl_down_sync(all, tile.classes, offset);
    return result;
}

// A warp for each tile.
template <class F>
__global__ void __launch_bounds__(threads) tileKernel(const typename F::Bits* data, TileGrid grid, Tile* tiles)
{
    const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * tilesPerBlock + threadIdx.x / warpSize;
    if (number >= grid.height * grid.width) {
        return;
    }
    const int lane = static_cast<int>(threadIdx.x % warpSize);
    Tile tile = tileShare<F>(data, grid, number, lane, warpSize);
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        merge(tile, shuffleDown(tile, offset));
    }
    if (lane == 0) {
        tiles[number] = tile;
    }
}

template <class F>
const char* launchAs(const TileJob& job, cudaStream_t stream)
{
    const std::int64_t tiles = job.grid.height * job.grid.width;
    const auto blocks = static_cast<unsigned>((tiles + tilesPerBlock - 1) / tilesPerBlock);
    tileKernel<F><<<blocks, threads, 0, stream>>>(static_cast<const typename F::Bits*>(job.data), job.grid, job.tiles);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

} // namespace

const char* launch(const TileJob& job, void* stream)
{
    auto* cudaStream = static_cast<cudaStream_t>(stream);
    if (job.grid.height * job.grid.width == 0) {
        return nullptr;
    }
    switch (job.format) {
    case Format::fp64:
        return launchAs<Fp64>(job, cudaStream);
    case Format::fp32:
        return launchAs<Fp32>(job, cudaStream);
    case Format::bf16:
        return launchAs<Bf16>(job, cudaStream);
    case Format::fp16:
        return launchAs<Fp16>(job, cudaStream);
    }
    return "unknown format";
}

} // namespace nanscope::scan
