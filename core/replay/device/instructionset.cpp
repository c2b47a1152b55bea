// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/device/instructionset.h"

namespace nanscope::replay {

namespace {

InstructionSet detect()
{
#ifdef NANSCOPE_X86_GEMM
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        return InstructionSet::avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return InstructionSet::avx2;
    }
#endif
    return InstructionSet::baseline;
}

} // namespace

InstructionSet instructionSet()
{
    static const InstructionSet set = detect();
    return set;
}

} // namespace nanscope::replay
