// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/candidateorigins.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "core/diagnose/damage/damage.h"
#include "core/diagnose/identify/plausible.h"

namespace nanscope::diagnose {

namespace {

using Interval = std::pair<std::int64_t, std::int64_t>; ///< begin, end

// The largest tile one kernel of today writes at once.
constexpr std::int64_t largestTile = 256;

/// Where a tile can begin or end so that the damage tells, and one place between each two, for ends that it hides.
std::vector<std::int64_t> pointsOn(std::int64_t length, const replay::BadBlocks& damage)
{
    std::vector<std::int64_t> points {0, length};
    for (const auto* edges : {&damage.rowEdges, &damage.colEdges}) {
        if (edges->back() == length) {
            points.insert(points.end(), edges->begin(), edges->end());
        }
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    const auto visible = points;
    for (std::size_t i = 1; i < visible.size(); ++i) {
        const auto middle = visible[i - 1] + (visible[i] - visible[i - 1]) / 2;
        if (middle != visible[i - 1]) {
            points.push_back(middle);
        }
    }
    std::sort(points.begin(), points.end());
    return points;
}

std::vector<Interval> partsOf(std::int64_t length, const replay::BadBlocks& damage)
{
    std::vector<Interval> parts;
    const auto points = pointsOn(length, damage);
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (auto j = i + 1; j < points.size(); ++j) {
            if (points[j] - points[i] < length) {
                parts.emplace_back(points[i], points[j]);
            }
        }
    }
    return parts;
}

/// What is bad grows with the tile, so the largest at either end stand for all.
std::vector<Interval> largestPartsOf(std::int64_t length)
{
    const auto size = std::min(length / 2, largestTile);
    return size < 1 ? std::vector<Interval> {} : std::vector<Interval> {{0, size}, {length - size, length}};
}

std::pair<std::int64_t, std::int64_t> sizeAt(const replay::Program& program, std::size_t place)
{
    const auto& plan = program.buffers[static_cast<std::size_t>(program.code[place].out)];
    return plan.transposed ? std::pair {plan.cols, plan.rows} : std::pair {plan.rows, plan.cols};
}

std::optional<replay::SpreadModel> modelOf(
    const replay::Variant& variant, const replay::BadBlocks& damage, bool mirrored)
{
    replay::CompileOptions options;
    options.rounding.lowering = Lowering::fused; // the same ops in fewer instructions
    auto program = replay::compileProgram(variant, {1, damage.rows(), damage.cols()}, options);
    return program ? std::optional(replay::SpreadModel(std::move(*program), mirrored)) : std::nullopt;
}

using Tiles = std::vector<std::optional<replay::Region>>; ///< one per place

Tiles tilesEndingLike(const replay::SpreadModel& model, const replay::BadBlocks& damage)
{
    Tiles tiles;
    for (const auto place : replay::placesIn(model.program())) {
        tiles.push_back(tileEndingLike(model, place, damage));
    }
    return tiles;
}

/// Variants that differ in numbers only spread alike.
struct Skeleton
{
    std::vector<std::array<int, 9>> code;
    bool mirrored = false;
    bool operator==(const Skeleton&) const = default;
};

Skeleton skeletonOf(const replay::SpreadModel& model, bool mirrored)
{
    Skeleton skeleton;
    for (const auto& in : model.program().code) {
        skeleton.code.push_back({static_cast<int>(in.code), in.out, in.a, in.b, in.c, in.transposeA ? 1 : 0,
            in.transposeB ? 1 : 0, in.label ? static_cast<int>(*in.label) : -1, in.iteration});
    }
    skeleton.mirrored = mirrored;
    return skeleton;
}

class CandidateSearch
{
public:
    explicit CandidateSearch(const replay::BadBlocks& damage)
        : m_damage(damage)
    { }

    void add(const replay::Variant& variant)
    {
        const auto plain = modelOf(variant, m_damage, false);
        if (!plain) {
            return;
        }
        const auto byPlain = answer(*plain, false);
        const auto twice = variant.symmetricKernels ? modelOf(variant, m_damage, true) : std::nullopt;
        const auto byTwice = twice ? answer(*twice, true) : Tiles(byPlain.size());
        const auto places = replay::placesIn(plain->program());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto& in = plain->program().code[places[i]];
            const bool mirrored = !byPlain[i] && byTwice[i];
            if (byPlain[i] || mirrored) {
                m_found.places.push_back({{std::string(variant.name), in.iteration, *in.label, mirrored},
                    mirrored ? *byTwice[i] : *byPlain[i]});
            }
        }
        m_found.tried += static_cast<int>(places.size());
        ++m_found.variants;
    }

