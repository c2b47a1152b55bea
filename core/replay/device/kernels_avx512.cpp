// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#define Eigen Eigen_avx512
#define NANSCOPE_GEMM_SET gemm_avx512
#define NANSCOPE_SYMMETRIC_SET symmetric_avx512
#include "core/replay/device/gemmkernel.inl"
#include "core/replay/device/symmetrickernel.inl"
