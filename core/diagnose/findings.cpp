// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings.h"

#include <array>

namespace nanscope {

namespace {

struct Card
{
    EventKind kind;
    std::string_view id;
    std::string_view title;
    std::string_view severity;
    std::string_view advice;
};

constexpr std::array cards {
    Card {EventKind::machine, "machine", "The log names a hardware error", "error",
        "take the GPU out of the job and run the vendor's diagnostics before blaming software"},
    Card {EventKind::infrastructure, "infrastructure", "The log names a failure of the infrastructure", "warning",
        "rule this out first: out of memory, a full disk or a wrong build looks like a numerical fault from afar, and "
        "a cut-off dump may be its trace"},
    Card {EventKind::diagnosticFailed, "diagnostic-failed", "A checker failed; it did not find NaN", "info",
        "this line is no evidence of NaN: turn check_nan off, or register the missing sharding strategy"},
};

// A thousand copies of one line are one fact.
constexpr std::size_t linesShown = 3;

Finding fill(const Card& card, const RunData& run)
{
    Finding finding;
    finding.id = card.id;
    finding.title = card.title;
    finding.severity = card.severity;
    finding.advice = {std::string(card.advice)};
    for (const auto& event : run.events) {
        if (event.kind != card.kind) {
            continue;
        }
        if (finding.evidence.empty()) {
            finding.rank = event.rank;
            finding.step = event.step;
        }
        if (finding.evidence.size() < linesShown) {
            finding.evidence.push_back({event.source, event.line, event.text});
        }
    }
    return finding;
}

} // namespace

std::vector<Finding> findingsOf(const RunData& run)
{
    std::vector<Finding> findings;
    for (const auto& card : cards) {
        auto finding = fill(card, run);
        if (!finding.evidence.empty()) {
            findings.push_back(std::move(finding));
        }
    }
    return findings;
}

} // namespace nanscope
