// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/diagnose/diagnoseoptions.h"
#include "core/diagnose/judge.h"

namespace nanscope::diagnose {

/// What `--ran` names. It is in the catalogue then, whatever numbers it has, and so is what sidecars of the run name.
Result<std::vector<Member>> parseAllRan(
    const std::vector<std::string>& ran, const RunData& run, replay::Catalogue& catalogue);

/// Whether the verdict takes replays, by what triage says of it.
bool needsReplay(const CaptureVerdict& verdict, const Capture& capture);

/// Whether the file is read at all.
bool isRead(const Capture* capture);

/// Whether the diagnosis was stopped before it came to this one.
bool leftUnjudged(const Diagnosis& diagnosis, const CaptureVerdict& verdict, const Capture& capture);

/// The same diagnosis while it is judged on: what it left unjudged has no summary yet.
Diagnosis judgedOn(Diagnosis stopped, const RunData& run);

/// What is said of one that is not.
void judgeUnread(CaptureVerdict& verdict, const Capture& capture);

/// What stays the same over the captures of a run.
struct Bench
{
    const RunData& run;
    const DiagnoseOptions& options;
    const std::vector<Member>& given;
    const CaptureIndex& captures;
    replay::Device& device;
    Controls& controls;
    const HardwareEvents words;
    const JobContext& job;
    /// Takes the reason for each capture that the device has not the memory or the format for, which is judged on
    /// core's own CPU device instead; null where that is the device.
    std::vector<std::string>* leftToCpu = nullptr;
};

/// Judges a capture by its file, where that is read. `done` captures were judged before, for the progress. Fails when
/// cancelled, and where the device is lost: then the verdict is as it was.
Result<void> judgeOne(CaptureVerdict& verdict, const Capture& capture, const Bench& bench, std::size_t done);

} // namespace nanscope::diagnose
