// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's compute-sanitizer reports of kernels.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/diagnose/findings/cardevidence.h"

namespace nanscope::diagnose::cards {

namespace {

struct Tool
{
    Phrase phrase;
    std::string_view name;
    std::string_view reports;
    Confidence confidence; ///< initcheck and synccheck are known to report what some libraries do on purpose
};

constexpr std::array tools {
    Tool {Phrase::invalidAccess, "memcheck", "an access outside of what was allocated, or a misaligned one",
        Confidence::high},
    Tool {Phrase::unwrittenRead, "initcheck", "a read of memory that nobody had written", Confidence::medium},
    Tool {Phrase::sharedRace, "racecheck",
        "two threads that reach one place of shared memory in no order, one of "
        "which writes",
        Confidence::high},
    Tool {Phrase::barrierMisuse, "synccheck", "a barrier that is not used as it has to be", Confidence::medium},
};

const Tool* toolOf(const Event& event)
{
    const auto* const found = std::ranges::find_if(tools, [&](const Tool& tool) { return event.says(tool.phrase); });
    return found == tools.end() ? nullptr : found;
}

/// The kernel of a Newton-Schulz iteration first, and an error before a warning.
int reportPlace(const Event& event)
{
    return (event.says(Phrase::newtonSchulzKernel) ? 0 : 2) + (event.says(Phrase::sanitizerWarning) ? 1 : 0);
}

CardOutcome reported(std::vector<const Event*> reports)
{
    std::ranges::stable_sort(reports, {}, [](const Event* event) { return reportPlace(*event); });
    const auto& first = *reports.front();
    const auto& tool = *toolOf(first);
    std::int64_t count = 0;
    std::set<std::pair<std::string_view, std::string>> kinds;
    for (const auto* event : reports) {
        count += event->copies;
        kinds.emplace(toolOf(*event)->name, event->facts.site);
    }
    auto reason = fmt::format("{} reports {}{}{}", tool.name, tool.reports,
        first.facts.site.empty() ? "" : ", in kernel " + first.facts.site,
        first.says(Phrase::newtonSchulzKernel) ? ", by its name one of Newton-Schulz" : "");
    if (count > 1) {
        reason += fmt::format(
            "; {} in all, of {}", howMany(count, "report"), howMany(static_cast<std::int64_t>(kinds.size()), "place"));
    }
    auto outcome = fired(first.says(Phrase::sanitizerWarning) ? Confidence::low : tool.confidence, reason, {});
    for (const auto* event : reports) {
        addEvidence(outcome.evidence, evidenceOf(*event));
    }
    return at(std::move(outcome), first.step, first.rank);
}

CardOutcome sanitizer(const RunSummary& summary)
{
    std::vector<const Event*> reports;
    const Event* clean = nullptr;
    for (const auto* event : summary.events) {
        if (toolOf(*event) != nullptr) {
            reports.push_back(event);
        }
        clean = clean == nullptr && event->says(Phrase::sanitizerClean) ? event : clean;
    }
    if (!reports.empty()) {
        return reported(std::move(reports));
    }
    if (clean != nullptr) {
        return clear("a run under compute-sanitizer ended without a report: its tool saw nothing there");
    }
    return notCheckable(hasConsole(summary.run) ? "no line of compute-sanitizer is in the logs" : "no console log");
}

} // namespace

std::vector<Card> sanitizerCards()
{
    return {
        {"sanitizer", "Kernel reported by compute-sanitizer", "error",
            "\"Invalid ..\", \"Uninitialized ..\", \"Race reported\", \"Potential .. hazard\", \"Barrier error\" "
            "(NVIDIA compute-sanitizer)",
            {"look at the kernel and line that it names; without a line, compile with -lineinfo",
                "PYTORCH_NO_CUDA_MEMORY_CACHING=1 gives each tensor memory of its own: with torch's cache neighbours "
                "hide what goes beyond a tensor, and old bytes what nobody wrote",
                "whether it is this fault, the captured input tells: run it alone under the same tool; libraries read "
                "unwritten bytes and use barriers on purpose, too"},
            sanitizer},
    };
}

} // namespace nanscope::diagnose::cards
