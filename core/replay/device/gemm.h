// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/job.h"

namespace nanscope::replay {

/// The sets that the arithmetic on matrices is compiled for (kernels_*.cpp).
enum class InstructionSet { baseline, avx2, avx512 };

/// The best of them that this CPU has.
InstructionSet instructionSet();

/// out = op(a) op(b), all row-major; op(a) is rows x inner, op(b) inner x cols. A transposed operand lies in memory as
/// inner x rows (cols x inner). `out` overlaps no operand. Uses the best instruction set of this CPU and up to
/// `threads` threads; equal inputs give equal bits, however many.
template <class T>
struct GemmShape
{
    const T* a = nullptr;
    const T* b = nullptr;
    T* out = nullptr;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t inner = 0;
    bool transposeA = false;
    bool transposeB = false;
    std::int64_t strideA = 0; ///< from one row in memory to the next; 0: they lie close
    std::int64_t strideB = 0;
    std::int64_t strideOut = 0;
};

/// Large ones are done block by block; once `cancel` is set no other block is begun and `out` holds nothing of use.
void gemm(const GemmShape<float>& shape, int threads, const CancelToken& cancel = {});
void gemm(const GemmShape<double>& shape, int threads, const CancelToken& cancel = {});

/// The same where the product is known to be symmetric, for half of the operations: a matrix times its own transpose,
/// or the square of a symmetric matrix. Rows lie close; `out` is symmetric bit for bit.
void gemmSymmetric(const GemmShape<float>& shape, int threads, const CancelToken& cancel = {});
void gemmSymmetric(const GemmShape<double>& shape, int threads, const CancelToken& cancel = {});

/// True if the matrix (size x size, row-major) equals its transpose; not where it holds a NaN.
bool isSymmetric(std::span<const float> matrix, std::int64_t size);
bool isSymmetric(std::span<const double> matrix, std::int64_t size);

/// "avx512", "avx2" or "baseline": what gemm() uses here.
std::string_view gemmInstructionSet();

} // namespace nanscope::replay
