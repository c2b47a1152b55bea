// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/fwd.h"
#include "core/report/reportfiles.h"
#include "ui/jobs/runloader.h"

namespace nanscope {

/// What a report is made of, as it is when it is asked for.
struct ReportSubject
{
    LoadedRun run;
    std::string about; ///< as in ReportInput
};

/// What would leave the window now.
struct ReportPreview
{
    std::string about; ///< file name of the capture it is about, empty without captures
    std::string issue; ///< the body of an issue: without pictures, which it cannot hold
    std::vector<report::ReportFile> files; ///< the Markdown as saved under its suggested name, and its pictures
    std::vector<report::Redaction> redactions; ///< made in the issue text
};

/// "RUN-report.md", which also names the pictures.
std::string suggestedReportName(const RunData& run);

/// Where to go back to by the verdicts as they are weighed now, by ticks and by what was seen; none where the run was
/// not advised on. Reads the points of the run.
Result<std::optional<Rollback>> adviceOf(const LoadedRun& run);

/// Reads the run afresh from its session.
Result<report::ReportInput> reportInput(const ReportSubject& subject);
/// The same for a report that is otherwise as it was: reads the cells alone.
Result<void> refreshCells(report::ReportInput& input, const ReportSubject& subject);
ReportPreview reportPreview(const report::ReportInput& input, const report::ReportOptions& options);

} // namespace nanscope
