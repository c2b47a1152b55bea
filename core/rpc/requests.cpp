// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/requests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <istream>
#include <iterator>

#include <fmt/format.h>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/try.h"
#include "core/replay/variants/variantjson.h"
#include "core/rpc/answers.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> usage(std::string what)
{
    return failure(ErrorKind::usage, std::move(what));
}

Result<std::vector<std::string>> strings(const Json& request, const char* key)
{
    std::vector<std::string> result;
    const auto found = request.find(key);
    if (found == request.end() || found->is_null()) {
        return result;
    }
    if (!found->is_array()) {
        return usage(fmt::format("\"{}\" is not a list of strings", key));
    }
    for (const auto& item : *found) {
        if (!item.is_string()) {
            return usage(fmt::format("\"{}\" is not a list of strings", key));
        }
        result.push_back(item.get<std::string>());
    }
    return result;
}

template <class T, class Parse>
Result<std::vector<T>> words(const Json& request, const char* key, Parse parse)
{
    const auto names = TRY(strings(request, key));
    std::vector<T> result;
    for (const auto& name : names) {
        const auto value = parse(name);
        if (!value) {
            return usage(fmt::format("'{}' in \"{}\" is not known", name, key));
        }
        result.push_back(*value);
    }
    return result;
}

/// Overrides; where there are none, what is there stays.
template <class Request>
Result<void> readNumbers(const Json& request, Request& wanted)
{
    const auto epsilon = request.value("epsilon", Json());
    if (epsilon.is_number()) {
        wanted.epsilon = epsilon.get<double>();
    } else if (!epsilon.is_null()) {
        return usage("\"epsilon\" is not a number");
    }
    const auto steps = request.value("steps", Json());
    if (steps.is_number_integer() && steps.get<std::int64_t>() >= 1 && steps.get<std::int64_t>() <= 100) {
        wanted.steps = steps.get<int>();
    } else if (!steps.is_null()) {
        return usage("\"steps\" is not a whole number from 1 to 100");
    }
    return {};
}

Result<std::string> word(const Json& request, const char* key, const char* missing)
{
    const auto found = request.value(key, Json());
    if (found.is_null() && missing != nullptr) {
        return missing;
    }
    if (!found.is_string() || found.get_ref<const std::string&>().empty()) {
        return usage(fmt::format("\"{}\" is not a string", key));
    }
    return found.get<std::string>();
}

Result<std::int64_t> wholeNumber(const Json& json, const char* key)
{
    if (!json.is_number_integer() || json.get<std::int64_t>() < 0) {
        return usage(fmt::format("\"{}\" is not a whole number from 0 on", key));
    }
    return json.get<std::int64_t>();
}

/// What is left out is as `base` has it.
Result<replay::CellRequest> readCell(
    const Json& request, const replay::CellRequest& base, const replay::Catalogue& catalogue)
{
    replay::CellRequest cell = base;
    const auto variant = TRY(word(request, "variant", nullptr));
    const auto precisionName = TRY(word(request, "precision", nullptr));
    const auto device = TRY(word(request, "device", base.device.c_str()));
    const auto known = TRY(catalogue.find(variant));
    const auto loweringName = word(request, "lowering", std::string(name(known->lowering)).c_str());
    const auto precision = parsePrecision(precisionName);
    const auto lowering = loweringName ? parseLowering(*loweringName) : std::nullopt;
    if (!precision || !lowering) {
        return usage(!precision ? fmt::format("'{}' in \"precision\" is not known", precisionName)
                                : "\"lowering\" is not eager, fused or null");
    }
    TRY(readNumbers(request, cell));
    cell.variant = variant;
    cell.precision = *precision;
    cell.lowering = *lowering;
    cell.device = device;
    return cell;
}

Result<replay::Against> againstFromJson(
    const Json& json, const replay::CellRequest& cell, const replay::Catalogue& catalogue)
{
    if (json.is_null()) {
        return replay::Against {};
    }
    if (json == "fp64") {
        return replay::againstFp64(cell);
    }
    if (json == "output") {
        return replay::Against {replay::Against::Kind::output, {}};
    }
    if (!json.is_object()) {
        return usage("\"against\" is not null, \"fp64\", \"output\" or a cell");
    }
    // Its own overrides: one variant's epsilon may be another's mistake.
    replay::CellRequest base;
    base.device = cell.device;
    return readCell(json, base, catalogue).map([](replay::CellRequest other) {
        return replay::Against {replay::Against::Kind::cell, std::move(other)};
    });
}

