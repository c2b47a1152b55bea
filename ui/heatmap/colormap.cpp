// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/colormap.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace nanscope {

namespace {

struct Linear
{
    double r = 0;
    double g = 0;
    double b = 0;
    bool displayable() const { return std::min({r, g, b}) >= 0 && std::max({r, g, b}) <= 1; }
};

// Matrices of Björn Ottosson's OKLab.
Linear fromOklch(double lightness, double chroma, double hueDegrees)
{
    const double hue = hueDegrees * std::numbers::pi / 180;
    const double a = chroma * std::cos(hue);
    const double b = chroma * std::sin(hue);
    const auto cube = [](double x) { return x * x * x; };
    const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
    const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
    const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

int toSrgb(double linear)
{
    const double x = std::clamp(linear, 0.0, 1.0);
    const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
    return static_cast<int>(std::lround(255 * encoded));
}

QRgb colorAt(double t)
{
    const double lightness = 0.27 + 0.66 * t;
    const double hue = 288 - 180 * t;
    double chroma = 0.135;
    Linear color = fromOklch(lightness, chroma, hue);
    while (!color.displayable() && chroma > 0) {
        chroma -= 0.002;
        color = fromOklch(lightness, chroma, hue);
    }
    return qRgb(toSrgb(color.r), toSrgb(color.g), toSrgb(color.b));
}

} // namespace

ColorMap::ColorMap()
{
    for (std::size_t i = 0; i < m_table.size(); ++i) {
        m_table[i] = colorAt(static_cast<double>(i) / static_cast<double>(m_table.size() - 1));
    }
}

QRgb ColorMap::at(double t) const
{
    const double last = static_cast<double>(m_table.size() - 1);
    return m_table[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0, 1.0) * last))];
}

const ColorMap& ColorMap::standard()
{
    static const ColorMap map;
    return map;
}

} // namespace nanscope
