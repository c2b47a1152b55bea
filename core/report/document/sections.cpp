// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
#include "core/report/document/sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/model/scenewords.h"
#include "core/model/words.h"
#include "core/report/document/console.h"
#include "core/report/document/conviction.h"
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
    return fmt::format("{}", fmt::join(ranks, ", "));
}

std::string magnitudes(const Scan& scan)
{
    auto text = fmt::format("absmax {}, Frobenius norm {}, smallest non-zero {}", magnitudeText(scan.absmax),
        magnitudeText(std::sqrt(scan.sumSquares)), numberText(scan.minNonzero));
    text += scan.zero > 0 ? fmt::format(", {} zero", countText(scan.zero)) : std::string();
    return text + (scan.subnormal > 0 ? fmt::format(", {} subnormal", countText(scan.subnormal)) : std::string());
}

std::string tensorFacts(const CaptureTensor& tensor)
{
    if (!tensor.scanned()) {
        return "not scanned";
    }
    const auto scan = tensor.total();
    auto text = fmt::format("{} elements, ", countText(scan.count));
    if (scan.allZero()) {
        return text + "all zero";
    }
    text += classesText(scan);
    if (scan.nonFinite() == scan.count) {
        return text + ", no finite value";
    }
    return text + (scan.finite() ? "; " : "; the finite ones: ") + magnitudes(scan);
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
    const bool everything = damage.shape == DamageShape::wholeElement;
    auto text = own("damage: ") + own(everything ? std::string("the whole matrix") : std::string(name(damage.shape)));
    if (!damage.text.empty()) {
        text = text + own(" (") + foreign(damage.text) + own(")");
    }
    if (matrixShape(facts.capture->input.shape).batch > 1) {
        text = text + own(fmt::format(", batch element {}", damage.batch));
    }
    // The words of these two are their own bounding box.
    if (damage.shape != DamageShape::rectangle && damage.shape != DamageShape::wholeElement) {
        text = text
            + own(fmt::format(", bounding box rows {}–{} × columns {}–{}, {} elements", damage.rowBegin,
                damage.rowEnd - 1, damage.colBegin, damage.colEnd - 1, countText(damage.count)));
    }
    if (!damage.nanBits.empty()) {
        text = text + own("; NaN bit patterns " + nanBits(damage, facts.capture->output->dtype));
    }
    return text;
}

/// What of a section is known, one after the other.
class Known
{
public:
    void add(Phrase text) { m_text = m_text.words.empty() ? std::move(text) : std::move(m_text) + own("; ") + text; }
    Blocks blocks() const { return m_text.words.empty() ? Blocks {} : only(m_text + own(".")); }

private:
    Phrase m_text;
};

/// "text (source)".
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

bool tellsOfNan(const RunData& run)
{
    const auto notFinite = [](const Series& series) { return series.nan + series.posInf + series.negInf > 0; };
    const auto warns = [](const Event& event) {
        return event.kind == EventKind::nanLoss || event.kind == EventKind::captureDumped;
    };
    return std::ranges::any_of(run.series, notFinite) || std::ranges::any_of(run.events, warns);
}

/// Of a run that left no capture.
Phrase titleOfLogs(const ReportFacts& facts)
{
    const auto& headline = facts.input.diagnosis.headline;
    return own(tellsOfNan(facts.input.run) ? "[NaN] " : "") + foreign(facts.input.run.name) + own(": ")
        + (headline.empty() ? own("no capture to judge") : foreign(headline));
}

std::string nonFiniteTitle(const Scan& scan, const char* what)
{
    return fmt::format("[{}] non-finite Newton-Schulz {}", scan.nan > 0 ? "NaN" : "Inf", what);
}

/// What is wrong, and with what.
std::string troubleOf(const Capture& capture, const CaptureVerdict& verdict)
{
    if (verdict.role == Role::noOutput) {
        return verdict.rule == RuleId::callRaised ? "[exception] Newton-Schulz call that raised"
                                                  : "[no output] Newton-Schulz input alone";
    }
    if (isHealthy(verdict)) {
        const bool whole = verdict.rule == RuleId::fits || verdict.rule == RuleId::zeroInZeroOut;
        return fmt::format("[{}] finite Newton-Schulz output", whole ? "healthy" : verdict.kind);
    }
    const bool counted = capture.output && capture.output->scanned();
    if (counted && !capture.output->total().finite()) {
        return nonFiniteTitle(capture.output->total(), "output");
    }
    if (counted) {
        return capture.output->total().allZero() ? "[zeros] all-zero Newton-Schulz output"
                                                 : "[finite] suspect Newton-Schulz output";
    }
    const auto input = capture.input.total();
    return input.nonFinite() > 0 ? nonFiniteTitle(input, "input") : "[not finite] lost Newton-Schulz output";
}

} // namespace

Phrase titleOf(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return titleOfLogs(facts);
    }
    const auto& input = facts.capture->input;
    const auto rank = facts.verdict->rank ? fmt::format(", rank {}", *facts.verdict->rank) : std::string {};
    return own(fmt::format("{}, shape {}, {}{}", troubleOf(*facts.capture, *facts.verdict), shapeText(input.shape),
        shortName(input.dtype), rank));
}

