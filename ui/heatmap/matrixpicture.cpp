// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/matrixpicture.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QStringList>

#include "core/base/try.h"
#include "core/report/pictures/svgtiles.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scantensor.h"
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

namespace {

/// Elements beyond this many are not held; the tile map still shows them. 64 MiB of floats per side.
constexpr std::int64_t mostElements = 16LL << 20;

using SharedPicture = std::shared_ptr<const MatrixPicture>;

template <class Value>
Result<void> readElements(const tensorfile::Tensor& tensor, std::int64_t batch, std::vector<Value>& out)
{
    out.resize(static_cast<std::size_t>(tensor.matrices().elements()));
    return tensor.read(batch, std::span<Value>(out));
}

/// Counts for the caption, from the elements where they are held, else from the tensor once more.
Result<Scan> scanOf(const tensorfile::Tensor& tensor, std::int64_t batch, const MatrixPicture& picture)
{
    if (!picture.floats.empty()) {
        return tensorfile::scanMatrix(
            std::span<const float>(picture.floats), picture.tiles.rows, picture.tiles.cols, false, 0x1p-126);
    }
    if (!picture.doubles.empty()) {
        return tensorfile::scanMatrix(
            std::span<const double>(picture.doubles), picture.tiles.rows, picture.tiles.cols, false, 0x1p-1022);
    }
    auto scans = TRY(tensorfile::scanTensor(tensor));
    return scans[static_cast<std::size_t>(batch)];
}

Result<SharedPicture> elementPicture(const tensorfile::Tensor& tensor, std::int64_t batch)
{
    auto tiles = TRY(tensorfile::tileTensor(tensor, batch));
    MatrixPicture picture;
    picture.tiles = std::move(tiles);
    picture.dtype = tensor.dtype();
    if (tensor.matrices().elements() <= mostElements) {
        TRY(tensor.dtype() == DType::float64 ? readElements(tensor, batch, picture.doubles)
                                             : readElements(tensor, batch, picture.floats));
    }
    picture.scan = TRY(scanOf(tensor, batch, picture));
    return std::make_shared<const MatrixPicture>(std::move(picture));
}

void place(Result<SharedPicture> picture, SharedPicture& out, QString& missing)
{
    if (picture) {
        out = std::move(*picture);
    } else {
        missing = qstr(sentence(picture.error()));
    }
}

} // namespace

Result<TensorPictures> picturesOf(const CaptureRef& capture, std::int64_t batch)
{
    const auto file = TRY(tensorfile::openCapture(capture));
    TensorPictures pictures;
    pictures.batches = file.input.matrices().batch;
    pictures.batch = std::clamp<std::int64_t>(batch, 0, std::max<std::int64_t>(0, pictures.batches - 1));
    place(elementPicture(file.input, pictures.batch), pictures.input, pictures.inputMissing);
    if (!file.output) {
        pictures.outputMissing = ElementTexts::tr("This file holds no output");
    } else if (file.output->matrices().batch <= pictures.batch) {
        pictures.outputMissing = ElementTexts::tr("The output has fewer matrices than the input");
    } else {
        place(elementPicture(*file.output, pictures.batch), pictures.output, pictures.outputMissing);
    }
    return pictures;
}

} // namespace nanscope
