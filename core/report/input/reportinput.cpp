// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/input/reportinput.h"

#include <algorithm>
#include <array>

#include "core/report/input/reportoptions.h"

namespace nanscope::report {

namespace {

struct Entry
{
    ReportSection section;
    std::string_view name;
    std::string_view title;
    int number;
};

constexpr std::array<Entry, 20> entries {Entry {ReportSection::claim, "claim", "Claim", 1},
    {ReportSection::facts, "facts", "Minimal facts", 2}, {ReportSection::call, "call", "Call", 3},
    {ReportSection::when, "when", "When", 4}, {ReportSection::input, "input", "Input", 5},
    {ReportSection::output, "output", "Output", 6}, {ReportSection::numbers, "numbers", "Numbers acquitted?", 7},
    {ReportSection::control, "control", "Control", 8}, {ReportSection::retry, "retry", "Retry at the scene", 9},
    {ReportSection::experiments, "experiments", "Isolation experiments", 10},
    {ReportSection::against, "against", "What speaks against this, and what cannot be shown", 11},
    {ReportSection::advisories, "advisories", "Matching advisories", 12},
    {ReportSection::impact, "impact", "Impact", 13}, {ReportSection::reproduce, "reproduce", "Reproduce", 14},
    {ReportSection::ask, "ask", "Ask", 15}, {ReportSection::redactions, "redactions", "Redactions", 16},
    {ReportSection::console, "console", "Console around the birth", 0},
    {ReportSection::findings, "findings", "Findings in the logs", 0},
    {ReportSection::rejected, "rejected", "Files that could not be used", 0},
    {ReportSection::captures, "captures", "Captures", 0}};

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

int sectionNumber(ReportSection section)
{
    return entryOf(section).number;
}

const CaptureVerdict* mainVerdict(const Diagnosis& diagnosis)
{
    for (const auto role : {Role::birth, Role::padding, Role::upstream, Role::downstream, Role::healthy}) {
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
