// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/context/parameters.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <re2/re2.h>
#include <simdjson.h>

#include "core/base/text.h"
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
        std::int64_t extent = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + end, extent);
        if (error != std::errc() || stop != text.data() + end || extent < 0) {
            return std::nullopt;
        }
        shape.push_back(extent);
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
    const auto file = platform::FileReader::open(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (file->size() > largestText) {
        return failure(ErrorKind::format, "a list of parameters takes at most 64 MiB");
    }
    std::string text(file->size(), '\0');
    if (auto read = file->readAt(0, std::as_writable_bytes(std::span(text))); !read) {
        return tl::make_unexpected(read.error());
    }
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
    const auto named = [&](Error error) {
        error.path = path.string();
        return error;
    };
    if (tensorfile::looksLikeTensorFile(path)) {
        return tensorfile::openTensorFile(path)
            .and_then([](const tensorfile::TensorFile& file) { return checked(fromTensors(file)); })
            .map_error(named);
    }
    return readText(path).and_then([](const std::string& text) { return parseParameters(text); }).map_error(named);
}

} // namespace nanscope::diagnose
