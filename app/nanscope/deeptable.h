// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/model/model.h"

namespace nanscope {

/// A table for each cell that has deep gauges, and a line for each that should have them; empty where nobody asked.
std::string deepTables(std::span<const Cell> cells);

} // namespace nanscope
