// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/scaleout/collective.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "gpu/agreement.h"
#include "gpu/torchguard.h"

#if defined(NANSCOPE_NCCL)
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <c10/cuda/CUDAStream.h>

#include "gpu/ncclcheck.h"
#endif

namespace nanscope {

namespace {

using Clock = std::chrono::steady_clock;
using scaleout::Exchanged;
using scaleout::Launch;
using Store = c10::intrusive_ptr<c10d::Store>;

/// A connection of its own: the other one would be held by what waits in this one.
Store storeOf(const Launch& launch, std::chrono::milliseconds patience)
{
    c10d::TCPStoreOptions options;
    options.port = launch.port;
    options.waitWorkers = false;
    options.timeout = patience;
    return c10::make_intrusive<c10d::PrefixStore>(
        "nanscope/reach/" + launch.start, c10::make_intrusive<c10d::TCPStore>(launch.host, options));
}

bool isSum(std::int64_t sum, const Launch& launch)
{
    const std::int64_t ranks = launch.processes;
    return sum == ranks * (ranks + 1) / 2;
}

/// Where there is no GPU the store is all that the ranks share.
Result<Exchanged> overStore(const Launch& launch, std::chrono::milliseconds patience)
{
    constexpr std::chrono::milliseconds betweenLooks {5};
    return guarded(at::kCPU, [&]() -> Result<Exchanged> {
        const auto store = storeOf(launch, patience);
        const auto begin = Clock::now();
        store->add("sum", launch.rank + 1);
        store->add("ranks", 1);
        while (store->add("ranks", 0) < launch.processes) {
            if (Clock::now() - begin > patience) {
                return failure(ErrorKind::internal, "not every rank added its number");
            }
            std::this_thread::sleep_for(betweenLooks);
        }
        const std::chrono::duration<double> took = Clock::now() - begin;
        return Exchanged {took.count(), sizeof(std::int64_t), isSum(store->add("sum", 0), launch)};
    });
}

#if defined(NANSCOPE_NCCL)

ncclUniqueId sharedId(const Launch& launch, std::chrono::milliseconds patience)
{
    const auto store = storeOf(launch, patience);
    ncclUniqueId id {};
    auto* bytes = reinterpret_cast<std::uint8_t*>(&id);
    if (launch.rank == 0) {
        check(ncclGetUniqueId(&id));
        store->set("id", std::vector<std::uint8_t>(bytes, bytes + sizeof id));
        return id;
    }
    const auto shared = store->get("id");
    TORCH_CHECK(shared.size() == sizeof id, "the store holds no id of NCCL");
    std::copy(shared.begin(), shared.end(), bytes);
    return id;
}

Result<Exchanged> overNccl(
    const Launch& launch, at::Device device, std::int64_t bytes, std::chrono::milliseconds patience)
{
    return guarded(device, [&]() -> Result<Exchanged> {
        ncclComm_t communicator = nullptr;
        check(ncclCommInitRank(&communicator, launch.processes, sharedId(launch, patience), launch.rank));
        const auto stream = c10::cuda::getCurrentCUDAStream(device.index());
        const auto mine = at::full({bytes / 8}, launch.rank + 1, at::TensorOptions(at::kLong).device(device));
        const auto sum = at::empty_like(mine);
        const auto reduce = [&] {
            stream.synchronize();
            const auto begin = Clock::now();
            check(ncclAllReduce(mine.const_data_ptr(), sum.mutable_data_ptr(), static_cast<std::size_t>(mine.numel()),
                ncclInt64, ncclSum, communicator, stream.stream()));
            stream.synchronize();
            return std::chrono::duration<double>(Clock::now() - begin).count();
        };
        reduce(); // sets up the connections
        const double seconds = reduce();
        const bool right =
            isSum(sum.min().item<std::int64_t>(), launch) && isSum(sum.max().item<std::int64_t>(), launch);
        ncclCommDestroy(communicator);
        return Exchanged {seconds, bytes, right};
    });
}

#else

Result<Exchanged> overNccl(const Launch&, at::Device, std::int64_t, std::chrono::milliseconds)
{
    return failure(ErrorKind::unsupported, "this worker was built without NCCL");
}

#endif

} // namespace

RankSum::RankSum(Launch launch, std::string device, std::int64_t bytes, std::chrono::milliseconds patience,
    const CancelToken& cancel)
    : m_launch(std::move(launch))
    , m_device(std::move(device))
    , m_bytes(bytes)
    , m_patience(patience)
    , m_thread(std::make_unique<PatientThread>(cancel))
{ }

std::string RankSum::library() const
{
    return at::Device(m_device).is_cuda() ? "NCCL " + ncclVersion() : "the store";
}

Result<Exchanged> RankSum::operator()()
{
    const at::Device device(m_device);
    // What hangs outlives this object.
    auto done = m_thread->run(
        [launch = m_launch, device, bytes = m_bytes, patience = m_patience] {
            return device.is_cuda() ? overNccl(launch, device, bytes, patience) : overStore(launch, patience);
        },
        m_patience);
    if (!done) {
        m_hangs = true;
        return failure(ErrorKind::internal,
            fmt::format(
                "{} did not answer within {:g} s", library(), std::chrono::duration<double>(m_patience).count()));
    }
    return std::move(*done);
}

} // namespace nanscope
