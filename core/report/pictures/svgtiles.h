// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/model/model.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// A tile map on the scale of log10|x|. NaN, the infinities and zero stand outside the scale: hatched, in their own
/// colours, and named in lanes above the columns that hold them. `damage` is framed where it has an extent. Empty
/// where the map contradicts itself.
Svg tilePicture(const TileMap& map, const DamagePattern* damage);

/// Elements one cell of that picture stands for, rows x columns.
MatrixShape tilePictureCell(const TileMap& map);

} // namespace nanscope::report
