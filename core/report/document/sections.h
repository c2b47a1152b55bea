// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/fwd.h"
#include "core/report/document/document.h"
#include "core/report/input/reportinput.h"
#include "core/report/redact/redaction.h"

namespace nanscope::report {

/// What the sections of one report are written from. Without captures, `verdict` and `capture` are null.
struct ReportFacts
{
    const ReportInput& input;
    const ReportOptions& options;
    const CaptureVerdict* verdict = nullptr;
    const Capture* capture = nullptr;
    const Reproducer* reproducer = nullptr; ///< in the same folder
};

/// Empty: the section has nothing to say and is left out.
using Blocks = std::vector<Block>;

Phrase titleOf(const ReportFacts& facts);

Blocks claim(const ReportFacts& facts);

/// The births that were judged otherwise than the one the report is about: a line each, part of the claim.
Blocks otherBirths(const ReportFacts& facts);
Blocks outputFacts(const ReportFacts& facts);
Blocks evidence(const ReportFacts& facts);
Blocks reproduce(const ReportFacts& facts);
Blocks ask(const ReportFacts& facts);
Blocks call(const ReportFacts& facts);
Blocks when(const ReportFacts& facts);
Blocks inputFacts(const ReportFacts& facts);
Blocks numbersAcquitted(const ReportFacts& facts);
Blocks limits(const ReportFacts& facts);
Blocks control(const ReportFacts& facts);
Blocks retry(const ReportFacts& facts);
Blocks experiments(const ReportFacts& facts);
Blocks advisories(const ReportFacts& facts);
Blocks impact(const ReportFacts& facts);
Blocks minimalFacts(const ReportFacts& facts);

/// The last section; the command line is clean, and `counts` is what was redacted everywhere.
Blocks redactions(const ReportFacts& facts, const std::string& command, const RedactionCounts& counts);

Blocks consoleAroundBirth(const ReportFacts& facts);
Blocks findings(const ReportFacts& facts);
Blocks rejectedFiles(const ReportFacts& facts);
Blocks captureTable(const ReportFacts& facts);

/// The pictures of a section; none where the data for them is missing.
Blocks figuresOf(ReportSection section, const ReportFacts& facts, Redactor& redactor);

} // namespace nanscope::report
