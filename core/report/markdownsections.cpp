// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/markdownsections.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/report/console.h"
#include "core/report/words.h"

namespace nanscope {

namespace {

constexpr const char* notRecorded = "not recorded";

std::string heading(int number, const char* title)
{
    const bool asks = std::string_view(title).ends_with('?');
    return fmt::format("\n**{} {}{}** ", number, title, asks ? "" : ".");
}

std::string orNotRecorded(const std::string& text)
{
    return text.empty() ? notRecorded : text;
}

std::string title(ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return fmt::format("# [NaN] {}: no capture to judge\n", facts.text.plain(facts.input.run.name));
    }
    const auto& input = facts.capture->input;
    const auto rank = facts.verdict->rank ? fmt::format(", rank {}", *facts.verdict->rank) : std::string {};
    const bool damaged = !facts.capture->output || !facts.capture->output->total().finite();
    return fmt::format("# [NaN] {} Newton-Schulz output, shape {}, {}{}\n", damaged ? "non-finite" : "suspect",
        shapeText(input.shape), shortName(input.dtype), rank);
}

std::string claim(ReportFacts& facts)
{
    auto text = heading(1, "Claim");
    if (facts.verdict == nullptr) {
        return text + "none: no capture could be judged.\n";
    }
    const auto& verdict = *facts.verdict;
    text += fmt::format("{} Verdict: **{}**, {}.", facts.text.plain(asSentence(verdict.summary)),
        facts.text.plain(blameText(verdict)), strengthText(verdict));
    if (!facts.input.diagnosis.headline.empty()) {
        text += fmt::format(" Run: {}.", facts.text.plain(facts.input.diagnosis.headline));
    }
    text += "\n";
    for (const auto& line : verdict.speaksFor) {
        text += fmt::format("- for: {}{}\n", facts.text.plain(line.text),
            line.source.empty() ? std::string {} : " (" + facts.text.code(line.source) + ")");
    }
    return text;
}

std::string ranksSeen(const RunData& run)
{
    std::set<int> ranks;
    for (const auto& capture : run.captures) {
        if (capture.rank) {
            ranks.insert(*capture.rank);
        }
    }
    for (const auto& series : run.series) {
        if (series.rank) {
            ranks.insert(*series.rank);
        }
    }
    return ranks.empty() ? notRecorded : fmt::format("{}", fmt::join(ranks, ", "));
}

std::string minimalFacts(ReportFacts& facts)
{
    return heading(2, "Minimal facts")
        + fmt::format("ranks seen: {}. dion, gns, quack, triton, torch, CUDA, driver, OS, GPU, topology, launcher: "
                      "{} (`nanscope env` in the training environment prints them).\n",
            ranksSeen(facts.input.run), notRecorded);
}

std::string call(ReportFacts& facts)
{
    auto text = heading(3, "Call");
    if (facts.capture == nullptr) {
        return text + notRecorded + ".\n";
    }
    const auto& capture = *facts.capture;
    text += fmt::format("variant: {}; epsilon {}; input {} {}, output {}.",
        facts.text.plain(variantText(facts.verdict->variant)),
        capture.epsilon ? numberText(*capture.epsilon) : notRecorded, shapeText(capture.input.shape),
        shortName(capture.input.dtype),
        capture.output ? fmt::format("{} {}", shapeText(capture.output->shape), shortName(capture.output->dtype))
                       : notRecorded);
    return text
        + fmt::format(
            " Function, coefficients as called, restarts, stream, compiled, autotune choice: {}.\n", notRecorded);
}

std::string when(ReportFacts& facts)
{
    auto text = heading(4, "When");
    if (facts.capture == nullptr) {
        return text + notRecorded + ".\n";
    }
    const auto& capture = *facts.capture;
    const auto* event = namingEvent(facts.input.run, capture.file);
    text += fmt::format("{}; rank {}, pid {}; dumped {}", stepText(*facts.verdict),
        capture.rank ? std::to_string(*capture.rank) : notRecorded,
        capture.pid ? std::to_string(*capture.pid) : notRecorded,
        capture.timestampMs ? timeText(*capture.timestampMs) : notRecorded);
    if (event != nullptr) {
        text += fmt::format("; named in {}", facts.text.code(fmt::format("{}:{}", event->source, event->line)));
    }
    return text + fmt::format(". Call number, GPU UUID, frequency, last good version: {}.\n", notRecorded);
}

std::string tensorFacts(const CaptureTensor& tensor)
{
    if (!tensor.scanned()) {
        return "not scanned";
    }
    const auto scan = tensor.total();
    return fmt::format("{} elements, {}; absmax {}, Frobenius norm {}, smallest non-zero {}, {} zero, {} subnormal",
        countText(scan.count), classesText(scan), numberText(scan.absmax), numberText(std::sqrt(scan.sumSquares)),
        numberText(scan.minNonzero), countText(scan.zero), countText(scan.subnormal));
}

std::string inputSection(ReportFacts& facts)
{
    auto text = heading(5, "Input");
    if (facts.capture == nullptr) {
        return text + notRecorded + ".\n";
    }
    text += tensorFacts(facts.capture->input);
    const auto scan = facts.capture->input.total();
    if (scan.firstNonFinite >= 0) {
        text += fmt::format(
            "; first non-finite at {}", indexText(indexIn(facts.capture->input.shape, scan.firstNonFinite)));
    }
    return text + fmt::format(". Sigma max, stable rank, sha256: {}.\n", notRecorded);
}

std::string nanBits(const DamagePattern& damage, DType dtype)
{
    constexpr std::size_t most = 4;
    const auto digits = sizeOf(dtype) * 2;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, damage.nanBits.size()); ++i) {
        const auto& [bits, count] = damage.nanBits[i];
        text += fmt::format("{}0x{:0{}x} × {}", i == 0 ? "" : ", ", bits, digits, countText(count));
    }
    return damage.nanBits.size() > most ? text + fmt::format(" and {} more", damage.nanBits.size() - most) : text;
}

