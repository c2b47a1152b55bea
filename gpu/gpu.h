// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The Device on LibTorch: "cpu" and, where torch and a driver allow it, "cuda:N". One torch op per instruction, so
// that a replay runs the very kernels the training ran. Plain C++ types only: no Torch or CUDA header leaves this
// room.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/replay/device/device.h"
#include "core/rpc/server.h"

namespace nanscope {

/// Called with the error of a GPU on which this process can compute nothing any more: a kernel that faults breaks the
/// CUDA context of its process for good.
using GpuLost = std::function<void(const Error& error)>;

/// Knows "cpu", "cuda" and "cuda:N"; for a GPU that is not there the error says why. CUDA is started here, not
/// before. Formats the hardware lacks are emulated on the CPU and refused by prepare() on a GPU.
Result<std::unique_ptr<replay::Device>> makeTorchDevice(const std::string& name, const GpuLost& lost = {});

/// Makes the same.
replay::DeviceFactory torchDevices(const GpuLost& lost = {});

struct TorchDeviceInfo
{
    std::string name; ///< "cpu", "cuda:0"
    std::string hardware;
    std::string capability; ///< "AVX512", "sm_90"
    std::int64_t memoryBytes = 0; ///< 0 for the CPU
    std::string uuid {}; ///< of a GPU
};

/// What this build was made against and what it finds here. Creates no CUDA context.
struct TorchInfo
{
    std::string torch; ///< "2.11.0"
    std::string cudaRuntime; ///< "13.0", empty without CUDA
    std::string cudaDriver; ///< newest CUDA the driver supports, empty without a driver
    std::string scanKernel; ///< "cuda" when compiled by nvcc, else "torch"
    int threads = 1;
    std::vector<TorchDeviceInfo> devices;
    std::vector<std::string> notes; ///< one sentence each: why there is no GPU
};

TorchInfo torchInfo();
rpc::ServiceInfo torchServiceInfo();

} // namespace nanscope
