// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>

#include "core/model/fwd.h"
#include "ui/jobs/runloader.h"

namespace nanscope {

struct ReadRun
{
    LoadedRun loaded;
    bool changed = false; ///< it is to be judged: there is no diagnosis, or one that was drawn from something else
};

/// Hears of a run before all of its logs are read.
using EarlyRun = std::function<void(const LoadedRun& run)>;

/// Opens the session of a folder (or a session file), imports what is new and reads it all. Where no session can be
/// written, the run is read without one and `sessionProblem` says why. Of a run to compare with nobody asks
/// `userContextOf`. `early` hears of the captures where the logs are so large that they take long.
Result<ReadRun> loadRun(const std::filesystem::path& path, const JobContext& job,
    const UserContextOf& userContextOf = {}, const EarlyRun& early = {});

/// The same run again as the window holds it: what its owner said of it stays. Where its session is gone by now, what
/// the window holds of it is stored in a new one.
Result<ReadRun> loadAgain(const LoadedRun& run, const JobContext& job);

/// The run with the points that it is judged by (core/workflow/judgingpoints.h).
Result<RunData> runWithPoints(const LoadedRun& run);

/// A device of the worker that stays open from one judgement to the next.
struct OpenDevice
{
    rpc::DevicePlace place;
    std::shared_ptr<replay::Device> device; ///< none for core's own CPU device
};

/// Judges a run by what was chosen of its findings, and stores the diagnosis in its session, if it has one. The device
/// is opened where something is to be replayed and `open` is another, or lost. Where it cannot be opened the run is
/// judged on the CPU, and Diagnosis::replayedOn says why.
Result<Diagnosis> judgeRun(const LoadedRun& run, diagnose::DiagnoseOptions options, const rpc::DevicePlace& place,
    OpenDevice& open, const JobContext& job);

/// The findings of a judged run by what is chosen of them now: no capture is replayed. Stored like the diagnosis.
Result<std::vector<Finding>> findingsAgain(const LoadedRun& run, const CancelToken& cancel);

/// Every verdict over what the owner of the run ticked and saw; null while nothing is known.
std::shared_ptr<const Diagnosis> tickedOf(const LoadedRun& run);

/// Keeps what the owner of the run saw in the run's own session.
Result<void> storeObserved(const LoadedRun& run, const Observations& observed);

} // namespace nanscope
