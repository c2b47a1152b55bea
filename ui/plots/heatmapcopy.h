// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace nanscope {

class HeatMap;

/// Elements as TSV, exact, in the matrix's own coordinates: those in sight where they are at most 4,096, else the one
/// under the cursor. Headings only where a matrix is too large to be held.
QString visibleValues(const HeatMap& map);

/// All that is in sight: up to 65,536 elements, else the tiles that are painted in their place.
QString visibleSheet(const HeatMap& map);

} // namespace nanscope
