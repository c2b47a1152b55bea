// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variantfields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/replay/variants/nearest.h"

namespace nanscope::replay {

namespace {

using Json = VariantField::Json;
using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> castWords {"cast_first", "normalize_first"};
constexpr std::array<std::string_view, 2> epsilonWords {"add", "clamp"};
constexpr std::array<std::string_view, 2> normalizationWords {"frobenius", "aol"};
constexpr std::array<std::string_view, 3> beyondWords {"repeat_last", "cycle", "exact"};
constexpr std::array<std::string_view, 4> formWords {"standard_scaled", "standard", "gram", "gram_from_left"};
constexpr std::array<std::string_view, 2> tallWords {"transpose", "multiply_right"};
constexpr std::array<std::string_view, 2> loweringWords {"eager", "fused"};
constexpr std::array<std::string_view, 6> precisionWords {"fp64", "fp32", "tf32", "bf16", "fp16", "fp16-acc16"};
/// Of what is no product: nothing is summed there.
constexpr auto formatWords = Words(precisionWords).first(5);

std::string unknownWord(std::string_view word, Words known)
{
    const std::vector<std::string_view> all(known.begin(), known.end());
    return fmt::format("is {}, which is none of {}", quotedWord(word), fmt::join(nearest(word, all, all.size()), ", "));
}

VariantField text(std::string_view key, std::string Variant::*member)
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

VariantField number(std::string_view key, double Variant::*member)
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

VariantField flag(std::string_view key, bool Variant::*member)
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
VariantField word(std::string_view key, Enum Variant::*member, Words words)
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
    auto problem = word("", &Variant::precision, formatWords).read(json, given);
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

} // namespace

std::string quotedWord(std::string_view word)
{
    constexpr std::size_t most = 40;
    return Json(std::string(word.substr(0, most))).dump(-1, ' ', true, Json::error_handler_t::replace);
}

const std::vector<VariantField>& variantFields()
{
    static const std::vector<VariantField> all {
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
        word("normalize_in", &Variant::normalizeIn, formatWords),
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

std::vector<std::string> differingKeys(const Variant& one, const Variant& other, VariantKeys keys)
{
    std::vector<std::string> differing;
    for (const auto& field : variantFields()) {
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

} // namespace nanscope::replay
