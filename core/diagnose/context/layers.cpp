// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/context/layers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <simdjson.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/context/settings.h"
#include "core/model/verdict.h"
#include "core/platform/platform.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::diagnose {

namespace {

// A model of a thousand layers has some ten thousand parameters.
constexpr std::size_t mostParameters = 1'000'000;
constexpr std::uint64_t largestText = std::uint64_t {64} << 20;
constexpr std::size_t longestName = 300;

bool usable(std::string_view name)
{
    const bool control = std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    return !name.empty() && name.size() <= longestName && !control;
}

void sortByName(ParameterList& list)
{
    list.ordered = false;
    std::ranges::sort(list.parameters, naturalLess, &Parameter::name);
}

std::optional<Shape> shapeIn(simdjson::dom::element json)
{
    constexpr std::size_t mostExtents = 8;
    simdjson::dom::array extents;
    if (json.get(extents) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    Shape shape;
    for (const auto item : extents) {
        std::int64_t extent = 0;
        if (item.get(extent) != simdjson::SUCCESS || extent < 0 || shape.size() == mostExtents) {
            return std::nullopt;
        }
        shape.push_back(extent);
    }
    return shape;
}

ParameterList namesOf(simdjson::dom::object map)
{
    ParameterList list;
    list.shapes = false;
    for (const auto [key, value] : map) {
        if (usable(key)) {
            list.parameters.push_back({std::string(key), {}});
        }
    }
    sortByName(list);
    return list;
}

ParameterList shapesOf(simdjson::dom::object map)
{
    ParameterList list;
    for (const auto [key, value] : map) {
        auto shape = usable(key) ? shapeIn(value) : std::nullopt;
        if (shape) {
            list.parameters.push_back({std::string(key), std::move(*shape)});
        }
    }
    return list;
}

/// Through simdjson: the objects of the other library look for every key among all before it.
std::optional<ParameterList> fromJson(std::string_view text)
{
    simdjson::dom::parser parser;
    simdjson::dom::object json;
    simdjson::dom::object map;
    if (parser.parse(simdjson::padded_string(text)).get(json) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    return json["weight_map"].get(map) == simdjson::SUCCESS ? namesOf(map) : shapesOf(json);
}

/// "512, 1408" and "512x1408"; a comma may end it.
std::optional<Shape> shapeFrom(std::string_view text)
{
    Shape shape;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(",x "), text.size());
        const auto extent = numberIn<std::int64_t>(text.substr(0, end));
        if (!extent || *extent < 0) {
            return std::nullopt;
        }
        shape.push_back(*extent);
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(",x "), text.size()));
    }
    return shape;
}

