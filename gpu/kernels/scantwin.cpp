// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "gpu/kernels/scan.cuh"

namespace nanscope::scan {

namespace {

template <class F>
struct PlainWords
{
    using Bits = typename F::Bits;
    using Word = typename Vector<F>::Word;

    static Vector<F> load(const Bits* from)
    {
        Vector<F> result;
        std::memcpy(&result, from, vectorBytes);
        return result;
    }

    static Word greater(Word a, Word b)
    {
        return eachElement(a, b, [](Bits x, Bits y) { return std::max(x, y); });
    }

    static Word lesser(Word a, Word b)
    {
        return eachElement(a, b, [](Bits x, Bits y) { return std::min(x, y); });
    }

private:
    template <class Choose>
    static Word eachElement(Word a, Word b, const Choose& choose)
    {
        Word result = 0;
        for (int i = 0; i < Vector<F>::elementsPerWord; ++i) {
            result |= static_cast<Word>(choose(Vector<F>::element(a, i), Vector<F>::element(b, i))) << (16 * i);
        }
        return result;
    }
};

// Into the first of `count` shares, a power of two.
void reduceTree(Totals* shares, int count)
{
    for (int offset = count / 2; offset > 0; offset /= 2) {
        for (int lane = 0; lane < offset; ++lane) {
            merge(shares[lane], shares[lane + offset]);
        }
    }
}

// Lane 0 of each warp ends with the warp's sum; then likewise the warps.
Totals reduceBlock(std::vector<Totals>& shares)
{
    std::vector<Totals> warps;
    for (int warp = 0; warp < threads; warp += warpSize) {
        reduceTree(&shares[warp], warpSize);
        warps.push_back(shares[warp]);
    }
    reduceTree(warps.data(), static_cast<int>(warps.size()));
    return warps.front();
}

template <class F>
Totals scanBlock(const typename F::Bits* data, const Layout& layout, std::int64_t block, std::int64_t blocks)
{
    std::vector<Totals> shares(threads);
    for (int thread = 0; thread < threads; ++thread) {
        shares[thread] = scanShare<F, PlainWords<F>>(data, layout, block, blocks, thread);
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
