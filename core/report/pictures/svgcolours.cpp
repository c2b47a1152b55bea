// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svgcolours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace nanscope::report {

namespace {

using Rgb = std::array<double, 3>;

/// Linear sRGB of an OKLCh colour (Björn Ottosson's OKLab).
Rgb linearRgb(double lightness, double chroma, double hue)
{
    const auto a = chroma * std::cos(hue);
    const auto b = chroma * std::sin(hue);
    const auto l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const auto m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const auto s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool displayable(const Rgb& colour)
{
    return std::all_of(colour.begin(), colour.end(), [](double part) { return part >= 0 && part <= 1; });
}

int byteOf(double linear)
{
    const auto part = std::clamp(linear, 0.0, 1.0);
    const auto encoded = part <= 0.0031308 ? 12.92 * part : 1.055 * std::pow(part, 1 / 2.4) - 0.055;
    return static_cast<int>(std::lround(encoded * 255));
}

} // namespace

std::string magnitudeColour(double place)
{
    const auto t = std::clamp(place, 0.0, 1.0);
    const auto hue = (288 - 180 * t) * std::numbers::pi / 180;
    Rgb colour {};
    for (int percent = 100; percent >= 0; percent -= 2) {
        colour = linearRgb(0.27 + 0.66 * t, 0.135 * percent / 100, hue);
        if (displayable(colour)) {
            break;
        }
    }
    return fmt::format("#{:02x}{:02x}{:02x}", byteOf(colour[0]), byteOf(colour[1]), byteOf(colour[2]));
}

} // namespace nanscope::report
