// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmapcopy.h"

#include <algorithm>
#include <utility>

#include "ui/plots/heatmap.h"
#include "ui/text.h"

namespace nanscope {

namespace {

constexpr std::int64_t mostCopied = 4096;
constexpr std::int64_t mostSaved = 256LL * 256;
const QString heading = QStringLiteral("row\tcol\tvalue\n");

QString line(const MatrixPicture& picture, std::int64_t row, std::int64_t col)
{
    const auto value = picture.elementAt(row, col);
    return value ? QStringLiteral("%1\t%2\t%3\n").arg(row).arg(col).arg(exactNumber(*value)) : QString();
}

QString lines(const MatrixPicture& picture, const replay::Region& part)
{
    QString text;
    for (std::int64_t row = part.row; row < part.row + part.rows; ++row) {
        for (std::int64_t col = part.col; col < part.col + part.cols; ++col) {
            text += line(picture, row, col);
        }
    }
    return text;
}

QString classWords(std::uint8_t classes)
{
    constexpr std::pair<std::uint8_t, const char*> words[] = {{classNan, "nan"}, {classPosInf, "inf"},
        {classNegInf, "-inf"}, {classZero, "zero"}, {classSubnormal, "subnormal"}, {classNormal, "normal"}};
    QStringList held;
    for (const auto& [bit, word] : words) {
        if (classes & bit) {
            held << QLatin1String(word);
        }
    }
    return held.join(QLatin1Char(' '));
}

QString tileLines(const TileMap& tiles, const replay::Region& part)
{
    QString text = QStringLiteral("row\trows\tcol\tcols\tmin\tmax\tabsmax\tholds\n");
    for (std::int64_t y = part.row / tiles.tileRows; y * tiles.tileRows < part.row + part.rows; ++y) {
        for (std::int64_t x = part.col / tiles.tileCols; x * tiles.tileCols < part.col + part.cols; ++x) {
            const auto at = static_cast<std::size_t>(y * tiles.width + x);
            const std::int64_t row = y * tiles.tileRows;
            const std::int64_t col = x * tiles.tileCols;
            const QStringList cells {QString::number(row), QString::number(std::min(tiles.tileRows, tiles.rows - row)),
                QString::number(col), QString::number(std::min(tiles.tileCols, tiles.cols - col)),
                exactNumber(tiles.min[at]), exactNumber(tiles.max[at]), exactNumber(tiles.absmax[at]),
                classWords(tiles.classes[at])};
            text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
        }
    }
    return text;
}

} // namespace

QString visibleValues(const HeatMap& map)
{
    const auto part = map.visibleRegion();
    if (!part) {
        return heading;
    }
    if (part->rows * part->cols <= mostCopied) {
        return heading + lines(*map.picture(), *part);
    }
    const auto cursor = map.cursorElement();
    return cursor ? heading + line(*map.picture(), cursor->row, cursor->col) : heading;
}

QString visibleSheet(const HeatMap& map)
{
    const auto part = map.visibleRegion();
    if (!part) {
        return heading;
    }
    const MatrixPicture& picture = *map.picture();
    const bool known = picture.hasElements() || (picture.patch && picture.patch->covers(*part));
    return known && part->rows * part->cols <= mostSaved ? heading + lines(picture, *part)
                                                         : tileLines(picture.tiles, *part);
}

PlotCopies HeatMap::copies()
{
    const auto caption = [this] { return m_caption ? m_caption() : PictureCaption {tr("Heat map")}; };
    return {tr("Heat map"), [this] { return visibleValues(*this); }, [this] { return toPicture(); }, caption,
        [this] { return visibleSheet(*this); }};
}

} // namespace nanscope
