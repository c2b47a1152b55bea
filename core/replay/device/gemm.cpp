// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/device/gemm.h"

#include <algorithm>
#include <vector>

#include "core/replay/device/ranges.h"

namespace nanscope::replay {

namespace {

const MatrixKernels& detect()
{
#ifdef NANSCOPE_X86_GEMM
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        return avx512MatrixKernels;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return avx2MatrixKernels;
    }
#endif
    return baselineMatrixKernels;
}

void multiply(const GemmShape<float>& part)
{
    matrixKernels().multiplySingle(part);
}

void multiply(const GemmShape<double>& part)
{
    matrixKernels().multiplyDouble(part);
}

template <class T>
GemmShape<T> partOf(const GemmShape<T>& whole, const Range& rows, const Range& cols)
{
    const auto given = [](std::int64_t stride, std::int64_t close) { return stride > 0 ? stride : close; };
    auto part = whole;
    part.rows = rows.end - rows.begin;
    part.cols = cols.end - cols.begin;
    part.strideA = given(whole.strideA, whole.transposeA ? whole.rows : whole.inner);
    part.strideB = given(whole.strideB, whole.transposeB ? whole.inner : whole.cols);
    part.strideOut = given(whole.strideOut, whole.cols);
    part.a += whole.transposeA ? rows.begin : rows.begin * part.strideA;
    part.b += whole.transposeB ? cols.begin * part.strideB : cols.begin;
    part.out += rows.begin * part.strideOut + cols.begin;
    return part;
}

/// Cuts are a whole number of the registers that a kernel fills, of every instruction set: no sum depends on them.
constexpr std::int64_t registers = 48;

/// How much of a product's longer side is done at a time: a fraction of a second's work, the same for every thread, and
/// enough to be worth packing the other operand for.
std::int64_t stepOf(std::int64_t longer, std::int64_t shorter, std::int64_t inner, std::int64_t threads)
{
    constexpr double operations = 3e10;
    constexpr double narrowest = 256;
    constexpr double widest = 768;
    const double each = 2.0 * static_cast<double>(shorter) * static_cast<double>(inner);
    const auto most = static_cast<std::int64_t>(std::clamp(operations / each, narrowest, widest));
    const auto pieces = threads * std::max<std::int64_t>(1, longer / (threads * most));
    const auto step = (longer + pieces - 1) / pieces;
    return (step + registers - 1) / registers * registers;
}

template <class T>
void run(const GemmShape<T>& shape, int threads, const CancelToken& cancel)
{
    // Below about 10 MFLOP a thread's start costs more than it saves.
    constexpr double worthThreads = 1e7;
    const double flops =
        2.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.cols) * static_cast<double>(shape.inner);
    const int used = flops < worthThreads ? 1 : threads;
    const bool wide = shape.cols >= shape.rows;
    const auto longer = std::max(shape.rows, shape.cols);
    const auto step = stepOf(longer, std::min(shape.rows, shape.cols), shape.inner, used);
    forRanges(longer, step, used, cancel, [&](const Range& range) {
        multiply(wide ? partOf(shape, {0, shape.rows}, range) : partOf(shape, range, {0, shape.cols}));
    });
}

/// A cache line of floats. Rows of a matrix whose size is a power of two lie in the same few lines of a cache, so that
/// each line is read and written once, as a whole.
constexpr std::int64_t tileSize = 16;

/// A tile of a square matrix that lies on its diagonal or above, with its columns in a row each.
template <class T>
struct TransposedTile
{
    TransposedTile(const T* matrix, std::int64_t size, std::int64_t top, std::int64_t left)
        : rows(std::min(tileSize, size - top))
        , cols(std::min(tileSize, size - left))
        , onDiagonal(top == left)
    {
        for (std::int64_t r = 0; r < rows; ++r) {
            const auto* row = matrix + (top + r) * size + left;
            for (std::int64_t c = 0; c < cols; ++c) {
                values[c][r] = row[c];
            }
        }
    }

