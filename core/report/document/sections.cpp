// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
#include "core/report/document/sections.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/model/words.h"
#include "core/report/document/console.h"
#include "core/report/input/reportinput.h"

namespace nanscope::report {

namespace {

Blocks only(Phrase text)
{
    return {Paragraph {std::move(text)}};
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

std::string tensorFacts(const CaptureTensor& tensor)
{
    if (!tensor.scanned()) {
        return "not scanned";
    }
    const auto scan = tensor.total();
    return fmt::format("{} elements, {}; absmax {}, Frobenius norm {}, smallest non-zero {}, {} "
                       "zero, {} subnormal",
        countText(scan.count), classesText(scan), numberText(scan.absmax), numberText(std::sqrt(scan.sumSquares)),
        numberText(scan.minNonzero), countText(scan.zero), countText(scan.subnormal));
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

Phrase damageFacts(const ReportFacts& facts)
{
    const auto& damage = facts.verdict->facts.damage;
    if (damage.shape == DamageShape::none) {
        return own("damage pattern: none");
    }
    auto text = own("damage: ") + own(std::string(name(damage.shape)));
    if (!damage.text.empty()) {
        text = text + own(" (") + foreign(damage.text) + own(")");
    }
    text = text
        + own(fmt::format(", batch element {}, bounding box rows {}–{} × "
                          "columns {}–{}, {} elements",
            damage.batch, damage.rowBegin, damage.rowEnd - 1, damage.colBegin, damage.colEnd - 1,
            countText(damage.count)));
    if (!damage.nanBits.empty()) {
        text = text + own("; NaN bit patterns " + nanBits(damage, facts.capture->output->dtype));
    }
    return text;
}

std::string orNotRecorded(const std::optional<int>& value)
{
    return value ? std::to_string(*value) : notRecorded;
}

} // namespace

std::string orNotRecorded(const std::string& text)
{
    return text.empty() ? notRecorded : text;
}

Phrase evidencePhrase(const EvidenceLine& line)
{
    return line.source.empty() ? foreign(line.text) : foreign(line.text) + own(" (") + code(line.source) + own(")");
}

ItemList evidenceItems(const char* label, const std::vector<EvidenceLine>& lines)
{
    ItemList list;
    for (const auto& line : lines) {
        list.items.push_back({label, evidencePhrase(line)});
    }
    return list;
}

Phrase titleOf(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return own("[NaN] ") + foreign(facts.input.run.name) + own(": no capture to judge");
    }
    const auto& input = facts.capture->input;
    const auto rank = facts.verdict->rank ? fmt::format(", rank {}", *facts.verdict->rank) : std::string {};
    const bool damaged = !facts.capture->output || !facts.capture->output->total().finite();
    if (isHealthy(*facts.verdict)) {
        return own(fmt::format("[healthy] finite Newton-Schulz output, shape {}, {}{}", shapeText(input.shape),
            shortName(input.dtype), rank));
    }
    return own(fmt::format("[NaN] {} Newton-Schulz output, shape {}, {}{}", damaged ? "non-finite" : "suspect",
        shapeText(input.shape), shortName(input.dtype), rank));
}

Blocks claim(const ReportFacts& facts)
{
    if (facts.verdict == nullptr) {
        return only(own("none: no capture could be judged."));
    }
    const auto& verdict = *facts.verdict;
    auto text = foreign(asSentence(verdict.summary)) + own(" Verdict: ") + strong(blameText(verdict))
        + own(fmt::format(", {}.", strengthText(verdict)));
    if (!facts.input.diagnosis.headline.empty()) {
        text = text + own(" Run: ") + foreign(facts.input.diagnosis.headline) + own(".");
    }
    auto blocks = only(std::move(text));
    if (!verdict.speaksFor.empty()) {
        blocks.emplace_back(evidenceItems("for", verdict.speaksFor));
    }
    return blocks;
}

Blocks minimalFacts(const ReportFacts& facts)
{
    return only(own(fmt::format("ranks seen: {}. dion, gns, quack, triton, "
                                "torch, CUDA, driver, OS, GPU, topology, launcher: {} (",
                    ranksSeen(facts.input.run), notRecorded))
        + code("nanscope env") + own(" in the training environment prints them)."));
}

Blocks call(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return only(own("not recorded."));
    }
    const auto& capture = *facts.capture;
    const auto output = capture.output
        ? fmt::format("{} {}", shapeText(capture.output->shape), shortName(capture.output->dtype))
        : std::string(notRecorded);
    const auto& layer = facts.verdict->layer;
    auto named = layer.empty() ? Phrase {} : own("layer: ") + foreign(layer) + own("; ");
    return only(std::move(named) + own("variant: ") + foreign(variantText(facts.verdict->variant))
        + own(fmt::format("; epsilon {}; input {} {}, output {}. Function, "
                          "coefficients as called, restarts, stream, compiled, autotune choice: {}.",
            capture.epsilon ? numberText(*capture.epsilon) : notRecorded, shapeText(capture.input.shape),
            shortName(capture.input.dtype), output, notRecorded)));
}

Blocks when(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return only(own("not recorded."));
    }
    const auto& capture = *facts.capture;
    auto text = own(fmt::format("{}; rank {}, pid {}; dumped {}", stepText(*facts.verdict), orNotRecorded(capture.rank),
        orNotRecorded(capture.pid), capture.timestampMs ? timeText(*capture.timestampMs) : notRecorded));
    if (const auto* event = namingEvent(facts.input.run, capture.file); event != nullptr) {
        text = text + own("; named in ") + code(fmt::format("{}:{}", event->source, event->line));
    }
    return only(text + own(fmt::format(". Call number, GPU UUID, frequency, last good version: {}.", notRecorded)));
}

