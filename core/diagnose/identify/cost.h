// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "core/base/job.h"
#include "core/model/model.h"
#include "core/replay/program/program.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// What judging one matrix may take at most: every variant identified and replayed over its envelope.
struct JudgingCost
{
    double operations = 0; ///< of the products alone
    std::int64_t bytes = 0; ///< at its peak, besides what the process holds anyway
};

/// Two replays identify a variant, eight are its envelope.
constexpr double replaysOfIdentification = 2;
constexpr double replaysPerVariant = replaysOfIdentification + 8;

JudgingCost judgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue);

/// More than this is days on a large machine.
constexpr double mostJudgingOperations = 1e16;

/// Of the replays that identify what a sweep is made of, for each capture; a few minutes on two cores.
constexpr double mostIdentifyingOperations = 1e13;

/// An error that names the cost where it is beyond what `memory` bytes and a night allow.
Result<void> checkJudgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue, std::int64_t memory);

/// How long captures are judged: until the job is cancelled, or the time is up. What follows the judging is not part of
/// it.
class JudgingTime
{
public:
    /// Without a limit only the job ends it.
    JudgingTime(const JobContext& job, std::optional<std::chrono::duration<double>> limit);

    /// The job to judge under.
    const JobContext& job() const { return m_judging; }

    /// Why the judging ended early: "cancelled", "the time limit of 60 s"; nothing while it may go on.
    std::optional<std::string> stopped() const;

private:
    using Clock = std::chrono::steady_clock;

    bool expired() const { return m_limit && Clock::now() >= m_end; }

    CancelToken m_outer;
    JobContext m_judging;
    std::optional<std::chrono::duration<double>> m_limit;
    Clock::time_point m_end;
    std::jthread m_watch; ///< last: it uses the others
};

} // namespace nanscope::diagnose
