// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/model/model.h"

namespace nanscope {

/// Shape of the damage of one matrix, in words and numbers; bit patterns are not filled in.
DamagePattern describeDamage(std::span<const double> output, std::int64_t rows, std::int64_t cols);

} // namespace nanscope
