// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/model/model.h"
#include "core/model/verdict.h"
#include "core/scaleout/job.h"
#include "core/scaleout/partlog.h"
#include "core/session/session.h"

namespace nanscope::scaleout {

/// What the parts of a job hold together.
struct Gathered
{
    std::vector<Cell> cells; ///< without op traces, in the order of the job; one of each
    std::int64_t missing = 0; ///< cells that no part holds
    std::vector<PartSummary> parts;
    std::vector<Error> unread; ///< parts that could not be read; the others are as true as before
};

/// What the parts of a diagnosis hold together.
struct GatheredVerdicts
{
    std::map<std::string, CaptureVerdict> verdicts; ///< by the name of the capture
    std::int64_t missing = 0; ///< captures of the job that no part has judged
    std::vector<PartSummary> parts; ///< without their verdicts
    std::vector<Error> unread; ///< parts with a verdict that could not be read, which is missing
};

/// Processes may go on meanwhile.
GatheredVerdicts gatherVerdicts(const Job& job, const std::filesystem::path& folder);

/// Reads the parts and keeps their cells in `into`, with their op traces and under the names that captures have there;
/// nowhere where it is null. A cell that is there already is replaced by an equal one. Processes may go on meanwhile.
Result<Gathered> gather(
    const Job& job, const std::filesystem::path& folder, session::Session* into, const JobContext& context);

} // namespace nanscope::scaleout