std::string damageFacts(ReportFacts& facts)
{
    const auto& damage = facts.verdict->damage;
    if (damage.name.empty() || damage.name == "none") {
        return "damage pattern: none";
    }
    auto text = fmt::format("damage: {}", facts.text.plain(damage.name));
    if (!damage.text.empty()) {
        text += fmt::format(" ({})", facts.text.plain(damage.text));
    }
    text += fmt::format(", batch element {}, bounding box rows {}–{} × columns {}–{}, {} elements", damage.batch,
        damage.rowBegin, damage.rowEnd - 1, damage.colBegin, damage.colEnd - 1, countText(damage.count));
    if (!damage.nanBits.empty()) {
        text += fmt::format("; NaN bit patterns {}", nanBits(damage, facts.capture->output->dtype));
    }
    return text;
}

std::string outputSection(ReportFacts& facts)
{
    auto text = heading(6, "Output");
    if (facts.capture == nullptr || !facts.capture->output) {
        return text + notRecorded + ".\n";
    }
    return text + tensorFacts(*facts.capture->output) + "; " + damageFacts(facts) + ".\n";
}

std::string memberTable(ReportFacts& facts)
{
    std::vector<std::vector<std::string>> rows;
    for (const auto& member : facts.verdict->members) {
        rows.push_back({facts.text.code(member.variant), facts.text.plain(member.precision),
            fmt::format("{} of {} finite", member.finite, member.roundings), std::to_string(member.reproducing),
            member.slackPercent ? fmt::format("{:.3g} %", *member.slackPercent) : "–",
            member.absmaxQ ? numberText(*member.absmaxQ) : "–", numberText(member.headroomBinades),
            member.firstBad.empty() ? "–" : facts.text.plain(member.firstBad)});
    }
    return MarkdownText::table({"variant", "precision", "envelope", "give the dump's pattern", "slack", "max abs Q",
                                   "headroom (binades)", "first bad"},
        rows);
}

std::string cellTable(ReportFacts& facts)
{
    constexpr std::size_t most = 60;
    std::vector<std::vector<std::string>> rows;
    for (const auto& cell : facts.input.cells) {
        if (cell.capture != facts.verdict->capture || rows.size() == most) {
            continue;
        }
        const auto slack = slackPercent(cell);
        const auto outcome = cell.error.empty() ? std::string(name(cell.outcome)) : facts.text.plain(cell.error);
        rows.push_back({facts.text.code(cell.variant), std::string(name(cell.precision)),
            cell.native ? "native" : "emulated", std::string(name(cell.lowering)), outcome,
            cell.firstNonFinite ? nonFiniteText(*cell.firstNonFinite) : "–",
            slack ? fmt::format("≥ {:.3g} %", *slack) : "–",
            facts.text.plain(cell.environment.engine + ", " + cell.device)});
    }
    if (rows.empty()) {
        return {};
    }
    return "\n"
        + MarkdownText::table(
            {"variant", "precision", "arithmetic", "lowering", "outcome", "first non-finite", "slack", "replayed by"},
            rows);
}

std::string numbersAcquitted(ReportFacts& facts)
{
    auto text = heading(7, "Numbers acquitted?");
    if (facts.verdict == nullptr) {
        return text + "not replayed.\n";
    }
    const auto cells = cellTable(facts);
    if (facts.verdict->members.empty() && cells.empty()) {
        return text + "not replayed.\n";
    }
    const auto members = facts.verdict->members.empty() ? std::string {} : memberTable(facts);
    return text + "Replays of the captured input:\n\n" + members + cells;
}

std::string controlAndRetry()
{
    return heading(8, "Control") + fmt::format("{}: no healthy call of the same shape was captured.\n", notRecorded)
        + heading(9, "Retry at the scene") + fmt::format("{}.\n", notRecorded);
}

std::string experiments(ReportFacts& facts)
{
    auto text = heading(10, "Isolation experiments") + "none recorded as done.";
    if (facts.verdict == nullptr || facts.verdict->next.empty()) {
        return text + "\n";
    }
    text += " Not done yet, most informative first:\n";
    for (const auto& line : facts.verdict->next) {
        text += fmt::format("1. {}\n", facts.text.plain(line));
    }
    return text;
}

