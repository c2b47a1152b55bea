// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/model/scan.h"

namespace nanscope::report {

/// A tile map as at most `height` lines of at most `width` marks: ╳ NaN, ▲ +Inf, ▼ -Inf, · zero, ░▒▓█ magnitude
/// on a logarithmic scale. A mark shows the worst of what it covers.
std::vector<std::string> tileText(const TileMap& map, int width, int height);

} // namespace nanscope::report
