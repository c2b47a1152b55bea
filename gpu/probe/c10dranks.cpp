// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/c10dranks.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "gpu/torchguard.h"

namespace nanscope {

namespace {

using Clock = std::chrono::steady_clock;

// gloo ends an exchange by itself at the limit, and says more than we can: it comes first.
constexpr std::chrono::milliseconds grace {1000};
constexpr std::chrono::milliseconds betweenQuestions {250};

/// Waits a little longer each time: an exchange mostly takes microseconds, and one that does not has stopped.
class Pause
{
public:
    void operator()()
    {
        if (m_turns < spins) {
            ++m_turns;
            std::this_thread::yield();
            return;
        }
        std::this_thread::sleep_for(m_length);
        m_length = std::min(2 * m_length, longest);
    }

private:
    static constexpr int spins = 100;
    static constexpr std::chrono::microseconds longest {2000};
    int m_turns = 0;
    std::chrono::microseconds m_length {20};
};

} // namespace

/// What `work` returns, unless all is over already. Torch reports by exceptions, and the other ranks hear of them.
template <class Work>
auto C10dRanks::kept(Work work) -> decltype(work())
{
    if (m_over) {
        return tl::make_unexpected(*m_over);
    }
    try {
        const at::NoGradGuard noGradients;
        return work();
    } catch (const std::exception& error) {
        return giveUp(firstLine(error.what()));
    }
}

C10dRanks::C10dRanks(c10::intrusive_ptr<c10d::Backend> group, C10dOptions options)
    : m_group(std::move(group))
    , m_options(std::move(options))
    , m_rollCall(m_options.store, m_options.name, m_group->getRank(), m_group->getSize())
{ }

at::Device C10dRanks::device() const
{
    return m_group->getBackendName() == "nccl" ? at::Device(at::kCUDA) : at::Device(at::kCPU);
}

template <class T>
Result<std::vector<T>> C10dRanks::reduced(const std::vector<T>& mine, c10d::ReduceOp::RedOpType operation)
{
    return kept([&]() -> Result<std::vector<T>> {
        auto values = at::tensor(mine).to(device());
        return reduce(values, operation).map([&] {
            const auto found = values.cpu();
            const auto* first = found.template const_data_ptr<T>();
            return std::vector<T>(first, first + mine.size());
        });
    });
}

Result<std::uint8_t> C10dRanks::maximum(std::uint8_t mine)
{
    return reduced<std::uint8_t>({mine}, c10d::ReduceOp::MAX).map([](const auto& most) { return most.front(); });
}

Result<float> C10dRanks::sum(float mine)
{
    return reduced<float>({mine}, c10d::ReduceOp::SUM).map([](const auto& sum) { return sum.front(); });
}

/// The smallest is the largest of the negated: one exchange finds both.
Result<probe::StepRange> C10dRanks::range(std::int64_t mine)
{
    return reduced<std::int64_t>({mine, -mine}, c10d::ReduceOp::MAX).map([](const auto& most) {
        return probe::StepRange {-most[1], most[0]};
    });
}

Result<void> C10dRanks::reduce(at::Tensor& tensor, c10d::ReduceOp::RedOpType operation)
{
    return kept([&] {
        c10d::AllreduceOptions options;
        options.reduceOp = operation;
        options.timeout = m_options.timeout;
        std::vector<at::Tensor> tensors {tensor};
        return waitFor(*m_group->allreduce(tensors, options));
    });
}

/// Work::wait() keeps no limit under NCCL, and does not hear of ranks that have given up.
Result<void> C10dRanks::waitFor(c10d::Work& work)
{
    const auto until = Clock::now() + m_options.timeout + grace;
    auto question = Clock::now() + betweenQuestions;
    for (Pause pause; !work.isCompleted(); pause()) {
        const auto now = Clock::now();
        if (now > until) {
            return giveUp(fmt::format("no answer within {} ms", m_options.timeout.count()));
        }
        if (now > question) {
            if (m_rollCall.someoneGaveUp()) {
                return giveUp("another rank gave up");
            }
            question = now + betweenQuestions;
        }
    }
    work.wait();
    return {};
}

tl::unexpected<Error> C10dRanks::giveUp(const std::string& reason)
{
    const auto who = m_rollCall.giveUp(m_options.patience);
    m_over = Error {ErrorKind::internal,
        fmt::format(
            "the ranks could not agree whether a value is not finite (rank {}: {}){}{}. A rank has ended, or asks "
            "fewer times than the others: end the run",
            rank(), reason, who.empty() ? "" : "; ", who),
        {}};
    return tl::make_unexpected(*m_over);
}

} // namespace nanscope