    /// How many values of that column lie above the diagonal.
    std::int64_t countAbove(std::int64_t col) const { return onDiagonal ? col : rows; }

    std::int64_t rows;
    std::int64_t cols;
    bool onDiagonal;
    T values[tileSize][tileSize];
};

/// Calls `each` with every tile on or above the diagonal whose first row lies in `range`, and with the place of its
/// mirror image; until it returns false.
template <class T, class Each>
bool forTiles(const T* matrix, std::int64_t size, const Range& range, const Each& each)
{
    for (auto top = range.begin; top < range.end; top += tileSize) {
        for (auto left = top; left < size; left += tileSize) {
            if (!each(TransposedTile<T>(matrix, size, top, left), left * size + top)) {
                return false;
            }
        }
    }
    return true;
}

constexpr std::int64_t rowsOfStrip = 256;

struct Part
{
    Range rows;
    Range cols;
};

/// What lies on the diagonal of a square product or right of it, in strips; those of long sums are cut once more, so
/// that none takes longer than a fraction of a second.
std::vector<Part> upperParts(std::int64_t size, std::int64_t inner)
{
    constexpr double operations = 1e10;
    const auto most = static_cast<std::int64_t>(operations / (2.0 * rowsOfStrip * static_cast<double>(inner)));
    const auto step = (std::max<std::int64_t>(most, rowsOfStrip) + registers - 1) / registers * registers;
    std::vector<Part> parts;
    for (std::int64_t top = 0; top < size; top += rowsOfStrip) {
        for (auto left = top; left < size; left += step) {
            parts.push_back({{top, std::min(top + rowsOfStrip, size)}, {left, std::min(left + step, size)}});
        }
    }
    return parts;
}

template <class T>
void runSymmetric(const GemmShape<T>& shape, int threads, const CancelToken& cancel, const ShareDone& told)
{
    const auto size = shape.rows;
    const auto parts = upperParts(size, shape.inner);
    const auto multiplyOne = [&](const Range& one) {
        const auto& part = parts[static_cast<std::size_t>(one.begin)];
        multiply(partOf(shape, part.rows, part.cols));
    };
    forRanges(static_cast<std::int64_t>(parts.size()), 1, threads, cancel, multiplyOne, told);
    forRanges(size, rowsOfStrip, threads, cancel, [&](const Range& range) {
        forTiles(shape.out, size, range, [&](const TransposedTile<T>& tile, std::int64_t mirror) {
            for (std::int64_t c = 0; c < tile.cols; ++c) {
                std::copy_n(tile.values[c], tile.countAbove(c), shape.out + mirror + c * size);
            }
            return true;
        });
    });
}

template <class T>
bool symmetric(std::span<const T> matrix, std::int64_t size)
{
    return forTiles(matrix.data(), size, {0, size}, [&](const TransposedTile<T>& tile, std::int64_t mirror) {
        for (std::int64_t c = 0; c < tile.cols; ++c) {
            if (!std::equal(tile.values[c], tile.values[c] + tile.countAbove(c), matrix.data() + mirror + c * size)) {
                return false;
            }
        }
        return true;
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

void gemmSymmetric(const GemmShape<float>& shape, int threads, const CancelToken& cancel, const ShareDone& told)
{
    runSymmetric(shape, threads, cancel, told);
}

void gemmSymmetric(const GemmShape<double>& shape, int threads, const CancelToken& cancel, const ShareDone& told)
{
    runSymmetric(shape, threads, cancel, told);
}

bool isSymmetric(std::span<const float> matrix, std::int64_t size)
{
    return symmetric(matrix, size);
}

bool isSymmetric(std::span<const double> matrix, std::int64_t size)
{
    return symmetric(matrix, size);
}

const MatrixKernels& matrixKernels()
{
    static const MatrixKernels& best = detect();
    return best;
}

std::string_view gemmInstructionSet()
{
    return matrixKernels().name;
}

} // namespace nanscope::replay