std::string evidence(ReportFacts& facts, const char* label, const std::vector<EvidenceLine>& lines)
{
    std::string text;
    for (const auto& line : lines) {
        const auto source = line.source.empty() ? std::string {} : " (" + facts.text.code(line.source) + ")";
        text += fmt::format("- {}: {}{}\n", label, facts.text.plain(line.text), source);
    }
    return text;
}

std::string against(ReportFacts& facts)
{
    auto text = heading(11, "What speaks against this, and what cannot be shown");
    if (facts.verdict == nullptr) {
        return text + notRecorded + ".\n";
    }
    const auto lines = evidence(facts, "against", facts.verdict->speaksAgainst)
        + evidence(facts, "not testable", facts.verdict->notTestable);
    if (lines.empty()) {
        return text + "nothing recorded.\n";
    }
    text.back() = '\n';
    return text + lines;
}

std::string advisoriesAndImpact(ReportFacts& facts)
{
    const auto& triage = facts.input.diagnosis.triage;
    auto text = heading(12, "Matching advisories") + "not looked up.\n" + heading(13, "Impact")
        + fmt::format("{} captures: {} birth{}, {} upstream, {} downstream, {} padding.", triage.captures,
            triage.births, triage.births == 1 ? "" : "s", triage.upstream, triage.downstream, triage.padding);
    const auto nanLoss = std::find_if(facts.input.run.series.begin(), facts.input.run.series.end(),
        [](const Series& series) { return series.name == "loss" && series.nan + series.posInf + series.negInf > 0; });
    if (nanLoss != facts.input.run.series.end()) {
        text += fmt::format(" The loss of {} is not finite at {} of {} points.", facts.text.code(nanLoss->source),
            nanLoss->nan + nanLoss->posInf + nanLoss->negInf, nanLoss->pointCount);
    }
    return text + fmt::format(" Parameters touched, checkpoints: {}.\n", notRecorded);
}

std::string shellQuoted(const std::string& word)
{
    const auto safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=<>";
    if (!word.empty() && word.find_first_not_of(safe) == std::string::npos) {
        return word;
    }
    std::string quoted = "'";
    for (const auto byte : word) {
        quoted += byte == '\'' ? "'\\''" : std::string(1, byte);
    }
    return quoted + "'";
}

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

std::string reproduce(ReportFacts& facts)
{
    auto text = heading(14, "Reproduce");
    if (facts.capture == nullptr) {
        return text + notRecorded + ".\n";
    }
    // The place on the reporter's disk helps nobody and may name them; the folder's own name is enough.
    const auto run = shellQuoted(facts.text.redacts() ? facts.input.run.name : facts.input.run.root);
    const auto file = shellQuoted(facts.capture->file);
    std::vector<std::string> lines {fmt::format("nanscope diagnose {}", run),
        fmt::format("nanscope sweep {} --capture {}{} --precision fp64,fp32,tf32,bf16,fp16", run, file,
            sweepVariants(*facts.verdict))};
    if (const auto expected = expectation(*facts.verdict); !expected.empty()) {
        lines.push_back(expected);
    }
    return text
        + fmt::format("needs the capture (identity {}); no GPU and no torch:\n\n",
            facts.text.code(orNotRecorded(facts.capture->identity)))
        + facts.text.block(lines, "sh");
}

std::string ask(ReportFacts& facts)
{
    auto text = heading(15, "Ask");
    if (facts.verdict == nullptr) {
        return text + notRecorded + ".\n";
    }
    if (!facts.verdict->question.empty()) {
        return text + facts.text.plain(facts.verdict->question) + "\n";
    }
    return text + (facts.verdict->next.empty() ? notRecorded : facts.text.plain(facts.verdict->next.front())) + "\n";
}

std::string redactionText(const ReportFacts& facts)
{
    if (!facts.text.redacts()) {
        return "none (--no-redact)";
    }
    const auto& counts = facts.text.counts();
    return fmt::format("home paths {}, user names {}, host names {}, addresses {}, e-mail addresses {}", counts.homes,
        counts.users, counts.hosts, counts.addresses, counts.emails);
}

} // namespace

std::vector<std::string> reportSections(ReportFacts& facts)
{
    return {title(facts), claim(facts), minimalFacts(facts), call(facts), when(facts), inputSection(facts),
        outputSection(facts), numbersAcquitted(facts), controlAndRetry(), experiments(facts), against(facts),
        advisoriesAndImpact(facts), reproduce(facts), ask(facts)};
}

std::string closingSection(ReportFacts& facts)
{
    const auto command = facts.text.code(orNotRecorded(facts.input.commandLine));
    return heading(16, "Redactions")
        + fmt::format(
            "{}. Consent to share tensors: {} (momentum is derived from data). Nanscope {}, command line {}.\n",
            redactionText(facts), notRecorded, NANSCOPE_VERSION, command);
}

} // namespace nanscope
