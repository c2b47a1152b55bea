// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/json/records.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/json/jsonfields.h"
#include "core/json/scenefields.h"
#include "core/model/words.h"

namespace nanscope {

using jsonfields::Of;
using jsonfields::Reader;
using jsonfields::Writer;
using jsonread::Json;

namespace {

template <class T>
Json written(const T& value)
{
    return Writer::written(value);
}

Json tensorJson(const CaptureTensor& tensor)
{
    auto result = tensor.scanned() ? toJson(tensor.total(), tensor.shape) : Json::object();
    result["shape"] = written(tensor.shape);
    result["dtype"] = shortName(tensor.dtype);
    const auto matrices = matrixShape(tensor.shape);
    result["batches"] = jsonArray(tensor.batches, [&](const Scan& scan) {
        return toJson(scan, {matrices.rows, matrices.cols});
    });
    return result;
}

} // namespace

Json toJson(const Scan& scan, const Shape& shape)
{
    return {{"nan", scan.nan}, {"pos_inf", scan.posInf}, {"neg_inf", scan.negInf}, {"zero", scan.zero},
        {"absmax", jsonNumber(scan.absmax)}, {"frobenius", jsonNumber(std::sqrt(scan.sumSquares))},
        {"first_nonfinite", scan.firstNonFinite < 0 ? Json(nullptr) : written(indexIn(shape, scan.firstNonFinite))},
        {"subnormal", scan.subnormal}, {"min_nonzero", jsonNumber(scan.minNonzero)}, {"count", scan.count}};
}

Json toJson(const Capture& capture)
{
    return {{"schema", "nanscope.capture/1"}, {"file", capture.file}, {"rank", written(capture.rank)},
        {"shape", written(capture.input.shape)}, {"dtype", shortName(capture.input.dtype)},
        {"epsilon", written(capture.epsilon)}, {"pid", written(capture.pid)},
        {"timestamp_ms", written(capture.timestampMs)}, {"input", tensorJson(capture.input)},
        {"output", capture.output ? tensorJson(*capture.output) : Json(nullptr)},
        {"timestamp_from_name", capture.timestampFromName}, {"variant", written(capture.variant)},
        {"nothing_else", capture.nothingElse}, {"step", written(capture.step)}, {"id", capture.id},
        {"identity", capture.identity}, {"part", orNull(capture.part)},
        {"scene", capture.scene == Scene {} ? Json(nullptr) : written(capture.scene)}};
}

Json toJson(const Series& series, const std::string& run)
{
    return {{"run", run}, {"rank", written(series.rank)}, {"name", series.name}, {"points", series.pointCount},
        {"first_step", series.firstStep}, {"last_step", series.lastStep}, {"nan", series.nan},
        {"pos_inf", series.posInf}, {"neg_inf", series.negInf}, {"missing", series.missing}, {"source", series.source},
        {"segment", series.segment}, {"step_inferred", series.stepInferred}, {"id", series.id}};
}

Json toJson(const Event& event)
{
    return {{"kind", name(event.kind)}, {"rank", written(event.rank)}, {"step", written(event.step)},
        {"capture", orNull(event.capture)}, {"text", event.text}, {"source", event.source}, {"line", event.line},
        {"copies", event.copies}, {"detail", orNull(event.detail)}};
}

Json toJson(const Rejection& rejection)
{
    return {{"path", rejection.path}, {"reason", rejection.reason}};
}

Json toJson(const Progress& progress)
{
    return {{"job", progress.job}, {"phase", progress.phase}, {"done", progress.done}, {"total", progress.total},
        {"unit", progress.unit}, {"eta_s", nullptr}, {"message", progress.message}, {"cell", nullptr}};
}

template <>
inline constexpr std::optional jsonfields::lastOf<ValueClass> = ValueClass::negInf;
template <>
inline constexpr std::optional jsonfields::lastOf<Outcome> = Outcome::nan;
template <>
inline constexpr std::optional jsonfields::lastOf<Precision> = lastPrecision;
template <>
inline constexpr std::optional jsonfields::lastOf<Lowering> = Lowering::fused;

template <class Visit>
void fields(Visit& visit, Of<NonFinite> auto& first)
{
    visit("iteration", first.iteration);
    visit("op", first.op);
    visit("index", first.index);
    visit("kind", first.kind);
    visit("count", first.count);
}

template <class Visit>
void fields(Visit& visit, Of<BatchOutcome> auto& batch)
{
    visit("batch", batch.batch);
    visit("outcome", batch.outcome);
    visit("first_nonfinite", batch.firstNonFinite);
}

template <class Visit>
void fields(Visit& visit, Of<Environment> auto& environment)
{
    visit("engine", environment.engine);
    visit("device", environment.device);
    visit("hardware", environment.hardware);
    visit("cuda", environment.cuda);
    visit("threads", environment.threads);
    visit("flags", environment.flags);
}

template <class Visit>
void fields(Visit& visit, Of<Gauge> auto& gauge)
{
    visit("iteration", gauge.iteration);
    visit("spectral_bound", gauge.spectralBound);
    visit("spectral_limit", gauge.spectralLimit);
    visit("absmax_q", gauge.absmaxQ);
    visit("orthogonality", gauge.orthogonality);
    visit("absmax_x", gauge.absmaxX);
    visit("distance_to_fp64", gauge.distanceToFp64);
}

template <class Visit>
void fields(Visit& visit, Of<DeepGauge> auto& gauge)
{
    visit("iteration", gauge.iteration);
    visit("iterate_distance", gauge.iterateDistance);
    visit("lambda_min", gauge.lambdaMin);
    visit("symmetry_error", gauge.symmetryError);
    visit("commutator", gauge.commutator);
    visit("signal_gains", gauge.signalGains);
}

namespace {

void addNumber(Json& json, const char* key, const std::optional<double>& value)
{
    if (value) {
        json[key] = jsonNumber(*value);
    }
}

Json numbersJson(std::span<const double> numbers)
{
    return jsonArray(numbers, jsonNumber);
}

/// Beside the other gauges of the step; what is not defined has no key.
void addDeep(Json& gauges, const DeepGauge& deep)
{
    const auto same = std::find_if(
        gauges.begin(), gauges.end(), [&](const Json& gauge) { return gauge["iteration"] == deep.iteration; });
    auto& gauge = same == gauges.end() ? gauges.emplace_back(Json {{"iteration", deep.iteration}}) : *same;
    addNumber(gauge, "iterate_distance", deep.iterateDistance);
    addNumber(gauge, "lambda_min", deep.lambdaMin);
    addNumber(gauge, "symmetry_error", deep.symmetryError);
    addNumber(gauge, "commutator", deep.commutator);
    if (!deep.signalGains.empty()) {
        gauge["signal_gains"] = numbersJson(deep.signalGains);
    }
}

void addDeep(Json& cell, const Cell& from)
{
    if (!from.deepError.empty()) {
        cell["deep_error"] = from.deepError;
    }
    if (!from.deep) {
        return;
    }
    const auto& deep = *from.deep;
    for (const auto& step : deep.steps) {
        addDeep(cell["gauges"], step);
    }
    cell["deep"] = {{"batch", deep.batch}, {"output_range", numbersJson(deep.outputRange)},
        {"shares", numbersJson(deep.shares)}, {"seconds", jsonNumber(deep.seconds)}};
}

void readDeep(const Json& json, Cell& cell)
{
    Reader read(json);
    read("deep_error", cell.deepError);
    read.group("deep", true, [&](Reader& given) {
        auto& deep = cell.deep.emplace();
        std::vector<double> range;
        given("batch", deep.batch);
        given("shares", deep.shares);
        given("seconds", deep.seconds);
        given("output_range", range);
        std::copy_n(range.begin(), std::min(range.size(), deep.outputRange.size()), deep.outputRange.begin());
        read("gauges", deep.steps);
    });
}

} // namespace

Json toJson(const Cell& cell)
{
    const bool computed = cell.error.empty();
    Json json {{"capture", cell.capture}, {"variant", cell.variant}, {"precision", name(cell.precision)},
        {"device", cell.device}, {"lowering", name(cell.lowering)},
        {"arithmetic", computed ? Json(arithmetic(cell)) : Json(nullptr)}, {"epsilon", jsonNumber(cell.epsilon)},
        {"steps", cell.steps}, {"outcome", computed ? Json(name(cell.outcome)) : Json(nullptr)},
        {"first_nonfinite", written(cell.firstNonFinite)}, {"birth", written(cell.birth)},
        {"batches", written(cell.batches)}, {"seconds", jsonNumber(cell.seconds)},
        {"environment", written(cell.environment)}, {"gauges", written(cell.gauges)},
        {"slack_percent", written(slackPercent(cell))}, {"id", cell.id},
        {"error", computed ? Json(nullptr) : Json(cell.error)}};
    addDeep(json, cell);
    return json;
}

Result<Cell> cellFromJson(const Json& json)
{
    if (!json.is_object() || !jsonread::at(json, "variant").is_string()) {
        return failure(ErrorKind::format, "this is not a cell of nanscope.sweep/1: it is no object with a \"variant\"");
    }
    Cell cell;
    Reader read(json);
    read("id", cell.id);
    read("capture", cell.capture);
    read("variant", cell.variant);
    read("precision", cell.precision);
    read("device", cell.device);
    read("lowering", cell.lowering);
    cell.native = jsonread::at(json, "arithmetic") == "native";
    read("epsilon", cell.epsilon);
    read("outcome", cell.outcome);
    read("first_nonfinite", cell.firstNonFinite);
    read("birth", cell.birth);
    read("batches", cell.batches);
    read("gauges", cell.gauges);
    read("seconds", cell.seconds);
    read("environment", cell.environment);
    read("error", cell.error);
    // A worker of an older Nanscope does not say it.
    cell.steps = static_cast<int>(cell.gauges.size());
    read("steps", cell.steps);
    readDeep(json, cell);
    return cell;
}

} // namespace nanscope
