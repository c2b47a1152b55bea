// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <nlohmann/json.hpp>

#include "core/report/endsliketext.h"
#include "core/report/factsjson.h"
#include "core/report/jsonanswer.h"
#include "core/report/report.h"
#include "core/report/words.h"

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

Json nonFiniteJson(const std::optional<NonFinite>& first)
{
    if (!first) {
        return nullptr;
    }
    return {{"iteration", first->iteration}, {"op", name(first->op)}, {"index", arrayOf(first->index)},
        {"kind", name(first->kind)}, {"count", first->count}};
}

Json batchesJson(const std::vector<BatchOutcome>& batches)
{
    auto array = Json::array();
    for (const auto& batch : batches) {
        array.push_back({{"batch", batch.batch}, {"outcome", name(batch.outcome)},
            {"first_nonfinite", nonFiniteJson(batch.firstNonFinite)}});
    }
    return array;
}

Json environmentJson(const Environment& environment)
{
    return {{"engine", environment.engine}, {"device", environment.device}, {"hardware", environment.hardware},
        {"cuda", environment.cuda}, {"threads", environment.threads}, {"flags", environment.flags}};
}

Json gaugesJson(const std::vector<Gauge>& gauges)
{
    auto array = Json::array();
    for (const auto& gauge : gauges) {
        array.push_back({{"iteration", gauge.iteration}, {"spectral_bound", orNull(gauge.spectralBound)},
            {"spectral_limit", orNull(gauge.spectralLimit)}, {"absmax_q", orNull(gauge.absmaxQ)},
            {"orthogonality", orNull(gauge.orthogonality)}, {"absmax_x", jsonNumber(gauge.absmaxX)},
            {"distance_to_fp64", orNull(gauge.distanceToFp64)}});
    }
    return array;
}

void addNumber(Json& json, const char* key, const std::optional<double>& value)
{
    if (value) {
        json[key] = jsonNumber(*value);
    }
}