namespace {

/// Of a run that left no capture: what its logs say, and how to have more next time.
Blocks withoutCapture(const ReportFacts& facts)
{
    const auto& headline = facts.input.diagnosis.headline;
    auto text = headline.empty() ? Phrase {} : foreign(asSentence(headline)) + own(" ");
    return only(text + own("Without a capture nothing can be replayed: ") + code("nanscope capture --print")
        + own(" writes the helper that takes one when a step goes bad."));
}

/// Of a damaged input the summary has the numbers.
std::string whyText(const ReportFacts& facts)
{
    return facts.capture != nullptr && facts.verdict->rule != RuleId::damagedInput
        ? convictingText(*facts.capture, *facts.verdict, facts.input.measures.overflow)
        : std::string();
}

/// False where all of the summary is in the number, and in the figures of the replays.
bool addsToNumber(const CaptureVerdict& verdict)
{
    return verdict.rule != RuleId::noReplayEndsLikeThis;
}

} // namespace

Blocks claim(const ReportFacts& facts)
{
    if (facts.verdict == nullptr) {
        return withoutCapture(facts);
    }
    const auto& verdict = *facts.verdict;
    auto text = own("Verdict: ") + strong(blameText(verdict))
        + own(strengthText(verdict).empty() ? "." : fmt::format(", {}.", strengthText(verdict)));
    const auto why = whyText(facts);
    if (!why.empty()) {
        text = text + own(" ") + strong(why);
    }
    if (why.empty() || addsToNumber(verdict)) {
        text = text + own(" ") + foreign(asSentence(verdict.summary));
    }
    if (!facts.input.diagnosis.headline.empty()) {
        text = text + own(" Run: ") + foreign(asSentence(facts.input.diagnosis.headline));
    }
    auto blocks = only(std::move(text));
    std::ranges::move(otherBirths(facts), std::back_inserter(blocks));
    return blocks;
}

namespace {

/// The findings that fired stand for the evidence of a run that left no capture.
ItemList evidenceOfLogs(const Diagnosis& diagnosis)
{
    constexpr std::size_t most = 6;
    ItemList list;
    for (const auto& finding : diagnosis.findings) {
        if (finding.state == FindingState::fired && list.items.size() < most) {
            auto text = foreign(finding.title) + own(finding.reason.empty() ? "" : ": ") + foreign(finding.reason);
            list.items.push_back({"found", std::move(text)});
        }
    }
    return list;
}

} // namespace

Blocks evidence(const ReportFacts& facts)
{
    if (facts.verdict == nullptr) {
        auto list = evidenceOfLogs(facts.input.diagnosis);
        return list.items.empty() ? Blocks {} : Blocks {std::move(list)};
    }
    auto list = evidenceItems("for", facts.verdict->speaksFor);
    const auto against = evidenceItems("against", facts.verdict->speaksAgainst);
    list.items.insert(list.items.end(), against.items.begin(), against.items.end());
    const auto open = std::ssize(facts.verdict->notTestable);
    if (open > 0) {
        const auto where = facts.options.sections.contains(ReportSection::limits)
            ? fmt::format(", listed in \"{}\"", title(ReportSection::limits))
            : std::string();
        list.items.push_back({"neither", own(counted(open, "point") + where)});
    }
    return list.items.empty() ? Blocks {} : Blocks {std::move(list)};
}

Blocks limits(const ReportFacts& facts)
{
    auto list = evidenceItems("", facts.verdict != nullptr ? facts.verdict->notTestable : std::vector<EvidenceLine> {});
    return list.items.empty() ? Blocks {} : Blocks {std::move(list)};
}

namespace {

bool isOfEnvironment(const Setting& setting)
{
    constexpr std::array groups {"packages.", "gpu.", "system.", "torch.", "launch."};
    return !setting.value.empty()
        && std::ranges::any_of(groups, [&](const char* group) { return setting.name.starts_with(group); });
}

/// Four numbers with dots are a version here, and no address to hide.
Phrase shownValue(const std::string& name, const std::string& value)
{
    const bool version = name.starts_with("packages.") && value.find_first_not_of("0123456789.") == std::string::npos;
    return version ? own(value) : foreign(value);
}

/// What a file of the environment says, such as packages.torch: once, though every rank says it, and with the ranks
/// where they differ.
ItemList environmentItems(const RunData& run)
{
    constexpr std::size_t most = 40;
    std::map<std::string, std::map<std::string, std::set<int>>> said;
    std::vector<std::string> order;
    for (const auto& setting : run.settings) {
        if (!isOfEnvironment(setting)) {
            continue;
        }
        if (!said.contains(setting.name)) {
            order.push_back(setting.name);
        }
        auto& ranks = said[setting.name][setting.value];
        if (setting.rank) {
            ranks.insert(*setting.rank);
        }
    }
    ItemList list;
    for (const auto& name : order) {
        for (const auto& [value, ranks] : said[name]) {
            if (list.items.size() < most) {
                list.items.push_back({said[name].size() > 1 ? rankList({ranks.begin(), ranks.end()}) : std::string(),
                    code(name) + own(" ") + shownValue(name, value)});
            }
        }
    }
    return list;
}

} // namespace

