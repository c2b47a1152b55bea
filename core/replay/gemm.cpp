// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/gemm.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "core/replay/instructionset.h"

namespace nanscope {

#define NANSCOPE_DECLARE_GEMM(set)                                                                                     \
    namespace set {                                                                                                    \
    void block(const GemmShape<float>& shape, std::int64_t begin, std::int64_t end);                                   \
    void block(const GemmShape<double>& shape, std::int64_t begin, std::int64_t end);                                  \
    }
NANSCOPE_DECLARE_GEMM(gemm_baseline)
#ifdef NANSCOPE_X86_GEMM
NANSCOPE_DECLARE_GEMM(gemm_avx2)
NANSCOPE_DECLARE_GEMM(gemm_avx512)
#endif
#undef NANSCOPE_DECLARE_GEMM

namespace {

template <class T>
void block(const GemmShape<T>& shape, std::int64_t begin, std::int64_t end)
{
    switch (instructionSet()) {
#ifdef NANSCOPE_X86_GEMM
    case InstructionSet::avx512:
        return gemm_avx512::block(shape, begin, end);
    case InstructionSet::avx2:
        return gemm_avx2::block(shape, begin, end);
#endif
    default:
        return gemm_baseline::block(shape, begin, end);
    }
}

/// Blocks of rows that take a fraction of a second each, and enough rows to be worth packing the other operand for.
template <class T>
std::int64_t blockCount(const GemmShape<T>& shape, std::int64_t rows)
{
    constexpr double operations = 4e9;
    constexpr std::int64_t fewestRows = 256;
    const double all =
        2.0 * static_cast<double>(rows) * static_cast<double>(shape.cols) * static_cast<double>(shape.inner);
    const double most = static_cast<double>(std::max<std::int64_t>(1, rows / fewestRows));
    return static_cast<std::int64_t>(std::clamp(all / operations, 1.0, most));
}

template <class T>
void blocks(const GemmShape<T>& shape, std::int64_t begin, std::int64_t end, const CancelToken& cancel)
{
    const auto count = blockCount(shape, end - begin);
    const auto limit = [&](std::int64_t i) { return begin + (end - begin) * i / count; };
    for (std::int64_t i = 0; i < count && !cancel.cancelled(); ++i) {
        block(shape, limit(i), limit(i + 1));
    }
}

template <class T>
void run(const GemmShape<T>& shape, int threads, const CancelToken& cancel)
{
    // Below about 10 MFLOP a thread's start costs more than it saves.
    constexpr double worthThreads = 1e7;
    const double flops =
        2.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.cols) * static_cast<double>(shape.inner);
    const auto parts = flops < worthThreads ? 1 : std::min<std::int64_t>(threads, shape.rows);
    const auto limit = [&](std::int64_t part) { return shape.rows * part / parts; };
    std::vector<std::jthread> helpers;
    for (std::int64_t part = 1; part < parts; ++part) {
        helpers.emplace_back(
            [&shape, &cancel, begin = limit(part), end = limit(part + 1)] { blocks(shape, begin, end, cancel); });
    }
    blocks(shape, 0, limit(1), cancel);
}

} // namespace

void gemm(const GemmShape<float>& shape, int threads, const CancelToken& cancel)
{
    run(shape, threads, cancel);
}

void gemm(const GemmShape<double>& shape, int threads, const CancelToken& cancel)
{
    run(shape, threads, cancel);
}

std::string_view gemmInstructionSet()
{
    switch (instructionSet()) {
    case InstructionSet::avx512:
        return "avx512";
    case InstructionSet::avx2:
        return "avx2";
    case InstructionSet::baseline:
        break;
    }
    return "baseline";
}

} // namespace nanscope
