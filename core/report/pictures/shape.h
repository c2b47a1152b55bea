// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a picture consists of, in pixels, for whoever paints it without reading SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nanscope::report {

struct Spot
{
    double x = 0;
    double y = 0;
};

struct Box
{
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
};

/// Points joined by straight lines.
struct Outline
{
    std::vector<Spot> points;
    bool closed = false;
};

struct Shape
{
    enum class Kind {
        outline, ///< filled and stroked as its classes say
        text,
        paint, ///< a box filled with `words`, "#rrggbb"
        hatch, ///< a box hatched as its class says
    };
    Kind kind = Kind::outline;
    std::string classes;
    std::vector<Outline> outlines {};
    Box box {}; ///< of text only its place: the end of the baseline that its class names
    std::string words {};
};

/// The outlines of path data made of M, L, H, V and Z in either case, which is all that pictures here use.
std::vector<Outline> outlinesOf(std::string_view pathData);

Outline outlineOf(const Box& box);
Outline outlineOfCircle(Spot centre, double radius);

} // namespace nanscope::report