Result<replay::Region> regionFromJson(const Json& json)
{
    std::array<std::int64_t, 4> numbers {};
    if (!json.is_array() || json.size() != numbers.size()) {
        return usage("\"region\" is not null or [row, col, rows, cols]");
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = TRY(wholeNumber(json[i], "region"));
    }
    return replay::Region {numbers[0], numbers[1], numbers[2], numbers[3]};
}

template <class Range>
Json namesOf(const Range& values)
{
    return jsonArray(values, [](auto value) { return name(value); });
}

Json cellToJson(const replay::CellRequest& cell)
{
    return {{"variant", cell.variant}, {"precision", name(cell.precision)}, {"lowering", name(cell.lowering)},
        {"device", cell.device}, {"epsilon", orNull(cell.epsilon)}, {"steps", orNull(cell.steps)}};
}

Result<std::vector<replay::CellRequest>> cellsFromJson(
    const Json& request, const replay::SweepRequest& sweep, const replay::Catalogue& catalogue)
{
    const auto& given = member(request, "cells");
    if (!given.is_null() && !given.is_array()) {
        return usage("\"cells\" is not a list of cells");
    }
    std::vector<replay::CellRequest> cells;
    for (const auto& one : given) {
        replay::CellRequest base;
        base.tileMaps = sweep.tileMaps;
        auto cell = TRY(one.is_object() ? readCell(one, base, catalogue) : usage("one of \"cells\" is not an object"));
        cells.push_back(std::move(cell));
    }
    return cells;
}

Json againstToJson(const replay::Against& against)
{
    return against.kind == replay::Against::Kind::cell  ? cellToJson(against.cell)
        : against.kind == replay::Against::Kind::output ? Json("output")
                                                        : Json(nullptr);
}

Result<KeptIn> keptFromJson(const Json& request)
{
    KeptIn kept;
    for (const auto& [key, text] : {std::pair {"session", &kept.session}, std::pair {"run", &kept.run}}) {
        const auto found = request.find(key);
        if (found == request.end() || found->is_null()) {
            continue;
        }
        if (!found->is_string()) {
            return failure(ErrorKind::usage, fmt::format("\"{}\" is not a string", key));
        }
        *text = found->get<std::string>();
    }
    return kept;
}

Json keptToJson(const KeptIn& kept)
{
    return {{"session", kept.session}, {"run", orNull(kept.run)}};
}

/// "identity" beside the path of a capture, and "identities" beside the paths of several; "" where any will do.
Result<CaptureRef> captureFromJson(const Json& request)
{
    const auto path = TRY(word(request, "capture", nullptr));
    const auto identity = request.value("identity", Json());
    if (!identity.is_null() && !identity.is_string()) {
        return usage("\"identity\" is not a string");
    }
    return CaptureRef(path, identity.is_null() ? std::string() : identity.get<std::string>());
}

Result<std::vector<CaptureRef>> capturesFromJson(const Json& request)
{
    const auto paths = TRY(strings(request, "captures"));
    auto identities = TRY(strings(request, "identities"));
    if (!identities.empty() && identities.size() != paths.size()) {
        return usage("\"identities\" does not hold one for each of \"captures\"");
    }
    identities.resize(paths.size());
    std::vector<CaptureRef> captures;
    std::transform(paths.begin(), paths.end(), identities.begin(), std::back_inserter(captures),
        [](const std::string& path, const std::string& identity) { return CaptureRef(path, identity); });
    return captures;
}

Json captureToJson(const char* verb, const CaptureRef& capture)
{
    return {{"do", verb}, {"capture", capture.path}, {"identity", capture.identity}};
}

void writeDefinitions(Json& request, const replay::Catalogue& catalogue)
{
    for (const auto& variant : catalogue.added()) {
        request["definitions"].push_back(replay::variantToJson(*variant));
    }
}

Result<std::optional<double>> factor(const Json& request, const char* key)
{
    const auto& json = member(request, key);
    if (json.is_null()) {
        return std::nullopt;
    }
    if (!json.is_number() || !(json.get<double>() > 0) || !std::isfinite(json.get<double>())) {
        return failure(ErrorKind::usage, fmt::format("\"{}\" is not a positive number", key));
    }
    return json.get<double>();
}

} // namespace

Result<void> putDefinitions(const Json& request, replay::Catalogue& catalogue)
{
    const auto found = request.find("definitions");
    if (found == request.end() || found->is_null()) {
        return {};
    }
    if (!found->is_array()) {
        return usage("\"definitions\" is not a list of variants");
    }
    for (const auto& item : *found) {
        const auto put = [&](replay::Variant variant) { return catalogue.put(std::move(variant)); };
        TRY(replay::variantFromJson(item, catalogue).and_then(put));
    }
    return {};
}

