// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/watch/watchevent.h"

#include <algorithm>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/utf8.h"
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "core/platform/platform.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

std::string isoText(std::int64_t ms)
{
    constexpr int perSecond = 1000;
    return fmt::format(
        "{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(ms / perSecond)), ms % perSecond);
}

/// Letters, digits and a few marks stay; a byte of a longer UTF-8 character does, too. Everything else is '_'.
std::string harmless(std::string text)
{
    constexpr std::string_view marks = " ._/:,+=@%-";
    for (char& byte : text) {
        const auto value = static_cast<unsigned char>(byte);
        const bool letter = (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z');
        const bool digit = value >= '0' && value <= '9';
        if (!letter && !digit && value < 0x80 && marks.find(byte) == std::string_view::npos) {
            byte = '_';
        }
    }
    return text;
}

std::string wordOf(const Json& value)
{
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::string normalizedPath(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

/// The step as a number where it is known, else between which steps of the log it lies.
void addStep(Json& json, const CaptureVerdict& verdict)
{
    const auto& step = verdict.step;
    const bool exact = step && step->first == step->second;
    json["step"] = exact ? Json(step->first) : Json(nullptr);
    json["between"] = step ? Json::array({step->first, step->second}) : Json(nullptr);
    json["step_source"] = name(verdict.stepSource);
}

std::string whenText(const CaptureVerdict& verdict)
{
    return verdict.rank ? fmt::format("rank {}, {}", *verdict.rank, stepText(verdict)) : stepText(verdict);
}

std::string_view valueName(PointState state)
{
    return state == PointState::nan ? "nan" : state == PointState::posInf ? "inf" : "-inf";
}

} // namespace

WatchEvent::WatchEvent(Kind kind, std::string text, const Json& fields)
    : m_kind(kind)
    , m_text(std::move(text))
{
    const auto now = platform::nowMs();
    m_time = timeText(now);
    Json json {{"schema", "nanscope.watch/1"}, {"kind", name(kind)}, {"time", isoText(now)}};
    json.update(fields);
    json["text"] = m_text;
    m_json = printableJson(jsonText(json));
    for (const auto* key : {"kind", "rank", "step", "file", "verdict", "text"}) {
        std::string variable = "NANSCOPE_";
        std::transform(key, key + std::string_view(key).size(), std::back_inserter(variable),
            [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
        m_variables.emplace_back(variable, harmless(printable(wordOf(json.value(key, Json(nullptr))))));
    }
}

std::string WatchEvent::line() const
{
    return fmt::format("{}  {}\n", m_time, printable(m_text));
}

std::string WatchEvent::json() const
{
    return m_json;
}

std::vector<std::pair<std::string, std::string>> WatchEvent::variables() const
{
    return m_variables;
}

std::string_view name(WatchEvent::Kind kind)
{
    switch (kind) {
    case WatchEvent::Kind::watching:
        return "watching";
    case WatchEvent::Kind::dump:
        return "dump";
    case WatchEvent::Kind::nonFinite:
        return "nonfinite";
    case WatchEvent::Kind::verdict:
        return "verdict";
    case WatchEvent::Kind::end:
        break;
    }
    return "end";
}

WatchEvent dumpEvent(const Capture& capture, const CaptureVerdict& triaged)
{
    Json json {{"rank", orNull(capture.rank)}};
    addStep(json, triaged);
    json.update(Json {{"role", name(triaged.role)}, {"capture", capture.file}, {"shape", capture.input.shape},
        {"dtype", shortName(capture.input.dtype)}, {"file", normalizedPath(capture.path)}});
    return {WatchEvent::Kind::dump,
        fmt::format("new dump: {}, {}, {} {}: {}", roleText(triaged.role), whenText(triaged),
            shapeText(capture.input.shape), shortName(capture.input.dtype), capture.file),
        json};
}

WatchEvent nonFiniteEvent(const workflow::NonFiniteNews& news, const std::string& root)
{
    const bool words = news.series.empty();
    const Json json {{"rank", orNull(news.rank)}, {"other_ranks", news.otherRanks}, {"step", orNull(news.step)},
        {"step_inferred", news.stepInferred}, {"series", words ? Json(nullptr) : Json(news.series)},
        {"value", words ? Json(nullptr) : Json(valueName(news.state))}, {"source", news.source}, {"line", news.line},
        {"file", normalizedPath((std::filesystem::path(root) / news.source).string())}};
    return {WatchEvent::Kind::nonFinite, "first bad value: " + textOf(news), json};
}

WatchEvent verdictEvent(const CaptureVerdict& verdict, const std::string& path)
{
    Json json {{"rank", orNull(verdict.rank)}};
    addStep(json, verdict);
    json.update(Json {{"role", name(verdict.role)}, {"capture", verdict.capture}, {"verdict", name(verdict.blame)},
        {"marginal", verdict.marginal}, {"summary", verdict.summary}, {"question", orNull(verdict.question)},
        {"file", normalizedPath(path)}});
    return {WatchEvent::Kind::verdict,
        fmt::format("verdict: {}: {}, {}: {}", blameText(verdict), whenText(verdict), verdict.capture, verdict.summary),
        json};
}

} // namespace nanscope
