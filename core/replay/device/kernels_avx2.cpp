// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#define Eigen Eigen_avx2
#define NANSCOPE_GEMM_SET gemm_avx2
#define NANSCOPE_SYMMETRIC_SET symmetric_avx2
#include "core/replay/device/gemmkernel.inl"
#include "core/replay/device/symmetrickernel.inl"
