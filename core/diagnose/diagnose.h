// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Turns what is known of a run into triage, verdicts and findings. Every rule is a small function over plain
// values; replays run on core's own CPU device, or on the one that is given. A wrong accusation is worse than none.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/findings/advisories.h"
#include "core/diagnose/findings/findings.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::replay {
class Device;
} // namespace nanscope::replay

namespace nanscope::diagnose {

struct JudgingPlan;

struct DiagnoseOptions
{
    /// What the user says ran: "VARIANT" or "VARIANT:PRECISION"; several widen the plausible set.
    std::vector<std::string> ran;
    bool nothingElse = false; ///< the user says that no other code touched the input or the result
    bool otherCode = false; ///< the user says that some did
    FindingChoices findings {};
    std::vector<Advisory> advisories {}; ///< of the user, beside those that are built in
    std::optional<double> timeLimit {}; ///< seconds, after which no other capture is judged
    replay::Catalogue catalogue {}; ///< what may have run
    std::shared_ptr<replay::Device> device {}; ///< that replays; null for core's own CPU device
    /// An earlier diagnosis of the same run with the same options, that was stopped: what was replayed for it is not
    /// replayed again.
    std::shared_ptr<const Diagnosis> stopped {};
    /// Which captures are judged before the others, whose order stays; none are where it is empty.
    std::function<bool(const CaptureVerdict&)> first {};
    /// What another process made of a capture (capturejudge.h), by what triage says of it. Where this is set nothing is
    /// read or replayed here: what it gives nothing for stays unjudged, and Diagnosis::stopped counts that.
    std::function<std::optional<CaptureVerdict>(const CaptureVerdict&)> judgedElsewhere {};
    std::string elsewhere {}; ///< what those were replayed on, as Diagnosis::replayedOn
    /// Told on the judging thread what is going to be replayed, before the first replay of a judgement that takes long,
    /// with the name of the device.
    std::function<void(const JudgingPlan&, const std::string& device)> planned {};
    /// Called on the judging thread with each capture: before its replays, with the damage and without a summary, and
    /// once it is judged.
    std::function<void(const CaptureVerdict&)> arrived = [](const CaptureVerdict&) {};
};

/// The series that say how a run went: findings, and where to go back to.
constexpr std::array<std::string_view, 9> diagnosisSeries {"loss", "val_loss", "grad_norm", "loss_scale", "lr",
    "step_time_s", "skipped_iterations", "skipped_steps", "nan_iterations"};

/// Judges every capture of a run. Only births are replayed. Once cancelled, or at the time limit, it gives what it has:
/// Diagnosis::stopped says so, and what is not judged keeps what triage and its damage tell.
Result<Diagnosis> diagnose(const RunData& run, const DiagnoseOptions& options = {}, const JobContext& job = {});

/// False where nothing would be replayed: no device is opened for it.
bool needsReplays(const RunData& run);

/// The files of captures that could not be judged, with the reason.
std::vector<Rejection> unreadCaptures(const RunData& run, const Diagnosis& diagnosis);

/// Roles, steps, counts, what sidecars say ran and the findings that take no points, from scans and events: cheap, no
/// replay. Verdicts that take one have no summary.
Diagnosis triageRun(const RunData& run, const replay::Catalogue& catalogue = {});

} // namespace nanscope::diagnose
