// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "core/report/document.h"
#include "core/report/redaction.h"
#include "core/report/reportfiles.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

template <class Range>
Json each(const Range& range)
{
    auto array = Json::array();
    for (const auto& item : range) {
        array.push_back(toJson(item));
    }
    return array;
}

void redactStrings(Json& json, Redactor& redactor)
{
    if (json.is_string()) {
        json = redactor(json.get<std::string>());
    }
    if (json.is_structured()) {
        for (auto& child : json) {
            redactStrings(child, redactor);
        }
    }
}

Json runJson(const RunData& run)
{
    return {{"name", run.name}, {"root", run.root}, {"captures", run.captures.size()}, {"series", run.series.size()},
        {"events", run.events.size()}, {"rejected", run.rejected.size()}};
}

/// What repro.py beside the report does; null where none is there.
Json reproducerJson(const Reproducer* beside)
{
    if (beside == nullptr || beside->readme.empty()) {
        return nullptr;
    }
    if (beside->files.empty()) {
        return {{"run", nullptr}, {"why", beside->readme}};
    }
    auto files = Json::array();
    for (const auto& file : beside->files) {
        files.push_back(file.name);
    }
    return {{"run", "python repro.py"}, {"needs", Json::array({"torch"})}, {"expected_status", beside->expectedStatus},
        {"statuses", {{"0", "reproduced"}, {"1", "not reproduced"}, {"2", "cannot run"}}}, {"why", beside->why},
        {"capture", beside->capture}, {"files", std::move(files)}};
}

} // namespace

Json rejectedJson(std::span<const Rejection> rejected)
{
    return each(rejected);
}

Json sweepJson(std::span<const Cell> cells)
{
    return {{"schema", "nanscope.sweep/1"}, {"cells", each(cells)}};
}

Json capturesJson(const RunData& run)
{
    return {{"schema", "nanscope.captures/1"}, {"captures", each(run.captures)}, {"rejected", each(run.rejected)}};
}

Json seriesJson(const RunData& run)
{
    auto array = Json::array();
    for (const auto& series : run.series) {
        array.push_back(toJson(series, run.name));
    }
    return {{"schema", "nanscope.series/1"}, {"series", std::move(array)}, {"rejected", each(run.rejected)}};
}

Json eventsJson(const RunData& run)
{
    return {{"schema", "nanscope.events/1"}, {"events", each(run.events)}, {"rejected", each(run.rejected)}};
}

Json runsJson(const RunData& run)
{
    return {{"schema", "nanscope.runs/1"}, {"runs", Json::array({runJson(run)})}, {"rejected", each(run.rejected)}};
}

std::string jsonText(const Json& json, int indent)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string jsonReport(const ReportInput& input, const ReportOptions& options)
{
    return report::jsonText(input, options, nullptr);
}

std::string report::jsonText(const ReportInput& input, const ReportOptions& options, const Reproducer* beside)
{
    Json report {{"schema", "nanscope.report/1"}, {"nanscope", NANSCOPE_VERSION}, {"command_line", input.commandLine},
        {"run", runJson(input.run)}, {"diagnosis", toJson(input.diagnosis)}, {"cells", each(input.cells)},
        {"captures", each(input.run.captures)}};
    report["series"] = seriesJson(input.run)["series"];
    report["events"] = each(input.run.events);
    report["rejected"] = each(input.run.rejected);
    report["redacted"] = options.redact;
    if (options.redact) {
        report["run"]["root"] = input.run.name;
    }
    report["reproducer"] = reproducerJson(beside);
    auto redactor = redactorFor(input, options);
    redactStrings(report, redactor);
    return nanscope::jsonText(report, 2) + "\n";
}

} // namespace nanscope
