// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/damage/damagetally.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Shape and words of what was tallied.
/// The batch element and the bits of its NaN are not filled in.
DamagePattern patternOf(const DamageTally& tally);

} // namespace nanscope::diagnose
