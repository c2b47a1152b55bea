// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/serverequest.h"

#include <istream>

#include <fmt/format.h>

#include "core/replay/serve.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr int maxDepth = 8;

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
    const auto names = strings(request, key);
    if (!names) {
        return tl::make_unexpected(names.error());
    }
    std::vector<T> result;
    for (const auto& name : *names) {
        const auto value = parse(name);
        if (!value) {
            return usage(fmt::format("'{}' in \"{}\" is not known", name, key));
        }
        result.push_back(*value);
    }
    return result;
}

Result<void> readNumbers(const Json& request, SweepRequest& sweep)
{
    const auto epsilon = request.value("epsilon", Json());
    if (epsilon.is_number()) {
        sweep.epsilon = epsilon.get<double>();
    } else if (!epsilon.is_null()) {
        return usage("\"epsilon\" is not a number");
    }
    const auto steps = request.value("steps", Json());
    if (steps.is_number_integer() && steps.get<std::int64_t>() >= 1 && steps.get<std::int64_t>() <= 100) {
        sweep.steps = steps.get<int>();
    } else if (!steps.is_null()) {
        return usage("\"steps\" is not a whole number from 1 to 100");
    }
    return {};
}

template <class Range>
Json namesOf(const Range& values)
{
    auto array = Json::array();
    for (const auto value : values) {
        array.push_back(name(value));
    }
    return array;
}

template <class T>
Json orNull(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

} // namespace

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
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth < maxDepth; };
    return Json::parse(line, shallow, false);
}

Result<SweepRequest> sweepFromJson(const Json& request)
{
    SweepRequest sweep;
    const auto captures = strings(request, "captures");
    const auto variants = strings(request, "variants");
    const auto devices = strings(request, "devices");
    const auto precisions = words<Precision>(request, "precisions", parsePrecision);
    const auto lowerings = words<Lowering>(request, "lowerings", parseLowering);
    const auto numbers = readNumbers(request, sweep);
    for (const auto* part : {&captures, &variants, &devices}) {
        if (!*part) {
            return tl::make_unexpected(part->error());
        }
    }
    if (!precisions || !lowerings || !numbers) {
        return tl::make_unexpected(!precisions ? precisions.error() : !lowerings ? lowerings.error() : numbers.error());
    }
    sweep.captures = *captures;
    sweep.variants = *variants;
    sweep.precisions = *precisions;
    sweep.lowerings = lowerings->empty() ? sweep.lowerings : *lowerings;
    sweep.devices = devices->empty() ? sweep.devices : *devices;
    return sweep;
}

nlohmann::ordered_json sweepToJson(const SweepRequest& sweep, const std::string& session)
{
    return {{"do", "sweep"}, {"captures", sweep.captures}, {"variants", sweep.variants},
        {"precisions", namesOf(sweep.precisions)}, {"lowerings", namesOf(sweep.lowerings)}, {"devices", sweep.devices},
        {"epsilon", orNull(sweep.epsilon)}, {"steps", orNull(sweep.steps)}, {"session", session}};
}

} // namespace nanscope
