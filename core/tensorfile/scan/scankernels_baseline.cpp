// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#define NANSCOPE_KERNELS baselineKernels
#include "core/tensorfile/scan/scankernels.inc"
