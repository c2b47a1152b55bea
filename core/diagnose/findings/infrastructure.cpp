// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Lines that explain a failure better than numbers would: hardware, infrastructure, a diagnostic that itself failed.
#include <fmt/format.h>

#include "core/diagnose/findings/cardevidence.h"
#include "core/logtext/xid.h"

namespace nanscope::diagnose::cards {

namespace {

/// Step and rank are those of the first line; another line's would be a guess.
CardOutcome linesOf(const RunSummary& summary, EventKind kind, std::string_view reason)
{
    CardOutcome outcome = clear("no such line in the logs");
    std::int64_t lines = 0;
    for (const auto* event : summary.events) {
        if (event->kind != kind) {
            continue;
        }
        if (lines == 0) {
            outcome = at(fired(Confidence::high, {}, {}), event->step, event->rank);
        }
        lines += event->copies;
        addEvidence(outcome.evidence, evidenceOf(*event));
    }
    if (lines > 0) {
        outcome.reason = howMany(lines, "line") + std::string(reason);
    }
    return lines > 0 || hasConsole(summary.run) ? outcome : notCheckable("no console log");
}

CardOutcome machine(const RunSummary& summary)
{
    auto outcome = linesOf(summary, EventKind::machine, " of the hardware");
    for (const auto* event : summary.events) {
        const auto xid = outcome.state == FindingState::clear ? logtext::quietXid(*event) : std::nullopt;
        if (xid) {
            outcome.reason =
                fmt::format("no line of a hardware error in the logs; Xid {} ({}:{}) does not count as one: {}",
                    xid->code, event->source, event->line, xid->meaning);
            break;
        }
    }
    return outcome;
}

CardOutcome infrastructure(const RunSummary& summary)
{
    return linesOf(summary, EventKind::infrastructure, " of memory, disk or the build");
}

CardOutcome diagnosticFailed(const RunSummary& summary)
{
    return linesOf(summary, EventKind::diagnosticFailed,
        ": aten._is_any_true has no sharding strategy for DTensor, with clean gradients as with bad ones");
}

} // namespace

std::vector<Card> infrastructureCards()
{
    return {
        {"machine", "Hardware error in a log", "error", "Xid, ECC or SDC in a line",
            {"take the GPU out of the job and run the vendor's diagnostics before blaming software"}, machine},
        {"infrastructure", "Infrastructure failure in a log", "warning",
            "out of memory, a full disk or a missing kernel image in a line",
            {"rule this out first: out of memory, a full disk or a wrong build looks like a numerical fault from afar, "
             "and a "
             "cut-off dump may be its trace"},
            infrastructure},
        {"diagnostic-failed", "Failure of a NaN checker, not a NaN", "info",
            "\"does not have a sharding strategy registered\" (pytorch#170936; seen with torch 2.10.0, 2.12.1, 2.13.0 "
            "and "
            "2.15.0, and in no release up to then is there one)",
            {"this line is no evidence of NaN: the check fails on DTensor whatever the gradients hold",
                "torch.autograd.set_detect_anomaly(True, check_nan=False) runs and finds nothing",
                "registering aten._is_any_true.default with a sum reduction (common_reduction_strategy; its import "
                "path "
                "differs between versions) lets the check run and find NaN",
                "cheaper: isfinite over to_local() and a MAX over the ranks; see pytorch#170936"},
            diagnosticFailed},
    };
}

} // namespace nanscope::diagnose::cards
