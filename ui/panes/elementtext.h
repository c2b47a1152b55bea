// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <QString>

#include "ui/plots/matrixpicture.h"

namespace nanscope {

/// "[33, 70] = 0.25", with the class where it is not an ordinary number; of a matrix too large to hold, what the tile
/// there contains.
QString elementText(const MatrixPicture& picture, std::int64_t row, std::int64_t col);

} // namespace nanscope
