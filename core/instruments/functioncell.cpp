// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/functioncell.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/try.h"
#include "core/instruments/celltarget.h"
#include "core/instruments/measurement.h"
#include "core/json/records.h"
#include "core/replay/engine/heldoutput.h"

namespace nanscope::instruments {

namespace {

using Json = nlohmann::ordered_json;

FunctionCell emptyCell(const FunctionTarget& target, const std::string& path)
{
    const auto facts = target.facts();
    FunctionCell made;
    made.command = harnessCommand(target.choice());
    made.cell.capture = std::filesystem::path(path).filename().string();
    made.cell.variant = facts.name;
    made.cell.device = facts.environment.device;
    made.cell.native = true;
    made.cell.environment = facts.environment;
    made.how = facts.how;
    made.source = facts.source;
    return made;
}

/// One that could be any of several variants is judged by what all of them allow.
void expectAnyOf(const FunctionNeighbours& beside, Measurement& measurement)
{
    std::optional<std::array<double, 2>> range;
    bool turns = false;
    for (const auto& name : beside.variants) {
        const auto variant = beside.catalogue.find(name);
        if (!variant) {
            continue;
        }
        const auto own = replay::outputRange(replay::stepsOf(**variant, beside.steps, std::nullopt));
        range = range ? std::array {std::min((*range)[0], own[0]), std::max((*range)[1], own[1])} : own;
        turns = turns || turnsDirections(**variant);
    }
    if (range) {
        measurement.setExpected(*range, turns);
    }
}

std::optional<NonFinite> firstBad(const Judged& judged, const InputBatch& inputBatch, std::size_t element)
{
    const auto& given = inputBatch.scans[element];
    const auto& scan = given.finite() ? judged.scans[element] : given;
    if (scan.finite()) {
        return std::nullopt;
    }
    NonFinite first;
    first.op = given.finite() ? OpName::output : OpName::input;
    first.kind = scan.firstClass;
    first.count = scan.nonFinite();
    if (inputBatch.input.shape.size() > 2) {
        first.index.push_back(static_cast<std::int64_t>(element));
    }
    const auto cols = inputBatch.input.matrices().cols;
    first.index.push_back(scan.firstNonFinite / cols);
    first.index.push_back(scan.firstNonFinite % cols);
    return first;
}

void describe(const Judged& judged, const InputBatch& inputBatch, Cell& cell)
{
    for (std::size_t i = 0; i < judged.outcomes.size(); ++i) {
        const auto first = firstBad(judged, inputBatch, i);
        cell.batches.push_back({static_cast<int>(i), judged.outcomes[i], first});
        if (first && (!cell.firstNonFinite || first->op < cell.firstNonFinite->op)) {
            cell.firstNonFinite = first;
        }
    }
    cell.outcome = judged.worst;
    if (cell.firstNonFinite && cell.firstNonFinite->op == OpName::output) {
        cell.birth = cell.firstNonFinite;
    }
}

double farthest(const Judged& judged, const MatrixShape& shape, const std::vector<Values>& exact)
{
    double worst = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const auto values = matrixOf(std::span<const double>(judged.values), shape, i);
        worst = std::max(worst, replay::relativeDistance(values, exact[i]));
    }
    return worst;
}

/// The replay in fp64 is done again, since a sweep keeps no outputs.
Result<void> measureDistances(FunctionCell& made, const Judged& judged, const InputBatch& inputBatch,
    const FunctionNeighbours& beside, const CancelToken& cancel)
{
    const auto device = replay::makeEigenDevice();
    for (const auto& name : beside.exact) {
        const auto variant = beside.catalogue.find(name);
        if (!variant) {
            continue;
        }
        replay::ReplayOptions options;
        options.precision = Precision::fp64;
        options.rounding.lowering = (*variant)->lowering;
        options.epsilon = inputBatch.epsilon;
        options.forceEpsilon = inputBatch.forceEpsilon;
        options.steps = beside.steps;
        options.keepOutput = true;
        const auto shape = inputBatch.input.matrices();
        const auto exact = replay::replay(**variant, shape, inputBatch.values, *device, options, cancel);
        if (!exact && exact.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(exact.error());
        }
        const auto distance = exact ? farthest(judged, shape, exact->outputs) : 0.0;
        if (exact && std::isfinite(distance) && (!made.distance || distance < *made.distance)) {
            made.distance = distance;
            made.nearest = name;
        }
    }
    return {};
}

Result<void> callOnce(FunctionCell& made, Target& target, const InputBatch& inputBatch,
    const FunctionNeighbours& beside, const JobContext& job)
{
    JobContext quiet;
    quiet.cancel = job.cancel;
    Measurement measurement(target, inputBatch, quiet);
    expectAnyOf(beside, measurement);
    made.outputRange = measurement.facts().outputRange;
    const auto judged = TRY(measurement.ask());
    made.cell.seconds = judged.reply.seconds;
    made.cell.error = judged.reply.complaint;
    made.inputChanged = judged.reply.inputChanged;
    made.sharesStorage = judged.reply.sharesStorage;
    if (!judged.answered()) {
        return {};
    }
    made.dtype = judged.reply.output->dtype;
    describe(judged, inputBatch, made.cell);
    const bool finite = judged.worst != Outcome::nan && judged.worst != Outcome::inf;
    return finite ? measureDistances(made, judged, inputBatch, beside, job.cancel) : Result<void>();
}

/// What is not finite is in the output as a whole; which step it came from is not seen.
void forgetStep(Json& first)
{
    if (first.is_object() && first["op"] == name(OpName::output)) {
        first["iteration"] = nullptr;
    }
}

Json functionJson(const FunctionCell& made)
{
    return {{"command", made.command}, {"called_as", made.how}, {"source", orNull(made.source)},
        {"output_dtype", made.dtype ? Json(shortName(*made.dtype)) : Json(nullptr)},
        {"output_range", {made.outputRange[0], made.outputRange[1]}}, {"input_changed", made.inputChanged},
        {"shares_storage", made.sharesStorage}, {"nearest_variant", orNull(made.nearest)},
        {"distance_to_fp64", numberOrNull(made.distance)}};
}

} // namespace

Json toJson(const FunctionCell& made)
{
    auto json = toJson(made.cell);
    json["precision"] = "own";
    json["lowering"] = "own";
    json["epsilon"] = numberOrNull(made.epsilon);
    forgetStep(json["first_nonfinite"]);
    forgetStep(json["birth"]);
    for (auto& batch : json["batches"]) {
        forgetStep(batch["first_nonfinite"]);
    }
    json["function"] = functionJson(made);
    return json;
}

Result<FunctionCell> functionCell(FunctionTarget& target, const CaptureRef& capture,
    const std::optional<double>& epsilon, const FunctionNeighbours& beside, const JobContext& job)
{
    auto made = emptyCell(target, capture.path);
    const auto inputBatch = openInputBatch(capture, std::nullopt, epsilon, job.cancel);
    if (!inputBatch && inputBatch.error().kind == ErrorKind::cancelled) {
        return tl::make_unexpected(inputBatch.error());
    }
    if (!inputBatch) {
        made.cell.error = sentence(inputBatch.error());
        return made;
    }
    made.epsilon = inputBatch->epsilon;
    const auto done = callOnce(made, target, *inputBatch, beside, job);
    if (!done && done.error().kind == ErrorKind::cancelled) {
        return tl::make_unexpected(done.error());
    }
    if (!done) {
        made.cell.error = sentence(done.error());
    }
    return made;
}

} // namespace nanscope::instruments
