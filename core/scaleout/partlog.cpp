// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/partlog.h"

#include <algorithm>
#include <cstddef>
#include <functional>
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

namespace {

/// The starts of a job in a log, and what follows each of them.
void forLines(const fs::path& part, const std::string& job, const std::function<void(const PartStart&)>& started,
    const std::function<void(const Json&)>& followed)
{
    std::ifstream file(logPath(part));
    bool ours = false;
    for (std::string line; std::getline(file, line) && !file.eof();) {
        const auto json = parseBounded(line, deepestPartLine, mostPartValues);
        if (json.is_object() && json.contains("job")) {
            const auto start = startOf(json);
            ours = start.job == job;
            if (ours) {
                started(start);
            }
        } else if (ours && json.is_object()) {
            followed(json);
        }
    }
}

} // namespace

PartSummary readPartLog(const fs::path& part, const std::string& job)
{
    PartSummary summary;
    forLines(
        part, job, [&](const PartStart& start) { summary.start = start; },
        [&](const Json& json) { take(json, summary); });
    return summary;
}

std::vector<PartSummary> readPartLogByPlace(const fs::path& part, const std::string& job)
{
    std::vector<PartSummary> places;
    std::size_t here = 0;
    const auto started = [&](const PartStart& start) {
        const auto same = std::ranges::find(places, start, &PartSummary::start);
        here = static_cast<std::size_t>(same - places.begin());
        if (same == places.end()) {
            places.push_back({start, {}, 0, 0, {}, {}});
        }
    };
    forLines(part, job, started, [&](const Json& json) { take(json, places[here]); });
    return places;
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
