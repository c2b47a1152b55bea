// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/report/markdowntext.h"
#include "core/report/report.h"

namespace nanscope {

/// What the sections of one report are written from. Without captures, `verdict` and `capture` are null.
struct ReportFacts
{
    const ReportInput& input;
    const CaptureVerdict* verdict = nullptr;
    const Capture* capture = nullptr;
    MarkdownText text;
};

/// Title and sections 1 to 15, in order.
std::vector<std::string> reportSections(ReportFacts& facts);

/// Section 16: what was redacted so far, version and command line.
std::string closingSection(ReportFacts& facts);

} // namespace nanscope