Json numbersJson(std::span<const double> numbers)
{
    auto array = Json::array();
    for (const double number : numbers) {
        array.push_back(jsonNumber(number));
    }
    return array;
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

Json stepJson(const CaptureVerdict& verdict)
{
    return verdict.step ? Json::array({verdict.step->first, verdict.step->second}) : Json(nullptr);
}

Json identificationJson(const Identification& variant)
{
    auto all = Json::array();
    for (const auto& fit : variant.all) {
        all.push_back({{"variant", fit.variant}, {"fit", jsonNumber(fit.fit)}});
    }
    return {{"names", arrayOf(variant.names)}, {"how", name(variant.how)}, {"fit", orNull(variant.fit)},
        {"runner_up", orNull(variant.runnerUp)}, {"runner_up_name", orNull(variant.runnerUpName)},
        {"matches_none", variant.matchesNone}, {"all", std::move(all)}};
}

Json evidenceJson(const std::vector<EvidenceLine>& lines)
{
    auto array = Json::array();
    for (const auto& line : lines) {
        array.push_back({{"text", line.text}, {"source", line.source}});
    }
    return array;
}

Json membersJson(const std::vector<MemberResult>& members)
{
    auto array = Json::array();
    for (const auto& member : members) {
        array.push_back({{"variant", member.variant}, {"precision", member.precision}, {"roundings", member.roundings},
            {"finite", member.finite}, {"reproducing", member.reproducing},
            {"slack_percent", orNull(member.slackPercent)}, {"absmax_q", orNull(member.absmaxQ)},
            {"headroom_binades", jsonNumber(member.headroomBinades)}, {"first_bad", orNull(member.firstBad)},
            {"forecast_by", orNull(member.forecastBy)}});
    }
    return array;
}

Json damageJson(const DamagePattern& damage)
{
    auto bits = Json::array();
    for (const auto& [pattern, count] : damage.nanBits) {
        bits.push_back({{"bits", pattern}, {"count", count}});
    }
    return {{"name", name(damage.shape)}, {"text", damage.text}, {"batch", damage.batch},
        {"rows", {damage.rowBegin, damage.rowEnd}}, {"cols", {damage.colBegin, damage.colEnd}}, {"count", damage.count},
        {"nan_bits", std::move(bits)}};
}

Json experimentsJson(const std::vector<Experiment>& experiments)
{
    auto array = Json::array();
    for (const auto& experiment : experiments) {
        std::vector<std::string_view> outcomes;
        for (const auto seen : experiment.outcomes) {
            outcomes.push_back(name(seen));
        }
        array.push_back({{"id", orNull(experiment.id)}, {"what", experiment.what}, {"meaning", experiment.meaning},
            {"outcomes", arrayOf(outcomes)}, {"clean_hours", orNull(experiment.cleanHours)}});
    }
    return array;
}

std::vector<std::string> linesOf(const std::vector<Experiment>& experiments)
{
    std::vector<std::string> lines;
    std::transform(experiments.begin(), experiments.end(), std::back_inserter(lines), lineOf);
    return lines;
}

Json endsLikeJson(const CaptureVerdict& verdict)
{
    if (verdict.endsLikeTried == 0) {
        return nullptr;
    }
    auto places = Json::array();
    for (const auto& place : verdict.endsLike) {
        places.push_back({{"variant", place.variant}, {"iteration", place.iteration}, {"op", name(place.op)},
            {"mirrored", place.mirrored}});
    }
    return {{"tried", verdict.endsLikeTried}, {"places", std::move(places)}, {"text", endsLikeText(verdict)}};
}

Json verdictJson(const CaptureVerdict& verdict)
{
    return {{"capture", verdict.capture}, {"role", name(verdict.role)}, {"rank", orNull(verdict.rank)},
        {"step", stepJson(verdict)}, {"step_source", name(verdict.stepSource)}, {"verdict", name(verdict.blame)},
        {"summary", verdict.summary}, {"question", orNull(verdict.question)},
        {"variant", identificationJson(verdict.variant)}, {"for", evidenceJson(verdict.speaksFor)},
        {"against", evidenceJson(verdict.speaksAgainst)}, {"not_testable", evidenceJson(verdict.notTestable)},
        {"next", arrayOf(linesOf(verdict.next))}, {"experiments", experimentsJson(verdict.next)},
        {"id", verdict.captureId}, {"kind", verdict.kind}, {"marginal", verdict.marginal},
        {"caused_by", orNull(verdict.causedBy)}, {"damage", damageJson(verdict.facts.damage)},
        {"members", membersJson(verdict.members)}, {"rule", name(verdict.rule)}, {"facts", toJson(verdict.facts)},
        {"ends_like", endsLikeJson(verdict)}, {"layer", orNull(verdict.layer)},
        {"layer_candidates", arrayOf(verdict.layerCandidates)}, {"unread", orNull(verdict.unread)}};
}

Json clustersJson(const std::vector<Cluster>& clusters)
{
    auto array = Json::array();
    for (const auto& cluster : clusters) {
        array.push_back({{"text", cluster.text}, {"captures", arrayOf(cluster.captures)}});
    }
    return array;
}

Json advisoriesJson(const std::vector<AdvisoryMatch>& advisories)
{
    auto array = Json::array();
    for (const auto& one : advisories) {
        array.push_back({{"id", one.id}, {"status", name(one.status)}, {"certain", one.certain}, {"title", one.title},
            {"text", one.text}, {"link", one.link}, {"matched", one.matched}, {"missing", orNull(one.missing)},
            {"dated", one.dated}});
    }
    return array;
}

Json findingJson(const Finding& finding)
{
    auto evidence = Json::array();
    for (const auto& line : finding.evidence) {
        evidence.push_back({{"file", line.file}, {"line", line.line}, {"text", line.text}});
    }
    return {{"id", finding.id}, {"state", name(finding.state)}, {"title", finding.title},
        {"severity", finding.severity}, {"step", orNull(finding.step)}, {"rank", orNull(finding.rank)},
        {"evidence", std::move(evidence)}, {"advice", arrayOf(finding.advice)}, {"reason", orNull(finding.reason)},
        {"threshold", orNull(finding.threshold)}, {"confidence", orNull(finding.confidence)}};
}

Json rollbackJson(const std::optional<Rollback>& rollback)
{
    if (!rollback) {
        return nullptr;
    }
    auto checkpoints = Json::array();
    for (const auto& one : rollback->checkpoints) {
        checkpoints.push_back({{"step", one.step}, {"status", name(one.status)}, {"reason", one.reason},
            {"path", orNull(one.path)}, {"proof", evidenceJson(one.proof)}});
    }
    return {{"recommended", orNull(rollback->recommended)}, {"reason", rollback->reason},
        {"checkpoints", std::move(checkpoints)}, {"tonight", orNull(rollback->tonight)}};
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

Json jsonNumber(double value)
{
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value > 0 ? "inf" : "-inf";
    }
    return value;
}

Json toJson(const Cell& cell)
{
    const bool computed = cell.error.empty();
    Json json {{"capture", cell.capture}, {"variant", cell.variant}, {"precision", name(cell.precision)},
        {"device", cell.device}, {"lowering", name(cell.lowering)}, {"arithmetic", cell.native ? "native" : "emulated"},
        {"epsilon", jsonNumber(cell.epsilon)}, {"outcome", computed ? Json(name(cell.outcome)) : Json(nullptr)},
        {"first_nonfinite", nonFiniteJson(cell.firstNonFinite)}, {"birth", nonFiniteJson(cell.birth)},
        {"batches", batchesJson(cell.batches)}, {"seconds", jsonNumber(cell.seconds)},
        {"environment", environmentJson(cell.environment)}, {"gauges", gaugesJson(cell.gauges)},
        {"slack_percent", orNull(slackPercent(cell))}, {"id", cell.id}, {"error", orNull(cell.error)}};
    addDeep(json, cell);
    return json;
}

JsonAnswer diagnosisAnswer(const Diagnosis& diagnosis)
{
    const auto& triage = diagnosis.triage;
    JsonAnswer answer;
    answer.add("schema", "nanscope.diagnosis/1");
    answer.add("triage",
        Json {{"captures", triage.captures}, {"births", triage.births}, {"upstream", triage.upstream},
            {"downstream", triage.downstream}, {"padding", triage.padding}});
    answer.addEach("captures", diagnosis.captures, verdictJson);
    answer.addEach("findings", diagnosis.findings, findingJson);
    answer.add("advisories", advisoriesJson(diagnosis.advisories));
    answer.add("rollback", rollbackJson(diagnosis.rollback));
    answer.add("run", diagnosis.run);
    answer.add("headline", diagnosis.headline);
    answer.add("stopped", orNull(diagnosis.stopped));
    answer.add("observed", toJson(diagnosis.observed));
    answer.add("rules", diagnosisRules);
    answer.add("clusters", clustersJson(diagnosis.clusters));
    return answer;
}

Json toJson(const Observations& observed)
{
    auto tried = Json::array();
    for (const auto& one : observed.tried) {
        tried.push_back(
            {{"id", one.id}, {"seen", name(one.seen)}, {"hours", jsonNumber(one.hours)}, {"times", one.times}});
    }
    auto called = Json::array();
    for (const auto& one : observed.called) {
        called.push_back({{"capture", one.capture}, {"failed", one.failed}, {"calls", one.calls},
            {"same_gpu", one.sameGpu}, {"experiment", one.experiment}});
    }
    const auto& rate = observed.rate;
    return {{"rate", rate ? Json {{"failures", rate->failures}, {"hours", jsonNumber(rate->hours)}} : Json(nullptr)},
        {"tried", std::move(tried)}, {"called", std::move(called)}};
}

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
