// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Number formats and scans in terms of torch tensors, for any of torch's devices. Includes Torch headers: only for
// the files of this room that need them.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/dtype.h"
#include "core/model/scan.h"
#include "gpu/kernels/tiles.cuh"

namespace nanscope {

/// The type a buffer of this format is held in: the format's own where `native`, else fp32.
at::ScalarType storageType(Precision format, bool native);

/// Rounds an fp32 tensor to the format and back, exactly. `scratch` is kept between calls to save allocations.
void roundInPlace(at::Tensor& values, Precision format, at::Tensor& scratch);

/// A copy of an fp32 tensor in CPU memory with every element rounded to tf32.
void roundToTf32(const at::Tensor& values, at::Tensor& out);

/// The numbers `ulps` representable steps of the format away; zero and what is not finite stay. Positive values only.
at::Tensor moveUlps(const at::Tensor& values, Precision format, int ulps);

/// Facts about each matrix of batch x rows x cols as int64 [batch, scan::totalsWords], by torch's own reductions: the
/// stand-in for the CUDA kernel where no nvcc was found.
at::Tensor scanWithTorch(const at::Tensor& matrices, bool transposed);

Scan scanFromTotals(const scan::Totals& totals, std::int64_t count);

/// The tiles of a rows x cols matrix in memory, as tensorfile::tileMatrix() cuts it.
scan::TileGrid tileGridOf(std::int64_t rows, std::int64_t cols, bool transposed);

/// `tiles` are those of the whole grid.
TileMap tileMapFrom(const scan::TileGrid& grid, const scan::Tile* tiles);

} // namespace nanscope
