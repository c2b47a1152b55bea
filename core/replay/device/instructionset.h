// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nanscope::replay {

/// The sets that the arithmetic on matrices is compiled for (gemm_*.cpp, symmetric_*.cpp).
enum class InstructionSet { baseline, avx2, avx512 };

/// The best of them that this CPU has.
InstructionSet instructionSet();

} // namespace nanscope::replay
