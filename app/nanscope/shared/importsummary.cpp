// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/importsummary.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/words.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace nanscope {

namespace {

std::string ofRanks(const std::set<int>& ranks)
{
    if (ranks.empty()) {
        return {};
    }
    return ranks.size() == 1 ? fmt::format(" of rank {}", *ranks.begin()) : fmt::format(" of {} ranks", ranks.size());
}

std::string logsText(const RunData& run, const ImportSummary& summary)
{
    auto text = fmt::format("{}{}: {}, {}", summary.logs.size(), ofRanks(summary.logRanks),
        counted(std::ssize(run.series), "series"), counted(std::ssize(run.events), "event"));
    if (summary.steps) {
        const auto [first, last] = *summary.steps;
        text += first == last ? fmt::format(", step {}", first) : fmt::format(", steps {} to {}", first, last);
    }
    return text;
}

/// Each by its name where they are few.
std::string silentText(const std::vector<std::string>& logs)
{
    constexpr std::size_t few = 3;
    const auto named = std::span(logs).first(std::min(logs.size(), few));
    const auto more = logs.size() - named.size();
    return fmt::format("{} without a number or an event that is known: {}{}", counted(std::ssize(logs), "log"),
        fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

} // namespace

ImportSummary::ImportSummary(const RunData& run, std::vector<std::string> silentLogs)
    : silent(std::move(silentLogs))
{
    for (const auto& capture : run.captures) {
        if (capture.rank) {
            captureRanks.insert(*capture.rank);
        }
    }
    for (const auto& series : run.series) {
        logs.insert(series.source);
        if (series.rank) {
            logRanks.insert(*series.rank);
        }
        if (series.pointCount + series.missing > 0) {
            steps = steps
                ? std::pair(std::min(steps->first, series.firstStep), std::max(steps->second, series.lastStep))
                : std::pair(series.firstStep, series.lastStep);
        }
    }
    for (const auto& event : run.events) {
        logs.insert(event.source);
        if (event.rank) {
            logRanks.insert(*event.rank);
        }
    }
}

std::string importText(const RunData& run, const ImportSummary& summary, const std::string& session)
{
    std::string text;
    if (!run.captures.empty()) {
        text += fact("Captures", fmt::format("{}{}", run.captures.size(), ofRanks(summary.captureRanks)));
    }
    if (!summary.logs.empty()) {
        text += fact("Logs", logsText(run, summary));
    }
    if (!summary.silent.empty()) {
        text += fact("Passed over", silentText(summary.silent));
    }
    if (!run.rejected.empty()) {
        text += fact("Left out", counted(std::ssize(run.rejected), "file") + "; the warnings say why");
    }
    // A path is not broken into lines: it is there to be copied.
    return text + fmt::format("  {:<14}{}\n", "Session", printable(session));
}

void addSummary(nlohmann::ordered_json& json, const ImportSummary& summary)
{
    json["logs"] = summary.logs.size();
    json["capture_ranks"] = summary.captureRanks;
    json["log_ranks"] = summary.logRanks;
    json["steps"] =
        summary.steps ? nlohmann::ordered_json {summary.steps->first, summary.steps->second} : nlohmann::ordered_json();
    json["silent"] = summary.silent;
}

} // namespace nanscope
