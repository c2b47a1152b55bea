// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A diagnosis as a session keeps it, and as it is shown.
#pragma once

#include <optional>
#include <string>

#include "core/model/diagnosisrules.h"
#include "core/session/session.h"
#include "core/workflow/userfiles.h"

namespace nanscope::workflow {

/// What a diagnosis was drawn from. Where one of these is another by now, the run is to be judged again.
struct JudgedFrom
{
    int rules = diagnosisRules;
    std::string run {}; ///< how much the run held
    std::string userFiles {}; ///< hash of the user's files and of the variants that the session keeps; empty for none
    std::optional<std::int64_t> newestPoints {}; ///< of each series; none for all (judgingpoints.h)

    /// newestPoints follows from the run.
    bool operator==(const JudgedFrom& other) const
    {
        return rules == other.rules && run == other.run && userFiles == other.userFiles;
    }
};

JudgedFrom judgedFrom(const RunData& run, const UserFiles& files, const session::Session* session);

struct StoredDiagnosis
{
    Diagnosis diagnosis;
    JudgedFrom from;
};

/// The diagnosis that a session keeps; none where there is none, or where it cannot be read.
std::optional<StoredDiagnosis> storedDiagnosis(const session::Session& session);

/// Keeps a diagnosis that was not stopped.
Result<void> storeDiagnosis(session::Session& session, const Diagnosis& diagnosis, const JudgedFrom& from);

/// What the session keeps of what the owner of the run saw. Observations that cannot be argued with, as a stranger's
/// session may hold them, are as if nobody had made them.
Result<Observations> storedObservations(const session::Session& session);
Result<void> storeObservations(session::Session& session, const Observations& observed);

/// The diagnosis as it is shown: argued with what the owner of the run saw, advice included, and with the files of the
/// user's own variants in its commands; with `nameOnly` without their folders. `run` holds its points.
Diagnosis weighed(
    Diagnosis diagnosis, const Observations& observed, const RunData& run, const UserFiles& files, bool nameOnly);

} // namespace nanscope::workflow
