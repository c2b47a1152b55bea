// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which parts of a report are asked for, and what goes with it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope::report {

/// The parts of a report, in their order; the title is always there. The first five are one screen, the others are the
/// appendix. A part that has nothing to say is left out.
enum class ReportSection {
    claim,
    output,
    evidence,
    reproduce,
    ask,
    call,
    when,
    input,
    numbers,
    limits,
    control,
    retry,
    experiments,
    advisories,
    impact,
    facts,
    console,
    findings,
    rejected,
    captures,
    redactions,
};

/// "claim", as on the command line, and "Result", as in the report.
std::string_view name(ReportSection section);
std::string_view title(ReportSection section);
bool inAppendix(ReportSection section);
/// "against" is an older name of "evidence".
std::optional<ReportSection> parseReportSection(std::string_view name);
std::set<ReportSection> allReportSections();

/// A text and what stands for it.
struct Redaction
{
    std::string text;
    std::string replacement;
    int count = 0; ///< how often it was replaced
};

/// How often each kind of private text was replaced.
struct RedactionCounts
{
    int homes = 0;
    int users = 0;
    int hosts = 0;
    int addresses = 0;
    int emails = 0;
    int secrets = 0;
    int suspicions = 0; ///< hidden because of their randomness alone
    int given = 0; ///< chosen by the user
};

struct ReportOptions
{
    bool redact = true;
    std::set<ReportSection> sections = allReportSections(); ///< of Markdown and HTML; JSON is always whole
    std::vector<Redaction> redactions = {}; ///< the user's own: first of all, everywhere, and final
    bool figures = true; ///< in HTML, and as links in Markdown where there is a stem
    std::string imageStem = {}; ///< Markdown links to IMAGESTEM-1.png and so on; empty: no pictures
};

struct ReportFile
{
    std::string name; ///< without folders
    std::string bytes;
};

/// Files that show the failed call again; core/reproduce makes them.
struct Reproducer
{
    std::vector<ReportFile> files {}; ///< repro.py first; empty where there is none
    std::string readme {}; ///< what README.txt says of them, or why there are none
    int expectedStatus = 1; ///< of python repro.py: 0 reproduced, 1 not reproduced
    std::string why {}; ///< it is expected to end so
    std::string capture {}; ///< what the tensors are that it reads
    std::string function {}; ///< that its --impl calls, quoted for a shell
};

} // namespace nanscope::report
