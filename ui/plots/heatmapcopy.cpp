// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmapcopy.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/heatmap.h"
#include "ui/text.h"

namespace nanscope {

namespace {

constexpr std::int64_t mostElements = 4096;

struct Span
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Elements of one axis that lie in the widget at least in part.
Span inSight(double origin, double element, int room, std::int64_t count)
{
    const auto at = [&](double position) {
        return static_cast<std::int64_t>(std::floor((position - origin) / element));
    };
    return {std::clamp<std::int64_t>(at(0), 0, count), std::clamp<std::int64_t>(at(room - 1.0) + 1, 0, count)};
}

QString line(const MatrixPicture& picture, std::int64_t row, std::int64_t col)
{
    const auto value = picture.elementAt(row, col);
    return value ? QStringLiteral("%1\t%2\t%3\n").arg(row).arg(col).arg(exactNumber(*value)) : QString();
}

} // namespace

QString visibleValues(const HeatMap& map)
{
    QString text = QStringLiteral("row\tcol\tvalue\n");
    const MatrixPicture* picture = map.picture();
    const QRectF first = map.elementRect(0, 0);
    if (!picture || first.isEmpty()) {
        return text;
    }
    const Span rows = inSight(first.top(), first.height(), map.height(), picture->tiles.rows);
    const Span cols = inSight(first.left(), first.width(), map.width(), picture->tiles.cols);
    if ((rows.end - rows.begin) * (cols.end - cols.begin) > mostElements) {
        const auto cursor = map.cursorElement();
        return cursor ? text + line(*picture, cursor->row, cursor->col) : text;
    }
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        for (std::int64_t col = cols.begin; col < cols.end; ++col) {
            text += line(*picture, row, col);
        }
    }
    return text;
}

} // namespace nanscope
