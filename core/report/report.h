// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Writes what was found: the JSON answers of every command, the one-screen report of design section 15 as Markdown
// and as HTML with its pictures, redaction. Knows no SQL and judges nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/report/input/reportoptions.h"
#include "core/report/redact/redaction.h"

namespace nanscope {
class JsonAnswer;
} // namespace nanscope

namespace nanscope::report {

struct ReportInput;

/// Whole answers, with their "schema".
nlohmann::ordered_json sweepJson(std::span<const Cell> cells);
JsonAnswer capturesAnswer(const RunData& run);
JsonAnswer seriesAnswer(const RunData& run);
JsonAnswer eventsAnswer(const RunData& run);
JsonAnswer runsAnswer(const RunData& run);
nlohmann::ordered_json rejectedJson(std::span<const Rejection> rejected);
/// Logs that were begun anew: what each was called, what it is called in the session, and how much it gave.
nlohmann::ordered_json replacedJson(std::span<const ReplacedLog> replaced);

/// One screen a maintainer can act on, then the appendix, folded; at most 65,536 characters. What is not known is left
/// out.
std::string markdownReport(const ReportInput& input, const ReportOptions& options = {});
/// The same sections as one page that needs nothing else: no script, no link, pictures inside.
std::string htmlReport(const ReportInput& input, const ReportOptions& options = {});
/// `beside`: the reproducer that lies in the same folder, or null.
std::string jsonReport(const ReportInput& input, const ReportOptions& options = {}, const Reproducer* beside = nullptr);

/// The pictures the Markdown report links to: an issue takes PNG files that are dragged into it.
struct ReportImage
{
    std::string file; ///< without folders
    std::string png;
};
std::vector<ReportImage> reportImages(const ReportInput& input, const ReportOptions& options);

/// Some twenty lines about one capture, with a tile map in text; for a terminal and a chat. `output` is the map of the
/// batch element shownBatch() names. `words` are repeated in the commands that it suggests.
std::string explainText(
    const Capture& capture, const CaptureVerdict& verdict, const TileMap* output, const std::string& words = {});

/// A tile map as at most `height` lines of at most `width` marks: ╳ NaN, ▲ +Inf, ▼ -Inf, · zero, ░▒▓█ magnitude
/// on a logarithmic scale. A mark shows the worst of what it covers.
std::vector<std::string> tileText(const TileMap& map, int width, int height);

/// Tiles of its output, read from the file, for the picture; none where the file went away since it was listed.
std::optional<TileMap> outputTiles(const ReportInput& input);

/// What a report replaces, in the order it is met.
std::vector<Redaction> reportRedactions(const ReportInput& input, const ReportOptions& options = {});

/// The suspicions of a whole report, which has each of them hidden.
std::vector<Suspicion> suspicionsOf(const ReportInput& input, const ReportOptions& options);

} // namespace nanscope::report
