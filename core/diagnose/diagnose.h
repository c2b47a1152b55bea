// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Turns what is known of a run into triage, verdicts and findings. Every rule is a small function over plain
// values; replays run on core's own CPU device, or on the one that is given. A wrong accusation is worse than none.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/diagnose/diagnoseoptions.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// The series that say how a run went: findings, and where to go back to.
constexpr std::array<std::string_view, 9> diagnosisSeries {"loss", "val_loss", "grad_norm", "loss_scale", "lr",
    "step_time_s", "skipped_iterations", "skipped_steps", "nan_iterations"};

/// Judges every capture of a run. Only births are replayed. Once cancelled, or at the time limit, it gives what it has:
/// Diagnosis::stopped says so, and what is not judged keeps what triage and its damage tell.
Result<Diagnosis> diagnose(const RunData& run, DiagnoseOptions options = {}, const JobContext& job = {});

/// False where nothing would be replayed: no device is opened for it.
bool needsReplays(const RunData& run);

/// The files of captures that could not be judged, with the reason.
std::vector<Rejection> unreadCaptures(const RunData& run, const Diagnosis& diagnosis);

/// Roles, steps, counts, what sidecars say ran and the findings that take no points, from scans and events: cheap, no
/// replay. Verdicts that take one have no summary.
Diagnosis triageRun(const RunData& run, const replay::Catalogue& catalogue = {});

/// Births first and in clusters, counts and headline as the verdicts are by now: what the owner of the run says may
/// make a birth of a healthy call, and part a cluster.
void arrange(Diagnosis& diagnosis, const RunData& run);

} // namespace nanscope::diagnose
