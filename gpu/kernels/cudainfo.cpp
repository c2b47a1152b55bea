// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/cudainfo.h"

#include <fmt/format.h>

#if defined(NANSCOPE_CUDART)
#include <cuda_runtime_api.h>
#endif

namespace nanscope {

#if defined(NANSCOPE_CUDART)

namespace {

std::string versionText(int version)
{
    return version > 0 ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : std::string();
}

std::string whyNoDevice(const CudaState& state, cudaError_t error)
{
    if (state.driver.empty()) {
        return "no GPU: no NVIDIA driver is installed here";
    }
    if (error == cudaErrorInsufficientDriver) {
        return fmt::format("no GPU: the driver supports CUDA {} and this torch needs {}; update the driver",
            state.driver, state.runtime);
    }
    if (error == cudaErrorNoDevice || error == cudaSuccess) {
        return "no GPU: the driver reports no device; see CUDA_VISIBLE_DEVICES";
    }
    return fmt::format("no GPU: {}", cudaGetErrorString(error));
}

CudaDevice describe(int index)
{
    CudaDevice device;
    cudaDeviceProp properties {};
    if (cudaGetDeviceProperties(&properties, index) == cudaSuccess) {
        device.name = properties.name;
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
        state.problem = whyNoDevice(state, error);
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