Blocks inputFacts(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return only(own("not recorded."));
    }
    auto text = tensorFacts(facts.capture->input);
    const auto scan = facts.capture->input.total();
    if (scan.firstNonFinite >= 0) {
        text += fmt::format(
            "; first non-finite at {}", indexText(indexIn(facts.capture->input.shape, scan.firstNonFinite)));
    }
    return only(own(text + fmt::format(". Sigma max, stable rank, sha256: {}.", notRecorded)));
}

Blocks outputFacts(const ReportFacts& facts)
{
    if (facts.capture == nullptr || !facts.capture->output) {
        return only(own("not recorded."));
    }
    auto text = own(tensorFacts(*facts.capture->output) + "; ") + damageFacts(facts) + own(".");
    if (const auto places = originsText(*facts.verdict); !places.empty()) {
        text = text + own(" Spread: ") + foreign(places) + own(".");
    }
    return only(std::move(text));
}

Blocks control(const ReportFacts& /*facts*/)
{
    return only(own(fmt::format("{}: no healthy call of the same shape was captured.", notRecorded)));
}

Blocks retry(const ReportFacts& /*facts*/)
{
    return only(own("not recorded."));
}

namespace {

std::vector<Phrase> memberRow(const MemberResult& member)
{
    const bool replayed = member.forecastBy.empty();
    return {code(member.variant), foreign(member.precision),
        own(replayed ? fmt::format("{} of {} finite", member.finite, member.roundings) : "forecast"),
        own(replayed ? std::to_string(member.reproducing) : "–"),
        own(member.slackPercent ? fmt::format("{:.3g} %", *member.slackPercent) : "–"),
        own(member.absmaxQ ? numberText(*member.absmaxQ) : "–"), own(numberText(member.headroomBinades)),
        member.firstBad.empty() ? own("–") : foreign(member.firstBad)};
}

std::vector<Phrase> cellRow(const Cell& cell)
{
    const auto slack = slackPercent(cell);
    return {code(cell.variant), own(std::string(name(cell.precision))), own(cell.native ? "native" : "emulated"),
        own(std::string(name(cell.lowering))),
        cell.error.empty() ? own(std::string(name(cell.outcome))) : foreign(cell.error),
        own(cell.firstNonFinite ? nonFiniteText(*cell.firstNonFinite) : "–"),
        own(slack ? fmt::format("≥ {:.3g} %", *slack) : "–"), foreign(cell.environment.engine + ", " + cell.device)};
}

Table memberTable(const ReportFacts& facts)
{
    Table table {{"variant", "precision", "envelope", "give the dump's pattern", "slack", "max abs Q",
                     "headroom (binades)", "first bad"},
        {}, {}};
    for (const auto& member : facts.verdict->members) {
        table.rows.push_back(memberRow(member));
    }
    return table;
}

Table cellTable(const ReportFacts& facts)
{
    constexpr std::size_t most = 60;
    Table table {
        {"variant", "precision", "arithmetic", "lowering", "outcome", "first non-finite", "slack", "replayed by"}, {},
        {}};
    for (const auto& cell : facts.input.cells) {
        if (cell.capture == facts.verdict->capture && table.rows.size() < most) {
            table.rows.push_back(cellRow(cell));
        }
    }
    return table;
}

} // namespace

Blocks numbersAcquitted(const ReportFacts& facts)
{
    Blocks blocks {Paragraph {own("Replays of the captured input:")}};
    if (facts.verdict != nullptr) {
        for (auto table : {memberTable(facts), cellTable(facts)}) {
            if (!table.rows.empty()) {
                blocks.emplace_back(std::move(table));
            }
        }
    }
    return blocks.size() > 1 ? blocks : Blocks {Paragraph {own("not replayed.")}};
}

} // namespace nanscope::report