    CandidateOrigins found() { return std::move(m_found); }

private:
    Tiles answer(const replay::SpreadModel& model, bool mirrored)
    {
        auto skeleton = skeletonOf(model, mirrored);
        const auto known = std::ranges::find_if(m_known, [&](const auto& entry) { return entry.first == skeleton; });
        if (known != m_known.end()) {
            return known->second;
        }
        return m_known.emplace_back(std::move(skeleton), tilesEndingLike(model, m_damage)).second;
    }

    const replay::BadBlocks& m_damage;
    CandidateOrigins m_found;
    std::vector<std::pair<Skeleton, Tiles>> m_known;
};

std::vector<const replay::Variant*> named(const std::vector<std::string>& names, const replay::Catalogue& catalogue)
{
    const auto published = [](const replay::Variant* variant) { return variant->published; };
    std::vector<const replay::Variant*> chosen;
    if (names.empty()) {
        std::ranges::copy_if(catalogue.all(), std::back_inserter(chosen), published);
    }
    for (const auto& name : names) {
        if (const auto variant = catalogue.find(name)) {
            chosen.push_back(*variant);
        }
    }
    // Unpublished forms have the places of their published siblings.
    if (std::ranges::any_of(chosen, published)) {
        std::erase_if(chosen, std::not_fn(published));
    }
    return chosen;
}

} // namespace

std::optional<replay::Region> tileEndingLike(
    const replay::SpreadModel& model, std::size_t place, const replay::BadBlocks& damage)
{
    const auto [rows, cols] = sizeAt(model.program(), place);
    const bool everything = replay::allBad(damage);
    const auto rowParts = everything ? largestPartsOf(rows) : partsOf(rows, damage);
    const auto colParts = everything ? largestPartsOf(cols) : partsOf(cols, damage);
    for (const auto& [top, bottom] : rowParts) {
        for (const auto& [left, right] : colParts) {
            const replay::Region tile {top, left, bottom - top, right - left};
            if (model.end(place, tile) == damage) {
                return tile;
            }
        }
    }
    return std::nullopt;
}

Result<CandidateOrigins> candidateOriginsOf(const tensorfile::CaptureFile& capture, std::int64_t batch,
    const std::vector<std::string>& variants, const replay::Catalogue& catalogue)
{
    return damagedBlocks(capture, batch, mostSpreadLines).map([&](const std::optional<replay::BadBlocks>& blocks) {
        const auto shape = capture.output->matrices();
        // One tile never leaves nothing, so this stands for damage that is finer than what one tile leaves.
        const replay::BadBlocks nothing {{0, shape.rows}, {0, shape.cols}, {0}};
        const auto damage = replay::simplified(blocks.value_or(nothing));
        CandidateSearch search(damage);
        for (const auto* variant : named(variants, catalogue)) {
            search.add(*variant);
        }
        return search.found();
    });
}

namespace {

/// Before anything is replayed a sidecar may have said what ran.
std::vector<std::string> namesOfWhatRan(
    const CaptureVerdict& verdict, const Capture& capture, const replay::Catalogue& catalogue)
{
    if (!verdict.variant.names.empty() || !capture.variant) {
        return verdict.variant.names;
    }
    const auto ran = parseRan(*capture.variant, catalogue);
    return ran ? std::vector {ran->variant->name} : std::vector<std::string> {};
}

} // namespace

void fillOrigins(CaptureVerdict& verdict, const tensorfile::CaptureFile& capture, const replay::Catalogue& catalogue)
{
    const bool born = verdict.role == Role::birth || verdict.role == Role::padding;
    if (!born || verdict.facts.damage.count == 0 || !capture.output) {
        return;
    }
    const auto names = namesOfWhatRan(verdict, capture.capture, catalogue);
    const auto found = candidateOriginsOf(capture, verdict.facts.damage.batch, names, catalogue);
    if (!found) {
        return;
    }
    verdict.origins.clear();
    std::ranges::transform(found->places, std::back_inserter(verdict.origins), &CandidateOrigin::place);
    verdict.originsTried = found->tried;
    verdict.originVariants = found->variants;
}

void keepOrigins(CaptureVerdict& verdict, const CaptureVerdict& judged, const replay::Catalogue& catalogue)
{
    if (judged.originsTried == 0 || !judged.facts.replayed) {
        return;
    }
    for (const auto* variant : named(verdict.variant.names, catalogue)) {
        const auto program = replay::compileProgram(*variant, {1, judged.facts.rows, judged.facts.cols}, {});
        verdict.originsTried += program ? static_cast<int>(replay::placesIn(*program).size()) : 0;
        verdict.originVariants += program ? 1 : 0;
        std::ranges::copy_if(judged.origins, std::back_inserter(verdict.origins),
            [&](const SpreadPlace& place) { return place.variant == variant->name; });
    }
}

} // namespace nanscope::diagnose
