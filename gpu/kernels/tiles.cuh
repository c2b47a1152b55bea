// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Tile maps of matrices where they lie, so that a film on a GPU fetches its tiles and not its matrices. No CUDA types.
#pragma once

#include "gpu/kernels/scan.cuh"
#include "gpu/kernels/tileelement.h"

namespace nanscope::scan {

struct TileJob
{
    const void* data = nullptr; ///< one matrix, row-major
    Format format = Format::fp32;
    TileGrid grid;
    Tile* tiles = nullptr; ///< height x width
};

/// Queues the job on a CUDA stream. Returns nullptr, or CUDA's description of the error.
const char* launch(const TileJob& job, void* stream);

/// The same on host memory: bit for bit what the kernel computes.
void twin(const TileJob& job);

} // namespace nanscope::scan
