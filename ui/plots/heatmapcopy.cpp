// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmapcopy.h"

#include "ui/plots/heatmap.h"
#include "ui/text.h"

namespace nanscope {

namespace {

constexpr std::int64_t mostElements = 4096;

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
    const auto inSight = map.visibleRegion();
    if (!inSight) {
        return text;
    }
    if (inSight->rows * inSight->cols > mostElements) {
        const auto cursor = map.cursorElement();
        return cursor ? text + line(*picture, cursor->row, cursor->col) : text;
    }
    for (std::int64_t row = inSight->row; row < inSight->row + inSight->rows; ++row) {
        for (std::int64_t col = inSight->col; col < inSight->col + inSight->cols; ++col) {
            text += line(*picture, row, col);
        }
    }
    return text;
}

} // namespace nanscope
