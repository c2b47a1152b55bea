// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a guard in a C++ training agrees over: a group of torch.distributed, gloo or NCCL.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "core/probe/rankgroup.h"
#include "gpu/probe/rollcall.h"

namespace nanscope {

struct C10dOptions
{
    /// How long one exchange may take. Under NCCL it has to be less than the group's own limit, at which torch ends the
    /// process before anything is said. The communicator of a group that was not used yet is made by the first
    /// exchange, in NCCL's own time.
    std::chrono::milliseconds timeout = std::chrono::minutes(5);

    /// The store that the ranks met by. With it a failure names the ranks that do not answer, and a rank that waits
    /// hears within a second that another has given up.
    c10::intrusive_ptr<c10d::Store> store {};
    std::chrono::milliseconds patience = std::chrono::seconds(3); ///< for the others to come to the failure
    std::string name = "guard"; ///< another one for each group that shares the store
};

/// A process group of torch. Exchanges take place on the CPU, under NCCL on the current GPU, which then has to be set
/// as for the training. Every failure is final: the next calls give the same one at once.
class C10dRanks final : public probe::RankGroup
{
public:
    /// `group` is what `ProcessGroup::getBackend(device)` gives, or a ProcessGroupNCCL that the trainer made itself.
    explicit C10dRanks(c10::intrusive_ptr<c10d::Backend> group, C10dOptions options = {});

    int rank() const override { return m_group->getRank(); }
    int size() const override { return m_group->getSize(); }

    Result<std::uint8_t> maximum(std::uint8_t mine) override;
    Result<float> sum(float mine) override;
    Result<probe::StepRange> range(std::int64_t mine) override;

    /// Reduces a dense tensor of any shape in place, on the device of the group.
    Result<void> reduce(at::Tensor& tensor, c10d::ReduceOp::RedOpType operation);

    at::Device device() const; ///< where tensors have to be for reduce()

private:
    template <class Work>
    auto kept(Work work) -> decltype(work());
    template <class T>
    Result<std::vector<T>> reduced(const std::vector<T>& mine, c10d::ReduceOp::RedOpType operation);
    Result<void> waitFor(c10d::Work& work);
    tl::unexpected<Error> giveUp(const std::string& reason);

    c10::intrusive_ptr<c10d::Backend> m_group;
    C10dOptions m_options;
    RollCall m_rollCall;
    std::optional<Error> m_over;
};

} // namespace nanscope
