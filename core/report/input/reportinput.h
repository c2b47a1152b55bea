// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a report is made of, and which parts of it are asked for.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::report {

struct ReportInput
{
    RunData run;
    Diagnosis diagnosis;
    std::vector<Cell> cells;
    std::string commandLine;
    std::optional<TileMap> outputTiles = std::nullopt; ///< of shownBatch() of mainCapture(), for its picture
    std::string about = {}; ///< the capture it is about; empty or unknown: that of the first birth
    std::vector<std::string> variantFiles = {}; ///< as they were given, for the commands that it suggests
    std::vector<std::string> ran = {}; ///< likewise, VARIANT or VARIANT:PRECISION
};

/// The parts of a report, in their order; the title is always there.
enum class ReportSection {
    claim,
    facts,
    call,
    when,
    input,
    output,
    numbers,
    control,
    retry,
    experiments,
    against,
    advisories,
    impact,
    reproduce,
    ask,
    redactions,
    console,
    findings,
    rejected,
    captures,
};

/// "claim", as on the command line, and "Claim", as in the report.
std::string_view name(ReportSection section);
std::string_view title(ReportSection section);
/// Its number in the report, 0 in the appendix.
int sectionNumber(ReportSection section);
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
    int total() const { return homes + users + hosts + addresses + emails + secrets + suspicions + given; }
};

struct ReportOptions
{
    bool redact = true;
    std::set<ReportSection> sections = allReportSections(); ///< of Markdown and HTML; JSON is always whole
    std::vector<Redaction> redactions = {}; ///< the user's own: first of all, everywhere, and final
    bool figures = true; ///< in HTML, and as links in Markdown where there is a stem
    std::string imageStem = {}; ///< Markdown links to IMAGESTEM-loss.svg and so on; empty: no pictures
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
};

/// The batch element worth showing: the first whose output is not finite, else the first.
int shownBatch(const Capture& capture);

/// The verdict a report is about: the first birth, else what comes closest to one; nullptr without captures.
const CaptureVerdict* mainVerdict(const Diagnosis& diagnosis);
const CaptureVerdict* mainVerdict(const ReportInput& input);

/// The capture of that verdict; nullptr where it is not there.
const Capture* mainCapture(const ReportInput& input);

/// A control: finite in and out, and nothing about it is suspect. A finite output that is not what the variants give
/// has that role, too, but is of another kind.
inline bool isHealthy(const CaptureVerdict& verdict)
{
    return verdict.role == Role::healthy && verdict.blame == Blame::undecided
        && (verdict.rule == RuleId::fits || verdict.rule == RuleId::fitsInPart || verdict.rule == RuleId::zeroInZeroOut
            || verdict.rule == RuleId::tooLittleToCompare);
}

} // namespace nanscope::report