Result<SweepOrder> sweepFromJson(const Json& request, const replay::Catalogue& catalogue)
{
    replay::SweepRequest sweep;
    sweep.variants = TRY(strings(request, "variants"));
    auto devices = TRY(strings(request, "devices"));
    sweep.captures = TRY(capturesFromJson(request));
    sweep.precisions = TRY(words<Precision>(request, "precisions", parsePrecision));
    auto lowerings = TRY(words<Lowering>(request, "lowerings", parseLowering));
    TRY(readNumbers(request, sweep));
    auto kept = TRY(keptFromJson(request));
    auto cells = TRY(cellsFromJson(request, sweep, catalogue));
    const auto gauges = request.value("gauges", Json());
    if (!gauges.is_null() && gauges != "deep") {
        return usage("\"gauges\" is not null or \"deep\"");
    }
    sweep.deep = gauges == "deep";
    if (!lowerings.empty()) {
        sweep.lowerings = std::move(lowerings);
    }
    if (!devices.empty()) {
        sweep.devices = std::move(devices);
    }
    sweep.catalogue = catalogue;
    sweep.cells = std::move(cells);
    return SweepOrder {std::move(sweep), std::move(kept)};
}

nlohmann::ordered_json sweepToJson(const SweepOrder& order)
{
    const auto& sweep = order.request;
    auto paths = Json::array();
    auto identities = Json::array();
    for (const auto& capture : sweep.captures) {
        paths.push_back(capture.path);
        identities.push_back(capture.identity);
    }
    Json json {{"do", "sweep"}, {"captures", std::move(paths)}, {"identities", std::move(identities)},
        {"variants", sweep.variants}, {"precisions", namesOf(sweep.precisions)},
        {"lowerings", namesOf(sweep.lowerings)}, {"devices", sweep.devices}, {"epsilon", orNull(sweep.epsilon)},
        {"steps", orNull(sweep.steps)}, {"gauges", sweep.deep ? Json("deep") : Json(nullptr)}};
    if (!sweep.cells.empty()) {
        json["cells"] = jsonArray(sweep.cells, cellToJson);
    }
    json.update(keptToJson(order.kept));
    writeDefinitions(json, sweep.catalogue);
    return json;
}

Result<replay::FilmRequest> filmFromJson(const Json& request, const replay::Catalogue& catalogue)
{
    const auto capture = TRY(captureFromJson(request));
    const auto cell = TRY(readCell(request, {}, catalogue));
    const auto given = request.value("batch", Json());
    const auto batch = TRY(wholeNumber(given.is_null() ? Json(0) : given, "batch"));
    auto against = TRY(againstFromJson(request.value("against", Json()), cell, catalogue));
    replay::FilmRequest film {capture, cell, batch, std::move(against), {}, catalogue};
    if (const auto plant = request.value("plant", Json()); !plant.is_null()) {
        film.plant = TRY(plantFromJson(plant));
    }
    return film;
}

Result<replay::FrameRequest> frameFromJson(const Json& request, const replay::Catalogue& catalogue)
{
    auto film = TRY(filmFromJson(request, catalogue));
    const auto op = TRY(wholeNumber(request.value("op", Json()), "op"));
    replay::FrameRequest frame {std::move(film), static_cast<std::size_t>(op), {}};
    if (const auto region = request.value("region", Json()); !region.is_null()) {
        frame.region = TRY(regionFromJson(region));
    }
    return frame;
}

Result<DeepOrder> deepFromJson(const Json& request, const replay::Catalogue& catalogue)
{
    return keptFromJson(request).and_then([&](const KeptIn& kept) {
        return filmFromJson(request, catalogue).map([&](replay::FilmRequest film) {
            return DeepOrder {{std::move(film.capture), std::move(film.cell), film.batch, catalogue}, kept};
        });
    });
}

nlohmann::ordered_json deepToJson(const DeepOrder& order)
{
    auto json = captureToJson("deep", order.request.capture);
    json.update(cellToJson(order.request.cell));
    json["batch"] = order.request.batch;
    json.update(keptToJson(order.kept));
    writeDefinitions(json, order.request.catalogue);
    return json;
}

nlohmann::ordered_json filmToJson(const replay::FilmRequest& film)
{
    auto json = captureToJson("film", film.capture);
    json.update(cellToJson(film.cell));
    json["batch"] = film.batch;
    json["against"] = againstToJson(film.against);
    json["plant"] = film.plant ? plantToJson(*film.plant) : Json(nullptr);
    writeDefinitions(json, film.catalogue);
    return json;
}

