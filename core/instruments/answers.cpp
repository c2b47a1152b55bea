// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/answers.h"

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/json/records.h"

namespace nanscope::instruments {

namespace {

using Json = nlohmann::ordered_json;

Json nameOrNull(const std::optional<Outcome>& outcome)
{
    return outcome ? Json(name(*outcome)) : Json(nullptr);
}

Json numberOrNull(const std::optional<double>& value)
{
    return value ? jsonNumber(*value) : Json(nullptr);
}

Json textOrNull(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

template <class Range, class Make>
Json arrayOf(const Range& range, Make make)
{
    auto array = Json::array();
    for (const auto& item : range) {
        array.push_back(make(item));
    }
    return array;
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
        {"distinct", count.distinct}, {"bound", numberOrNull(count.bound())}};
}

Json epsilonJson(const EpsilonLine& line)
{
    return {{"epsilon", line.epsilon}, {"own", line.own}, {"outcome", nameOrNull(line.outcome)},
        {"change", numberOrNull(line.change)},
        {"zero_in", arrayOf(line.zeroIn, [](Precision format) { return Json(name(format)); })}};
}

Json lineJson(const SpectrumLine& line)
{
    return {{"sigma", jsonNumber(line.sigma)}, {"share", jsonNumber(line.share)}, {"found", jsonNumber(line.found)},
        {"expected", numberOrNull(line.expected)},
        {"allowed", line.expected ? jsonNumber(line.allowed) : Json(nullptr)}, {"flagged", line.flagged}};
}

Json subjectJson(const SubjectFacts& facts, const Specimen& specimen)
{
    const auto& environment = facts.environment;
    return {{"kind", facts.own ? "function" : "cell"}, {"variant", facts.name}, {"precision", facts.precision},
        {"lowering", textOrNull(facts.lowering)}, {"called_as", textOrNull(facts.how)},
        {"source", textOrNull(facts.source)}, {"device", environment.device},
        {"epsilon", numberOrNull(specimen.epsilon)}, {"output_range", {facts.outputRange[0], facts.outputRange[1]}},
        {"output_range_assumed", facts.rangeAssumed},
        {"environment",
            {{"engine", environment.engine}, {"hardware", environment.hardware}, {"cuda", environment.cuda},
                {"threads", environment.threads}, {"flags", environment.flags}}}};
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
        {"edges", arrayOf(answer.edges, edgeJson)}, {"points", arrayOf(answer.points, point)}};
}

Json toJson(const EpsilonAnswer& answer)
{
    return {{"own", numberOrNull(answer.own)}, {"outcome", nameOrNull(answer.ownOutcome)},
        {"ignores_caller", answer.ignoresCaller},
        {"format", answer.format ? Json(name(*answer.format)) : Json(nullptr)},
        {"epsilons", arrayOf(answer.lines, epsilonJson)}};
}

Json toJson(const RepeatAnswer& answer)
{
    auto json = countJson(answer.count);
    json["outcome"] = nameOrNull(answer.outcome);
    json["sentence"] = answer.sentence;
    return json;
}

Json toJson(const StormAnswer& answer)
{
    const auto leg = [](const StormLeg& each) {
        auto json = countJson(each.count);
        json["name"] = each.name;
        json["skipped"] = textOrNull(each.skipped);
        return json;
    };
    return {{"legs", arrayOf(answer.legs, leg)}, {"sentence", answer.sentence}};
}

Json toJson(const InputAnswer& answer)
{
    return {{"changed", answer.answered ? Json(answer.changed) : Json(nullptr)},
        {"first", answer.first ? Json(*answer.first) : Json(nullptr)}, {"shares_storage", answer.sharesStorage},
        {"returns_input", answer.returnsInput}, {"sentence", answer.sentence}};
}

Json toJson(const SpectrumAnswer& answer)
{
    const auto stage = [](const SpectrumStage& each) {
        return Json {{"step", each.step > 0 ? Json(each.step) : Json("output")}, {"finite", each.finite},
            {"outside", jsonNumber(each.outside)}, {"singular_values", arrayOf(each.lines, lineJson)}};
    };
    return {{"batch", answer.batch}, {"exact", answer.exact}, {"frobenius", jsonNumber(answer.frobenius)},
        {"against", textOrNull(answer.variant)}, {"closed_form", answer.closedForm},
        {"stages", arrayOf(answer.stages, stage)}, {"sentence", answer.sentence}};
}

Json toJson(const MinimiseAnswer& answer)
{
    return {{"outcome", name(answer.symptom.outcome)}, {"pattern", describe(answer.symptom)},
        {"class", describe(answer.dispatch)}, {"shape_before", answer.before}, {"shape", answer.after},
        {"non_zero_before", answer.nonZeroBefore}, {"non_zero", answer.nonZeroAfter}, {"batches", answer.batches},
        {"exhausted", answer.exhausted}, {"sentence", answer.sentence}};
}

Json measureJson(Instrument instrument, const Asker& asker, const MeasureAnswer& answer)
{
    const auto& log = asker.log();
    auto own = std::visit([](const auto& each) { return toJson(each); }, answer);
    return {{"schema", "nanscope.measure/1"}, {"instrument", name(instrument)}, {"capture", asker.specimen().file},
        {"subject", subjectJson(asker.facts(), asker.specimen())}, {"calls", log.calls}, {"failed", log.failed},
        {"seconds", jsonNumber(log.seconds)}, {"complaints", log.complaints}, {"answer", std::move(own)}};
}

} // namespace nanscope::instruments
