// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/scan.cuh"

#include <cuda_runtime_api.h>

namespace nanscope::scan {

namespace {

constexpr std::int64_t maxGridY = 65535;

// One counter per matrix, padded so that the partial results behind them stay aligned.
__host__ __device__ constexpr std::size_t counterBytes(std::int64_t batch)
{
    return (static_cast<std::size_t>(batch) * sizeof(unsigned) + 255) / 256 * 256;
}

constexpr unsigned allLanes = 0xffffffffU;

// Counts and places are sent only where a lane has any: they are half of the words, and mostly zero.
__device__ Totals shuffleDown(const Totals& totals, int offset, bool withCounts)
{
    Totals result;
    if (withCounts) {
        result.nan = __shfl_down_sync(allLanes, totals.nan, offset);
        result.posInf = __shfl_down_sync(allLanes, totals.posInf, offset);
        result.negInf = __shfl_down_sync(allLanes, totals.negInf, offset);
        result.zero = __shfl_down_sync(allLanes, totals.zero, offset);
        result.subnormal = __shfl_down_sync(allLanes, totals.subnormal, offset);
        result.first = __shfl_down_sync(allLanes, totals.first, offset);
        result.firstClass = __shfl_down_sync(allLanes, totals.firstClass, offset);
    }
    result.absmax = __shfl_down_sync(allLanes, totals.absmax, offset);
    result.minNonzero = __shfl_down_sync(allLanes, totals.minNonzero, offset);
    result.sumSquares = __shfl_down_sync(allLanes, totals.sumSquares, offset);
    result.trace = __shfl_down_sync(allLanes, totals.trace, offset);
    return result;
}

// Into lane 0, over the first `count` lanes, a power of two.
__device__ void reduceWarp(Totals& share, int count)
{
    const bool counted = (share.nan | share.posInf | share.negInf | share.zero | share.subnormal) != 0;
    const bool withCounts = __any_sync(allLanes, counted);
    for (int offset = count / 2; offset > 0; offset /= 2) {
        merge(share, shuffleDown(share, offset, withCounts));
    }
}

// The result is valid in thread 0. The order of the additions is that of reduceBlock() in the twin.
__device__ Totals reduceBlock(Totals share)
{
    constexpr int warpCount = threads / warpSize;
    __shared__ alignas(Totals) unsigned char memory[warpCount * sizeof(Totals)];
    auto* warps = reinterpret_cast<Totals*>(memory);
    reduceWarp(share, warpSize);
    if (threadIdx.x % warpSize == 0) {
        warps[threadIdx.x / warpSize] = share;
    }
    __syncthreads();
    Totals result;
    if (threadIdx.x < warpSize) {
        result = threadIdx.x < warpCount ? warps[threadIdx.x] : Totals();
        reduceWarp(result, warpCount);
    }
    __syncthreads();
    return result;
}

template <class F, bool aligned>
struct Words
{
    using Bits = typename F::Bits;
    using Word = typename Vector<F>::Word;

    __device__ static Vector<F> load(const Bits* from)
    {
        Vector<F> result;
        if constexpr (aligned) {
            const uint4 vector = __ldg(reinterpret_cast<const uint4*>(from));
            memcpy(&result, &vector, vectorBytes);
        } else {
            Bits elements[Vector<F>::length];
#pragma unroll
            for (int e = 0; e < Vector<F>::length; ++e) {
                elements[e] = __ldg(from + e);
            }
            memcpy(&result, elements, vectorBytes);
        }
        return result;
    }

    __device__ static Word greater(Word a, Word b)
    {
        if constexpr (Vector<F>::elementsPerWord == 2) {
            return __vmaxu2(a, b);
        } else {
            return a > b ? a : b;
        }
    }

    __device__ static Word lesser(Word a, Word b)
    {
        if constexpr (Vector<F>::elementsPerWord == 2) {
            return __vminu2(a, b);
        } else {
            return a < b ? a : b;
        }
    }
};

// True in every thread of the block that finishes last. atomicInc wraps the counter to zero for the next launch.
__device__ bool isLastBlock(unsigned* counter)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    return last;
}

// Past the first-level cache, which may hold an older neighbour of what another block has just written.
__device__ Totals loadPartial(const Totals* from)
{
    long long words[totalsWords];
#pragma unroll
    for (int i = 0; i < totalsWords; ++i) {
        words[i] = __ldcg(reinterpret_cast<const long long*>(from) + i);
    }
    Totals result;
    memcpy(&result, words, sizeof(Totals));
    return result;
}

template <class F>
__global__ void __launch_bounds__(threads, 4)
    scanKernel(const typename F::Bits* data, Layout layout, Totals* totals, unsigned* counters, Totals* partials)
{
    const std::int64_t matrix = blockIdx.y;
    data += matrix * layout.rows * layout.cols;
    partials += matrix * gridDim.x;
    const auto thread = static_cast<int>(threadIdx.x);
    const Totals share = reinterpret_cast<std::uintptr_t>(data) % vectorBytes == 0
        ? scanShare<F, Words<F, true>>(data, layout, blockIdx.x, gridDim.x, thread)
        : scanShare<F, Words<F, false>>(data, layout, blockIdx.x, gridDim.x, thread);
    const Totals block = reduceBlock(share);
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = block;
    }
    if (!isLastBlock(counters + matrix)) {
        return;
    }
    __threadfence();
    Totals sum;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += threads) {
        merge(sum, loadPartial(partials + i));
    }
    const Totals all = reduceBlock(sum);
    if (threadIdx.x == 0) {
        totals[matrix] = all;
    }
}

template <class F>
const char* launchAll(const Job& job, void* workspace, cudaStream_t stream)
{
    using Bits = typename F::Bits;
    const std::int64_t elements = job.layout.rows * job.layout.cols;
    const std::int64_t blocks = blocksFor(elements, sizeof(Bits));
    auto* counters = static_cast<unsigned*>(workspace);
    auto* partials = reinterpret_cast<Totals*>(static_cast<unsigned char*>(workspace) + counterBytes(job.batch));
    for (std::int64_t start = 0; start < job.batch; start += maxGridY) {
        const std::int64_t count = job.batch - start < maxGridY ? job.batch - start : maxGridY;
        const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(count));
        scanKernel<F><<<grid, threads, 0, stream>>>(static_cast<const Bits*>(job.data) + start * elements, job.layout,
            job.totals + start, counters + start, partials + start * blocks);
    }
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

} // namespace

std::size_t workspaceBytes(std::int64_t elements, std::int64_t elementSize, std::int64_t batch)
{
    const std::int64_t partials = blocksFor(elements, elementSize) * batch;
    return counterBytes(batch) + static_cast<std::size_t>(partials) * sizeof(Totals);
}

const char* launch(const Job& job, void* workspace, void* stream)
{
    auto* cudaStream = static_cast<cudaStream_t>(stream);
    switch (job.format) {
    case Format::fp64:
        return launchAll<Fp64>(job, workspace, cudaStream);
    case Format::fp32:
        return launchAll<Fp32>(job, workspace, cudaStream);
    case Format::bf16:
        return launchAll<Bf16>(job, workspace, cudaStream);
    case Format::fp16:
        return launchAll<Fp16>(job, workspace, cudaStream);
    }
    return "unknown format";
}

} // namespace nanscope::scan
