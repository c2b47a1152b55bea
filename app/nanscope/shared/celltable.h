// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/instruments/functioncell.h"
#include "core/model/model.h"

namespace nanscope {

/// One line per cell: variant, precision, outcome and the first non-finite value; then one per call of a
/// function.
std::string cellTable(
    std::span<const Cell> cells, bool nameCaptures, std::span<const instruments::FunctionCell> functions = {});

} // namespace nanscope
