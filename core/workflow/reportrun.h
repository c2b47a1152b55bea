// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/model/verdict.h"
#include "core/report/report.h"
#include "core/session/session.h"
#include "core/workflow/userfiles.h"

namespace nanscope::workflow {

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
    std::string commandLine {}; ///< as ReportInput
    std::string about {}; ///< as ReportInput
    replay::Catalogue catalogue {}; ///< what cells have to have been replayed with
};

/// Cells of a session are taken where their variants are still defined as they were.
Result<report::ReportInput> reportInput(ReportSource source, const session::Session* session);

/// " --spike-rule olmo --silence P12,P13": what the command line of a report repeats of checked choices.
std::string findingWords(const diagnose::FindingChoices& choices);

} // namespace nanscope::workflow
