// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/probe/nandetector.h"

namespace nanscope::diagnose {

/// Steps that were not finite, with none between them that is known to have been.
struct NanStreak
{
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t logged = 0; ///< of its steps
    std::int64_t sure = 0; ///< the longest row of them without a step between that nothing is known of
    std::vector<int> ranks; ///< whose loss it was, where the logs say so
    bool elsewhere = false; ///< at least once on a rank that they do not name
    EvidenceLine begin;
};

struct LastGood
{
    std::int64_t step = 0;
    double loss = 0;
    bool exact = false; ///< no step between it and the first bad one
    EvidenceLine line;
};

/// Where the detector does something.
struct DetectorStop
{
    std::int64_t step = 0;
    std::string message; ///< the detector's line of this step; empty where its last good loss is not known
    EvidenceLine line;
};

/// What the run did after the stop that it did not make.
enum class Afterwards {
    notStopped,
    recovered, ///< finite again, and for long: a false alarm
    relapsed, ///< finite again for fewer steps than the detector has patience for
    stayedBad,
    unknown, ///< the log ends there, or its loss cannot show it
};

std::string_view name(Afterwards afterwards);

struct Recovery
{
    Afterwards outcome = Afterwards::notStopped;
    std::int64_t step = 0; ///< the first finite one
    std::optional<double> loss; ///< where a line says it
    std::int64_t finiteSteps = 0; ///< until the next that was not, or the end
    std::int64_t stepsLost = 0; ///< from the stop to the last step of the log
    EvidenceLine line;
};

/// A step whose logged loss need not be what the detector would have seen.
struct SuspectedStep
{
    std::int64_t step = 0;
    EvidenceLine line;
};

/// What the detector of the what-if is like.
struct DetectorQuestion
{
    probe::NanDetectorOptions options {};
    bool checkGradients = false; ///< its caller asks it about gradients too, and leaves the update out on that answer
};

/// What a detector with other settings would have done to one process, as far as its log tells.
struct DetectorReplay
{
    probe::NanDetectorOptions options;
    bool checkGradients = false;
    std::vector<int> ranks; ///< whose losses are logged; empty where the log names none
    std::vector<std::string> sources;
    int process = 0; ///< counted from 0, of the processes that wrote this log one after the other
    int processes = 1;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    bool ownDetector = false; ///< the run had one, so every step that was not finite is named
    std::int64_t offset = 0; ///< printed step minus the detector's
    std::int64_t interval = 1;
    bool checkable = true; ///< rows of consecutive steps can be recognised

    std::optional<DetectorStop> first; ///< where it first speaks, for certain
    std::optional<DetectorStop> stop; ///< for certain
    std::optional<std::int64_t> stopAtWorst; ///< if what is not known was not finite either; earlier than `stop`
    std::int64_t total = 0; ///< steps left out, up to the stop
    std::vector<std::int64_t> skipped; ///< the first of them, as many as its history holds
    std::vector<std::int64_t> byGradients; ///< left out by the gradient check, up to the stop; in no count
    std::optional<LastGood> lastGood;
    Recovery afterwards;

    std::int64_t badSteps = 0; ///< of the whole log
    std::int64_t openRow = 0; ///< the log ends in a row of so many bad steps: how long it would have been is not known
    std::vector<NanStreak> streaks;
    std::vector<std::optional<std::int64_t>>
        everySetting; ///< stop with max_consecutive 1, 2, …; the last does not stop in this log
    std::vector<SuspectedStep> suspected; ///< counted apart
    std::vector<SuspectedStep> unseen; ///< finite loss, gradient norm not: no detector of losses fires
    std::vector<EvidenceLine> notes; ///< what is assumed, and what the log cannot show
};

/// One answer for every process whose losses are logged.
std::vector<DetectorReplay> replayDetector(const RunData& run, const DetectorQuestion& question);

} // namespace nanscope::diagnose
