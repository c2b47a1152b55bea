// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/json/records.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/model/words.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json orNull(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json orNull(const std::optional<double>& value)
{
    return value ? jsonNumber(*value) : Json(nullptr);
}

Json orNull(const std::string& value)
{
    return value.empty() ? Json(nullptr) : Json(value);
}

template <class Range>
Json arrayOf(const Range& range)
{
    auto array = Json::array();
    for (const auto& item : range) {
        array.push_back(item);
    }
    return array;
}

Json tensorJson(const CaptureTensor& tensor)
{
    auto result = tensor.scanned() ? toJson(tensor.total(), tensor.shape) : Json::object();
    result["shape"] = arrayOf(tensor.shape);
    result["dtype"] = shortName(tensor.dtype);
    auto batches = Json::array();
    const auto matrices = matrixShape(tensor.shape);
    for (const auto& scan : tensor.batches) {
        batches.push_back(toJson(scan, {matrices.rows, matrices.cols}));
    }
    result["batches"] = std::move(batches);
    return result;
}

} // namespace

Json toJson(const Scan& scan, const Shape& shape)
{
    return {{"nan", scan.nan}, {"pos_inf", scan.posInf}, {"neg_inf", scan.negInf}, {"zero", scan.zero},
        {"absmax", jsonNumber(scan.absmax)}, {"frobenius", jsonNumber(std::sqrt(scan.sumSquares))},
        {"first_nonfinite",
            scan.firstNonFinite < 0 ? Json(nullptr) : Json(arrayOf(indexIn(shape, scan.firstNonFinite)))},
        {"subnormal", scan.subnormal}, {"min_nonzero", jsonNumber(scan.minNonzero)}, {"count", scan.count}};
}

Json toJson(const Capture& capture)
{
    return {{"schema", "nanscope.capture/1"}, {"file", capture.file}, {"rank", orNull(capture.rank)},
        {"shape", arrayOf(capture.input.shape)}, {"dtype", shortName(capture.input.dtype)},
        {"epsilon", orNull(capture.epsilon)}, {"pid", orNull(capture.pid)},
        {"timestamp_ms", orNull(capture.timestampMs)}, {"input", tensorJson(capture.input)},
        {"output", capture.output ? tensorJson(*capture.output) : Json(nullptr)},
        {"timestamp_from_name", capture.timestampFromName}, {"variant", orNull(capture.variant)},
        {"nothing_else", capture.nothingElse}, {"step", orNull(capture.step)}, {"id", capture.id},
        {"identity", capture.identity}, {"part", capture.part.empty() ? Json(nullptr) : Json(capture.part)}};
}

Json toJson(const Series& series, const std::string& run)
{
    return {{"run", run}, {"rank", orNull(series.rank)}, {"name", series.name}, {"points", series.pointCount},
        {"first_step", series.firstStep}, {"last_step", series.lastStep}, {"nan", series.nan},
        {"pos_inf", series.posInf}, {"neg_inf", series.negInf}, {"missing", series.missing}, {"source", series.source},
        {"segment", series.segment}, {"step_inferred", series.stepInferred}, {"id", series.id}};
}

Json toJson(const Event& event)
{
    return {{"kind", name(event.kind)}, {"rank", orNull(event.rank)}, {"step", orNull(event.step)},
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

} // namespace nanscope
