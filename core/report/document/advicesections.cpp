// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What to try, what it cost, how to see it again.
#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/model/scenewords.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/report/document/commandwords.h"
#include "core/report/document/sections.h"
#include "core/report/input/reportinput.h"

namespace nanscope::report {

namespace {

/// A command to copy has to be whole, however many variants may have run.
std::string sweepVariants(const CaptureVerdict& verdict)
{
    constexpr std::size_t most = 8;
    const auto& names = verdict.variant.names;
    if (names.size() > most) {
        return " --variant all";
    }
    return names.empty() ? std::string {} : fmt::format(" --variant {}", fmt::join(names, ","));
}

std::string memberText(const MemberResult& member)
{
    return fmt::format("{} in {}", member.variant, member.precision);
}

/// Of what was replayed for the verdict, in its own formats.
std::string expectation(const CaptureVerdict& verdict)
{
    constexpr std::size_t most = 4;
    std::set<std::string_view> formats;
    std::vector<std::string> failing;
    for (const auto& member : verdict.members) {
        formats.insert(member.precision);
        if (member.finite < member.roundings) {
            failing.push_back(memberText(member));
        }
    }
    if (verdict.members.empty()) {
        return {};
    }
    if (failing.empty()) {
        const bool told = verdict.question.empty();
        return fmt::format("# expected: finite in {}{}", fmt::join(formats, " and "),
            told ? ": arithmetic alone does not explain the fault" : ", which does not decide it: see the question");
    }
    const auto more = failing.size() > most ? fmt::format(" and {} more", failing.size() - most) : std::string();
    failing.resize(std::min(most, failing.size()));
    return fmt::format("# expected: not finite for {}{}", fmt::join(failing, ", "), more);
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
    struct Kind
    {
        const char* words;
        int count;
    };
    const Kind kinds[] {{"home paths", counts.homes}, {"user names", counts.users}, {"host names", counts.hosts},
        {"addresses", counts.addresses}, {"e-mail addresses", counts.emails}, {"keys and tokens", counts.secrets},
        {"texts that look like keys", counts.suspicions}, {"chosen by the reporter", counts.given}};
    std::string text;
    for (const auto& [words, count] : kinds) {
        text += count > 0 ? fmt::format("{}{} {}", text.empty() ? "" : ", ", words, count) : std::string();
    }
    if (!options.redact) {
        return "none (--no-redact)" + (text.empty() ? "" : "; " + text);
    }
    return text.empty() ? "Nothing had to be hidden" : text;
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

/// Empty where the reporter noted neither how often it fails nor what was tried.
std::string rateText(const Observations& observed)
{
    if (!observed.rate) {
        return observed.tried.empty() ? std::string() : "As the reporter saw them.";
    }
    return fmt::format("{}It failed {} time{} in {} h.", observed.tried.empty() ? "" : "As the reporter saw them. ",
        observed.rate->failures, observed.rate->failures == 1 ? "" : "s", hoursText(observed.rate->hours));
}

constexpr auto statuses = "0 if the fault is reproduced, 1 if not, 2 if it cannot run";

Blocks byReproducer(const Reproducer& beside)
{
    return {
        Paragraph {own(fmt::format("With torch alone and no GPU: repro.py, beside this report. Its exit status is {}. "
                                   "Expected is {}. {} ",
                       statuses, beside.expectedStatus, beside.why))
            + code("capture_min.pt") + own(": " + beside.capture)},
        CodeBlock {"sh",
            {"python repro.py   # the published numbers on this CPU, beside what is expected",
                fmt::format(
                    "python repro.py --impl {}   # your function on the same input, 1,000 times", beside.function)}}};
}

/// Empty for the one that a report is about unless it is told.
std::string toldCapture(const ReportInput& input)
{
    const auto* first = mainVerdict(input.diagnosis);
    const auto* about = mainVerdict(input);
    return first == about || about == nullptr ? std::string() : about->capture;
}

/// The command for one that there can be: of a part there is none, and of NaN no synthetic twin.
Blocks byBundle(const Capture& capture, const std::string& report)
{
    if (!capture.part.empty() || !capture.hasTensors()) {
        return {};
    }
    const bool finite = std::ranges::all_of(capture.input.batches, [](const Scan& scan) { return scan.finite(); });
    return {Paragraph {own("With torch alone: repro.py, which ")
        + code(report + " --bundle report.zip" + (finite ? "" : " --with-capture"))
        + own(fmt::format(" writes beside the report. Its exit status is {}.", statuses))}};
}

} // namespace

Blocks experiments(const ReportFacts& facts)
{
    auto done = doneItems(facts);
    Blocks blocks;
    if (const auto rate = rateText(facts.input.diagnosis.observed); !rate.empty()) {
        blocks.emplace_back(Paragraph {own(rate)});
    }
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

Blocks advisories(const ReportFacts& facts)
{
    const auto& known = facts.input.diagnosis.advisories;
    if (known.empty()) {
        return {};
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
    list.items.push_back({rollback.recommended ? "go back to" : "advice",
        rollback.recommended ? own(fmt::format("step {}: ", *rollback.recommended)) + foreign(rollback.reason)
                             : foreign(rollback.reason)});
    if (!rollback.resume.empty()) {
        list.items.push_back({"resume", foreign(rollback.resume)});
    }
    for (std::size_t i = 0; i < std::min(most, rollback.checkpoints.size()); ++i) {
        const auto& one = rollback.checkpoints[i];
        list.items.push_back(
            {std::string(name(one.status)), own(fmt::format("checkpoint {}: ", one.step)) + foreign(one.reason)});
    }
    return list;
}

namespace {

std::string triageText(const Triage& triage)
{
    auto text = fmt::format("{}: {}", counted(triage.captures, "capture"), counted(triage.births, "birth"));
    const std::pair<int, const char*> others[] {
        {triage.upstream, "upstream"}, {triage.downstream, "downstream"}, {triage.padding, "of a zero input"}};
    for (const auto& [count, words] : others) {
        text += count > 0 ? fmt::format(", {} {}", count, words) : std::string();
    }
    return text + ".";
}

} // namespace

Blocks impact(const ReportFacts& facts)
{
    const auto& diagnosis = facts.input.diagnosis;
    auto text = diagnosis.triage.captures > 0 ? own(triageText(diagnosis.triage)) : Phrase {};
    text = text + lossNotFinite(facts.input.run);
    Blocks blocks;
    if (!text.words.empty()) {
        blocks.emplace_back(Paragraph {std::move(text)});
    }
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

namespace {

/// What a maintainer who is sent the file checks it by.
Phrase whichCapture(const ReportFacts& facts)
{
    const auto& digest = facts.input.measures.sha256;
    if (!digest.empty()) {
        return own(" (SHA-256 ") + code(digest) + own(")");
    }
    const auto& identity = facts.capture->identity;
    return identity.empty() ? Phrase {} : own(" (identity ") + code(identity) + own(")");
}

} // namespace

Blocks reproduce(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return {};
    }
    if (!facts.capture->hasTensors()) {
        const auto& scene = facts.capture->scene;
        return {Paragraph {own("Nothing can be replayed: ") + foreign(withheldText(scene))
            + own(". To have more of the "
                  "next one: "
                + whatKeepsMore(scene) + ".")}};
    }
    // The place on the reporter's disk helps nobody and may name them; the folder's own name is enough.
    const auto run = platform::shellQuoted(facts.options.redact ? facts.input.run.name : facts.input.run.root);
    const auto files = variantFileWords(facts.input.variantFiles, facts.options.redact);
    const auto ran = ranWords(facts.input.ran, facts.input.nothingElse, facts.input.otherCode);
    std::vector<std::string> lines {fmt::format("nanscope diagnose {}{}{}", run, files, ran),
        fmt::format("nanscope sweep {} --capture {}{}{} --precision "
                    "fp64,fp32,tf32,bf16,fp16",
            run, platform::shellQuoted(facts.capture->file), files, sweepVariants(*facts.verdict))};
    if (auto expected = expectation(*facts.verdict); !expected.empty()) {
        lines.push_back(std::move(expected));
    }
    const bool here = facts.reproducer != nullptr && !facts.reproducer->files.empty();
    auto blocks = here ? byReproducer(*facts.reproducer) : Blocks {};
    blocks.emplace_back(
        Paragraph {own("With Nanscope and the capture") + whichCapture(facts) + own("; no GPU and no torch:")});
    blocks.emplace_back(CodeBlock {"sh", std::move(lines)});
    if (here) {
        return blocks;
    }
    if (facts.reproducer != nullptr && !facts.reproducer->readme.empty()) {
        blocks.emplace_back(Paragraph {foreign(facts.reproducer->readme)});
        return blocks;
    }
    std::ranges::move(
        byBundle(*facts.capture,
            fmt::format("nanscope report {}{}{}{}", run, captureWords(toldCapture(facts.input)), files, ran)),
        std::back_inserter(blocks));
    return blocks;
}

Blocks ask(const ReportFacts& facts)
{
    ItemList list;
    const auto tests = facts.verdict != nullptr ? untried(*facts.verdict) : std::vector<const Experiment*>();
    if (facts.verdict != nullptr && !facts.verdict->question.empty()) {
        list.items.push_back({"question", foreign(asSentence(facts.verdict->question))});
    } else if (!tests.empty()) {
        list.items.push_back({"test", foreign(lineOf(*tests.front()))});
    }
    const auto& rollback = facts.input.diagnosis.rollback;
    if (const auto& tonight = rollback ? rollback->tonight : facts.input.goOn; !tonight.empty()) {
        list.items.push_back({"tonight", foreign(tonight)});
    }
    return list.items.empty() ? Blocks {} : Blocks {std::move(list)};
}

Blocks redactions(const ReportFacts& facts, const std::string& command, const RedactionCounts& counts)
{
    auto made = own(fmt::format(
        "{}. No tensor is in this text. Nanscope {}", redactionText(facts.options, counts), NANSCOPE_VERSION));
    return {Paragraph {command.empty() ? made + own(".") : made + own(", command line ") + code(command) + own(".")}};
}

} // namespace nanscope::report
