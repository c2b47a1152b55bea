// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/job.h"
#include "core/platform/childprocess.h"
#include "core/scaleout/job.h"
#include "core/scaleout/keyvaluestore.h"
#include "core/scaleout/ledger.h"

namespace nanscope::scaleout {

/// One process of a job.
struct MemberOptions
{
    std::filesystem::path folder; ///< of the job
    int rank = 0; ///< no other process has it
    std::string device = "cpu"; ///< that it replays on
    platform::ChildProgram service; ///< `nanscope-worker serve`, which replays: what ends it costs one block
    std::filesystem::path nanscope; ///< the program that judges in its place, where the job is a diagnosis
    std::string start; ///< the same for all processes that were started together, and for no others
    bool keepsStore = false; ///< the others need this process until they have left

    std::chrono::milliseconds beatEvery {5000};
    std::chrono::milliseconds lookEvery {2000}; ///< at what others have done, once all is handed out
    std::chrono::seconds silence = LedgerOptions().silence;
    std::chrono::seconds patience = LedgerOptions().patience;
};

struct MemberReport
{
    std::int64_t blocks = 0; ///< done by this process
    std::int64_t cells = 0;
    std::int64_t failed = 0; ///< blocks that its service died of, or refused
};

/// Takes blocks and replays them until all are done, by this process or by others. Its cells lie in its part of the
/// folder as soon as they are computed. Fails where it is cancelled, where the store does not answer any more, where
/// the service cannot be started, and where `mostInARow` blocks failed one after the other; the rest is done by others,
/// or by the next start.
Result<MemberReport> work(
    const Job& job, KeyValueStore& store, const MemberOptions& options, const JobContext& context);

constexpr int mostInARow = 3;

} // namespace nanscope::scaleout
