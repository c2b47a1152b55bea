// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Writes what was found: the JSON answers of every command, the one-screen report of design section 15 as Markdown
// and as HTML with its pictures, redaction. Knows no SQL and judges nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/model/model.h"

namespace nanscope {
class JsonAnswer;
} // namespace nanscope

namespace nanscope::report {

/// Whole answers, with their "schema".
nlohmann::ordered_json sweepJson(std::span<const Cell> cells);
JsonAnswer capturesAnswer(const RunData& run);
JsonAnswer seriesAnswer(const RunData& run);
JsonAnswer eventsAnswer(const RunData& run);
JsonAnswer runsAnswer(const RunData& run);
nlohmann::ordered_json rejectedJson(std::span<const Rejection> rejected);
/// Logs that were begun anew: what each was called, what it is called in the session, and how much it gave.
nlohmann::ordered_json replacedJson(std::span<const ReplacedLog> replaced);

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
std::optional<ReportSection> parseReportSection(std::string_view name);
std::set<ReportSection> allReportSections();

/// A text and what stands for it.
struct Redaction
{
    std::string text;
    std::string replacement;
    int count = 0; ///< how often it was replaced
};

struct ReportOptions
{
    bool redact = true;
    std::set<ReportSection> sections = allReportSections(); ///< of Markdown and HTML; JSON is always whole
    std::vector<Redaction> redactions = {}; ///< the user's own: first of all, everywhere, and final
    bool figures = true; ///< in HTML, and as links in Markdown where there is a stem
    std::string imageStem = {}; ///< Markdown links to IMAGESTEM-loss.svg and so on; empty: no pictures
};

/// What an issue body holds.
constexpr std::size_t maxReportCharacters = 65536;

/// One screen a maintainer can act on, then the appendix; at most 65,536 characters. What is not known is "not
/// recorded".
std::string markdownReport(const ReportInput& input, const ReportOptions& options = {});
/// The same sections as one page that needs nothing else: no script, no link, pictures inside.
std::string htmlReport(const ReportInput& input, const ReportOptions& options = {});
std::string jsonReport(const ReportInput& input, const ReportOptions& options = {});

/// The pictures the Markdown report links to.
struct ReportImage
{
    std::string file; ///< without folders
    std::string svg;
};
std::vector<ReportImage> reportImages(const ReportInput& input, const ReportOptions& options);

/// Fifteen lines about one capture, with a tile map in text; for a terminal and a chat. `output` is the map of the
/// batch element shownBatch() names. `words` are repeated in the commands that it suggests.
std::string explainText(
    const Capture& capture, const CaptureVerdict& verdict, const TileMap* output, const std::string& words = {});

/// The batch element worth showing: the first whose output is not finite, else the first.
int shownBatch(const Capture& capture);

/// The verdict a report is about: the first birth, else what comes closest to one; nullptr without captures.
const CaptureVerdict* mainVerdict(const Diagnosis& diagnosis);
const CaptureVerdict* mainVerdict(const ReportInput& input);

/// The capture of that verdict; nullptr where it is not there.
const Capture* mainCapture(const ReportInput& input);

/// Tiles of its output, read from the file, for the picture; none where the file went away since it was listed.
std::optional<TileMap> outputTiles(const ReportInput& input);

/// Replaces host names, user names and home paths as they occur in console text and paths.
std::string redact(const std::string& text);

/// What redact() replaces in a text, and what a report replaces, in the order it is met.
std::vector<Redaction> redactionsIn(const std::string& text);
std::vector<Redaction> reportRedactions(const ReportInput& input, const ReportOptions& options = {});

} // namespace nanscope::report
