// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/cost.h"

#include <algorithm>

#include <fmt/format.h>

namespace nanscope::diagnose {

JudgingCost judgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue)
{
    const auto matrixBytes = shape.rows * shape.cols * static_cast<std::int64_t>(sizeof(double));
    JudgingCost cost;
    for (const auto* variant : catalogue.all()) {
        replay::CompileOptions options;
        options.precision = Precision::fp64;
        if (const auto program = replay::compileProgram(*variant, {1, shape.rows, shape.cols}, options)) {
            cost.operations += replaysPerVariant * program->gemmFlops();
            cost.bytes = std::max(cost.bytes, program->workspaceBytes(sizeof(double)));
        }
    }
    // The input, the captured output, a moved input and the outputs that are compared.
    constexpr std::int64_t matricesHeld = 5;
    cost.bytes += matricesHeld * matrixBytes;
    return cost;
}

Result<void> checkJudgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue, std::int64_t memory)
{
    const auto cost = judgingCost(shape, catalogue);
    if (cost.operations <= mostJudgingOperations && cost.bytes <= memory) {
        return {};
    }
    constexpr double gibibyte = 1U << 30;
    return failure(ErrorKind::refused,
        fmt::format(
            "the replays that judge a {} × {} matrix take up to {:.0f} GiB of memory and {:.1e} operations, more "
            "than is begun here ({:.0f} GiB, {:.0e}); sweep the variant that ran with nanscope-worker on a GPU",
            shape.rows, shape.cols, static_cast<double>(cost.bytes) / gibibyte, cost.operations,
            static_cast<double>(memory) / gibibyte, mostJudgingOperations));
}

JudgingTime::JudgingTime(const JobContext& job, std::optional<std::chrono::duration<double>> limit)
    : m_outer(job.cancel)
    , m_judging(job)
    , m_limit(limit)
{
    if (!m_limit) {
        return;
    }
    // A token of its own: what comes after the judging still listens to the job's.
    m_judging.cancel = CancelToken();
    // What the clock cannot count to is no limit.
    constexpr std::chrono::duration<double> longest = std::chrono::years(30);
    m_end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(*m_limit, longest));
    m_watch = std::jthread([this](const std::stop_token& stop) {
        constexpr auto between = std::chrono::milliseconds(20);
        while (!stop.stop_requested() && !m_judging.cancel.cancelled()) {
            if (expired() || m_outer.cancelled()) {
                m_judging.cancel.cancel();
            }
            std::this_thread::sleep_for(between);
        }
    });
}

std::optional<std::string> JudgingTime::stopped() const
{
    if (m_outer.cancelled()) {
        return "cancelled";
    }
    return expired() ? std::optional(fmt::format("the time limit of {:g} s", m_limit->count())) : std::nullopt;
}

} // namespace nanscope::diagnose
