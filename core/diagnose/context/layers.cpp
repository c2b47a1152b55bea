// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/context/layers.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/context/settings.h"

namespace nanscope::diagnose {

namespace {

constexpr std::size_t mostCandidates = 64;

/// As the optimizer sees it: everything behind the first dimension is flattened.
std::optional<std::pair<std::int64_t, std::int64_t>> matrixOf(const Shape& shape)
{
    if (shape.size() < 2) {
        return std::nullopt;
    }
    std::int64_t cols = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) {
        cols *= shape[i];
    }
    return std::pair(shape[0], cols);
}

std::vector<std::string> partsOf(std::string_view name)
{
    std::vector<std::string> parts;
    for (;;) {
        const auto dot = std::min(name.find('.'), name.size());
        parts.emplace_back(name.substr(0, dot));
        if (dot == name.size()) {
            return parts;
        }
        name.remove_prefix(dot + 1);
    }
}

/// "blocks.*.mlp.fc2" of "blocks.3.mlp.fc2".
std::string patternOf(const std::string& name)
{
    auto parts = partsOf(name);
    for (auto& part : parts) {
        const bool number = !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
        part = number ? "*" : part;
    }
    return fmt::format("{}", fmt::join(parts, "."));
}

std::string sizeText(const MatrixShape& shape)
{
    return fmt::format("[{},{}]", shape.rows, shape.cols);
}

/// "6 blocks.*.mlp.fc2" or "one of 12, 6 blocks.*.attn.q and 6 blocks.*.attn.k".
std::string groupText(std::span<const std::string> names)
{
    std::vector<std::pair<std::string, int>> groups;
    std::unordered_map<std::string, std::size_t> places;
    for (const auto& name : names) {
        auto pattern = patternOf(name);
        const auto [place, isNew] = places.emplace(pattern, groups.size());
        if (isNew) {
            groups.emplace_back(std::move(pattern), 0);
        }
        ++groups[place->second].second;
    }
    if (names.size() == 1) {
        return fmt::format("`{}`", names.front());
    }
    if (groups.size() == 1) {
        return fmt::format("one of {} `{}`", names.size(), groups.front().first);
    }
    constexpr std::size_t shown = 4;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(shown, groups.size()); ++i) {
        texts.push_back(fmt::format("{} `{}`", groups[i].second, groups[i].first));
    }
    const auto more = groups.size() > shown ? fmt::format(" and {} kinds more", groups.size() - shown) : std::string();
    return fmt::format("one of {}: {}{}", names.size(), fmt::join(texts, ", "), more);
}

std::string placeText(const LayerPlace& place)
{
    const auto element = place.stacked ? fmt::format("element {}", place.element) : std::string("the whole tensor");
    return place.rank ? fmt::format("rank {}, {}", *place.rank, element) : element;
}

std::vector<std::string> namesOfShape(const LayerPlace& place, const ParameterList& list)
{
    std::vector<std::string> names;
    for (const auto& parameter : list.parameters) {
        if (matrixOf(parameter.shape) == std::pair(place.shape.rows, place.shape.cols)) {
            names.push_back(parameter.name);
        }
    }
    return names;
}

/// Parameters that are a stack of such matrices: split sizes, or heads.
std::vector<std::string> namesOfStacks(const LayerPlace& place, const ParameterList& list)
{
    std::vector<std::string> names;
    for (const auto& parameter : list.parameters) {
        const auto matrix = matrixOf(parameter.shape);
        const bool blocks = matrix && matrix->second == place.shape.cols && place.shape.rows > 0
            && matrix->first > place.shape.rows && matrix->first % place.shape.rows == 0;
        if (blocks) {
            names.push_back(parameter.name);
        }
    }
    return names;
}

/// How its place tells which of the parameters it is, or why it does not.
struct Pick
{
    std::optional<std::size_t> index;
    std::string text;
};

