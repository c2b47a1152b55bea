// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>

#include "core/tensorfile/scan/scankernels.h"

namespace nanscope::tensorfile {

namespace {

const ScanKernels& choose()
{
#if defined(NANSCOPE_X86_KERNELS)
    const char* asked = std::getenv("NANSCOPE_ISA");
    const std::string_view limit = asked == nullptr ? "" : asked;
    if (limit == "baseline") {
        return baselineKernels;
    }
    if (limit != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
        return avx512Kernels;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return avx2Kernels;
    }
#endif
    return baselineKernels;
}

} // namespace

const ScanKernels& scanKernels()
{
    static const ScanKernels& kernels = choose();
    return kernels;
}

} // namespace nanscope::tensorfile
