// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/device/gemm.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/replay/device/instructionset.h"

namespace nanscope::replay {

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

/// The part of a product from row and column `begin` on, of so many rows.
template <class T>
GemmShape<T> upperRows(const GemmShape<T>& whole, std::int64_t begin, std::int64_t rows)
{
    auto part = whole;
    part.rows = rows;
    part.cols = whole.cols - begin;
    part.strideA = whole.transposeA ? whole.rows : whole.inner;
    part.strideB = whole.transposeB ? whole.inner : whole.cols;
    part.strideOut = whole.cols;
    part.a += whole.transposeA ? begin : begin * part.strideA;
    part.b += whole.transposeB ? begin * part.strideB : begin;
    part.out += begin * part.strideOut + begin;
    return part;
}

constexpr std::int64_t mirrored = 64;

/// Calls `each` with the index of every element above the diagonal and with that of its mirror image, tile by tile,
/// because one of the two jumps from row to row; until it returns false.
template <class Each>
bool forMirrored(std::int64_t size, const Each& each)
{
    for (std::int64_t top = 0; top < size; top += mirrored) {
        for (auto left = top; left < size; left += mirrored) {
            for (auto r = top; r < std::min(top + mirrored, size); ++r) {
                for (auto c = std::max(left, r + 1); c < std::min(left + mirrored, size); ++c) {
                    if (!each(r * size + c, c * size + r)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

template <class T>
void runSymmetric(const GemmShape<T>& shape, int threads, const CancelToken& cancel)
{
    constexpr std::int64_t rows = 256;
    std::atomic<std::int64_t> next = 0;
    const auto work = [&] {
        for (auto begin = next.fetch_add(rows); begin < shape.rows && !cancel.cancelled();
             begin = next.fetch_add(rows)) {
            const auto part = upperRows(shape, begin, std::min(rows, shape.rows - begin));
            block(part, 0, part.rows);
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (std::int64_t helper = 1; helper < std::min<std::int64_t>(threads, (shape.rows + rows - 1) / rows);
             ++helper) {
            helpers.emplace_back(work);
        }
        work();
    }
    forMirrored(shape.rows, [&](std::int64_t above, std::int64_t below) {
        shape.out[below] = shape.out[above];
        return true;
    });
}

template <class T>
bool symmetric(std::span<const T> matrix, std::int64_t size)
{
    return forMirrored(size, [&](std::int64_t above, std::int64_t below) {
        return matrix[static_cast<std::size_t>(above)] == matrix[static_cast<std::size_t>(below)];
    });
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

void gemmSymmetric(const GemmShape<float>& shape, int threads, const CancelToken& cancel)
{
    runSymmetric(shape, threads, cancel);
}

void gemmSymmetric(const GemmShape<double>& shape, int threads, const CancelToken& cancel)
{
    runSymmetric(shape, threads, cancel);
}

bool isSymmetric(std::span<const float> matrix, std::int64_t size)
{
    return symmetric(matrix, size);
}

bool isSymmetric(std::span<const double> matrix, std::int64_t size)
{
    return symmetric(matrix, size);
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

} // namespace nanscope::replay
