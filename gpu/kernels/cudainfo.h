// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA runtime says about this machine, in plain types. Creates no context, and works without a driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanscope {

struct CudaDevice
{
    std::string name;
    std::string uuid; ///< "GPU-3f2a91c7-..", of a slice of a GPU its own
    int major = 0;
    int minor = 0;
    std::int64_t memoryBytes = 0;
};

struct CudaState
{
    std::string runtime; ///< "13.0", empty when built without CUDA
    std::string driver; ///< newest CUDA the driver supports, empty without a driver
    std::vector<CudaDevice> devices;
    std::string problem; ///< one sentence when there is no device
};

CudaState queryCuda();

struct CudaMemory
{
    std::int64_t free = 0; ///< bytes
    std::int64_t total = 0;
};

/// Of the device that is current; creates its context.
std::optional<CudaMemory> cudaMemory();

/// Why CUDA finds no device, in one sentence. `said` is its own word for it, empty where it simply found none.
std::string whyNoGpu(const CudaState& state, bool driverTooOld, const std::string& said);

/// `device` lacks memory for a replay that takes `needed` bytes there; `memory` where it is known.
std::string shortOfMemory(const std::string& device, std::int64_t needed, const std::optional<CudaMemory>& memory);

} // namespace nanscope
