// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variantjson.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/replay/variants/nearest.h"

namespace nanscope::replay {

namespace {

using Json = nlohmann::ordered_json;
using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> castWords {"cast_first", "normalize_first"};
constexpr std::array<std::string_view, 2> epsilonWords {"add", "clamp"};
constexpr std::array<std::string_view, 2> normalizationWords {"frobenius", "aol"};
constexpr std::array<std::string_view, 3> beyondWords {"repeat_last", "cycle", "exact"};
constexpr std::array<std::string_view, 4> formWords {"standard_scaled", "standard", "gram", "gram_from_left"};
constexpr std::array<std::string_view, 2> tallWords {"transpose", "multiply_right"};
constexpr std::array<std::string_view, 2> loweringWords {"eager", "fused"};
constexpr std::array<std::string_view, 5> precisionWords {"fp64", "fp32", "tf32", "bf16", "fp16"};

/// One key of the schema. Reading answers what is wrong with the value, or nothing.
struct Field
{
    std::string_view key;
    std::function<std::string(const Json&, Variant&)> read;
    std::function<Json(const Variant&)> write;
};

std::string shown(std::string_view word)
{
    constexpr std::size_t most = 40;
    return Json(std::string(word.substr(0, most))).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string unknownWord(std::string_view word, Words known)
{
    const std::vector<std::string_view> all(known.begin(), known.end());
    return fmt::format("is {}, which is none of {}", shown(word), fmt::join(nearest(word, all, all.size()), ", "));
}

Field text(std::string_view key, std::string Variant::*member)
{
    return {key,
        [member](const Json& json, Variant& v) {
            if (!json.is_string()) {
                return std::string("is not a string");
            }
            v.*member = json.get<std::string>();
            return std::string();
        },
        [member](const Variant& v) { return Json(v.*member); }};
}

Field number(std::string_view key, double Variant::*member)
{
    return {key,
        [member](const Json& json, Variant& v) {
            if (!json.is_number()) {
                return std::string("is not a number");
            }
            v.*member = json.get<double>();
            return std::string();
        },
        [member](const Variant& v) { return Json(v.*member); }};
}

Field flag(std::string_view key, bool Variant::*member)
{
    return {key,
        [member](const Json& json, Variant& v) {
            if (!json.is_boolean()) {
                return std::string("is not true or false");
            }
            v.*member = json.get<bool>();
            return std::string();
        },
        [member](const Variant& v) { return Json(v.*member); }};
}

// The names of an enumeration, in its order.
template <class Enum>
Field word(std::string_view key, Enum Variant::*member, Words words)
{
    return {key,
        [member, words](const Json& json, Variant& v) {
            if (!json.is_string()) {
                return fmt::format("is not one of {}", fmt::join(words, ", "));
            }
            const auto& given = json.get_ref<const std::string&>();
            const auto found = std::find(words.begin(), words.end(), given);
            if (found == words.end()) {
                return unknownWord(given, words);
            }
            v.*member = static_cast<Enum>(found - words.begin());
            return std::string();
        },
        [member, words](const Variant& v) { return Json(words[static_cast<std::size_t>(v.*member)]); }};
}

std::string readNormPrecision(const Json& json, Variant& v)
{
    v.normPrecision.reset();
    if (json.is_null()) {
        return {};
    }
    Variant given;
    auto problem = word("", &Variant::precision, precisionWords).read(json, given);
    v.normPrecision = given.precision;
    return problem;
}

Json writeNormPrecision(const Variant& v)
{
    return v.normPrecision ? Json(name(*v.normPrecision)) : Json();
}

std::string readSteps(const Json& json, Variant& v)
{
    if (!json.is_array() || json.empty()) {
        return "is not a list of steps [a, b, c]";
    }
    if (json.size() > maxSteps) {
        return fmt::format("has {} steps; give 1 to {}", json.size(), maxSteps);
    }
    v.steps.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
        const auto& step = json[i];
        if (!step.is_array() || step.size() != 3) {
            return fmt::format("has a step {} that is not [a, b, c]", i + 1);
        }
        for (std::size_t k = 0; k < 3; ++k) {
            if (!step[k].is_number() || !std::isfinite(step[k].get<double>())) {
                return fmt::format("has a coefficient '{}' in step {} that is not a finite number", "abc"[k], i + 1);
            }
        }
        v.steps.push_back({step[0].get<double>(), step[1].get<double>(), step[2].get<double>()});
    }
    return {};
}

Json writeSteps(const Variant& v)
{
    return v.steps;
}

std::string readRestarts(const Json& json, Variant& v)
{
    const auto whole = [](const Json& step) {
        return step.is_number_integer() && step.get<std::int64_t>() >= 0 && step.get<std::int64_t>() < maxSteps;
    };
    if (!json.is_array() || json.size() > maxSteps || !std::all_of(json.begin(), json.end(), whole)) {
        return "is not a list of step numbers, counted from 0";
    }
    v.restarts.clear();
    for (const auto& step : json) {
        v.restarts.push_back(step.get<int>());
    }
    return {};
}

Json writeRestarts(const Variant& v)
{
    return v.restarts;
}

const std::vector<Field>& fields()
{
    static const std::vector<Field> all {
        text("name", &Variant::name),
        text("title", &Variant::title),
        text("source", &Variant::source),
        {"steps", readSteps, writeSteps},
        word("beyond", &Variant::beyond, beyondWords),
        word("cast", &Variant::castOrder, castWords),
        word("precision", &Variant::precision, precisionWords),
        word("lowering", &Variant::lowering, loweringWords),
        flag("equalize_rows", &Variant::equalizeRows),
        word("normalization", &Variant::normalization, normalizationWords),
        word("normalize_in", &Variant::normalizeIn, precisionWords),
        {"norm_precision", readNormPrecision, writeNormPrecision},
        word("epsilon_rule", &Variant::epsilonRule, epsilonWords),
        number("epsilon", &Variant::epsilon),
        flag("ignores_caller_epsilon", &Variant::ignoresCallerEpsilon),
        number("norm_factor", &Variant::normFactor),
        word("form", &Variant::form, formWords),
        flag("add_in_place", &Variant::addInPlace),
        number("safety_factor", &Variant::safetyFactor),
        {"restarts", readRestarts, writeRestarts},
        word("tall", &Variant::tall, tallWords),
        flag("square_uses_standard", &Variant::squareUsesStandard),
        flag("rescale_output", &Variant::rescaleOutput),
        flag("published", &Variant::published),
        text("family", &Variant::family),
    };
    return all;
}

tl::unexpected<Error> usage(std::string what)
{
    return failure(ErrorKind::usage, std::move(what));
}

tl::unexpected<Error> unknownKey(const std::string& key)
{
    std::vector<std::string_view> known {"base"};
    for (const auto& field : fields()) {
        known.push_back(field.key);
    }
    return usage(fmt::format(
        "a variant has no key {}; the nearest are {}", shown(key), fmt::join(nearest(key, known, 3), ", ")));
}

// What every field starts from.
Result<Variant> startOf(const Json& json)
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
    const auto found = findVariant(base->get<std::string>());
    if (!found) {
        return usage("\"base\" names no variant: " + found.error().what);
    }
    Variant copy = **found;
    copy.name.clear();
    copy.title.clear();
    copy.source = fmt::format("based on {}", (*found)->name);
    return copy;
}

std::string called(const Json& json)
{
    const auto name = json.find("name");
    return name != json.end() && name->is_string() ? fmt::format("the variant {}", shown(name->get<std::string>()))
                                                   : "a variant";
}

} // namespace

