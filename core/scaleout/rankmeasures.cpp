// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/rankmeasures.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/json/jsonfields.h"
#include "core/replay/engine/agreement.h"
#include "core/scaleout/partlog.h"

namespace nanscope::scaleout {

namespace {

using Json = nlohmann::ordered_json;
using jsonread::valueIn;

constexpr int deepestMeasure = 8;
constexpr std::size_t mostMeasureValues = 4096;

std::optional<std::int64_t> callIn(const Json& json, const char* key)
{
    const auto call = valueIn<std::int64_t>(json, key);
    return call > 0 ? std::optional(call) : std::nullopt;
}

/// Of `repeat` the answer itself, of `storm` each leg.
void addCounts(const Json& json, const std::string& leg, RankMeasure& measure)
{
    measure.calls += valueIn<std::int64_t>(json, "calls");
    measure.failed += valueIn<std::int64_t>(json, "failed");
    measure.differ += valueIn<std::int64_t>(json, "differ");
    measure.nonFinite += valueIn<std::int64_t>(json, "non_finite");
    auto first = callIn(json, "first_differing");
    first = first ? first : callIn(json, "first_non_finite");
    if (first && !measure.firstBad) {
        measure.firstBad = first;
        measure.leg = leg;
    }
}

/// None for what is no answer of a rank.
std::optional<RankMeasure> measureOf(const PartStart& start, const std::string& kept)
{
    const auto json = parseBounded(kept, deepestMeasure, mostMeasureValues);
    const auto& whole = jsonread::at(json, "answer");
    const auto& answer = jsonread::at(whole, "answer");
    if (!answer.is_object()) {
        return std::nullopt;
    }
    RankMeasure measure;
    measure.rank = start.rank;
    measure.processes = valueIn<int>(json, "processes");
    measure.node = valueIn<std::string>(json, "node");
    measure.device = start.device;
    measure.engine = start.engine;
    measure.hardware = start.hardware;
    measure.uuid = valueIn<std::string>(jsonread::at(jsonread::at(whole, "subject"), "environment"), "uuid");
    measure.output = valueIn<std::string>(answer, "output");
    measure.sentence = valueIn<std::string>(answer, "sentence");
    measure.answer = jsonText(whole);
    const auto& legs = jsonread::at(answer, "legs");
    if (!legs.is_array()) {
        addCounts(answer, {}, measure);
        return measure;
    }
    for (const auto& leg : legs) {
        addCounts(leg, valueIn<std::string>(leg, "name"), measure);
    }
    return measure;
}

std::string calledName(int rank)
{
    return fmt::format("rank {}", rank);
}

/// First outputs of devices of one model, by one engine.
replay::Agreement agreementOf(const std::vector<RankMeasure>& ranks)
{
    std::vector<replay::DeviceHashes> devices;
    for (const auto& rank : ranks) {
        // One whose own calls differ gave its first output by chance.
        if (const auto hash = replay::parseReplayHash(rank.output); hash && rank.differ == 0) {
            devices.push_back({calledName(rank.rank), rank.engine + ", " + rank.hardware, {*hash}});
        }
    }
    return replay::agreementOf(std::move(devices));
}

std::string since(const RankMeasure& rank)
{
    return rank.firstBad
        ? fmt::format(", the first is call {}{}", *rank.firstBad, rank.leg.empty() ? "" : " of " + rank.leg)
        : std::string();
}

/// What may go wrong on a rank; each is held against how many of the others it happens on.
struct Symptom
{
    std::int64_t RankMeasure::*count;
    const char* what;
};

constexpr Symptom symptoms[] {{&RankMeasure::differ, "differ from the first"},
    {&RankMeasure::nonFinite, "are not finite"}, {&RankMeasure::failed, "gave no output"}};

} // namespace

RankComparison compared(const std::vector<RankMeasure>& ranks)
{
    std::map<int, std::vector<std::string>> odd;
    std::vector<std::string> common;
    for (const auto& symptom : symptoms) {
        const auto hit = std::ranges::count_if(ranks, [&](const RankMeasure& rank) { return rank.*symptom.count > 0; });
        if (hit > 0 && 2 * static_cast<std::size_t>(hit) >= ranks.size()) {
            common.push_back(fmt::format("on {} of {} ranks calls {}", hit, ranks.size(), symptom.what));
            continue;
        }
        for (const auto& rank : ranks) {
            if (const auto count = rank.*symptom.count; count > 0) {
                odd[rank.rank].push_back(
                    fmt::format("{} of {} calls {}{}", count, rank.calls + rank.failed, symptom.what, since(rank)));
            }
        }
    }
    const auto agreement = agreementOf(ranks);
    for (const auto& rank : ranks) {
        if (std::ranges::find(agreement.odd, calledName(rank.rank)) != agreement.odd.end()) {
            odd[rank.rank].emplace_back("it gives other bits than most of the same model");
        }
    }
    RankComparison result;
    std::vector<std::string> said;
    for (auto& [rank, why] : odd) {
        said.push_back(fmt::format("rank {} stands out: {}", rank, fmt::join(why, "; ")));
        result.odd.push_back({rank, std::move(why)});
    }
    if (said.empty() && !ranks.empty()) {
        said.push_back("no rank stands out");
        said.insert(said.end(), common.begin(), common.end());
        if (common.empty() || agreement.agree) {
            said.push_back(agreement.text);
        }
    }
    result.text = fmt::format("{}", fmt::join(said, "; "));
    return result;
}

GatheredMeasures gatherMeasures(const Job& job, const std::filesystem::path& folder, std::optional<std::int64_t> asked)
{
    GatheredMeasures gathered;
    std::map<int, std::string> without;
    for (const auto& path : partsIn(folder)) {
        const auto part = readPartLog(path, job.id);
        if (part.start.job != job.id) {
            continue;
        }
        gathered.begun = true;
        auto measure = part.verdicts.empty() ? std::nullopt : measureOf(part.start, part.verdicts.back());
        if (measure) {
            gathered.expected = std::max<std::int64_t>(gathered.expected, measure->processes);
            gathered.ranks.push_back(std::move(*measure));
        } else {
            without[part.start.rank] = part.problem;
            gathered.expected = std::max<std::int64_t>(gathered.expected, part.start.rank + 1);
        }
    }
    std::ranges::sort(gathered.ranks, {}, &RankMeasure::rank);
    std::set<int> there;
    for (const auto& rank : gathered.ranks) {
        there.insert(rank.rank);
    }
    gathered.expected = asked.value_or(gathered.expected);
    for (int rank = 0; rank < gathered.expected; ++rank) {
        if (!there.contains(rank)) {
            gathered.missing.push_back(rank);
        }
    }
    for (const auto& [rank, problem] : without) {
        if (!problem.empty()) {
            gathered.problems.push_back({ErrorKind::io, fmt::format("rank {}: {}", rank, problem), {}});
        }
    }
    gathered.comparison = compared(gathered.ranks);
    return gathered;
}

std::string keptAnswer(const std::string& node, int processes, const std::string& answer)
{
    return fmt::format(R"({{"node":{},"processes":{},"answer":{}}})", jsonText(Json(node)), processes, answer);
}

} // namespace nanscope::scaleout
