// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/cudainfo.h"

#include <fmt/format.h>

#if defined(NANSCOPE_CUDART)
#include <cuda_runtime_api.h>
#endif

namespace nanscope {

std::string whyNoGpu(const CudaState& state, bool driverTooOld, const std::string& said)
{
    if (state.driver.empty()) {
        return "no GPU: no NVIDIA driver is installed here";
    }
    if (driverTooOld) {
        return fmt::format("no GPU: the driver supports CUDA {} and this torch needs {}; update the driver",
            state.driver, state.runtime);
    }
    return said.empty() ? "no GPU: the driver reports no device; see CUDA_VISIBLE_DEVICES" : "no GPU: " + said;
}

std::string shortOfMemory(const std::string& device, std::int64_t needed, const std::optional<CudaMemory>& memory)
{
    constexpr double gibibyte = 1U << 30;
    auto text = fmt::format("{} has not enough memory for this replay", device);
    if (memory) {
        text += fmt::format(", which takes about {:.2g} GiB: {:.2g} of {:.2g} are free",
            static_cast<double>(needed) / gibibyte, static_cast<double>(memory->free) / gibibyte,
            static_cast<double>(memory->total) / gibibyte);
    }
    return text + "; end what else uses it, or replay on 'cpu' or another GPU";
}

#if defined(NANSCOPE_CUDART)

namespace {

std::string versionText(int version)
{
    return version > 0 ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : std::string();
}

/// As nvidia-smi writes it, up to the first word: that of a slice (MIG) begins with "MIG" there.
std::string uuidText(const cudaUUID_t& uuid)
{
    std::string text = "GPU";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        text += fmt::format("{}{:02x}", dash ? "-" : "", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}

CudaDevice describe(int index)
{
    CudaDevice device;
    cudaDeviceProp properties {};
    if (cudaGetDeviceProperties(&properties, index) == cudaSuccess) {
        device.name = properties.name;
        device.uuid = uuidText(properties.uuid);
        device.major = properties.major;
        device.minor = properties.minor;
        device.memoryBytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    }
    return device;
}

} // namespace

CudaState queryCuda()
{
    CudaState state;
    int version = 0;
    if (cudaRuntimeGetVersion(&version) == cudaSuccess) {
        state.runtime = versionText(version);
    }
    if (cudaDriverGetVersion(&version) == cudaSuccess) {
        state.driver = versionText(version);
    }
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        // The error would otherwise be reported by the next call that has nothing to do with it.
        cudaGetLastError();
        const bool none = error == cudaErrorNoDevice || error == cudaSuccess;
        state.problem =
            whyNoGpu(state, error == cudaErrorInsufficientDriver, none ? std::string() : cudaGetErrorString(error));
        return state;
    }
    for (int i = 0; i < count; ++i) {
        state.devices.push_back(describe(i));
    }
    return state;
}

std::optional<CudaMemory> cudaMemory()
{
    std::size_t available = 0;
    std::size_t total = 0;
    if (cudaMemGetInfo(&available, &total) != cudaSuccess) {
        return std::nullopt;
    }
    return CudaMemory {static_cast<std::int64_t>(available), static_cast<std::int64_t>(total)};
}

#else

CudaState queryCuda()
{
    CudaState state;
    state.problem = "no GPU: this torch was built without CUDA";
    return state;
}

std::optional<CudaMemory> cudaMemory()
{
    return std::nullopt;
}

#endif

} // namespace nanscope
