// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/tensorpictures.h"

#include <QObject>

#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

/// Elements beyond this many are not held; the tile map still shows them. 64 MiB of floats per side.
constexpr std::int64_t mostElements = 16LL << 20;

using Picture = std::shared_ptr<const MatrixPicture>;

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
    auto scans = tensorfile::scanTensor(tensor);
    if (!scans) {
        return tl::make_unexpected(scans.error());
    }
    return (*scans)[static_cast<std::size_t>(batch)];
}

Result<Picture> pictureOf(const tensorfile::Tensor& tensor, std::int64_t batch)
{
    auto tiles = tensorfile::tileTensor(tensor, batch);
    if (!tiles) {
        return tl::make_unexpected(tiles.error());
    }
    MatrixPicture picture;
    picture.tiles = std::move(*tiles);
    picture.dtype = tensor.dtype();
    if (tensor.matrices().elements() <= mostElements) {
        const auto read = tensor.dtype() == DType::float64 ? readElements(tensor, batch, picture.doubles)
                                                           : readElements(tensor, batch, picture.floats);
        if (!read) {
            return tl::make_unexpected(read.error());
        }
    }
    auto scan = scanOf(tensor, batch, picture);
    if (!scan) {
        return tl::make_unexpected(scan.error());
    }
    picture.scan = *scan;
    return std::make_shared<const MatrixPicture>(std::move(picture));
}

void place(Result<Picture> picture, Picture& out, QString& missing)
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
    const auto file = tensorfile::openCapture(capture);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    TensorPictures pictures;
    pictures.batches = file->input.matrices().batch;
    pictures.batch = std::clamp<std::int64_t>(batch, 0, std::max<std::int64_t>(0, pictures.batches - 1));
    place(pictureOf(file->input, pictures.batch), pictures.input, pictures.inputMissing);
    if (!file->output) {
        pictures.outputMissing = QObject::tr("This file holds no output");
    } else if (file->output->matrices().batch <= pictures.batch) {
        pictures.outputMissing = QObject::tr("The output has fewer matrices than the input");
    } else {
        place(pictureOf(*file->output, pictures.batch), pictures.output, pictures.outputMissing);
    }
    return pictures;
}

} // namespace nanscope
