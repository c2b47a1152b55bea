// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu.h"

#include <charconv>
#include <optional>
#include <type_traits>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "core/platform/platform.h"
#include "gpu/kernels/cudainfo.h"
#include "gpu/productswitches.h"
#include "gpu/torchdevice.h"

namespace nanscope {

namespace {

std::string engineName()
{
    return fmt::format("torch {}", TORCH_VERSION);
}

// Asked once: a device may lower the number for what is small.
int torchThreads()
{
    static const int threads = at::get_num_threads();
    return threads;
}

Environment cpuEnvironment()
{
    Environment result;
    result.engine = engineName();
    result.device = "cpu";
    result.hardware = platform::cpuDescription();
    result.threads = torchThreads();
    result.flags = fmt::format("isa={}", at::get_cpu_capability());
    return result;
}

Environment cudaEnvironment(const CudaState& state, int index)
{
    const auto& device = state.devices[static_cast<std::size_t>(index)];
    Environment result;
    result.engine = engineName();
    result.device = fmt::format("cuda:{}", index);
    result.hardware = fmt::format("{} sm_{}{}", device.name, device.major, device.minor);
    result.cuda = fmt::format("runtime {}, driver {}", state.runtime, state.driver);
    result.threads = torchThreads();
    result.flags = cudaFlags(Precision::fp32);
    return result;
}

// The number of "cuda" (0) or "cuda:N".
std::optional<int> cudaIndex(std::string_view name)
{
    constexpr std::string_view prefix = "cuda";
    if (!name.starts_with(prefix)) {
        return std::nullopt;
    }
    name.remove_prefix(prefix.size());
    if (name.empty()) {
        return 0;
    }
    int index = 0;
    const auto* end = name.data() + name.size();
    const bool numbered = name.size() > 1 && name.front() == ':';
    if (!numbered || std::from_chars(name.data() + 1, end, index).ptr != end || index < 0) {
        return std::nullopt;
    }
    return index;
}

Result<std::unique_ptr<replay::Device>> makeCudaDevice(int index, const GpuLost& lost)
{
    const auto state = queryCuda();
    if (!state.problem.empty()) {
        return failure(ErrorKind::unsupported, state.problem);
    }
    const auto count = static_cast<int>(state.devices.size());
    if (index >= count) {
        return failure(ErrorKind::usage,
            fmt::format("there is no cuda:{}; this machine has {} ({})", index, count,
                count == 1 ? "cuda:0" : fmt::format("cuda:0 to cuda:{}", count - 1)));
    }
    if (!at::hasCUDA()) {
        return failure(
            ErrorKind::unsupported, "torch's CUDA library is not loaded; rebuild the worker with a CUDA torch");
    }
    const auto& device = state.devices[static_cast<std::size_t>(index)];
    return std::make_unique<TorchDevice>(at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index)),
        cudaEnvironment(state, index), 10 * device.major + device.minor, lost);
}

} // namespace

Result<std::unique_ptr<replay::Device>> makeTorchDevice(const std::string& name, const GpuLost& lost)
{
    if (name == "cpu") {
        return std::make_unique<TorchDevice>(at::Device(at::kCPU), cpuEnvironment(), 0);
    }
    if (const auto index = cudaIndex(name)) {
        return makeCudaDevice(*index, lost);
    }
    return failure(ErrorKind::usage, fmt::format("unknown device '{}'; there are 'cpu' and 'cuda:N'", name));
}

replay::DeviceFactory torchDevices(const GpuLost& lost)
{
    return [lost](const std::string& name) { return makeTorchDevice(name, lost); };
}

TorchInfo torchInfo()
{
    const auto state = queryCuda();
    TorchInfo info;
    info.torch = TORCH_VERSION;
    info.cudaRuntime = state.runtime;
    info.cudaDriver = state.driver;
    info.scanKernel = NANSCOPE_SCAN_NAME;
    info.threads = torchThreads();
    info.devices.push_back({"cpu", platform::cpuDescription(), at::get_cpu_capability(), 0});
    for (std::size_t i = 0; i < state.devices.size(); ++i) {
        const auto& device = state.devices[i];
        info.devices.push_back({fmt::format("cuda:{}", i), device.name,
            fmt::format("sm_{}{}", device.major, device.minor), device.memoryBytes, device.uuid});
    }
    if (!state.problem.empty()) {
        info.notes.push_back(state.problem);
    }
    return info;
}

rpc::ServiceInfo torchServiceInfo()
{
    const auto info = torchInfo();
    rpc::ServiceInfo result;
    result.engine = engineName();
    for (const auto& device : info.devices) {
        result.devices.emplace_back(device.name, device.hardware);
    }
    result.notes = info.notes;
    return result;
}

} // namespace nanscope
