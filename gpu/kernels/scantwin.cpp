// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "gpu/kernels/scan.cuh"

namespace nanscope::scan {

namespace {

// Lane 0 of each warp ends with the warp's tree sum; then the warps follow one another.
Totals reduceBlock(std::vector<Totals>& shares)
{
    Totals result;
    for (int warp = 0; warp < threads; warp += warpSize) {
        for (int offset = warpSize / 2; offset > 0; offset /= 2) {
            for (int lane = 0; lane < offset; ++lane) {
                merge(shares[warp + lane], shares[warp + lane + offset]);
            }
        }
        merge(result, shares[warp]);
    }
    return result;
}

template <class F>
Totals scanBlock(const typename F::Bits* data, const Layout& layout, std::int64_t block, std::int64_t blocks)
{
    using Bits = typename F::Bits;
    const auto load = [](Bits* into, const Bits* from) { std::memcpy(into, from, vectorBytes); };
    std::vector<Totals> shares(threads);
    for (int thread = 0; thread < threads; ++thread) {
        shares[thread] = scanShare<F>(data, layout, block, blocks, thread, load);
    }
    return reduceBlock(shares);
}

Totals mergeBlocks(const std::vector<Totals>& blocks)
{
    std::vector<Totals> shares(threads);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        merge(shares[i % threads], blocks[i]);
    }
    return reduceBlock(shares);
}

template <class F>
void scanAll(const Job& job)
{
    using Bits = typename F::Bits;
    const std::int64_t elements = job.layout.rows * job.layout.cols;
    const std::int64_t blocks = blocksFor(elements, sizeof(Bits));
    for (std::int64_t matrix = 0; matrix < job.batch; ++matrix) {
        const auto* data = static_cast<const Bits*>(job.data) + matrix * elements;
        std::vector<Totals> partials;
        for (std::int64_t block = 0; block < blocks; ++block) {
            partials.push_back(scanBlock<F>(data, job.layout, block, blocks));
        }
        job.totals[matrix] = mergeBlocks(partials);
    }
}

} // namespace

void twin(const Job& job)
{
    switch (job.format) {
    case Format::fp64:
        return scanAll<Fp64>(job);
    case Format::fp32:
        return scanAll<Fp32>(job);
    case Format::bf16:
        return scanAll<Bf16>(job);
    case Format::fp16:
        return scanAll<Fp16>(job);
    }
}

} // namespace nanscope::scan
