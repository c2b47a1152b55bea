// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/json/records.h"
#include "core/report/input/reportinput.h"
#include "core/report/report.h"
#include "core/report/reportfiles.h"

namespace nanscope::report {

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

/// What was measured of the capture that the report is about; what was not is null.
Json measuresJson(const Measures& measures)
{
    Json overflow = nullptr;
    if (measures.overflow) {
        const auto& one = *measures.overflow;
        overflow = {{"variant", one.variant}, {"precision", name(one.precision)}, {"iteration", one.iteration},
            {"op", name(one.op)}, {"reaches", one.reaches}, {"exact", one.exact ? Json(*one.exact) : Json(nullptr)},
            {"limit", largestFinite(one.precision)}};
    }
    const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
    return {{"sha256", measures.sha256.empty() ? Json(nullptr) : Json(measures.sha256)},
        {"sigma_max", number(measures.sigmaMax)}, {"stable_rank", number(measures.stableRank)},
        {"overflow", std::move(overflow)}};
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

void addRejected(JsonAnswer& answer, const RunData& run)
{
    answer.addEach("rejected", run.rejected, [](const Rejection& rejection) { return toJson(rejection); });
}

void addSeries(JsonAnswer& answer, const RunData& run)
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
    answer.add("series", std::move(array));
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

JsonAnswer capturesAnswer(const RunData& run)
{
    JsonAnswer answer;
    answer.add("schema", "nanscope.captures/1");
    answer.addEach("captures", run.captures, [](const Capture& capture) { return toJson(capture); });
    addRejected(answer, run);
    return answer;
}

JsonAnswer seriesAnswer(const RunData& run)
{
    JsonAnswer answer;
    answer.add("schema", "nanscope.series/1");
    addSeries(answer, run);
    addRejected(answer, run);
    return answer;
}

JsonAnswer eventsAnswer(const RunData& run)
{
    auto events = each(run.events);
    for (const auto& log : run.replaced) {
        for (const auto& event : log.records.events) {
            events.push_back(toJson(event));
            events.back()["replaced"] = true;
        }
    }
    JsonAnswer answer;
    answer.add("schema", "nanscope.events/1");
    answer.add("events", std::move(events));
    addRejected(answer, run);
    return answer;
}

JsonAnswer runsAnswer(const RunData& run)
{
    JsonAnswer answer;
    answer.add("schema", "nanscope.runs/1");
    answer.add("runs", Json::array({runJson(run)}));
    addRejected(answer, run);
    return answer;
}

namespace {

JsonAnswer reportAnswer(const ReportInput& input, const ReportOptions& options, const Reproducer* beside)
{
    auto run = runJson(input.run);
    if (options.redact) {
        run["root"] = input.run.name;
    }
    JsonAnswer report;
    report.add("schema", "nanscope.report/1");
    report.add("nanscope", NANSCOPE_VERSION);
    report.add("command_line", input.commandLine);
    report.add("run", std::move(run));
    const auto* capture = mainCapture(input);
    report.add("about", capture != nullptr ? Json(capture->file) : Json(nullptr));
    report.add("diagnosis", diagnosisAnswer(input.diagnosis));
    report.add("go_on", input.goOn.empty() ? Json(nullptr) : Json(input.goOn));
    report.add("measures", measuresJson(input.measures));
    report.addEach("cells", input.cells, [](const Cell& cell) { return toJson(cell); });
    report.addEach("captures", input.run.captures, [](const Capture& capture) { return toJson(capture); });
    addSeries(report, input.run);
    report.addEach("events", input.run.events, [](const Event& event) { return toJson(event); });
    addRejected(report, input.run);
    report.add("redacted", options.redact);
    report.add("reproducer", reproducerJson(beside));
    return report;
}

/// Of the report as JSON, which holds every text of the others and says where each is from.
void writeRedacted(const JsonAnswer& report, Redactor& redactor, const JsonAnswer::Sink& sink)
{
    report.write(
        sink, true, [&redactor](Json& value, const std::string& place) { redactStrings(value, redactor, place); });
}

} // namespace

std::string jsonReport(const ReportInput& input, const ReportOptions& options, const Reproducer* beside)
{
    auto redactor = redactorFor(input, options);
    std::string text;
    writeRedacted(reportAnswer(input, options, beside), redactor, [&text](std::string_view part) { text += part; });
    return text + "\n";
}

std::vector<Suspicion> suspicionsOf(const ReportInput& input, const ReportOptions& options)
{
    auto redactor = redactorFor(input, options);
    writeRedacted(reportAnswer(input, options, nullptr), redactor, [](std::string_view) {});
    return redactor.suspicions();
}

} // namespace nanscope::report
