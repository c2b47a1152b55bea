// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <QString>

#include "core/replay/engine/frame.h"

namespace nanscope {

/// Scale of log10|x| a heat map is drawn with.
struct LogScale
{
    double low = -1;
    double high = 0;

    double position(double log10Magnitude) const { return (log10Magnitude - low) / (high - low); }
    bool operator==(const LogScale&) const = default;
};

/// The elements of a part of a matrix, row by row.
struct MatrixPatch
{
    replay::Region region;
    std::vector<float> floats;
    std::vector<double> doubles; ///< instead of floats

    bool covers(const replay::Region& part) const;
    /// Nothing when outside.
    std::optional<double> elementAt(std::int64_t row, std::int64_t col) const;
};

/// What a heat map shows of one matrix: its tile map from core and, where it fits, every element as core read it.
/// Elements are floats unless the tensor is fp64, so that each is exactly the value in the file.
struct MatrixPicture
{
    TileMap tiles;
    std::vector<float> floats;
    std::vector<double> doubles;
    std::shared_ptr<const MatrixPatch> patch; ///< in place of the tiles where it lies; none: as they are
    DType dtype = DType::float32;
    Scan scan;

    bool hasElements() const { return !floats.empty() || !doubles.empty(); }
    /// Nothing when outside, or when the elements are not in memory.
    std::optional<double> elementAt(std::int64_t row, std::int64_t col) const;
};

/// Both sides of one matrix of a capture, as far as they are there.
struct TensorPictures
{
    std::int64_t batch = 0;
    std::int64_t batches = 1;
    std::shared_ptr<const MatrixPicture> input;
    std::shared_ptr<const MatrixPicture> output;
    QString inputMissing; ///< why there is no picture
    QString outputMissing;
};

/// Reads those of a capture; where there is none of a side, why.
Result<TensorPictures> picturesOf(const CaptureRef& capture, std::int64_t batch);

/// Class of one element; subnormal is meant in the format the file holds.
ValueClass classOf(double value, DType dtype);

/// From the 1st percentile of the tiles' finite magnitudes to their maximum; at least one decade.
LogScale scaleOf(const TileMap& tiles);

/// "[33, 70] = 0.25", with the class where it is not an ordinary number; of a matrix too large to hold, what the tile
/// there contains.
QString elementText(const MatrixPicture& picture, std::int64_t row, std::int64_t col);

} // namespace nanscope
