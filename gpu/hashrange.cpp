// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/hashrange.h"

#include <vector>

#include <fmt/format.h>

#if defined(NANSCOPE_NCCL)
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <nccl.h>

#include "gpu/torchguard.h"
#endif

namespace nanscope {

#if defined(NANSCOPE_NCCL)

namespace {

void check(ncclResult_t result)
{
    TORCH_CHECK(result == ncclSuccess, "NCCL: ", ncclGetErrorString(result));
}

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

Result<HashRange> reduceHashes(std::span<const ReplayHash>)
{
    return failure(ErrorKind::unsupported, "this worker was built without NCCL");
}

#endif

} // namespace nanscope
