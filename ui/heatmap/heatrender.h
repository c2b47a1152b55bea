// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QColor>
#include <QImage>
#include <QPointF>
#include <QSizeF>

#include "ui/heatmap/matrixpicture.h"

namespace nanscope {

struct Theme;

/// The map of a report's pictures as a table, so that a pixel costs no more than a look.
class ColorMap
{
public:
    ColorMap();

    /// `t` in [0, 1]; values outside are clamped.
    QRgb at(double t) const;

    static const ColorMap& standard();

private:
    std::array<QRgb, 256> m_table {};
};

/// Where element (0, 0) begins and how many pixels an element takes, in device pixels.
struct HeatGeometry
{
    QPointF origin;
    QSizeF element;
    bool operator==(const HeatGeometry&) const = default;
};

/// How many elements a pixel shows the largest of, about: one where each has a pixel of its own.
struct PixelCover
{
    std::int64_t rows = 1;
    std::int64_t cols = 1;

    bool several() const { return rows > 1 || cols > 1; }
    bool operator==(const PixelCover&) const = default;
};

/// Of the elements themselves where `exact`, else as renderHeat() draws it, by its tiles or its elements.
PixelCover pixelCover(const MatrixPicture& picture, const HeatGeometry& geometry, bool exact = false);

/// Draws the part of a matrix that falls on an image. A pixel that covers several elements shows the largest
/// magnitude, and any NaN or infinity among them before that: nothing non-finite is lost by being small.
/// Non-finite areas are hatched, each class in its own direction.
QImage renderHeat(
    const MatrixPicture& picture, const HeatGeometry& geometry, const LogScale& scale, QSize size, const Theme& theme);

/// Colour of one class outside the map; `map` colours are for everything else.
QColor classColor(ValueClass value, const Theme& theme);

/// True where the hatching of a class covers the pixel.
bool hatched(ValueClass value, int x, int y);
QColor hatchColor(ValueClass value, const Theme& theme);

} // namespace nanscope
