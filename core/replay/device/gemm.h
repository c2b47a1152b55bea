// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/job.h"
#include "core/replay/device/kernels.h"
#include "core/replay/device/share.h"

namespace nanscope::replay {

/// Those of the best instruction set that this CPU has.
const MatrixKernels& matrixKernels();

/// Uses the best instruction set of this CPU and up to `threads` threads; equal inputs give equal bits, however many.
/// Large ones are done block by block; once `cancel` is set no other block is begun and `out` holds nothing of use.
void gemm(const GemmShape<float>& shape, int threads, const CancelToken& cancel = {});
void gemm(const GemmShape<double>& shape, int threads, const CancelToken& cancel = {});

/// The same where the product is known to be symmetric, for half of the operations: a matrix times its own transpose,
/// or the square of a symmetric matrix. Rows lie close; `out` is symmetric bit for bit.
void gemmSymmetric(
    const GemmShape<float>& shape, int threads, const CancelToken& cancel = {}, const ShareDone& told = {});
void gemmSymmetric(
    const GemmShape<double>& shape, int threads, const CancelToken& cancel = {}, const ShareDone& told = {});

/// True if the matrix (size x size, row-major) equals its transpose; not where it holds a NaN.
bool isSymmetric(std::span<const float> matrix, std::int64_t size);
bool isSymmetric(std::span<const double> matrix, std::int64_t size);

/// "avx512", "avx2" or "baseline": what gemm() uses here.
std::string_view gemmInstructionSet();

} // namespace nanscope::replay