Json variantToJson(const Variant& variant)
{
    Json json = Json::object();
    for (const auto& field : fields()) {
        json[std::string(field.key)] = field.write(variant);
    }
    return json;
}

std::vector<std::string> differingKeys(const Variant& one, const Variant& other, VariantKeys keys)
{
    std::vector<std::string> differing;
    for (const auto& field : fields()) {
        const bool tells = field.key == "title" || field.key == "source" || field.key == "family";
        if ((keys == VariantKeys::all || !tells) && field.write(one) != field.write(other)) {
            differing.emplace_back(field.key);
        }
    }
    return differing;
}

std::string differText(const std::vector<std::string>& keys)
{
    return fmt::format("{} {}", fmt::join(keys, ", "), keys.size() == 1 ? "differs" : "differ");
}

Result<Variant> variantFromJson(const Json& json)
{
    if (!json.is_object()) {
        return usage("a variant is a JSON object; see docs/variants.md");
    }
    auto variant = startOf(json);
    if (!variant) {
        return variant;
    }
    for (const auto& item : json.items()) {
        const std::string& key = item.key();
        const auto& value = item.value();
        const auto field =
            std::find_if(fields().begin(), fields().end(), [&](const Field& one) { return one.key == key; });
        if (field == fields().end() && key != "base") {
            return unknownKey(key);
        }
        const auto problem = key == "base" ? std::string() : field->read(value, *variant);
        if (!problem.empty()) {
            return usage(fmt::format("\"{}\" of {} {}", key, called(json), problem));
        }
    }
    if (!json.contains("name")) {
        return usage("a variant has no \"name\"; give it one");
    }
    if (variant->steps.empty()) {
        return usage(
            fmt::format("{} has no \"steps\"; give them as [[a, b, c], ...] or name a \"base\"", called(json)));
    }
    return checkVariant(*variant).map([&] { return std::move(*variant); });
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

Error inFile(Error error, const std::filesystem::path& path)
{
    error.path = path.string();
    return error;
}

} // namespace

Result<std::vector<Variant>> variantsFromText(std::string_view text)
{
    const auto json = parsed(text);
    if (!json) {
        return tl::make_unexpected(json.error());
    }
    std::vector<Variant> all;
    const auto list = json->is_array() ? *json : Json::array({*json});
    for (const auto& item : list) {
        auto variant = variantFromJson(item);
        if (!variant) {
            return tl::make_unexpected(variant.error());
        }
        all.push_back(std::move(*variant));
    }
    if (all.empty()) {
        return usage("the file of variants holds none; see docs/variants.md");
    }
    return all;
}

Result<std::vector<Variant>> readVariantFile(const std::filesystem::path& path)
{
    return contents(path).and_then([&path](const std::string& text) {
        return variantsFromText(text).map_error([&path](Error error) { return inFile(std::move(error), path); });
    });
}

Result<std::vector<std::string>> addVariantFile(const std::filesystem::path& path)
{
    auto read = readVariantFile(path);
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    std::vector<std::string> names;
    for (auto& variant : *read) {
        names.push_back(variant.name);
        if (auto added = addVariant(std::move(variant)); !added) {
            return tl::make_unexpected(inFile(added.error(), path));
        }
    }
    return names;
}

} // namespace nanscope::replay
