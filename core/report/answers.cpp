// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "core/report/document.h"
#include "core/report/redaction.h"
#include "core/report/reportfiles.h"
#include "core/report/words.h"

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

/// "console.log:12" of what was read there, else the place in the report itself.
std::string placeOf(const Json& json, const std::string& place)
{
    const bool read = json.is_object() && json.contains("line") && json["line"].is_number() && json.contains("source")
        && json["source"].is_string();
    return read ? json["source"].get<std::string>() + ":" + json["line"].dump() : place;
}

void redactStrings(Json& json, Redactor& redactor, const std::string& parent)
{
    if (json.is_string()) {
        redactor.enter(parent);
        json = redactor(json.get<std::string>());
    }
    if (!json.is_structured()) {
        return;
    }
    const auto place = placeOf(json, parent);
    const auto inside = place == parent && !parent.empty() ? parent + "." : std::string {};
    for (const auto& [key, child] : json.items()) {
        redactStrings(child, redactor, place == parent ? inside + key : place);
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

Json replacedJson(std::span<const ReplacedLog> replaced)
{
    auto array = Json::array();
    for (const auto& log : replaced) {
        array.push_back({{"path", log.path}, {"source", log.source}, {"points", pointsOf(log.records)},
            {"events", log.records.events.size()}});
    }
    return array;
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
    for (const auto& log : run.replaced) {
        for (const auto& series : log.records.series) {
            array.push_back(toJson(series, run.name));
            array.back()["replaced"] = true;
        }
    }
    return {{"schema", "nanscope.series/1"}, {"series", std::move(array)}, {"rejected", each(run.rejected)}};
}

Json eventsJson(const RunData& run)
{
    auto events = each(run.events);
    for (const auto& log : run.replaced) {
        for (const auto& event : log.records.events) {
            events.push_back(toJson(event));
            events.back()["replaced"] = true;
        }
    }
    return {{"schema", "nanscope.events/1"}, {"events", std::move(events)}, {"rejected", each(run.rejected)}};
}

Json runsJson(const RunData& run)
{
    return {{"schema", "nanscope.runs/1"}, {"runs", Json::array({runJson(run)})}, {"rejected", each(run.rejected)}};
}

std::string jsonText(const Json& json, int indent)
{
    return printableJson(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::string jsonReport(const ReportInput& input, const ReportOptions& options)
{
    return report::jsonText(input, options, nullptr);
}

namespace {

Json wholeReport(const ReportInput& input, const ReportOptions& options, const Reproducer* beside)
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
    return report;
}

} // namespace

std::string report::jsonText(const ReportInput& input, const ReportOptions& options, const Reproducer* beside)
{
    auto report = wholeReport(input, options, beside);
    auto redactor = redactorFor(input, options);
    redactStrings(report, redactor, {});
    return nanscope::jsonText(report, 2) + "\n";
}

std::vector<Suspicion> suspicionsOf(const ReportInput& input, const ReportOptions& options)
{
    // The report as JSON holds every text of the others, and says where each is from.
    auto report = wholeReport(input, options, nullptr);
    auto redactor = redactorFor(input, options);
    redactStrings(report, redactor, {});
    return redactor.suspicions();
}

} // namespace nanscope
