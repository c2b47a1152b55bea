// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#define Eigen Eigen_baseline
#define NANSCOPE_GEMM_SET gemm_baseline
#include "core/replay/device/gemmkernel.inl"
