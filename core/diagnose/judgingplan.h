// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// What judging a run is going to do, told before it begins. Operations are those of the products of replays.
struct JudgingPlan
{
    std::int64_t captures = 0; ///< that are replayed
    MatrixShape largest {}; ///< of their matrices
    double usualOperations = 0; ///< of as many replays as verdicts took so far, as a rule
    double mostOperations = 0; ///< none of them is spared
    double comparedElements = 0; ///< of the outputs of the usual replays, which the host compares
    double rate = 0; ///< operations per second of the device, measured; 0 where the plan is too short for that
    std::int64_t devices = 1; ///< as fast as that one, which share the captures
    double largestShare = 0; ///< of the usual operations, of one capture: no capture is shared

    /// So long that it is worth a word.
    bool isLong() const;
    /// Until the last of the devices is done.
    double usualSeconds() const;
    double mostSeconds() const;
};

struct CaptureToReplay
{
    const Capture* capture = nullptr;
    bool named = false; ///< what ran is said, by the sidecar or by the user
};

/// `rate` is left open.
JudgingPlan judgingPlan(const std::vector<CaptureToReplay>& captures, const replay::Catalogue& catalogue);

/// "Judging replays 3 captures, the largest 4096 × 11008: about 5 minutes at the 95 GFLOP/s measured on cpu (..)"; of
/// several devices "measured on cpu for each of 8 devices".
std::string textOf(const JudgingPlan& plan, const std::string& device);

/// Tells the plan to whoever follows the job: phase "planned", the usual seconds as its total.
Progress progressOf(const JudgingPlan& plan, const std::string& device);

} // namespace nanscope::diagnose