std::optional<Parameter> fromLine(std::string_view line)
{
    static const RE2 bracketed(R"(\W*([\w.\[\]-]+)\W+?(?:(?:\w+\.)?Size)?[(\[]*\s*(\d+(?:\s*,\s*\d+)*,?)\s*[)\]]+.*)");
    static const RE2 crossed(R"(\W*([\w.\[\]-]+)[\s:=,'"]+(\d+(?:x\d+)+)\b.*)");
    std::string name;
    std::string extents;
    if (!RE2::FullMatch(line, bracketed, &name, &extents) && !RE2::FullMatch(line, crossed, &name, &extents)) {
        return std::nullopt;
    }
    auto shape = shapeFrom(extents);
    const bool named = std::ranges::any_of(name, [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
    return shape && named && usable(name) ? std::optional(Parameter {std::move(name), std::move(*shape)})
                                          : std::nullopt;
}

ParameterList fromLines(std::string_view text)
{
    ParameterList list;
    while (!text.empty() && list.parameters.size() <= mostParameters) {
        const auto end = std::min(text.find('\n'), text.size());
        if (auto parameter = fromLine(text.substr(0, std::min(end, std::size_t {2000})))) {
            list.parameters.push_back(std::move(*parameter));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return list;
}

ParameterList fromTensors(const tensorfile::TensorFile& file)
{
    ParameterList list;
    const auto* dict = std::get_if<tensorfile::PickleDict>(&file.root.value);
    for (const auto& entry : dict == nullptr ? tensorfile::PickleDict {} : *dict) {
        const auto* name = std::get_if<std::string>(&entry.first.value);
        const auto* tensor = entry.second.tensor();
        if (name != nullptr && tensor != nullptr && usable(*name)) {
            list.parameters.push_back({*name, tensor->shape()});
        }
    }
    // Safetensors lie there in the order of their names, digits as letters; a state dict keeps the model's own.
    if (file.kind == tensorfile::FileKind::safetensors) {
        sortByName(list);
    }
    return list;
}

Result<ParameterList> checked(ParameterList list)
{
    if (list.parameters.empty()) {
        return failure(ErrorKind::format,
            "no parameter was found: give lines such as \"blocks.0.mlp.fc2.weight [512, 1408]\", a JSON object of "
            "names "
            "and shapes, or a .safetensors file");
    }
    if (list.parameters.size() > mostParameters) {
        return failure(ErrorKind::format, fmt::format("more than {} parameters are refused", mostParameters));
    }
    return list;
}

Result<std::string> readText(const std::filesystem::path& path)
{
    const auto file = TRY(platform::FileReader::open(path));
    if (file.size() > largestText) {
        return failure(ErrorKind::format, "a list of parameters takes at most 64 MiB");
    }
    std::string text(file.size(), '\0');
    TRY(file.readAt(0, std::as_writable_bytes(std::span(text))));
    return text;
}

} // namespace

Result<ParameterList> parseParameters(std::string_view text)
{
    auto json = fromJson(text);
    return checked(json ? std::move(*json) : fromLines(text));
}

Result<ParameterList> readParameters(const std::filesystem::path& path)
{
    const auto named = [&](Error error) { return withPath(std::move(error), path); };
    if (tensorfile::looksLikeTensorFile(path)) {
        return tensorfile::openTensorFile(path)
            .and_then([](const tensorfile::TensorFile& file) { return checked(fromTensors(file)); })
            .map_error(named);
    }
    return readText(path).and_then([](const std::string& text) { return parseParameters(text); }).map_error(named);
}

namespace {

constexpr std::size_t mostCandidates = 64;

/// As the optimizer sees it: everything behind the first dimension is flattened.
std::optional<std::pair<std::int64_t, std::int64_t>> matrixOf(const Shape& shape)
{
    if (shape.size() < 2) {
        return std::nullopt;
    }
    std::int64_t cols = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) {
        cols *= shape[i];
    }
    return std::pair(shape[0], cols);
}

std::vector<std::string> partsOf(std::string_view name)
{
    std::vector<std::string> parts;
    for (;;) {
        const auto dot = std::min(name.find('.'), name.size());
        parts.emplace_back(name.substr(0, dot));
        if (dot == name.size()) {
            return parts;
        }
        name.remove_prefix(dot + 1);
    }
}

/// "blocks.*.mlp.fc2" of "blocks.3.mlp.fc2".
std::string patternOf(const std::string& name)
{
    auto parts = partsOf(name);
    for (auto& part : parts) {
        const bool number = !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
        part = number ? "*" : part;
    }
    return fmt::format("{}", fmt::join(parts, "."));
}

std::string sizeText(const MatrixShape& shape)
{
    return fmt::format("[{},{}]", shape.rows, shape.cols);
}

/// "6 blocks.*.mlp.fc2" or "one of 12, 6 blocks.*.attn.q and 6 blocks.*.attn.k".
std::string groupText(std::span<const std::string> names)
{
    std::vector<std::pair<std::string, int>> groups;
    std::unordered_map<std::string, std::size_t> places;
    for (const auto& name : names) {
        auto pattern = patternOf(name);
        const auto [place, isNew] = places.emplace(pattern, groups.size());
        if (isNew) {
            groups.emplace_back(std::move(pattern), 0);
        }
        ++groups[place->second].second;
    }
    if (names.size() == 1) {
        return fmt::format("`{}`", names.front());
    }
    if (groups.size() == 1) {
        return fmt::format("one of {} `{}`", names.size(), groups.front().first);
    }
    constexpr std::size_t shown = 4;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(shown, groups.size()); ++i) {
        texts.push_back(fmt::format("{} `{}`", groups[i].second, groups[i].first));
    }
    const auto more = groups.size() > shown ? fmt::format(" and {} kinds more", groups.size() - shown) : std::string();
    return fmt::format("one of {}: {}{}", names.size(), fmt::join(texts, ", "), more);
}

std::string placeText(const LayerPlace& place)
{
    const auto element = place.stacked ? fmt::format("element {}", place.element) : std::string("the whole tensor");
    return place.rank ? fmt::format("rank {}, {}", *place.rank, element) : element;
}

std::vector<std::string> namesOfShape(const LayerPlace& place, const ParameterList& list)
{
    std::vector<std::string> names;
    for (const auto& parameter : list.parameters) {
        if (matrixOf(parameter.shape) == std::pair(place.shape.rows, place.shape.cols)) {
            names.push_back(parameter.name);
        }
    }
    return names;
}

/// Parameters that are a stack of such matrices: split sizes, or heads.
std::vector<std::string> namesOfStacks(const LayerPlace& place, const ParameterList& list)
{
    std::vector<std::string> names;
    for (const auto& parameter : list.parameters) {
        const auto matrix = matrixOf(parameter.shape);
        const bool blocks = matrix && matrix->second == place.shape.cols && place.shape.rows > 0
            && matrix->first > place.shape.rows && matrix->first % place.shape.rows == 0;
        if (blocks) {
            names.push_back(parameter.name);
        }
    }
    return names;
}

/// How its place tells which of the parameters it is, or why it does not.
struct Pick
{
    std::optional<std::size_t> index;
    std::string text;
};

Pick pickOf(const LayerPlace& place, std::span<const std::string> names, bool ordered)
{
    const auto count = static_cast<std::int64_t>(names.size());
    if (count == 1) {
        return {0, ", the only one of this shape in the list"};
    }
    if (!place.stacked || !place.rank) {
        return {{}, "; which one its place does not tell"};
    }
    const auto perRank = place.shape.batch;
    if (place.world && (count + *place.world - 1) / *place.world != perRank) {
        return {{},
            fmt::format("; which one its place does not tell: {} over {} ranks make {} per rank, and the capture "
                        "holds {}",
                count, *place.world, (count + *place.world - 1) / *place.world, perRank)};
    }
    const auto index = *place.rank * perRank + place.element;
    const auto* order = ordered ? "if the parameter order is as given" : "if the optimizer has them in this order";
    if (index >= count) {
        return {{}, fmt::format("; a zero matrix that fills up the last rank {}", order)};
    }
    return {static_cast<std::size_t>(index), fmt::format("; `{}` {}", names[static_cast<std::size_t>(index)], order)};
}

Layer stackOf(const LayerPlace& place, const std::vector<std::string>& stacks)
{
    if (stacks.empty()) {
        return {fmt::format("{}: no parameter that was given is {}", placeText(place), sizeText(place.shape)), {}};
    }
    return {fmt::format("{}: no parameter is {}; a row block of {} is possible, where the optimizer splits it or takes "
                        "its heads apart",
                placeText(place), sizeText(place.shape), groupText(stacks)),
        stacks};
}

LayerPlace placeIn(const CaptureVerdict& verdict, const Capture& capture, std::optional<int> world)
{
    LayerPlace place;
    place.shape = matrixShape(capture.input.shape);
    place.stacked = capture.input.shape.size() > 2;
    place.rank = verdict.rank;
    place.element = verdict.facts.damage.batch;
    place.world = world;
    return place;
}

} // namespace

