// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/job.h"

namespace nanscope::replay {

/// out = op(a) op(b), all row-major; op(a) is rows x inner, op(b) inner x cols. A transposed operand lies in memory as
/// inner x rows (cols x inner). `out` overlaps no operand. Uses the best instruction set of this CPU and up to
/// `threads` threads; equal inputs and threads give equal bits.
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
};

/// Large ones are done block by block; once `cancel` is set no other block is begun and `out` holds nothing of use.
void gemm(const GemmShape<float>& shape, int threads, const CancelToken& cancel = {});
void gemm(const GemmShape<double>& shape, int threads, const CancelToken& cancel = {});

/// "avx512", "avx2" or "baseline": what gemm() uses here.
std::string_view gemmInstructionSet();

} // namespace nanscope::replay
