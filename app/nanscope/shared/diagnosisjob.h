// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/nanscope/shared/joboptions.h"
#include "app/nanscope/shared/source.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/judgingplan.h"
#include "core/scaleout/gather.h"

namespace nanscope {

/// A diagnosis whose captures many processes judge. The run lies in a session that all of them read.
struct DiagnosisJob
{
    scaleout::Job job;
    scaleout::GatheredVerdicts gathered;
    JobCommands commands;
    diagnose::JudgingPlan plan {}; ///< of what is not judged yet
    std::string measuredOn {}; ///< the device that the plan's rate is of

    /// Verdicts that were made elsewhere, and where.
    void putInto(diagnose::DiagnoseOptions& options) const;
    bool begun() const { return !gathered.parts.empty(); }
};

/// The session of the job that is in the folder already; none where there is no job yet. Fails for a sweep.
Result<std::optional<std::string>> sessionOfJob(const JobOptions& options);

/// Where the run of a new job is kept if no session is named.
std::string newSessionOfJob(const JobOptions& options);

/// Makes the job in its folder, or gathers what its processes have judged so far. `words` are those of the command that
/// decide about verdicts. Refused where the folder holds the job of another run or of other words.
Result<DiagnosisJob> openDiagnosisJob(const JobOptions& options, const std::string& device,
    const std::vector<std::string>& words, const std::string& run, const Source& source);

/// Plans what is not judged yet. Where that is long the speed is measured on this machine, which stands for those of
/// the job; without a GPU here nothing is known of a job on GPUs. `named`: the user says what ran.
void planRest(DiagnosisJob& job, const JobOptions& options, const RunData& run, bool named,
    const replay::Catalogue& catalogue, const CancelToken& cancel);

/// How far it is, who did it, what is left, and the commands that go on with it.
std::string jobText(const DiagnosisJob& job);
Json jobJson(const DiagnosisJob& job);

/// One process of such a job: says what it replays on, then answers each line of standard input, the name of a capture,
/// with its verdict, until the input ends.
Result<int> judgeAsTold(const RunData& run, const diagnose::DiagnoseOptions& options, const CancelToken& cancel);

} // namespace nanscope
