// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/model/verdict.h"
#include "core/model/words.h"
#include "core/report/document/console.h"
#include "core/report/document/sections.h"

namespace nanscope::report {

namespace {

using CapturesByName = std::unordered_map<std::string_view, const Capture*>;

CapturesByName byName(const RunData& run)
{
    CapturesByName captures;
    for (const auto& capture : run.captures) {
        captures.emplace(capture.file, &capture);
    }
    return captures;
}

std::string classesOf(const CaptureTensor* tensor)
{
    if (tensor == nullptr) {
        return "–";
    }
    return tensor->scanned() ? classesText(tensor->total()) : "not scanned";
}

std::vector<Phrase> captureRow(const CapturesByName& captures, const CaptureVerdict& verdict)
{
    const auto found = captures.find(verdict.capture);
    const auto* capture = found == captures.end() ? nullptr : found->second;
    const auto* output = capture != nullptr && capture->output ? &*capture->output : nullptr;
    return {code(verdict.capture), own(std::string(roleText(verdict.role))),
        own(verdict.rank ? std::to_string(*verdict.rank) : "–"),
        own(verdict.step ? fmt::format("{}–{}", verdict.step->first, verdict.step->second) : "–"),
        own(classesOf(capture != nullptr ? &capture->input : nullptr)), own(classesOf(output)),
        own(std::string(name(verdict.blame)))};
}

/// Labels are ours; a session may hold any word there.
std::string severityLabel(const std::string& severity)
{
    return severity == "info" || severity == "warning" || severity == "error" ? severity : std::string {};
}

Phrase placePhrase(const Finding::Evidence& line)
{
    return code(line.line > 0 ? fmt::format("{}:{}", line.file, line.line) : line.file);
}

Phrase findingPhrase(const Finding& finding)
{
    auto text = code(finding.id) + own(" ") + foreign(finding.title);
    if (!finding.reason.empty()) {
        text = text + own(": ") + foreign(finding.reason);
    }
    for (const auto& line : finding.evidence) {
        text = text + own(" (") + placePhrase(line) + own(" ") + foreign(line.text) + own(")");
    }
    if (!finding.threshold.empty()) {
        text = text + own("; rule: ") + foreign(finding.threshold);
    }
    for (const auto& advice : finding.advice) {
        text = text + own("; ") + foreign(advice);
    }
    return text + own(".");
}

/// Those of one reason together: what a reader would have to add to the data is said once.
std::optional<ListItem> notCheckableItem(const std::vector<Finding>& findings)
{
    std::vector<std::pair<std::string, std::string>> groups;
    for (const auto& finding : findings) {
        if (finding.state != FindingState::notCheckable) {
            continue;
        }
        const auto same =
            std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == finding.reason; });
        if (same == groups.end()) {
            groups.emplace_back(finding.reason, finding.title);
        } else {
            same->second += ", " + finding.title;
        }
    }
    if (groups.empty()) {
        return std::nullopt;
    }
    auto text = own("from this data");
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto& [reason, titles] = groups[i];
        text = text + own(i == 0 ? ": " : "; ") + foreign(titles)
            + (reason.empty() ? own("") : own(" (") + foreign(reason) + own(")"));
    }
    return ListItem {"not checkable", text + own(".")};
}

} // namespace

Blocks consoleAroundBirth(const ReportFacts& facts)
{
    auto lines = consoleAround(facts.input.run, facts.verdict ? facts.verdict->capture : "", 8, 6);
    if (lines.empty()) {
        return {};
    }
    return {
        Paragraph {own("as read; values stand for the lines that gave them")}, CodeBlock {"text", std::move(lines)}};
}

Blocks findings(const ReportFacts& facts)
{
    ItemList list;
    for (const auto& finding : facts.input.diagnosis.findings) {
        if (finding.state == FindingState::fired) {
            list.items.push_back({severityLabel(finding.severity), findingPhrase(finding)});
        }
    }
    if (auto item = notCheckableItem(facts.input.diagnosis.findings)) {
        list.items.push_back(std::move(*item));
    }
    return list.items.empty() ? Blocks {} : Blocks {std::move(list)};
}

Blocks rejectedFiles(const ReportFacts& facts)
{
    const auto& rejected = facts.input.run.rejected;
    if (rejected.empty()) {
        return {};
    }
    constexpr std::size_t most = 20;
    ItemList list;
    for (std::size_t i = 0; i < std::min(most, rejected.size()); ++i) {
        list.items.push_back({{}, foreign(rejected[i].reason) + own(": ") + code(rejected[i].path)});
    }
    if (rejected.size() > most) {
        list.items.push_back({{}, own(fmt::format("and {} more", rejected.size() - most))});
    }
    return {std::move(list)};
}

Blocks captureTable(const ReportFacts& facts)
{
    // Births come first in a diagnosis, so what is left out at the end is the least telling.
    Table table {{"capture", "role", "rank", "between steps", "input", "output", "verdict"}, {}, "capture"};
    const auto captures = byName(facts.input.run);
    for (const auto& verdict : facts.input.diagnosis.captures) {
        table.rows.push_back(captureRow(captures, verdict));
    }
    return table.rows.empty() ? Blocks {} : Blocks {std::move(table)};
}

} // namespace nanscope::report
