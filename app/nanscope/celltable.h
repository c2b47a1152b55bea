// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/model/model.h"

namespace nanscope {

/// One line per cell: variant, precision, outcome and the first non-finite value.
std::string cellTable(std::span<const Cell> cells, bool nameCaptures);

} // namespace nanscope
