// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Before a function with a loop over numbers: it is compiled for wider vectors, too, and the processor at hand decides
/// which of them runs.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define NANSCOPE_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define NANSCOPE_VECTOR_CLONES
#endif
