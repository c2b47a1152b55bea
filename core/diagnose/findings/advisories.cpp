// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/advisories.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <re2/re2.h>

#include "core/base/json.h"
#include "core/platform/platform.h"

namespace nanscope::diagnose {

namespace {

constexpr int deepest = 8;
constexpr std::size_t mostValues = 100'000;

using Json = nlohmann::json;

constexpr std::uint64_t largestFile = std::uint64_t {1} << 20;
constexpr std::size_t mostAdvisories = 1000;
constexpr std::size_t longestText = 1000;

/// Why a part of the file cannot be read; empty where it can.
using Reason = std::string;

Reason mustBe(std::string_view key, std::string_view what)
{
    return fmt::format("\"{}\" must be {}", key, what);
}

Reason readText(const Json& json, std::string_view key, std::string& out, std::size_t longest = longestText)
{
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) {
        return mustBe(key, "a text");
    }
    out = found->get<std::string>();
    const bool control = std::ranges::any_of(out, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    return out.empty() || out.size() > longest || control
        ? mustBe(key, fmt::format("one line of 1 to {} bytes", longest))
        : Reason();
}

/// The texts of a list, or of a single text.
Reason readTexts(const Json& value, std::string_view key, std::vector<std::string>& out)
{
    const auto list = value.is_array() ? value : Json::array({value});
    constexpr std::size_t most = 100;
    for (const auto& one : list) {
        if (!one.is_string() || list.size() > most) {
            return mustBe(key, "a text or a list of at most 100 texts");
        }
        out.push_back(one.get<std::string>());
    }
    return {};
}

Reason unknownKey(const Json& json, std::initializer_list<std::string_view> known)
{
    for (const auto& item : json.items()) {
        if (std::ranges::find(known, item.key()) == known.end()) {
            return fmt::format("\"{}\" is not known here", item.key().substr(0, 60));
        }
    }
    return {};
}

Reason readRanges(const Json& value, std::string_view key, std::vector<VersionRange>& out)
{
    std::vector<std::string> texts;
    if (auto reason = readTexts(value, key, texts); !reason.empty()) {
        return reason;
    }
    for (const auto& text : texts) {
        auto range = VersionRange::parse(text);
        if (!range) {
            return mustBe(key, "such as \">=0.3.11,<=0.6.4\"");
        }
        out.push_back(std::move(*range));
    }
    return {};
}

Reason readPackage(const Json& json, AffectedPackage& out)
{
    if (!json.is_object()) {
        return mustBe("packages", "a list of objects");
    }
    if (auto reason = unknownKey(json, {"name", "versions"}); !reason.empty()) {
        return reason;
    }
    std::string name;
    if (auto reason = readText(json, "name", name, 100); !reason.empty()) {
        return reason;
    }
    out.name = packageName(name);
    const auto versions = json.find("versions");
    if (versions == json.end()) {
        return {};
    }
    out.everyVersion = *versions == "*";
    return out.everyVersion ? Reason() : readRanges(*versions, "versions", out.versions);
}

Reason readPackages(const Json& value, std::vector<AffectedPackage>& out)
{
    if (!value.is_array() || value.size() > 10) {
        return mustBe("packages", "a list of at most 10 objects");
    }
    for (const auto& one : value) {
        if (auto reason = readPackage(one, out.emplace_back()); !reason.empty()) {
            return reason;
        }
    }
    return {};
}

std::optional<NumberBound> parseBound(std::string_view text)
{
    using Sign = NumberBound::Sign;
    constexpr std::array<std::pair<std::string_view, Sign>, 5> signs {{{">=", Sign::greaterEqual},
        {"<=", Sign::lessEqual}, {"==", Sign::equal}, {">", Sign::greater}, {"<", Sign::less}}};
    const auto* sign = std::ranges::find_if(signs, [&](const auto& one) { return text.starts_with(one.first); });
    if (sign == signs.end()) {
        return std::nullopt;
    }
    text.remove_prefix(sign->first.size());
    NumberBound bound {sign->second, 0};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bound.value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(bound) : std::nullopt;
}

Reason readBound(const Json& json, std::string_view key, std::optional<NumberBound>& out)
{
    const auto found = json.find(key);
    if (found == json.end()) {
        return {};
    }
    out = found->is_string() ? parseBound(found->get<std::string>()) : std::nullopt;
    return out ? Reason() : mustBe(key, "such as \">=256\"");
}

Reason readShape(const Json& json, CallRule& out)
{
    if (!json.is_object()) {
        return mustBe("shape", "an object");
    }
    if (auto reason = unknownKey(json, {"smaller_side", "batch", "elements", "square"}); !reason.empty()) {
        return reason;
    }
    if (const auto square = json.find("square"); square != json.end()) {
        if (!square->is_boolean()) {
            return mustBe("square", "true or false");
        }
        out.square = square->get<bool>();
    }
    for (auto [key, bound] : {std::pair("smaller_side", &out.smallerSide), std::pair("batch", &out.batch),
             std::pair("elements", &out.elements)}) {
        if (auto reason = readBound(json, key, *bound); !reason.empty()) {
            return reason;
        }
    }
    return {};
}

Reason readDtypes(const Json& value, std::vector<DType>& out)
{
    std::vector<std::string> names;
    if (auto reason = readTexts(value, "dtypes", names); !reason.empty()) {
        return reason;
    }
    for (const auto& text : names) {
        constexpr std::array types {DType::bfloat16, DType::float16, DType::float32, DType::float64};
        const auto* const type =
            std::find_if(types.begin(), types.end(), [&](DType one) { return shortName(one) == text; });
        if (type == types.end()) {
            return mustBe("dtypes", "of bf16, fp16, fp32, fp64");
        }
        out.push_back(*type);
    }
    return {};
}

Reason readRules(const Json& json, Advisory& out)
{
    const auto with = [&](const char* key, const auto& reader) {
        const auto found = json.find(key);
        return found == json.end() ? Reason() : reader(*found);
    };
    for (auto reason : {with("packages", [&](const Json& v) { return readPackages(v, out.packages); }),
             with("capability", [&](const Json& v) { return readRanges(v, "capability", out.capabilities); }),
             with("variants", [&](const Json& v) { return readTexts(v, "variants", out.call.variants); }),
             with("dtypes", [&](const Json& v) { return readDtypes(v, out.call.dtypes); }),
             with("shape", [&](const Json& v) { return readShape(v, out.call); }),
             with("zero_matrix", [&](const Json& v) {
                 out.call.zeroMatrix = v == true;
                 return v.is_boolean() ? Reason() : mustBe("zero_matrix", "true or false");
             })}) {
        if (!reason.empty()) {
            return reason;
        }
    }
    const bool any = !out.packages.empty() || !out.capabilities.empty() || !out.call.empty();
    return any ? Reason() : Reason("it has no rule and would match every run");
}

Reason readWords(const Json& json, Advisory& out)
{
    std::string status;
    for (auto reason : {readText(json, "title", out.title, 200), readText(json, "text", out.text),
             readText(json, "link", out.link, 300), readText(json, "status", status, 20)}) {
        if (!reason.empty()) {
            return reason;
        }
    }
    const auto known = parseAdvisoryStatus(status);
    if (!known) {
        return mustBe("status", "confirmed, suspected or fixed");
    }
    out.status = *known;
    return out.link.starts_with("https://") ? Reason() : mustBe("link", "an https:// address");
}

Reason readDate(const Json& json, std::string& out)
{
    static const RE2 day(R"(\d{4}-\d{2}-\d{2})");
    if (auto reason = readText(json, "dated", out, 10); !reason.empty()) {
        return reason;
    }
    return RE2::FullMatch(out, day) ? Reason() : mustBe("dated", "a day such as 2026-08-20");
}

Reason readAdvisory(const Json& json, const std::string& dated, Advisory& out)
{
    if (!json.is_object()) {
        return mustBe("advisories", "a list of objects");
    }
    out.dated = dated;
    if (auto reason = readText(json, "id", out.id, 60); !reason.empty()) {
        return reason;
    }
    for (auto reason : {unknownKey(json,
                            {"id", "dated", "status", "title", "text", "link", "packages", "capability", "variants",
                                "dtypes", "shape", "zero_matrix"}),
             json.contains("dated") ? readDate(json, out.dated) : Reason(), readWords(json, out),
             readRules(json, out)}) {
        if (!reason.empty()) {
            return fmt::format("{}: {}", out.id, reason);
        }
    }
    return {};
}

Reason readFile(const Json& json, std::vector<Advisory>& out)
{
    if (!json.is_object() || json.value("schema", Json()) != "nanscope.advisories/1") {
        return "it is no JSON object with \"schema\": \"nanscope.advisories/1\"";
    }
    std::string dated;
    const auto list = json.find("advisories");
    for (auto reason : {unknownKey(json, {"schema", "dated", "advisories"}), readDate(json, dated)}) {
        if (!reason.empty()) {
            return reason;
        }
    }
    if (list == json.end() || !list->is_array() || list->size() > mostAdvisories) {
        return mustBe("advisories", fmt::format("a list of at most {}", mostAdvisories));
    }
    for (const auto& one : *list) {
        if (auto reason = readAdvisory(one, dated, out.emplace_back()); !reason.empty()) {
            return reason;
        }
    }
    return {};
}

Reason checkVariants(const std::vector<Advisory>& advisories, const replay::Catalogue& catalogue)
{
    for (const auto& one : advisories) {
        for (const auto& name : one.call.variants) {
            if (!catalogue.find(name)) {
                return fmt::format("{}: there is no variant \"{}\"", one.id, name.substr(0, 60));
            }
        }
    }
    return {};
}

} // namespace

bool NumberBound::holds(std::int64_t number) const
{
    switch (sign) {
    case Sign::less:
        return number < value;
    case Sign::lessEqual:
        return number <= value;
    case Sign::greater:
        return number > value;
    case Sign::greaterEqual:
        return number >= value;
    case Sign::equal:
        return number == value;
    }
    return false;
}

Result<std::vector<Advisory>> parseAdvisories(std::string_view json, const replay::Catalogue& catalogue)
{
    std::vector<Advisory> advisories;
    auto reason = readFile(parseBounded(json, deepest, mostValues), advisories);
    if (reason.empty()) {
        reason = checkVariants(advisories, catalogue);
    }
    if (!reason.empty()) {
        return failure(ErrorKind::format, "the advisories cannot be used: " + reason);
    }
    return advisories;
}

Result<std::vector<Advisory>> readAdvisories(const std::filesystem::path& path, const replay::Catalogue& catalogue)
{
    const auto file = platform::FileReader::open(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (file->size() > largestFile) {
        return failure(ErrorKind::format, "advisories take at most 1 MiB", path.string());
    }
    std::string text(file->size(), '\0');
    if (auto read = file->readAt(0, std::as_writable_bytes(std::span(text))); !read) {
        return tl::make_unexpected(read.error());
    }
    return parseAdvisories(text, catalogue).map_error([&](Error error) {
        error.path = path.string();
        return error;
    });
}

std::vector<Advisory> joinAdvisories(std::vector<Advisory> known, std::vector<Advisory> more)
{
    for (auto& one : more) {
        const auto same = std::ranges::find(known, one.id, &Advisory::id);
        if (same == known.end()) {
            known.push_back(std::move(one));
        } else {
            *same = std::move(one);
        }
    }
    return known;
}

} // namespace nanscope::diagnose
