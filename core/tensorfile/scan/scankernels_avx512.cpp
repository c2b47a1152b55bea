// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#define NANSCOPE_KERNELS avx512Kernels
#include "core/tensorfile/scan/scankernels.inc"
