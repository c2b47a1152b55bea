// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/agreement.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "core/base/try.h"
#include "gpu/gpu.h"
#include "gpu/kernels/cudainfo.h"
#include "gpu/patientthread.h"

#if defined(NANSCOPE_NCCL)
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "gpu/ncclcheck.h"
#include "gpu/torchguard.h"
#endif

namespace nanscope {

#if defined(NANSCOPE_NCCL)

namespace {

/// One communicator per GPU of this process.
class Communicators
{
public:
    explicit Communicators(int count)
        : m_all(static_cast<std::size_t>(count), nullptr)
    {
        check(ncclCommInitAll(m_all.data(), count, nullptr));
    }
    ~Communicators()
    {
        for (auto* one : m_all) {
            ncclCommDestroy(one);
        }
    }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;
    ncclComm_t operator[](std::size_t gpu) const { return m_all[gpu]; }

private:
    std::vector<ncclComm_t> m_all;
};

at::Device gpuAt(std::size_t index)
{
    return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

/// Its hash, then room for the smallest and for the largest.
at::Tensor wordsOn(std::size_t gpu, const replay::ReplayHash& hash)
{
    auto host = at::empty({3, 2}, at::kLong);
    host.zero_();
    for (std::int64_t i = 0; i < 2; ++i) {
        host[0][i] = static_cast<std::int64_t>(hash.words[static_cast<std::size_t>(i)]);
    }
    return host.to(gpuAt(gpu));
}

void reduce(const at::Tensor& words, std::size_t gpu, ncclComm_t communicator)
{
    const c10::cuda::CUDAGuard current(gpuAt(gpu));
    auto* stream = c10::cuda::getCurrentCUDAStream(static_cast<at::DeviceIndex>(gpu)).stream();
    auto* data = words.mutable_data_ptr<std::int64_t>();
    check(ncclAllReduce(data, data + 2, 2, ncclUint64, ncclMin, communicator, stream));
    check(ncclAllReduce(data, data + 4, 2, ncclUint64, ncclMax, communicator, stream));
}

HashRange rangeIn(const at::Tensor& words)
{
    const auto host = words.cpu();
    const auto* data = host.const_data_ptr<std::int64_t>();
    const auto hashAt = [data](int row) {
        return replay::ReplayHash {
            {static_cast<std::uint64_t>(data[2 * row]), static_cast<std::uint64_t>(data[2 * row + 1])}};
    };
    return {hashAt(1), hashAt(2)};
}

Result<HashRange> reduced(std::span<const replay::ReplayHash> hashes)
{
    const Communicators communicators(static_cast<int>(hashes.size()));
    std::vector<at::Tensor> words;
    for (std::size_t gpu = 0; gpu < hashes.size(); ++gpu) {
        words.push_back(wordsOn(gpu, hashes[gpu]));
    }
    check(ncclGroupStart());
    for (std::size_t gpu = 0; gpu < hashes.size(); ++gpu) {
        reduce(words[gpu], gpu, communicators[gpu]);
    }
    check(ncclGroupEnd());
    const auto range = rangeIn(words.front());
    for (std::size_t gpu = 1; gpu < hashes.size(); ++gpu) {
        const auto other = rangeIn(words[gpu]);
        if (other.least != range.least || other.most != range.most) {
            return failure(
                ErrorKind::internal, fmt::format("NCCL left cuda:0 and cuda:{} with different answers", gpu));
        }
    }
    return range;
}

} // namespace

std::string ncclVersion()
{
    int version = 0;
    if (ncclGetVersion(&version) != ncclSuccess) {
        return {};
    }
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Result<HashRange> reduceHashes(std::span<const replay::ReplayHash> hashes)
{
    if (hashes.empty()) {
        return failure(ErrorKind::unsupported, "there is no GPU to reduce over");
    }
    return guarded(gpuAt(0), [&] { return reduced(hashes); });
}

#else

std::string ncclVersion()
{
    return {};
}

Result<HashRange> reduceHashes(std::span<const replay::ReplayHash>)
{
    return failure(ErrorKind::unsupported, "this worker was built without NCCL");
}

#endif

namespace {

/// None where a device gave none: NCCL needs all of them.
std::optional<std::vector<replay::ReplayHash>> firstHashes(const std::vector<replay::DeviceHashes>& devices)
{
    std::vector<replay::ReplayHash> hashes;
    for (const auto& device : devices) {
        if (device.hashes.empty()) {
            return std::nullopt;
        }
        hashes.push_back(device.hashes.front());
    }
    return hashes;
}

bool allEqual(const std::vector<replay::ReplayHash>& hashes)
{
    return std::all_of(
        hashes.begin(), hashes.end(), [&](const replay::ReplayHash& hash) { return hash == hashes.front(); });
}

/// Setting up a communicator takes seconds on a large machine.
constexpr std::chrono::seconds ncclPatience {60};

} // namespace

void addReduction(GpuAgreement& result, const HashReducer& reduce, std::chrono::milliseconds patience)
{
    const auto alone = [&](const std::string& why) {
        result.notes.push_back("the hashes were compared by the host alone: " + why);
    };
    const auto hashes = firstHashes(result.agreement.devices);
    if (!hashes) {
        return alone("not every GPU has given one");
    }
    PatientThread thread({});
    const auto range = thread.run([reduce, hashes = *hashes] { return reduce(hashes); }, patience);
    if (!range) {
        result.hangs = true;
        return alone(fmt::format("NCCL did not answer within {:g} s, so that training on these GPUs may hang, too",
            std::chrono::duration<double>(patience).count()));
    }
    if (!*range) {
        return alone(range->error().what);
    }
    result.range = **range;
    if (result.range->equal() != allEqual(*hashes)) {
        result.notes.emplace_back("NCCL's reduction contradicts the hashes it was given: suspect the communication");
    }
}

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
    auto agreement = TRY(replay::replayEverywhere(request, names, torchDevices(), cancel));
    for (std::size_t i = 0; i < state.devices.size(); ++i) {
        agreement.devices[i].uuid = state.devices[i].uuid;
    }
    GpuAgreement result;
    result.agreement = std::move(agreement);
    addReduction(result, reduceHashes, ncclPatience);
    return result;
}

} // namespace nanscope
