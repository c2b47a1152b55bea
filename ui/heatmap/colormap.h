// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QColor>

namespace nanscope {

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

/// Scale of log10|x| a heat map is drawn with.
struct LogScale
{
    double low = -1;
    double high = 0;

    double position(double log10Magnitude) const { return (log10Magnitude - low) / (high - low); }
    bool operator==(const LogScale&) const = default;
};

} // namespace nanscope
