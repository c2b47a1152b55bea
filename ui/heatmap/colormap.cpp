// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/colormap.h"

#include <algorithm>
#include <cmath>

#include "core/report/pictures/svgtiles.h"

namespace nanscope {

ColorMap::ColorMap()
{
    for (std::size_t i = 0; i < m_table.size(); ++i) {
        const double place = static_cast<double>(i) / static_cast<double>(m_table.size() - 1);
        m_table[i] = QColor(QString::fromStdString(report::magnitudeColour(place))).rgb();
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
