// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/nanscope/shared/joboptions.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/terminal.h"
#include "core/replay/analysis/sweep.h"
#include "core/scaleout/gather.h"
#include "core/scaleout/job.h"

namespace nanscope {

/// What there is of a job, and how its processes are started.
struct SweepJob
{
    scaleout::Job job;
    scaleout::Gathered gathered;
    JobCommands commands;
    std::int64_t bytes = 0; ///< that all its cells take in the folder, about
    std::optional<std::int64_t> free {}; ///< bytes of the folder's disk
};

/// Of captures whose variants are found by comparison, by their names: those that were not compared in full.
using LeftOutVariants = std::vector<std::pair<std::string, std::vector<std::string>>>;
Json leftOutJson(const LeftOutVariants& leftOut);

/// Makes the job in its folder, or gathers what its processes have done so far; into the session of `source` where that
/// may be written. An empty list of variants means those that may have made each capture.
Result<SweepJob> openSweepJob(const JobOptions& options, const replay::SweepRequest& request,
    const std::vector<const Capture*>& captures, Source& source, Terminal& terminal);

/// How far it is, who did it, and the commands that go on with it.
std::string jobText(const SweepJob& job);
Json jobJson(const SweepJob& job);

} // namespace nanscope
