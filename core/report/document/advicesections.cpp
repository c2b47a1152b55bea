// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Sections 10 to 16: what to try, what is uncertain, what it cost, how to see it again.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/platform/platform.h"
#include "core/report/document/commandwords.h"
#include "core/report/document/sections.h"
#include "core/report/input/reportinput.h"

namespace nanscope::report {

namespace {

std::string sweepVariants(const CaptureVerdict& verdict)
{
    return verdict.variant.names.empty() ? std::string {}
                                         : fmt::format(" --variant {}", fmt::join(verdict.variant.names, ","));
}

std::string expectation(const CaptureVerdict& verdict)
{
    const auto finite = [](const MemberResult& member) { return member.finite == member.roundings; };
    if (verdict.members.empty()) {
        return {};
    }
    const auto all = std::all_of(verdict.members.begin(), verdict.members.end(), finite);
    return all ? "# expected: finite in the formats of section 7 (the numbers are innocent)"
               : "# expected: not finite where section 7 says so";
}

Phrase lossNotFinite(const RunData& run)
{
    const auto found = std::find_if(run.series.begin(), run.series.end(),
        [](const Series& series) { return series.name == "loss" && series.nan + series.posInf + series.negInf > 0; });
    if (found == run.series.end()) {
        return {};
    }
    return own(" The loss of ") + code(found->source)
        + own(fmt::format(
            " is not finite at {} of {} points.", found->nan + found->posInf + found->negInf, found->pointCount));
}

std::string redactionText(const ReportOptions& options, const RedactionCounts& counts)
{
    auto text = options.redact ? fmt::format("home paths {}, user names {}, host names {}, "
                                             "addresses {}, e-mail addresses {}",
                    counts.homes, counts.users, counts.hosts, counts.addresses, counts.emails)
                               : std::string("none (--no-redact)");
    if (counts.secrets > 0) {
        text += fmt::format(", keys and tokens {}", counts.secrets);
    }
    if (counts.suspicions > 0) {
        text += fmt::format(", texts that look like keys {}", counts.suspicions);
    }
    return counts.given > 0 ? text + fmt::format(", chosen by the reporter {}", counts.given) : text;
}

const TriedExperiment* triedOf(const ReportFacts& facts, const Experiment& experiment)
{
    const auto& tried = facts.input.diagnosis.observed.tried;
    const auto found = std::find_if(tried.begin(), tried.end(),
        [&](const TriedExperiment& one) { return !one.id.empty() && one.id == experiment.id; });
    return found == tried.end() ? nullptr : &*found;
}

std::string seenText(const Experiment& experiment, const TriedExperiment& tried)
{
    switch (tried.seen) {
    case Seen::gone:
        return fmt::format("clean for {} h{}", hoursText(tried.hours),
            experiment.cleanHours ? fmt::format(", of {} h for 95 %", hoursText(*experiment.cleanHours)) : "");
    case Seen::stays:
        return "the fault came again";
    case Seen::moves:
        return fmt::format("the fault moved with the card, {} time{}", tried.times, tried.times == 1 ? "" : "s");
    case Seen::oftener:
        return "the fault came more often";
    }
    return {};
}

/// What was tried of what this verdict asks for; outcomes are the reporter's word.
ItemList doneItems(const ReportFacts& facts)
{
    ItemList list;
    if (facts.verdict == nullptr) {
        return list;
    }
    for (const auto& experiment : facts.verdict->next) {
        if (const auto* tried = triedOf(facts, experiment)) {
            list.items.push_back({"done", foreign(experiment.what) + own(": " + seenText(experiment, *tried))});
        }
    }
    return list;
}

ItemList openItems(const ReportFacts& facts)
{
    ItemList list {true, {}};
    if (facts.verdict == nullptr) {
        return list;
    }
    for (const auto& experiment : facts.verdict->next) {
        if (triedOf(facts, experiment) == nullptr) {
            list.items.push_back({{}, foreign(lineOf(experiment))});
        }
    }
    return list;
}

Paragraph rateText(const Observations& observed)
{
    const auto done =
        observed.tried.empty() ? std::string("none recorded as done.") : std::string("as the reporter saw them.");
    if (!observed.rate) {
        return {own(done + " How often it fails: not recorded.")};
    }
    return {own(fmt::format("{} It failed {} time{} in {} h.", done, observed.rate->failures,
        observed.rate->failures == 1 ? "" : "s", hoursText(observed.rate->hours)))};
}

constexpr auto statuses = "0 reproduced, 1 not reproduced, 2 cannot run";

Blocks byReproducer(const Reproducer& beside)
{
    return {Paragraph {own(fmt::format("With torch alone and no GPU: repro.py, beside this report. It ends with {}. "
                                       "Expected is {}. {} ",
                           statuses, beside.expectedStatus, beside.why))
                + code("capture_min.pt") + own(": " + beside.capture)},
        CodeBlock {"sh",
            {"python repro.py                          # the published numbers on this CPU, beside what is expected",
                "python repro.py --impl MODULE:FUNCTION   # your f(X, epsilon) on the same input, 1,000 times"}}};
}

Paragraph noReproducer(const Reproducer* beside, const std::string& run)
{
    if (beside != nullptr && !beside->readme.empty()) {
        return {foreign(beside->readme)};
    }
    return {own("With torch alone: repro.py, which ") + code(fmt::format("nanscope report {} --bundle report.zip", run))
        + own(fmt::format(" writes beside the report. It ends with {}.", statuses))};
}

} // namespace

Blocks experiments(const ReportFacts& facts)
{
    auto done = doneItems(facts);
    Blocks blocks {rateText(facts.input.diagnosis.observed)};
    if (!done.items.empty()) {
        blocks.emplace_back(std::move(done));
    }
    auto open = openItems(facts);
    if (!open.items.empty()) {
        blocks.emplace_back(Paragraph {own("Not done yet, most informative first:")});
        blocks.emplace_back(std::move(open));
    }
    return blocks;
}

Blocks against(const ReportFacts& facts)
{
    if (facts.verdict == nullptr) {
        return {Paragraph {own("not recorded.")}};
    }
    auto list = evidenceItems("against", facts.verdict->speaksAgainst);
    const auto open = evidenceItems("not testable", facts.verdict->notTestable);
    list.items.insert(list.items.end(), open.items.begin(), open.items.end());
    if (list.items.empty()) {
        return {Paragraph {own("nothing recorded.")}};
    }
    return {std::move(list)};
}

Blocks advisories(const ReportFacts& facts)
{
    const auto& known = facts.input.diagnosis.advisories;
    if (known.empty()) {
        return {Paragraph {own("none of those that come with Nanscope matches what is known of this run.")}};
    }
    ItemList list;
    for (const auto& one : known) {
        auto text = foreign(fmt::format("{}: {}. {}", one.id, one.title, one.certain ? one.text : std::string()));
        text = text
            + foreign(one.certain ? fmt::format(" Matches {}", one.matched)
                                  : fmt::format("Matches {}; cannot tell without {}", one.matched, one.missing))
            + own(fmt::format(" (as of {}): ", one.dated)) + code(one.link);
        list.items.push_back(
            {one.certain ? std::string(name(one.status)) : std::string("cannot tell"), std::move(text)});
    }
    return {Paragraph {own("No evidence: that a version is affected says nothing of this call.")}, std::move(list)};
}

/// Poisoned ones and the one to go back to say it; the others are in the JSON.
ItemList checkpointItems(const Rollback& rollback)
{
    constexpr std::size_t most = 6;
    ItemList list;
    list.items.push_back({"go back to",
        rollback.recommended ? own(fmt::format("step {}: ", *rollback.recommended)) + foreign(rollback.reason)
                             : foreign(rollback.reason)});
    list.items.push_back({"tonight", foreign(rollback.tonight)});
    for (std::size_t i = 0; i < std::min(most, rollback.checkpoints.size()); ++i) {
        const auto& one = rollback.checkpoints[i];
        list.items.push_back(
            {std::string(name(one.status)), own(fmt::format("checkpoint {}: ", one.step)) + foreign(one.reason)});
    }
    return list;
}

Blocks impact(const ReportFacts& facts)
{
    const auto& diagnosis = facts.input.diagnosis;
    const auto& triage = diagnosis.triage;
    const auto counts = fmt::format("{} captures: {} birth{}, {} upstream, {} downstream, {} padding.", triage.captures,
        triage.births, triage.births == 1 ? "" : "s", triage.upstream, triage.downstream, triage.padding);
    const auto unknown = diagnosis.rollback ? "Parameters touched" : "Parameters touched, checkpoints";
    Blocks blocks {
        Paragraph {own(counts) + lossNotFinite(facts.input.run) + own(fmt::format(" {}: {}.", unknown, notRecorded))}};
    ItemList clusters;
    for (const auto& cluster : diagnosis.clusters) {
        clusters.items.push_back({"cluster", foreign(cluster.text)});
    }
    if (!clusters.items.empty()) {
        blocks.emplace_back(std::move(clusters));
    }
    if (diagnosis.rollback) {
        blocks.emplace_back(checkpointItems(*diagnosis.rollback));
    }
    return blocks;
}

Blocks reproduce(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return {Paragraph {own("not recorded.")}};
    }
    // The place on the reporter's disk helps nobody and may name them; the folder's own name is enough.
    const auto run = platform::shellQuoted(facts.options.redact ? facts.input.run.name : facts.input.run.root);
    const auto files = variantFileWords(facts.input.variantFiles, facts.options.redact);
    std::vector<std::string> lines {fmt::format("nanscope diagnose {}{}{}", run, files, ranWords(facts.input.ran)),
        fmt::format("nanscope sweep {} --capture {}{}{} --precision "
                    "fp64,fp32,tf32,bf16,fp16",
            run, platform::shellQuoted(facts.capture->file), files, sweepVariants(*facts.verdict))};
    if (auto expected = expectation(*facts.verdict); !expected.empty()) {
        lines.push_back(std::move(expected));
    }
    const bool here = facts.reproducer != nullptr && !facts.reproducer->files.empty();
    auto blocks = here ? byReproducer(*facts.reproducer) : Blocks {};
    blocks.emplace_back(Paragraph {own("With Nanscope and the capture (identity ")
        + code(orNotRecorded(facts.capture->identity)) + own("); no GPU and no torch:")});
    blocks.emplace_back(CodeBlock {"sh", std::move(lines)});
    if (!here) {
        blocks.emplace_back(noReproducer(facts.reproducer, run));
    }
    return blocks;
}

Blocks ask(const ReportFacts& facts)
{
    if (facts.verdict == nullptr) {
        return {Paragraph {own("not recorded.")}};
    }
    if (!facts.verdict->question.empty()) {
        return {Paragraph {foreign(facts.verdict->question)}};
    }
    return {Paragraph {facts.verdict->next.empty() ? own(notRecorded) : foreign(lineOf(facts.verdict->next.front()))}};
}

Blocks redactions(const ReportFacts& facts, const std::string& command, const RedactionCounts& counts)
{
    return {Paragraph {own(fmt::format("{}. Consent to share tensors: {} (momentum is "
                                       "derived from data). Nanscope {}, command line ",
                           redactionText(facts.options, counts), notRecorded, NANSCOPE_VERSION))
        + code(command) + own(".")}};
}

} // namespace nanscope::report
