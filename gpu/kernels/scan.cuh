// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Scans matrices in one pass at memory speed: on a GPU, and by a CPU twin that adds in the same order. No CUDA types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/kernels/scanelement.h"

namespace nanscope::scan {

enum class Format { fp64, fp32, bf16, fp16 };

struct Job
{
    const void* data = nullptr; ///< batch x rows x cols, row-major
    Format format = Format::fp32;
    std::int64_t batch = 1;
    Layout layout;
    Totals* totals = nullptr; ///< one per matrix
};

/// Device memory a job needs beside its data. Zeroed once by the caller; each launch leaves it fit for the next.
std::size_t workspaceBytes(std::int64_t elements, std::int64_t elementSize, std::int64_t batch);

/// Queues the job on a CUDA stream. Returns nullptr, or CUDA's description of the error.
const char* launch(const Job& job, void* workspace, void* stream);

/// The same on host memory, one thread after the other: bit for bit what the kernel computes.
void twin(const Job& job);

} // namespace nanscope::scan