nlohmann::ordered_json frameToJson(const replay::FrameRequest& frame)
{
    auto json = filmToJson(frame.film);
    json["do"] = "frame";
    json["op"] = frame.op;
    json["region"] = nullptr;
    if (frame.region) {
        const auto& [row, col, rows, cols] = *frame.region;
        json["region"] = {row, col, rows, cols};
    }
    return json;
}

Result<replay::CliffRequest> cliffFromJson(const Json& request, const replay::Catalogue& catalogue)
{
    const auto film = TRY(filmFromJson(request, catalogue));
    const auto scale = TRY(factor(request, "scale"));
    const auto safety = TRY(factor(request, "safety"));
    replay::CliffRequest cliff {film.capture, film.cell, film.batch, scale.value_or(1), safety, 1, catalogue};
    const auto& roundings = member(request, "roundings");
    if (roundings.is_number_integer()) {
        cliff.roundings = static_cast<int>(std::clamp<std::int64_t>(roundings.get<std::int64_t>(), -1, 1000));
    } else if (!roundings.is_null()) {
        return failure(ErrorKind::usage, "\"roundings\" is not a whole number");
    }
    return cliff;
}

Json cliffToJson(const replay::CliffRequest& cliff)
{
    replay::FilmRequest film; // in one initializer GCC 12 takes `against` for uninitialized
    film.capture = cliff.capture;
    film.cell = cliff.cell;
    film.batch = cliff.batch;
    film.catalogue = cliff.catalogue;
    auto json = filmToJson(film);
    json.erase("against");
    json["do"] = "cliff";
    json["scale"] = cliff.scale;
    json["safety"] = orNull(cliff.safety);
    json["roundings"] = cliff.roundings;
    return json;
}

RequestLine readRequestLine(std::istream& in, std::string& line)
{
    line.clear();
    auto* buffer = in.rdbuf();
    bool tooLong = false;
    for (auto c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
        if (c == '\n') {
            return tooLong ? RequestLine::tooLong : RequestLine::text;
        }
        tooLong = tooLong || line.size() == maxRequestBytes;
        if (!tooLong) {
            line.push_back(static_cast<char>(c));
        }
    }
    return tooLong ? RequestLine::tooLong : line.empty() ? RequestLine::end : RequestLine::text;
}

nlohmann::ordered_json parseServiceLine(const std::string& line)
{
    using Json = nlohmann::ordered_json;
    constexpr int maxDepth = 8;
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth < maxDepth; };
    return Json::parse(line, shallow, false);
}

namespace {

bool readTile(const Json& json, replay::Region& tile)
{
    if (!json.is_array() || json.size() != 4) {
        return false;
    }
    return readInteger(json[0], tile.row) && readInteger(json[1], tile.col) && readInteger(json[2], tile.rows)
        && readInteger(json[3], tile.cols);
}

} // namespace

Json plantToJson(const replay::PlantedFault& fault)
{
    const auto& [row, col, rows, cols] = fault.region;
    return {{"op", name(fault.op)}, {"iteration", fault.iteration}, {"tile", {row, col, rows, cols}},
        {"value", replay::valueText(fault)}, {"mirrored", fault.mirrored}};
}

Result<replay::PlantedFault> plantFromJson(const Json& json)
{
    replay::PlantedFault fault;
    const auto& op = member(json, "op");
    const auto known = op.is_string() ? parseOpName(op.get<std::string>()) : std::nullopt;
    if (!known) {
        return usage("the \"op\" of \"plant\" is not known");
    }
    constexpr std::int64_t mostIterations = 100;
    std::int64_t iteration = 0;
    if (!readInteger(member(json, "iteration"), iteration) || iteration > mostIterations) {
        return usage("the \"iteration\" of \"plant\" is not a whole number from 0 to 100");
    }
    if (!readTile(member(json, "tile"), fault.region)) {
        return usage("the \"tile\" of \"plant\" is not [row, col, rows, cols]");
    }
    const auto& value = member(json, "value");
    if (!value.is_null() && !(value.is_string() && replay::parseValue(value.get<std::string>(), fault))) {
        return usage("the \"value\" of \"plant\" is not nan, inf, -inf, zero, stale or stale:NUMBER");
    }
    fault.op = *known;
    fault.iteration = static_cast<int>(iteration);
    fault.mirrored = member(json, "mirrored") == true;
    return fault;
}

} // namespace nanscope::rpc
