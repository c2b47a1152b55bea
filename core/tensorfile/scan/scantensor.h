// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/scan.h"
#include "core/platform/platform.h"
#include "core/tensorfile/readwatch.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

struct TileSums;

/// Scans every matrix of a tensor of any floating or integer type, strides honoured, at memory speed where rows
/// are contiguous.
Result<std::vector<Scan>> scanTensor(const Tensor& tensor);

/// One matrix held row-major in memory. `transposed`: the memory holds the transpose of the capture's own
/// orientation; `firstNonFinite` is then an index into the cols x rows original. Subnormal means |x| below
/// `smallestNormal`, which for emulated formats is not the container's own.
Scan scanMatrix(
    std::span<const float> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal);
Scan scanMatrix(
    std::span<const double> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal);

/// The same matrix as at most maxTiles x maxTiles tiles, in the capture's own orientation.
TileMap tileMatrix(
    std::span<const float> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal);
TileMap tileMatrix(
    std::span<const double> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal);

struct ScannedMatrix
{
    Scan scan;
    TileMap tiles;
};

/// Both of a matrix that is nowhere as a whole: `rowsOf` gives so many of its rows from the first one named on.
using RowsOf = std::function<Result<std::vector<double>>(std::int64_t first, std::int64_t count)>;
Result<ScannedMatrix> scanByRows(std::int64_t rows, std::int64_t cols, double smallestNormal, const RowsOf& rowsOf);

/// How a matrix is cut into tiles, in the capture's own orientation: a map without values.
TileMap cutIntoTiles(std::int64_t rows, std::int64_t cols);

/// Adds the next tile of a map of floats, row by row.
void addTile(TileMap& map, const TileSums& sums);

/// Tile map of one matrix of a tensor in a file.
Result<TileMap> tileTensor(const Tensor& tensor, std::int64_t batch);

/// Smallest normal magnitude of a format: 2^-1022, 2^-126, 2^-126, 2^-126, 2^-14 for fp64 fp32 tf32 bf16 fp16.
double smallestNormal(Precision precision);

struct ScannedTensor
{
    std::vector<Scan> batches;
    std::optional<bool> checksumMatches; ///< where the scan read the whole storage and the file states a checksum
};

/// Scans every matrix and, in the same pass, verifies the checksum where the tensor is its whole storage. `file` is
/// the tensor's own, if it is open already.
Result<ScannedTensor> scanVerifying(
    const Tensor& tensor, std::shared_ptr<const platform::FileReader> file = nullptr, const ReadWatch& watch = {});

} // namespace nanscope::tensorfile
