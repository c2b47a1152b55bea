// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variantjson.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"
#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/nearest.h"
#include "core/replay/variants/variantfields.h"

namespace nanscope::replay {

namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> usage(std::string what)
{
    return failure(ErrorKind::usage, std::move(what));
}

tl::unexpected<Error> unknownKey(const std::string& key)
{
    std::vector<std::string_view> known {"base"};
    for (const auto& field : variantFields()) {
        known.push_back(field.key);
    }
    return usage(fmt::format(
        "a variant has no key {}; the nearest are {}", quotedWord(key), fmt::join(nearest(key, known, 3), ", ")));
}

// What every field starts from.
Result<Variant> startOf(const Json& json, const Catalogue& known)
{
    const auto base = json.find("base");
    if (base == json.end()) {
        Variant plain;
        plain.family = "own";
        return plain;
    }
    if (!base->is_string()) {
        return usage("\"base\" is not the name of a variant");
    }
    const auto found = known.find(base->get<std::string>());
    if (!found) {
        return usage("\"base\" names no variant: " + found.error().what);
    }
    Variant copy = **found;
    copy.name.clear();
    copy.title.clear();
    copy.source = fmt::format("based on {}", (*found)->name);
    copy.symmetricKernels = true;
    return copy;
}

std::string called(const Json& json)
{
    const auto name = json.find("name");
    return name != json.end() && name->is_string() ? fmt::format("the variant {}", quotedWord(name->get<std::string>()))
                                                   : "a variant";
}

} // namespace

Json variantToJson(const Variant& variant)
{
    Json json = Json::object();
    for (const auto& field : variantFields()) {
        json[std::string(field.key)] = field.write(variant);
    }
    return json;
}

Result<Variant> variantFromJson(const Json& json, const Catalogue& known)
{
    if (!json.is_object()) {
        return usage("a variant is a JSON object; see docs/variants.md");
    }
    auto variant = TRY(startOf(json, known));
    for (const auto& item : json.items()) {
        const std::string& key = item.key();
        const auto& value = item.value();
        const auto field = std::find_if(
            variantFields().begin(), variantFields().end(), [&](const VariantField& one) { return one.key == key; });
        if (field == variantFields().end() && key != "base") {
            return unknownKey(key);
        }
        const auto problem = key == "base" ? std::string() : field->read(value, variant);
        if (!problem.empty()) {
            return usage(fmt::format("\"{}\" of {} {}", key, called(json), problem));
        }
    }
    if (!json.contains("name")) {
        return usage("a variant has no \"name\"; give it one");
    }
    if (variant.steps.empty()) {
        return usage(
            fmt::format("{} has no \"steps\"; give them as [[a, b, c], ...] or name a \"base\"", called(json)));
    }
    return checkVariant(variant).map([&] { return std::move(variant); });
}

namespace {

// A list of variants with lists of steps; what lies deeper is no schema of ours and would only take memory.
constexpr int deepest = 5;

/// Sees the file go by: JSON itself would keep the last of two equal keys, and say nothing.
class Watch
{
public:
    bool operator()(int depth, Json::parse_event_t event, Json& parsed)
    {
        tooDeep = tooDeep || depth > deepest;
        if (event == Json::parse_event_t::object_start) {
            m_open.emplace_back();
        } else if (event == Json::parse_event_t::object_end && !m_open.empty()) {
            m_open.pop_back();
        } else if (event == Json::parse_event_t::key && !m_open.empty()
            && !m_open.back().insert(parsed.get<std::string>()).second && twice.empty()) {
            twice = parsed.get<std::string>();
        }
        return depth <= deepest;
    }

    bool tooDeep = false;
    std::string twice; ///< the first key that an object holds a second time

private:
    std::vector<std::set<std::string>> m_open;
};

// Python writes what JSON does not know.
std::string whyNotJson(std::string_view text, std::size_t byte)
{
    const auto begin = byte > 9 ? byte - 9 : 0;
    const auto around = text.substr(std::min(begin, text.size()), 18);
    const bool notFinite = around.find("NaN") != around.npos || around.find("Infinity") != around.npos;
    return notFinite ? ": there is no NaN and no Infinity in it, and every coefficient is a finite number" : "";
}

Result<Json> parsed(std::string_view text)
{
    Watch watch;
    try {
        auto json = Json::parse(text, std::ref(watch));
        if (watch.tooDeep) {
            return usage("the file of variants nests deeper than variants do; see docs/variants.md");
        }
        if (!watch.twice.empty()) {
            return usage(fmt::format("the file of variants has \"{}\" twice in one object: keep one", watch.twice));
        }
        return json;
    } catch (const Json::parse_error& error) {
        return usage(
            fmt::format("the file of variants is not JSON at byte {}{}", error.byte, whyNotJson(text, error.byte)));
    } catch (const Json::out_of_range&) {
        return usage("the file of variants has a number beyond what fp64 can hold");
    }
}

Result<std::string> contents(const std::filesystem::path& path)
{
    std::error_code error;
    const auto size = std::filesystem::is_directory(path, error) ? 0 : std::filesystem::file_size(path, error);
    if (error || std::filesystem::is_directory(path, error)) {
        return failure(ErrorKind::io, "the file of variants cannot be read", path.string());
    }
    if (size > maxVariantFileBytes) {
        return failure(ErrorKind::usage,
            fmt::format("a file of variants has at most {} KiB, this one has {}; a schedule has at most {} steps",
                maxVariantFileBytes >> 10, size >> 10, maxSteps),
            path.string());
    }
    std::ifstream file(path, std::ios::binary);
    std::string text {std::istreambuf_iterator<char>(file), {}};
    if (!file.good() && !file.eof()) {
        return failure(ErrorKind::io, "the file of variants cannot be read", path.string());
    }
    return text;
}

} // namespace

Result<std::vector<Variant>> variantsFromText(std::string_view text, const Catalogue& known)
{
    const auto json = TRY(parsed(text));
    std::vector<Variant> all;
    const auto list = json.is_array() ? json : Json::array({json});
    for (const auto& item : list) {
        all.push_back(TRY(variantFromJson(item, known)));
    }
    if (all.empty()) {
        return usage("the file of variants holds none; see docs/variants.md");
    }
    return all;
}

Result<std::vector<Variant>> readVariantFile(const std::filesystem::path& path, const Catalogue& known)
{
    return contents(path).and_then([&](const std::string& text) {
        return variantsFromText(text, known).map_error([&path](Error error) {
            return withPath(std::move(error), path);
        });
    });
}

Result<void> addVariantFile(Catalogue& catalogue, const std::filesystem::path& path)
{
    auto read = TRY(readVariantFile(path, catalogue));
    for (auto& variant : read) {
        if (auto added = catalogue.add(std::move(variant)); !added) {
            return tl::make_unexpected(withPath(added.error(), path));
        }
    }
    return {};
}

} // namespace nanscope::replay
