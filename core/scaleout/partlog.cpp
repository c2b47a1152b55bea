// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/partlog.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/json/jsonfields.h"

namespace nanscope::scaleout {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using jsonread::valueIn;

constexpr int deepestPartLine = 2;
constexpr std::size_t mostPartValues = 64;

fs::path logPath(fs::path part)
{
    return part.replace_extension(".jsonl");
}

PartStart startOf(const Json& json)
{
    return {valueIn<std::string>(json, "job"), valueIn<int>(json, "rank"), valueIn<std::string>(json, "device"),
        valueIn<std::string>(json, "engine"), valueIn<std::string>(json, "hardware")};
}

void take(const Json& json, PartSummary& summary)
{
    if (json.contains("failed")) {
        summary.problem = valueIn<std::string>(json, "failed");
    } else if (json.contains("cells")) {
        summary.blocks.push_back(valueIn<std::int64_t>(json, "block"));
        summary.cells += valueIn<std::int64_t>(json, "cells");
        summary.seconds += valueIn<double>(json, "seconds");
        if (auto verdict = valueIn<std::string>(json, "verdict"); !verdict.empty()) {
            summary.verdicts.push_back(std::move(verdict));
        }
    }
}

} // namespace

PartLog::PartLog(fs::path path)
    : m_path(std::move(path))
    , m_file(m_path, std::ios::app)
{ }

Result<PartLog> PartLog::open(const fs::path& part, const PartStart& start)
{
    PartLog log(logPath(part));
    // A line that a killed process left without its end must not swallow this one.
    const Json line {{"job", start.job}, {"rank", start.rank}, {"device", start.device}, {"engine", start.engine},
        {"hardware", start.hardware}};
    return log.write("\n" + jsonText(line)).map([&] { return std::move(log); });
}

Result<void> PartLog::done(std::int64_t block, std::int64_t cells, double seconds, const std::string& verdict)
{
    Json line {{"block", block}, {"cells", cells}, {"seconds", seconds}};
    if (!verdict.empty()) {
        line["verdict"] = verdict;
    }
    return write(jsonText(line));
}

Result<void> PartLog::failed(std::int64_t block, const std::string& why)
{
    return write(jsonText(Json {{"block", block}, {"failed", why}}));
}

Result<void> PartLog::write(const std::string& line)
{
    m_file << line << '\n' << std::flush;
    return m_file
        ? Result<void>()
        : failure(ErrorKind::io, "what was done cannot be written down; the disk may be full", m_path.string());
}

std::vector<PartSummary> readPartLogByPlace(const fs::path& part, const std::string& job)
{
    std::vector<PartSummary> places;
    auto current = places.end();
    std::ifstream file(logPath(part));
    for (std::string line; std::getline(file, line) && !file.eof();) {
        const auto json = parseBounded(line, deepestPartLine, mostPartValues);
        if (json.is_object() && json.contains("job")) {
            const auto start = startOf(json);
            current = std::ranges::find_if(places, [&](const PartSummary& place) {
                return place.start.device == start.device && place.start.hardware == start.hardware;
            });
            if (start.job != job) {
                current = places.end();
            } else if (current == places.end()) {
                current = places.insert(current, {start, {}, 0, 0, {}, {}});
            }
        } else if (current != places.end() && json.is_object()) {
            take(json, *current);
        }
    }
    return places;
}

PartSummary readPartLog(const fs::path& part, const std::string& job)
{
    PartSummary all;
    for (auto& place : readPartLogByPlace(part, job)) {
        all.start = std::move(place.start);
        all.blocks.insert(all.blocks.end(), place.blocks.begin(), place.blocks.end());
        all.cells += place.cells;
        all.seconds += place.seconds;
        all.problem = place.problem.empty() ? all.problem : std::move(place.problem);
        std::ranges::move(place.verdicts, std::back_inserter(all.verdicts));
    }
    return all;
}

std::vector<fs::path> partsIn(const fs::path& folder)
{
    std::vector<fs::path> parts;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        auto path = entry->path();
        const bool ofPart = path.extension() == ".nanscope" || path.extension() == ".jsonl";
        if (ofPart && path.filename().string().starts_with("part-")) {
            parts.push_back(path.replace_extension(".nanscope"));
        }
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return parts;
}

} // namespace nanscope::scaleout
