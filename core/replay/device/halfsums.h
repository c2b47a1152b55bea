// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Products of fp16 matrices whose sums are kept in fp16: what cuBLAS computes as CUBLAS_COMPUTE_16F, which torch asks
// for where torch.backends.cuda.matmul.allow_fp16_accumulation is set.
//
// In which order a GPU adds, and how wide, is not specified: PTX leaves both open for its mma instructions, and what
// was measured (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ CS 7:e330, 2021)
// differs from one architecture to the next. What all have in common is modelled here: products are exact, one
// instruction adds a few of them to the accumulator with more bits than that has, and its result is a number of fp16.
// How many it takes is 16 for the matrix instructions of fp16 since Ampere.
#pragma once

#include <cstdint>

#include "core/base/job.h"
#include "core/replay/device/kernels.h"

namespace nanscope::replay {

/// So many products are added to a sum, in fp32 and by rising inner index, before it is rounded to fp16.
constexpr std::int64_t productsPerHalfSum = 16;

/// shape.out = alpha * sums + beta * c, with alpha and beta rounded to fp16 and the result rounded once.
struct HalfSumProduct
{
    GemmShape<float> shape; ///< rows lie close; every element is a number of fp16
    double alpha = 1;
    double beta = 0;
    const float* c = nullptr; ///< as large as the result
};

/// Equal inputs give equal bits, on every CPU and with any number of threads. Takes a copy of `b`. Once `cancel` is set
/// the result holds nothing of use.
void multiplyInHalfSums(const HalfSumProduct& product, int threads, const CancelToken& cancel = {});

} // namespace nanscope::replay
