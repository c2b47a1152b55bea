// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#define Eigen Eigen_baseline
#define NANSCOPE_GEMM_SET gemm_baseline
#define NANSCOPE_SYMMETRIC_SET symmetric_baseline
#include "core/replay/device/gemmkernel.inl"
#include "core/replay/device/symmetrickernel.inl"
