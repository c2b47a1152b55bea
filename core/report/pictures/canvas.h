// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/report/pictures/shape.h"
#include "core/report/pictures/shapestyle.h"

namespace nanscope::report {

/// An image in RGB, white at first. Coordinates are in its pixels; edges are smooth.
class Canvas
{
public:
    Canvas(int width, int height);

    int width() const { return m_width; }
    int height() const { return m_height; }
    /// Row by row, three bytes a pixel.
    const std::vector<std::uint8_t>& bytes() const { return m_bytes; }
    Rgb8 at(int x, int y) const;

    /// What several outlines cover together, wherever they run.
    void fill(std::span<const Outline> outlines, Rgb8 colour);
    void stroke(std::span<const Outline> outlines, const ShapeStyle& style);
    /// Whole pixels.
    void fillBox(const Box& box, Rgb8 colour);
    void blend(int x, int y, Rgb8 colour, double share);

private:
    int m_width;
    int m_height;
    std::vector<std::uint8_t> m_bytes;
};

} // namespace nanscope::report
