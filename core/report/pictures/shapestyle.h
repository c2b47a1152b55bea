// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What figures.css says of a shape, in its light colours: a picture in an issue lies on a page of its own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nanscope::report {

using Rgb8 = std::array<std::uint8_t, 3>;

/// Of "#rgb" and "#rrggbb".
std::optional<Rgb8> colourOf(std::string_view text);

enum class Anchor { start, middle, end };

struct ShapeStyle
{
    std::optional<Rgb8> fill;
    std::optional<Rgb8> stroke;
    double strokeWidth = 1;
    std::vector<double> dashes {};
    bool round = false; ///< ends and joins
    bool bold = false;
    Anchor anchor = Anchor::start;
};

/// `element` is "text" or another name; classes are between blanks, as in SVG.
ShapeStyle styleOf(std::string_view element, std::string_view classes);

} // namespace nanscope::report
