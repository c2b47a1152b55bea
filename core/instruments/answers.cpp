// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/measure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/json/records.h"
#include "core/model/words.h"

namespace nanscope::instruments {

namespace {

using Json = nlohmann::ordered_json;

Json nameOrNull(const std::optional<Outcome>& outcome)
{
    return outcome ? Json(name(*outcome)) : Json(nullptr);
}

Json edgeJson(const ScaleEdge& edge)
{
    return {{"direction", edge.up ? "up" : "down"}, {"from", name(edge.inside)}, {"to", name(edge.outside)},
        {"scale", jsonNumber(edge.firstOutside)}, {"last_scale", jsonNumber(edge.lastInside)},
        {"relative_width", jsonNumber(edge.width())}, {"absmax", jsonNumber(edge.absmax)},
        {"frobenius", jsonNumber(edge.frobenius)}, {"headroom_binades", jsonNumber(edge.headroom())}};
}

Json countJson(const RepeatCount& count)
{
    return {{"calls", count.calls}, {"failed", count.failed}, {"differ", count.differ}, {"non_finite", count.nonFinite},
        {"distinct", count.distinct}, {"bound", numberOrNull(count.bound())},
        {"first_differing", orNull(count.firstDiffering)}, {"first_non_finite", orNull(count.firstNonFinite)}};
}

Json epsilonJson(const EpsilonLine& line)
{
    return {{"epsilon", line.epsilon}, {"own", line.own}, {"outcome", nameOrNull(line.outcome)},
        {"change", numberOrNull(line.change)},
        {"zero_in", jsonArray(line.zeroIn, [](Precision format) { return Json(name(format)); })}};
}

Json lineJson(const SpectrumLine& line)
{
    return {{"sigma", jsonNumber(line.sigma)}, {"share", jsonNumber(line.share)}, {"found", jsonNumber(line.found)},
        {"expected", numberOrNull(line.expected)},
        {"allowed", line.expected ? jsonNumber(line.allowed) : Json(nullptr)}, {"flagged", line.flagged}};
}

Json targetJson(const TargetFacts& facts, const InputBatch& inputBatch)
{
    const auto& environment = facts.environment;
    return {{"kind", facts.own ? "function" : "cell"}, {"variant", facts.name}, {"precision", facts.precision},
        {"lowering", orNull(facts.lowering)}, {"called_as", orNull(facts.how)}, {"source", orNull(facts.source)},
        {"device", environment.device}, {"epsilon", numberOrNull(inputBatch.epsilon)},
        {"output_range", {facts.outputRange[0], facts.outputRange[1]}}, {"output_range_assumed", facts.rangeAssumed},
        {"environment",
            {{"engine", environment.engine}, {"hardware", environment.hardware}, {"uuid", orNull(facts.uuid)},
                {"cuda", environment.cuda}, {"threads", environment.threads}, {"flags", environment.flags}}}};
}

} // namespace

Json toJson(const ScaleAnswer& answer)
{
    const auto point = [](const ScalePoint& each) {
        return Json {{"scale", jsonNumber(each.scale)}, {"outcome", nameOrNull(each.outcome)}};
    };
    return {{"batch", answer.batch}, {"absmax", jsonNumber(answer.absmax)}, {"frobenius", jsonNumber(answer.frobenius)},
        {"rounded_to", answer.roundedTo ? Json(shortName(*answer.roundedTo)) : Json(nullptr)},
        {"lowest_scale", jsonNumber(answer.lowest)}, {"highest_scale", jsonNumber(answer.highest)},
        {"edges", jsonArray(answer.edges, edgeJson)}, {"points", jsonArray(answer.points, point)}};
}

Json toJson(const EpsilonAnswer& answer)
{
    return {{"own", numberOrNull(answer.own)}, {"outcome", nameOrNull(answer.ownOutcome)},
        {"ignores_caller", answer.ignoresCaller},
        {"format", answer.format ? Json(name(*answer.format)) : Json(nullptr)},
        {"epsilons", jsonArray(answer.lines, epsilonJson)}};
}

Json toJson(const RepeatAnswer& answer)
{
    auto json = countJson(answer.count);
    json["outcome"] = nameOrNull(answer.outcome);
    json["output"] = orNull(answer.output);
    json["sentence"] = answer.sentence;
    return json;
}

Json toJson(const StormAnswer& answer)
{
    const auto leg = [](const StormLeg& each) {
        auto json = countJson(each.count);
        json["name"] = each.name;
        json["skipped"] = orNull(each.skipped);
        return json;
    };
    return {{"legs", jsonArray(answer.legs, leg)}, {"output", orNull(answer.output)}, {"sentence", answer.sentence}};
}

Json toJson(const InputAnswer& answer)
{
    return {{"changed", answer.answered ? Json(answer.changed) : Json(nullptr)}, {"first", orNull(answer.first)},
        {"shares_storage", answer.sharesStorage}, {"returns_input", answer.returnsInput},
        {"sentence", answer.sentence}};
}

Json toJson(const SpectrumAnswer& answer)
{
    const auto stage = [](const SpectrumStage& each) {
        return Json {{"step", each.step > 0 ? Json(each.step) : Json("output")}, {"finite", each.finite},
            {"outside", jsonNumber(each.outside)}, {"singular_values", jsonArray(each.lines, lineJson)}};
    };
    return {{"batch", answer.batch}, {"exact", answer.exact}, {"frobenius", jsonNumber(answer.frobenius)},
        {"against", orNull(answer.variant)}, {"closed_form", answer.closedForm},
        {"stages", jsonArray(answer.stages, stage)}, {"sentence", answer.sentence}};
}

Json toJson(const MinimiseAnswer& answer)
{
    return {{"outcome", name(answer.symptom.outcome)}, {"pattern", describe(answer.symptom)},
        {"class", describe(answer.dispatch)}, {"shape_before", answer.before}, {"shape", answer.after},
        {"non_zero_before", answer.nonZeroBefore}, {"non_zero", answer.nonZeroAfter}, {"batches", answer.batches},
        {"exhausted", answer.exhausted}, {"sentence", answer.sentence}};
}

Json measureJson(Instrument instrument, const Measurement& measurement, const MeasureAnswer& answer)
{
    const auto& log = measurement.log();
    auto own = std::visit([](const auto& each) { return toJson(each); }, answer);
    return {{"schema", "nanscope.measure/1"}, {"instrument", name(instrument)},
        {"capture", measurement.inputBatch().file},
        {"subject", targetJson(measurement.facts(), measurement.inputBatch())}, {"calls", log.calls},
        {"failed", log.failed}, {"seconds", jsonNumber(log.seconds)}, {"complaints", log.complaints},
        {"answer", std::move(own)}};
}

namespace {

using Align = Table::Align;

std::string outcomeText(const std::optional<Outcome>& outcome)
{
    return outcome ? std::string(name(*outcome)) : "no output";
}

/// Enough digits to tell an edge from its closed form.
std::string edgeNumber(double value)
{
    return fmt::format("{:.6g}", value);
}

std::string capitalised(std::string text)
{
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text;
}

std::string epsilonText(const std::optional<double>& epsilon)
{
    return epsilon ? fmt::format("{:.3g}", *epsilon) : std::string("its own");
}

/// The flagged lines, and of the others the first and last of the spectrum, which say most in least room.
std::vector<SpectrumLine> worthShowing(const SpectrumStage& stage)
{
    constexpr std::size_t edges = 6;
    constexpr std::size_t most = 24;
    std::vector<SpectrumLine> lines;
    for (std::size_t i = 0; i < stage.lines.size() && lines.size() < most; ++i) {
        if (stage.lines[i].flagged || i < edges || i + edges >= stage.lines.size()) {
            lines.push_back(stage.lines[i]);
        }
    }
    return lines;
}

std::string stageLine(const SpectrumStage& stage)
{
    if (!stage.finite) {
        return fmt::format("  step {}: not finite, so it has no singular values\n", stage.step);
    }
    const auto flagged = std::ranges::count_if(stage.lines, &SpectrumLine::flagged);
    double furthest = 0;
    for (const auto& line : stage.lines) {
        furthest = std::max(furthest, line.expected ? std::abs(line.found - *line.expected) : 0.0);
    }
    return fmt::format(
        "  step {}: {} of {} flagged, at most {} from what is expected, {} outside of these directions\n", stage.step,
        flagged, stage.lines.size(), numberText(furthest), percentText(stage.outside));
}

std::string stageTable(const SpectrumStage& stage)
{
    Table table({{"sigma", Align::right}, {"share", Align::right}, {"expected", Align::right}, {"found", Align::right},
        {"allowed", Align::right}, {""}});
    for (const auto& line : worthShowing(stage)) {
        table.add({numberText(line.sigma), percentText(line.share), line.expected ? numberText(*line.expected) : "-",
            numberText(line.found), line.expected ? numberText(line.allowed) : "-", line.flagged ? "leaves it" : ""});
    }
    return table.text(2);
}

std::string headText(Instrument instrument, const Measurement& measurement)
{
    const auto& facts = measurement.facts();
    const auto& inputBatch = measurement.inputBatch();
    const auto whom = facts.own ? fmt::format("{}, called as {}, {} on {}", facts.name, facts.how,
                          facts.environment.engine, facts.environment.device)
                                : fmt::format("{} in {}, {}, {} on {}", facts.name, facts.precision, facts.lowering,
                                    facts.environment.engine, facts.environment.device);
    auto text = fmt::format("{} of {}  {} {}, epsilon {}\n", capitalised(std::string(name(instrument))),
        printable(inputBatch.file), shapeText(inputBatch.input.shape), shortName(inputBatch.input.dtype),
        epsilonText(inputBatch.epsilon));
    text += fmt::format("  {}\n", printable(whom));
    const bool judges =
        instrument == Instrument::scale || instrument == Instrument::epsilon || instrument == Instrument::minimise;
    if (facts.rangeAssumed && judges) {
        text +=
            fmt::format("  degenerate: outside of what published schedules make, {:.2g} to {:.2g}, by more than 2x; "
                        "--variant says which it is\n",
                facts.outputRange[0], facts.outputRange[1]);
    }
    return text + "\n";
}

std::string answerText(const ScaleAnswer& answer)
{
    auto text = fmt::format("  matrix {}: absmax {}, norm {}; scales {:.3g} to {:.3g}, {}\n\n", answer.batch,
        edgeNumber(answer.absmax), edgeNumber(answer.frobenius), answer.lowest, answer.highest,
        answer.roundedTo ? fmt::format("each rounded to {}", shortName(*answer.roundedTo))
                         : std::string("the product not rounded to any type"));
    if (answer.edges.empty()) {
        return text + fmt::format("  {} at every scale\n", outcomeText(answer.points.front().outcome));
    }
    Table table({{"edge"}, {"times", Align::right}, {"absmax", Align::right}, {"norm", Align::right},
        {"headroom", Align::right}, {"known to", Align::right}});
    for (const auto& edge : answer.edges) {
        table.add({fmt::format("{} to {}, {}", name(edge.inside), name(edge.outside), edge.up ? "up" : "down"),
            edgeNumber(edge.firstOutside), edgeNumber(edge.absmax), edgeNumber(edge.frobenius),
            fmt::format("{:.2f} binades", edge.headroom()), fmt::format("{:.1g}", edge.width())});
    }
    return text + table.text(2);
}

std::string answerText(const EpsilonAnswer& answer)
{
    std::string text;
    if (answer.ignoresCaller) {
        text += "  The variant ignores its caller's epsilon; here it was made to take these.\n\n";
    }
    Table table({{"epsilon", Align::right}, {""}, {"outcome"}, {"change", Align::right}, {"rounds to 0 in"}});
    for (const auto& line : answer.lines) {
        std::vector<std::string_view> formats;
        for (const auto format : line.zeroIn) {
            formats.push_back(name(format));
        }
        const bool vanishes =
            line.epsilon != 0 && answer.format && std::ranges::find(line.zeroIn, *answer.format) != line.zeroIn.end();
        table.add({fmt::format("{:g}", line.epsilon), line.own ? "own" : "", outcomeText(line.outcome),
            line.change ? fmt::format("{:.2g}", *line.change) : "-",
            fmt::format("{}{}", line.epsilon == 0 ? "" : fmt::format("{}", fmt::join(formats, ", ")),
                vanishes ? ", which the denominator is in" : "")});
    }
    return text + table.text(2);
}

std::string answerText(const RepeatAnswer& answer)
{
    return fmt::format(
        "  {}\n  first outcome: {}\n", printable(capitalised(answer.sentence)), outcomeText(answer.outcome));
}

std::string answerText(const StormAnswer& answer)
{
    Table table({{"leg"}, {"differ", Align::right}, {"of", Align::right}, {"not finite", Align::right},
        {"no output", Align::right}, {"outputs", Align::right}, {""}});
    for (const auto& leg : answer.legs) {
        if (!leg.skipped.empty()) {
            table.add({leg.name, "-", "-", "-", "-", "-", "skipped: " + leg.skipped});
            continue;
        }
        const auto& count = leg.count;
        table.add({leg.name, countText(count.differ), countText(count.calls), countText(count.nonFinite),
            countText(count.failed), countText(count.distinct), ""});
    }
    return table.text(2) + fmt::format("\n  {}\n", printable(capitalised(answer.sentence)));
}

std::string answerText(const InputAnswer& answer)
{
    return fmt::format("  {}\n", printable(capitalised(answer.sentence)));
}

std::string answerText(const SpectrumAnswer& answer)
{
    auto text = fmt::format("  matrix {}: norm {}, {}\n", answer.batch, numberText(answer.frobenius),
        answer.exact ? "all singular values" : "its leading singular values (Lanczos); the others are not looked at");
    if (!answer.variant.empty()) {
        text += fmt::format("  held against {}: {}\n", printable(answer.variant),
            answer.closedForm ? "p(sigma), the schedule on each singular value"
                              : "its fp64 replay, since it does more than a polynomial");
    }
    text += "\n";
    for (std::size_t i = 0; i + 1 < answer.stages.size(); ++i) {
        text += stageLine(answer.stages[i]);
    }
    if (!answer.stages.empty() && answer.stages.back().finite) {
        const auto step = answer.stages.back().step;
        text += step > 0 ? fmt::format("  output, after step {}:\n", step) : std::string("  output:\n");
        text += stageTable(answer.stages.back());
        text += fmt::format(
            "  {} of the output lies outside of these directions\n", percentText(answer.stages.back().outside));
    }
    return text + fmt::format("\n  {}\n", printable(capitalised(answer.sentence)));
}

std::string answerText(const MinimiseAnswer& answer)
{
    return fmt::format("  {}\n  shape {}, was {}; matrices of the capture that are left: {}\n  kept of its shape: {}\n",
        printable(capitalised(answer.sentence)), shapeText(answer.after), shapeText(answer.before),
        fmt::join(answer.batches, ", "), describe(answer.dispatch));
}

std::string footText(const MeasureLog& log)
{
    std::string text;
    for (const auto& complaint : log.complaints) {
        text += fmt::format("  {}\n", printable(capitalised(complaint)));
    }
    const auto failed = log.failed > 0 ? fmt::format(", {} without an output", countText(log.failed)) : std::string();
    return fmt::format("{}\n{}{}\n", text.empty() ? "" : "\n" + text, counted(log.calls, "call"), failed);
}

} // namespace

std::string measureText(Instrument instrument, const Measurement& measurement, const MeasureAnswer& answer)
{
    return headText(instrument, measurement) + std::visit([](const auto& each) { return answerText(each); }, answer)
        + footText(measurement.log());
}

} // namespace nanscope::instruments
