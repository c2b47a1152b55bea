// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/input/reportinput.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/report/input/reportoptions.h"

namespace nanscope::report {

namespace {

struct Entry
{
    ReportSection section;
    std::string_view name;
    std::string_view title;
};

constexpr std::array<Entry, 21> entries {Entry {ReportSection::claim, "claim", "Result"},
    {ReportSection::output, "output", "Output"}, {ReportSection::evidence, "evidence", "Evidence"},
    {ReportSection::reproduce, "reproduce", "Reproduce"}, {ReportSection::ask, "ask", "Next"},
    {ReportSection::call, "call", "Call"}, {ReportSection::when, "when", "When"},
    {ReportSection::input, "input", "Input"}, {ReportSection::numbers, "numbers", "Could the arithmetic explain it?"},
    {ReportSection::limits, "limits", "What this cannot show"}, {ReportSection::control, "control", "Control"},
    {ReportSection::retry, "retry", "The call made again"}, {ReportSection::experiments, "experiments", "Experiments"},
    {ReportSection::advisories, "advisories", "Matching advisories"}, {ReportSection::impact, "impact", "Impact"},
    {ReportSection::facts, "facts", "Environment"}, {ReportSection::console, "console", "Console around the birth"},
    {ReportSection::findings, "findings", "Findings in the logs"},
    {ReportSection::rejected, "rejected", "Files that could not be used"},
    {ReportSection::captures, "captures", "Captures"}, {ReportSection::redactions, "redactions", "Redactions"}};

const Entry& entryOf(ReportSection section)
{
    return entries.at(static_cast<std::size_t>(section));
}

} // namespace

std::string_view name(ReportSection section)
{
    return entryOf(section).name;
}

std::string_view title(ReportSection section)
{
    return entryOf(section).title;
}

std::optional<ReportSection> parseReportSection(std::string_view name)
{
    if (name == "against") {
        return ReportSection::evidence;
    }
    const auto found =
        std::find_if(entries.begin(), entries.end(), [name](const Entry& entry) { return entry.name == name; });
    return found == entries.end() ? std::nullopt : std::optional(found->section);
}

std::set<ReportSection> allReportSections()
{
    std::set<ReportSection> all;
    for (const auto& entry : entries) {
        all.insert(entry.section);
    }
    return all;
}

bool inAppendix(ReportSection section)
{
    return section > ReportSection::ask;
}

const CaptureVerdict* mainVerdict(const Diagnosis& diagnosis)
{
    for (const auto role :
        {Role::birth, Role::padding, Role::upstream, Role::downstream, Role::healthy, Role::noOutput}) {
        for (const auto& verdict : diagnosis.captures) {
            if (verdict.role == role) {
                return &verdict;
            }
        }
    }
    return nullptr;
}

const CaptureVerdict* mainVerdict(const ReportInput& input)
{
    const auto& captures = input.diagnosis.captures;
    const auto found = std::find_if(captures.begin(), captures.end(),
        [&input](const CaptureVerdict& verdict) { return verdict.capture == input.about; });
    return found == captures.end() ? mainVerdict(input.diagnosis) : &*found;
}

const Capture* mainCapture(const ReportInput& input)
{
    const auto* verdict = mainVerdict(input);
    if (verdict == nullptr) {
        return nullptr;
    }
    const auto& captures = input.run.captures;
    const auto found = std::find_if(captures.begin(), captures.end(),
        [verdict](const Capture& capture) { return capture.file == verdict->capture; });
    return found == captures.end() ? nullptr : &*found;
}

std::string labelOf(const ReportInput& input, const Cell& cell)
{
    const auto place = static_cast<std::size_t>(&cell - input.cells.data());
    const bool unusual = place < input.cellSettings.size() && !input.cellSettings[place].empty();
    return unusual ? fmt::format("{} ({})", cell.variant, input.cellSettings[place]) : cell.variant;
}

int shownBatch(const Capture& capture)
{
    if (!capture.output) {
        return 0;
    }
    const auto& batches = capture.output->batches;
    const auto damaged = std::find_if(batches.begin(), batches.end(), [](const Scan& scan) { return !scan.finite(); });
    return damaged == batches.end() ? 0 : static_cast<int>(damaged - batches.begin());
}

} // namespace nanscope::report
