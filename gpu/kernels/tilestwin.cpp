// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/tiles.cuh"

namespace nanscope::scan {

namespace {

template <class F>
void tileAll(const TileJob& job)
{
    const auto* data = static_cast<const typename F::Bits*>(job.data);
    for (std::int64_t number = 0; number < job.grid.height * job.grid.width; ++number) {
        Tile tile;
        for (int lane = 0; lane < warpSize; ++lane) {
            merge(tile, tileShare<F>(data, job.grid, number, lane, warpSize));
        }
        job.tiles[number] = tile;
    }
}

} // namespace

void twin(const TileJob& job)
{
    switch (job.format) {
    case Format::fp64:
        return tileAll<Fp64>(job);
    case Format::fp32:
        return tileAll<Fp32>(job);
    case Format::bf16:
        return tileAll<Bf16>(job);
    case Format::fp16:
        return tileAll<Fp16>(job);
    }
}

} // namespace nanscope::scan
