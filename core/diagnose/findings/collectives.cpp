// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What ranks did apart: collective operations that did not end, and dumps that stayed where they were written.
#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/findings/cardevidence.h"
#include "core/diagnose/recovery/hang.h"
#include "core/diagnose/recovery/missingdumps.h"

namespace nanscope::diagnose::cards {

namespace {

std::vector<Evidence> linesOf(const Hang& hang)
{
    std::vector<Evidence> evidence;
    if (hang.cause != nullptr) {
        addEvidence(evidence, evidenceOf(*hang.cause));
    }
    for (const auto& waiting : hang.calls) {
        addEvidence(evidence, evidenceOf(*waiting.first));
    }
    return evidence;
}

/// The rank that left, where an exception shows it; else the ranks that stand apart from most.
CardOutcome leaving(const Hang& hang)
{
    if (hang.cause != nullptr) {
        return at(
            fired(Confidence::high,
                fmt::format("rank {} left first, with an exception; the watchdogs of {} follow: {}", *hang.cause->rank,
                    howMany(static_cast<std::int64_t>(hang.ranks), "other rank"), textOf(hang)),
                linesOf(hang)),
            hang.cause->step, hang.cause->rank);
    }
    const auto& apart = hang.calls.back();
    const bool minority = apart.ranks.size() < hang.calls.front().ranks.size() && hang.calls.size() == 2;
    const auto who = minority ? fmt::format("; {} stood apart", ranksText(apart.ranks)) : std::string();
    const auto group = hang.sameGroup() ? "" : ", if these are of one process group";
    return at(fired(hang.sameGroup() ? Confidence::high : Confidence::medium,
                  fmt::format("the ranks are not in the same collective operation{}: {}{}", group, textOf(hang), who),
                  linesOf(hang)),
        std::nullopt, minority && apart.ranks.size() == 1 ? std::optional(apart.ranks.front()) : std::nullopt);
}

CardOutcome partedRanks(const RunSummary& summary)
{
    const auto hang = hangOf(summary.run);
    if (hang.none()) {
        return hasConsole(summary.run) ? clear("no watchdog's line of a collective operation that did not end")
                                       : notCheckable("no console log");
    }
    if (hang.cause != nullptr || hang.parted()) {
        return leaving(hang);
    }
    return notCheckable(hang.absent.empty()
            ? fmt::format("{}, and no line of a rank that did not come: its own log would tell", textOf(hang))
            : fmt::format("{}: its own log would tell", textOf(hang)));
}

std::string fetchText(const MissingDumps& dumps)
{
    constexpr std::size_t most = 4;
    const auto firsts = dumps.firstOfRanks();
    std::string text;
    for (std::size_t i = 0; i < std::min(most, firsts.size()); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", firsts[i]->capture);
    }
    return firsts.size() > most ? fmt::format("{} and the first of {} more ranks", text, firsts.size() - most) : text;
}

CardOutcome dumpsElsewhere(const RunSummary& summary)
{
    const auto dumps = missingDumpsOf(summary.run);
    if (dumps.none()) {
        return dumps.named > 0        ? clear(fmt::format("of {} none is missing", howMany(dumps.named, "named dump")))
            : hasConsole(summary.run) ? clear("no line names a dump")
                                      : notCheckable("no console log");
    }
    std::vector<Evidence> evidence;
    for (const auto* event : dumps.firstOfRanks()) {
        addEvidence(evidence, evidenceOf(*event));
    }
    return at(
        fired(Confidence::high, fmt::format("{}; fetch these first: {}", textOf(dumps), fetchText(dumps)), evidence),
        std::nullopt, dumps.ranks > 1 ? dumps.first : dumps.missing.front()->rank);
}

} // namespace

std::vector<Card> collectiveCards()
{
    return {
        {"missing-dumps", "Dumps named in the logs that are not here", "warning",
            "a line of dion's capture wrapper names a file that is neither in the folder nor among those that could "
            "not "
            "be read",
            {"copy them beside the logs and run this again: a verdict needs the tensors; the first of each rank "
             "suffice "
             "to begin with"},
            dumpsElsewhere},
        {"hang", "Ranks out of step in a collective operation", "error",
            "the first watchdog line of each rank names another SeqNum or OpType; or a rank without one threw an "
            "exception before them (PyTorch, ProcessGroupNCCL)",
            {"the exception is the cause, watchdogs follow: look at the log of the rank that left",
                "a rank that skips a step by itself parts from the others: decide over all ranks, with a MAX of one "
                "byte, "
                "before any of them skips",
                "TORCH_NCCL_TRACE_BUFFER_SIZE and TORCH_NCCL_DUMP_ON_TIMEOUT record the calls of every rank"},
            partedRanks},
    };
}

} // namespace nanscope::diagnose::cards