Pick pickOf(const LayerPlace& place, std::span<const std::string> names, bool ordered)
{
    const auto count = static_cast<std::int64_t>(names.size());
    if (count == 1) {
        return {0, ", the only one of this shape in the list"};
    }
    if (!place.stacked || !place.rank) {
        return {{}, "; which one its place does not tell"};
    }
    const auto perRank = place.shape.batch;
    if (place.world && (count + *place.world - 1) / *place.world != perRank) {
        return {{},
            fmt::format("; which one its place does not tell: {} over {} ranks make {} per rank, and the capture "
                        "holds {}",
                count, *place.world, (count + *place.world - 1) / *place.world, perRank)};
    }
    const auto index = *place.rank * perRank + place.element;
    const auto* order = ordered ? "if the parameter order is as given" : "if the optimizer has them in this order";
    if (index >= count) {
        return {{}, fmt::format("; a zero matrix that fills up the last rank {}", order)};
    }
    return {static_cast<std::size_t>(index), fmt::format("; `{}` {}", names[static_cast<std::size_t>(index)], order)};
}

Layer stackOf(const LayerPlace& place, const std::vector<std::string>& stacks)
{
    if (stacks.empty()) {
        return {fmt::format("{}: no parameter that was given is {}", placeText(place), sizeText(place.shape)), {}};
    }
    return {fmt::format("{}: no parameter is {}; a row block of {} is possible, where the optimizer splits it or takes "
                        "its heads apart",
                placeText(place), sizeText(place.shape), groupText(stacks)),
        stacks};
}

LayerPlace placeIn(const CaptureVerdict& verdict, const Capture& capture, std::optional<int> world)
{
    LayerPlace place;
    place.shape = matrixShape(capture.input.shape);
    place.stacked = capture.input.shape.size() > 2;
    place.rank = verdict.rank;
    place.element = verdict.facts.damage.batch;
    place.world = world;
    return place;
}

} // namespace

Layer layerAt(const LayerPlace& place, const ParameterList& list)
{
    if (!list.shapes) {
        return {fmt::format("{}: the {} parameters that were given have no shapes, so none can be told apart; give a "
                            ".safetensors file, or names with shapes",
                    placeText(place), list.parameters.size()),
            {}};
    }
    const auto names = namesOfShape(place, list);
    auto layer = Layer {};
    if (names.empty()) {
        layer = stackOf(place, namesOfStacks(place, list));
    } else {
        const auto pick = pickOf(place, names, list.ordered);
        layer = {
            fmt::format("{}: {} {}{}", placeText(place), groupText(names), sizeText(place.shape), pick.text), names};
        if (pick.index) {
            std::rotate(layer.candidates.begin(), layer.candidates.begin() + static_cast<std::ptrdiff_t>(*pick.index),
                layer.candidates.begin() + static_cast<std::ptrdiff_t>(*pick.index) + 1);
        }
    }
    layer.candidates.resize(std::min(layer.candidates.size(), mostCandidates));
    return layer;
}

std::optional<int> worldSizeOf(const RunData& run)
{
    std::optional<int> world;
    for (const auto* setting : cards::settingsNamed(run, {"world_size", "num_processes", "nranks"})) {
        const auto number = cards::numberOf(*setting);
        if (!number || *number < 1 || *number > 1e6) {
            continue;
        }
        const auto size = static_cast<int>(*number);
        if (world && *world != size) {
            return std::nullopt;
        }
        world = size;
    }
    return world;
}

void nameLayers(Diagnosis& diagnosis, const RunData& run, const ParameterList& list)
{
    std::map<std::pair<std::string, std::int64_t>, const Capture*> captures;
    for (const auto& capture : run.captures) {
        captures.emplace(std::pair(capture.file, capture.id), &capture);
    }
    const auto world = worldSizeOf(run);
    for (auto& verdict : diagnosis.captures) {
        const auto found = captures.find(std::pair(verdict.capture, verdict.captureId));
        if (found == captures.end() || !found->second->part.empty()) {
            continue;
        }
        auto layer = layerAt(placeIn(verdict, *found->second, world), list);
        verdict.layer = std::move(layer.text);
        verdict.layerCandidates = std::move(layer.candidates);
    }
}

} // namespace nanscope::diagnose
