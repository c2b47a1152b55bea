// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/agreement.h"

#include <algorithm>

#include <fmt/format.h>

#include "gpu/gpu.h"
#include "gpu/kernels/cudainfo.h"

namespace nanscope {

namespace {

std::vector<replay::ReplayHash> firstHashes(const std::vector<replay::DeviceHashes>& devices)
{
    std::vector<replay::ReplayHash> hashes;
    for (const auto& device : devices) {
        hashes.push_back(device.hashes.front());
    }
    return hashes;
}

bool allEqual(const std::vector<replay::ReplayHash>& hashes)
{
    return std::all_of(
        hashes.begin(), hashes.end(), [&](const replay::ReplayHash& hash) { return hash == hashes.front(); });
}

void addReduction(GpuAgreement& result)
{
    const auto hashes = firstHashes(result.agreement.devices);
    const auto range = reduceHashes(hashes);
    if (!range) {
        result.notes.push_back(fmt::format("the hashes were compared by the host alone: {}", range.error().what));
        return;
    }
    result.range = *range;
    if (range->equal() != allEqual(hashes)) {
        result.notes.emplace_back("NCCL's reduction contradicts the hashes it was given: suspect the communication");
    }
}

} // namespace

Result<GpuAgreement> agreeOnGpus(const replay::AgreementRequest& request, const CancelToken& cancel)
{
    const auto state = queryCuda();
    if (!state.problem.empty() || state.devices.empty()) {
        return failure(ErrorKind::unsupported, state.problem.empty() ? "there is no GPU here" : state.problem);
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < state.devices.size(); ++i) {
        names.push_back(fmt::format("cuda:{}", i));
    }
    auto agreement = replay::replayEverywhere(request, names, makeTorchDevice, cancel);
    if (!agreement) {
        return tl::make_unexpected(agreement.error());
    }
    GpuAgreement result;
    result.agreement = std::move(*agreement);
    addReduction(result);
    return result;
}

} // namespace nanscope
