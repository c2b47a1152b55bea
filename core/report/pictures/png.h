// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Pictures as PNG files, which an issue shows where it shows no SVG that lies beside a text.
#pragma once

#include <string>

#include "core/report/pictures/canvas.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// The bytes of a PNG file: 8 bits a channel, no alpha.
std::string encodePng(const Canvas& canvas);

/// Twice as many pixels as the picture has, in its light colours, on white.
Canvas painted(const Svg& svg);

std::string pngOf(const Svg& svg);

} // namespace nanscope::report
