// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/diagnose/diagnoseoptions.h"
#include "core/diagnose/identify/captureindex.h"
#include "core/diagnose/identify/envelope.h"
#include "core/diagnose/identify/othercalls.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

// What the logs of a run say to all of its captures alike, read once.

/// A line of a log.
struct LogPlace
{
    std::string source;
    std::int64_t line = 0; ///< 0 where it is not known
};

/// A line of a log that speaks of hardware.
struct HardwareError
{
    std::optional<int> rank; ///< where it is said
    std::optional<int> pid; ///< of the process that the driver names
    bool asWritten = false; ///< begins as the driver or the failing process writes it: no quotation, no search for it
    bool ofDriver = false; ///< of a card; whose process used it only its pid says
    bool losesData = false; ///< may leave values that nobody computed; other errors end a process, or are corrected
    LogPlace place {};
    EvidenceLine line;
};

/// What compute-sanitizer reports of a kernel that bears a name of Newton-Schulz.
struct SanitizerReport
{
    std::optional<int> rank;
    EvidenceLine line;
};

struct HardwareEvents
{
    std::string silentRanks; ///< which ranks left no dump, and why that says nothing; empty where none
    std::vector<HardwareError> machine;
    std::vector<SanitizerReport> sanitizer {};
    std::vector<EvidenceLine> quiet {}; ///< of the driver, about what is no hardware error; they accuse nobody
    bool severalRanks = false;
};

HardwareEvents wordsOf(const RunData& run);

/// A captured call, as a log may speak of it.
struct LoggedCall
{
    std::optional<int> rank;
    std::optional<int> pid;
    LogPlace dumped {}; ///< the line that names the dump
};

/// What stays the same over the captures of a run.
struct JudgeContext
{
    const RunData& run;
    const HardwareEvents& words;
    const CaptureIndex& captures;
    const DiagnoseOptions& options;
    const std::vector<Member>& given; ///< what the user says ran
    replay::Device& device;
    Controls& controls;
    const JobContext& job;
    std::size_t done = 0; ///< captures judged before, for the progress
};

/// Replays a capture that triage could not settle and fills in its verdict, with the places its damage may have come
/// from. A batch is settled by its first damaged matrix, unless another one proves more.
Result<void> judgeCapture(CaptureVerdict& verdict, const Capture& stored, const JudgeContext& context);

} // namespace nanscope::diagnose
