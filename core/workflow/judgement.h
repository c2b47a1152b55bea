// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A diagnosis as a session keeps it, as it is shown, and as a report is written of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/diagnosisrules.h"
#include "core/model/verdict.h"
#include "core/session/session.h"
#include "core/workflow/userfiles.h"

namespace nanscope::report {
struct ReportInput;
} // namespace nanscope::report

namespace nanscope::workflow {

/// What a diagnosis was drawn from. Where one of these is another by now, the run is to be judged again.
struct JudgedFrom
{
    int rules = diagnosisRules;
    std::string run {}; ///< how much the run held
    std::string userFiles {}; ///< hash of the user's files and of the variants that the session keeps; empty for none
    std::string spikeRule {}; ///< as FindingChoices; which cards were silenced tells the diagnosis itself
    std::optional<std::int64_t> newestPoints {}; ///< of each series; none for all (openrun.h)
    std::vector<std::string> ran {}; ///< as DiagnoseOptions, as are the next two
    bool nothingElse = false;
    bool otherCode = false;

    /// newestPoints follows from the run. What the user said is not compared: where nothing is said now, it still
    /// counts.
    bool operator==(const JudgedFrom& other) const { return sameVerdicts(other) && spikeRule == other.spikeRule; }

    /// No capture is to be judged again, whatever the findings were drawn by.
    bool sameVerdicts(const JudgedFrom& other) const
    {
        return rules == other.rules && run == other.run && userFiles == other.userFiles;
    }
};

/// `choices` as checked() gives them.
JudgedFrom judgedFrom(const RunData& run, const UserFiles& files, const diagnose::FindingChoices& choices,
    const session::Session* session);

struct StoredDiagnosis
{
    Diagnosis diagnosis;
    JudgedFrom from;
};

/// The diagnosis that a session keeps; none where there is none, or where it cannot be read.
std::optional<StoredDiagnosis> storedDiagnosis(const session::Session& session);

/// Keeps a diagnosis that was not stopped.
Result<void> storeDiagnosis(session::Session& session, const Diagnosis& diagnosis, const JudgedFrom& from);

/// In place of the name of what ran: nobody says it any more.
constexpr std::string_view anyRan = "any";

/// Where nothing is said of what ran, what was said when the diagnosis of the session was drawn counts: a report must
/// not contradict the diagnosis before it. True where something was taken.
bool takeStoredWords(diagnose::DiagnoseOptions& options, const session::Session& session);

/// A kept diagnosis as the user chose its findings by now. What took the points of the run and another spike rule is
/// left out, for findAgain() to say.
Diagnosis asChosen(StoredDiagnosis stored, const RunData& run, const diagnose::FindingChoices& choices);

/// The same verdicts, and findings by other choices, asked anew of the run's points: nothing is replayed. `run` holds
/// its points, and the environment that the user's files hold.
Diagnosis findAgain(
    Diagnosis diagnosis, const RunData& run, const diagnose::FindingChoices& choices, const CancelToken& cancel = {});

/// Puts findings by other choices in place of those that a session keeps beside its verdicts.
Result<void> storeFindings(
    session::Session& session, std::vector<Finding> findings, const diagnose::FindingChoices& choices);

/// What the session keeps of what the owner of the run saw. Observations that cannot be argued with, as a stranger's
/// session may hold them, are taken as not made.
Result<Observations> storedObservations(const session::Session& session);
Result<void> storeObservations(session::Session& session, const Observations& observed);

/// The diagnosis as it is shown: over what the owner of the run said ran and argued with what they saw, advice
/// included, and with the files of the user's own variants and the checkpoint to resume from in its commands; with
/// `nameOnly` without their folders. `run` holds its points.
Diagnosis weighed(Diagnosis diagnosis, const Observations& observed, const RunData& run, const UserFiles& files,
    const replay::Catalogue& catalogue, bool nameOnly);

/// What a report of a judged run is written of.
struct ReportSource
{
    RunData run; ///< with its points, and with the environment that the user's files hold
    Diagnosis diagnosis; ///< as it was judged, before what the owner of the run saw
    Observations observed {};
    std::vector<Cell> cells {}; ///< of a run without a session; of others the session holds them
    UserFiles files {};
    bool namesOnly = true; ///< the folders of the user's files stay private
    std::vector<std::string> ran {}; ///< as ReportInput
    bool nothingElse = false; ///< as ReportInput
    bool otherCode = false; ///< as ReportInput
    std::string commandLine {}; ///< as ReportInput
    std::string about {}; ///< as ReportInput
    replay::Catalogue catalogue {}; ///< what cells have to have been replayed with
};

/// Takes the cells of the session, else those given, into a report that is otherwise as it was.
Result<void> takeCells(report::ReportInput& input, std::vector<Cell> cells, const session::Session* session,
    const replay::Catalogue& catalogue);

/// Cells of a session are taken where their variants are still defined as they were.
Result<report::ReportInput> reportInput(ReportSource source, const session::Session* session);

/// " --spike-rule olmo --silence P12,P13": what the command line of a report repeats of checked choices.
std::string findingWords(const diagnose::FindingChoices& choices);

} // namespace nanscope::workflow
