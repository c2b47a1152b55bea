// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

struct MatricesToJudge
{
    std::vector<std::int64_t> chosen; ///< at most 4, in the order of the call
    std::size_t candidates = 0; ///< of which these were chosen
};

/// Which matrices of a call are replayed: of a healthy one any, else damaged ones that came in finite and lost nothing
/// to a bad one beside them. Two whose counts are strange and one of each shape of damage come first, then one of each
/// size, the largest first, whose numbers leave a format before the others do. `patterns` as of damagePatterns().
MatricesToJudge matricesToJudge(Role role, const std::vector<DamagePattern>& patterns, const Capture& capture);

} // namespace nanscope::diagnose
