// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/matrixpicture.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QStringList>

#include "core/report/pictures/svgtiles.h"
#include "core/tensorfile/convert.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

struct ElementTexts
{
    Q_DECLARE_TR_FUNCTIONS(ElementTexts)
};

QString tileClasses(std::uint8_t classes)
{
    constexpr std::pair<ClassBit, ValueClass> bits[] = {{classNan, ValueClass::nan}, {classPosInf, ValueClass::posInf},
        {classNegInf, ValueClass::negInf}, {classZero, ValueClass::zero}, {classSubnormal, ValueClass::subnormal},
        {classNormal, ValueClass::normal}};
    QStringList words;
    for (const auto& [bit, value] : bits) {
        if (classes & bit) {
            words << classWord(value);
        }
    }
    return words.join(QStringLiteral(", "));
}

/// For matrices too large to hold: what the tile under the cursor contains.
QString tileText(const MatrixPicture& picture, std::int64_t row, std::int64_t col)
{
    const TileMap& tiles = picture.tiles;
    const std::int64_t tileRow = row / tiles.tileRows;
    const std::int64_t tileCol = col / tiles.tileCols;
    const auto index = static_cast<std::size_t>(tileRow * tiles.width + tileCol);
    return ElementTexts::tr("rows %1–%2, columns %3–%4: %5, |x| ≤ %6")
        .arg(tileRow * tiles.tileRows)
        .arg(std::min(tiles.rows, (tileRow + 1) * tiles.tileRows) - 1)
        .arg(tileCol * tiles.tileCols)
        .arg(std::min(tiles.cols, (tileCol + 1) * tiles.tileCols) - 1)
        .arg(tileClasses(tiles.classes[index]), roundNumber(static_cast<double>(tiles.absmax[index])));
}

} // namespace

bool MatrixPatch::covers(const replay::Region& part) const
{
    return part.row >= region.row && part.col >= region.col && part.row + part.rows <= region.row + region.rows
        && part.col + part.cols <= region.col + region.cols;
}

std::optional<double> MatrixPatch::elementAt(std::int64_t row, std::int64_t col) const
{
    if (!covers({row, col, 1, 1})) {
        return std::nullopt;
    }
    const auto at = static_cast<std::size_t>((row - region.row) * region.cols + col - region.col);
    if (at < doubles.size()) {
        return doubles[at];
    }
    return at < floats.size() ? std::optional<double>(floats[at]) : std::nullopt;
}

std::optional<double> MatrixPicture::elementAt(std::int64_t row, std::int64_t col) const
{
    if (row < 0 || col < 0 || row >= tiles.rows || col >= tiles.cols) {
        return std::nullopt;
    }
    const auto at = static_cast<std::size_t>(row * tiles.cols + col);
    if (at < doubles.size()) {
        return doubles[at];
    }
    if (at < floats.size()) {
        return floats[at];
    }
    return patch ? patch->elementAt(row, col) : std::nullopt;
}

ValueClass classOf(double value, DType dtype)
{
    if (std::isnan(value)) {
        return ValueClass::nan;
    }
    if (std::isinf(value)) {
        return value > 0 ? ValueClass::posInf : ValueClass::negInf;
    }
    if (value == 0) {
        return ValueClass::zero;
    }
    return isFloating(dtype) && std::abs(value) < tensorfile::smallestNormalOf(dtype) ? ValueClass::subnormal
                                                                                      : ValueClass::normal;
}

LogScale scaleOf(const TileMap& tiles)
{
    const auto range = report::rangeOf(tiles.absmax);
    return {range.low, range.high};
}

QString elementText(const MatrixPicture& picture, std::int64_t row, std::int64_t col)
{
    const auto value = picture.elementAt(row, col);
    if (!value) {
        return tileText(picture, row, col);
    }
    const ValueClass shown = classOf(*value, picture.dtype);
    const QString number = exactNumber(*value);
    const QString place = QStringLiteral("[%1, %2] = %3").arg(row).arg(col).arg(number);
    return number == classWord(shown) ? place : ElementTexts::tr("%1, %2").arg(place, classWord(shown));
}

} // namespace nanscope