Layer layerAt(const LayerPlace& place, const ParameterList& list)
{
    if (!list.shapes) {
        return {fmt::format("{}: the {} parameters that were given have no shapes, so none can be told apart; give a "
                            ".safetensors file, or names with shapes",
                    placeText(place), list.parameters.size()),
            {}};
    }
    const auto names = namesOfShape(place, list);
    auto layer = Layer {};
    if (names.empty()) {
        layer = stackOf(place, namesOfStacks(place, list));
    } else {
        const auto pick = pickOf(place, names, list.ordered);
        layer = {
            fmt::format("{}: {} {}{}", placeText(place), groupText(names), sizeText(place.shape), pick.text), names};
        if (pick.index) {
            std::rotate(layer.candidates.begin(), layer.candidates.begin() + static_cast<std::ptrdiff_t>(*pick.index),
                layer.candidates.begin() + static_cast<std::ptrdiff_t>(*pick.index) + 1);
        }
    }
    layer.candidates.resize(std::min(layer.candidates.size(), mostCandidates));
    return layer;
}

std::optional<int> worldSizeOf(const RunData& run)
{
    std::optional<int> world;
    for (const auto* setting : cards::settingsNamed(run, {"world_size", "num_processes", "nranks"})) {
        const auto number = cards::numberOf(*setting);
        if (!number || *number < 1 || *number > 1e6) {
            continue;
        }
        const auto size = static_cast<int>(*number);
        if (world && *world != size) {
            return std::nullopt;
        }
        world = size;
    }
    return world;
}

void nameLayers(Diagnosis& diagnosis, const RunData& run, const ParameterList& list)
{
    std::map<std::pair<std::string, std::int64_t>, const Capture*> captures;
    for (const auto& capture : run.captures) {
        captures.emplace(std::pair(capture.file, capture.id), &capture);
    }
    const auto world = worldSizeOf(run);
    for (auto& verdict : diagnosis.captures) {
        const auto found = captures.find(std::pair(verdict.capture, verdict.captureId));
        if (found == captures.end() || !found->second->part.empty()) {
            continue;
        }
        auto layer = layerAt(placeIn(verdict, *found->second, world), list);
        verdict.layer = std::move(layer.text);
        verdict.layerCandidates = std::move(layer.candidates);
    }
}

} // namespace nanscope::diagnose
