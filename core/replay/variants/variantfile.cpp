// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/replay/variants/variantjson.h"

namespace nanscope::replay {

namespace {

using Json = nlohmann::ordered_json;

// A list of variants with lists of steps; what lies deeper is no schema of ours and would only take memory.
constexpr int deepest = 5;

tl::unexpected<Error> usage(std::string what)
{
    return failure(ErrorKind::usage, std::move(what));
}

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