Blocks minimalFacts(const ReportFacts& facts)
{
    const auto ranks = ranksSeen(facts.input.run);
    auto items = environmentItems(facts.input.run);
    if (ranks.empty() && items.items.empty()) {
        return {};
    }
    auto text = own(ranks.empty() ? std::string() : fmt::format("ranks seen: {}. ", ranks));
    if (items.items.empty()) {
        return only(text + own("Versions, driver and GPU: ") + code("nanscope env --json > env.json")
            + own(" in the training environment, then ") + code("--env env.json") + own("."));
    }
    return {Paragraph {text + own("As the environment was recorded:")}, std::move(items)};
}

Blocks call(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return {};
    }
    const auto& capture = *facts.capture;
    Known known;
    if (!facts.verdict->layer.empty()) {
        known.add(own("layer: ") + foreign(facts.verdict->layer));
    }
    known.add(own("variant: ") + foreign(variantText(facts.verdict->variant)));
    if (const auto& scene = capture.scene; !scene.function.empty()) {
        known.add(own("function: ") + foreign(scene.function)
            + own(scene.sourceHash.empty() ? "" : ", source " + scene.sourceHash));
    }
    if (!capture.hasTensors()) {
        known.add(
            own("not replayable: ") + foreign(withheldText(capture.scene)) + own("; " + whatKeepsMore(capture.scene)));
    }
    if (capture.epsilon) {
        known.add(own("epsilon " + numberText(*capture.epsilon)));
    }
    known.add(own(fmt::format("input {} {}", shapeText(capture.input.shape), shortName(capture.input.dtype))));
    if (capture.output) {
        known.add(own(fmt::format("output {} {}", shapeText(capture.output->shape), shortName(capture.output->dtype))));
    }
    if (capture.scene.onCpu) {
        known.add(own("it ran on the CPU"));
    }
    return known.blocks();
}

Blocks when(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return {};
    }
    const auto& capture = *facts.capture;
    Known known;
    if (facts.verdict->step) {
        known.add(own(stepText(*facts.verdict)));
    }
    if (capture.rank) {
        known.add(own(fmt::format("rank {}", *capture.rank)));
    }
    if (capture.pid) {
        known.add(own(fmt::format("pid {}", *capture.pid)));
    }
    if (capture.timestampMs) {
        known.add(own("dumped " + timeText(*capture.timestampMs)));
    }
    if (const auto* event = namingEvent(facts.input.run, capture.file); event != nullptr) {
        known.add(own("named in ") + code(event->place()));
    }
    return known.blocks();
}

Blocks inputFacts(const ReportFacts& facts)
{
    if (facts.capture == nullptr) {
        return {};
    }
    Known known;
    known.add(own(tensorFacts(facts.capture->input)));
    const auto scan = facts.capture->input.total();
    if (scan.firstNonFinite >= 0) {
        known.add(own("first non-finite at " + indexText(indexIn(facts.capture->input.shape, scan.firstNonFinite))));
    }
    const auto& measures = facts.input.measures;
    if (measures.sigmaMax && measures.stableRank) {
        known.add(own(fmt::format(
            "sigma max {}, stable rank {}", magnitudeText(*measures.sigmaMax), numberText(*measures.stableRank))));
    }
    return known.blocks();
}

Blocks outputFacts(const ReportFacts& facts)
{
    if (facts.capture == nullptr || !facts.capture->output) {
        return {};
    }
    auto text = own(tensorFacts(*facts.capture->output));
    if (facts.verdict->facts.damage.shape != DamageShape::none) {
        text = text + own("; ") + damageFacts(facts);
    }
    text = text + own(".");
    if (const auto places = originsText(*facts.verdict); !places.empty()) {
        text = text + own(" Spread: ") + foreign(places) + own(".");
    }
    return only(std::move(text));
}

Blocks control(const ReportFacts& facts)
{
    const auto* known =
        facts.verdict != nullptr && facts.verdict->facts.control ? &*facts.verdict->facts.control : nullptr;
    if (known == nullptr) {
        return {};
    }
    const auto* exact = known->exact.empty() ? "" : ", bit for bit";
    return only(
        foreign(known->source) + own(" went well: ") + foreign(variantText(known->identified)) + own(exact) + own("."));
}

Blocks retry(const ReportFacts& facts)
{
    ItemList list;
    for (const auto& again : facts.verdict != nullptr ? facts.verdict->facts.calledAgain : std::vector<CallsAgain> {}) {
        auto text = own(fmt::format(
            "{} of {} calls with this input were damaged", countText(again.failed), countText(again.calls)));
        text = text + own(again.sameGpu ? "" : ", on another GPU") + own(again.atTheScene ? ", at the scene" : "");
        list.items.push_back({{}, again.experiment.empty() ? text : text + own(", with ") + code(again.experiment)});
    }
    return list.items.empty() ? Blocks {} : Blocks {std::move(list)};
}

} // namespace nanscope::report
