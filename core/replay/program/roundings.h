// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/replay/program/program.h"

namespace nanscope::replay {

/// The roundings a result is held against: what was written itself first, then the other lowering, a compiler's, the
/// norm in fp32, one ulp on the norm either way, one on the input, and the iteration taken on the other side.
std::vector<Rounding> envelopeOf(Lowering own);

/// "fused", "eager, norm +1 ulp".
std::string describe(const Rounding& rounding);

} // namespace nanscope::replay
