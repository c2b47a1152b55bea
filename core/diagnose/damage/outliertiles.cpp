// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/outliertiles.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/try.h"
#include "core/diagnose/damage/deviationkinds.h"
#include "core/diagnose/damage/provenance.h"
#include "core/diagnose/identify/fits.h"
#include "core/diagnose/verdict/thresholds.h"

namespace nanscope::diagnose {

namespace {

constexpr double oddError = verdict::corruptTile;
// Where the typical tile is off by more, the function may be another one altogether.
constexpr double typicalAtMost = verdict::plausibleFit;
constexpr double overTypical = verdict::corruptRatio;
constexpr double overSpread = 4;
// Values that recur bit for bit are no rounding, so they need not stand out as far.
constexpr double overTypicalIfRecurring = 2;
constexpr std::size_t mostRecurring = 64;
// Zeros where no replay has any are memory that was cleared and never written, however noisy the input makes the rest.
constexpr double zerosOfTile = 0.25;
constexpr int zerosAtLeast = 32;
constexpr double zerosReplayed = 0.02;
// A tile that should hold less than this share of the average energy is judged as if it held that much.
constexpr double energyFloor = 0.01;

// Where a replay gives so many tiles bit for bit, it is what ran, and another tile is no rounding, however far apart
// roundings of this input may end. Of the tiles in which roundings differ: zeros, and rows that share no column with
// others, come out alike of each.
constexpr double exactRest = 0.9;
constexpr std::size_t fewestExact = 8;

// Roundings of one function end equally far apart in all tiles. Where three tiles in four are nearer to a replay than a
// tenth of that, the function took the way of this replay, and no rounding takes a tile ten times as far: of the lab's
// dumps (seeds 83, 84) those three come to 0.02 of it and wrong tiles to 0.5 and more.
constexpr double calmShare = 0.75;
constexpr double calmOfSpread = 0.1;
constexpr double overCalm = 10;
constexpr std::size_t fewestCalm = 16;

// Too little to call wrong, and no healthy tile: so far off beside nine in ten of the others, or beside half of them as
// a bad row of few rows of tiles is, and beside what roundings of the members differ there.
constexpr double unevenError = 0.02;
constexpr double evenShare = 0.9;
constexpr double overEven = 2.5;
constexpr double overTypicalIfUneven = 5;
constexpr double overUnevenSpread = 2;
constexpr std::size_t fewestEven = 16;

// Beside damage: of fewer tiles none is typical.
constexpr std::size_t fewestBesideDamage = 8;

using Chosen = std::vector<bool>; ///< tiles that are looked at

std::vector<double> errorsAgainst(const Element& element, ValueView reference, const Chosen& chosen)
{
    const auto errors = tileErrors(element, reference);
    double energy = 0;
    for (std::size_t i = 0; i < errors.tiles.size(); ++i) {
        energy += chosen[i] ? errors.tiles[i].reference : 0;
    }
    const double floor = energyFloor * energy / static_cast<double>(std::ranges::count(chosen, true));
    std::vector<double> relative;
    for (const auto& tile : errors.tiles) {
        relative.push_back(tile.relative(floor));
    }
    return relative;
}

std::vector<int> zerosOf(ValueView values, const MatrixShape& shape, std::int64_t across)
{
    constexpr auto side = TileErrors::side;
    std::vector<int> zeros(static_cast<std::size_t>(across * ((shape.rows + side - 1) / side)), 0);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        const auto tile = i / shape.cols / side * across + i % shape.cols / side;
        zeros[static_cast<std::size_t>(tile)] += values[static_cast<std::size_t>(i)] == 0 ? 1 : 0;
    }
    return zeros;
}

double sizeOf(const Region& region)
{
    return static_cast<double>((region.rowEnd - region.rowBegin) * (region.colEnd - region.colBegin));
}

/// The replays of all members, held against the output tile by tile.
class OutlierSearch
{
public:
    OutlierSearch(const Element& element, ValueView first, std::optional<double> epsilon, replay::Device& device,
        const CancelToken& cancel, std::size_t fewest)
        : m_element(element)
        , m_first(first)
        , m_fewest(fewest)
        , m_epsilon(epsilon)
        , m_device(device)
        , m_cancel(cancel)
    {
        m_grid.across = (element.shape.cols + TileErrors::side - 1) / TileErrors::side;
        m_zeros = zerosOf(element.output, element.shape, m_grid.across);
        chooseTiles();
    }

    Result<OutlierTiles> run(std::vector<Member> members)
    {
        if (!allFinite(m_first) || chosenCount() < m_fewest) {
            return OutlierTiles {};
        }
        m_nearest = errorsAgainst(m_element, m_first, m_chosen);
        m_spread.assign(m_nearest.size(), 0);
        m_otherSpread = m_spread;
        m_replayZeros = zerosOf(m_first, m_element.shape, m_grid.across);
        noteExact(m_first);
        std::stable_partition(
            members.begin(), members.end(), [](const Member& member) { return member.variant->published; });
        const bool anyPublished = members.front().variant->published;
        for (const auto& member : members) {
            // Where roundings alone take most tiles that far, one more function does not change that.
            const bool otherRoundings = tooNoisy() && &member == &members.front();
            if (oddOnes().empty() && unevenOnes().empty() && !otherRoundings) {
                break;
            }
            TRY(narrow(member, anyPublished && !member.variant->published));
        }
        return summary();
    }

    bool deliberate(const OutlierTiles& found) const
    {
        return found.count > 0 && looksDeliberate(m_element, m_first, found.region);
    }

private:
    void chooseTiles()
    {
        std::vector<double> finite(m_zeros.size(), 0);
        const auto cols = m_element.shape.cols;
        for (std::int64_t i = 0; i < m_element.shape.elements(); ++i) {
            const auto tile = i / cols / TileErrors::side * m_grid.across + i % cols / TileErrors::side;
            finite[static_cast<std::size_t>(tile)] +=
                std::isfinite(m_element.output[static_cast<std::size_t>(i)]) ? 1 : 0;
        }
        for (std::size_t tile = 0; tile < finite.size(); ++tile) {
            m_chosen.push_back(2 * finite[tile] >= sizeOf(regionOf(tile)));
        }
    }

    Result<void> narrow(const Member& member, bool otherForm)
    {
        if (otherForm) {
            m_otherForms.emplace_back(member.variant->name);
        }
        Values plain;
        for (const auto& rounding : envelopeOf(member)) {
            auto output = TRY(outputOf(member, rounding, m_element, m_epsilon, m_device, m_cancel));
            if (!allFinite(output)) {
                continue;
            }
            const auto errors = errorsAgainst(m_element, output, m_chosen);
            std::ranges::transform(
                m_nearest, errors, m_nearest.begin(), [](double a, double b) { return std::min(a, b); });
            std::ranges::transform(m_replayZeros, zerosOf(output, m_element.shape, m_grid.across),
                m_replayZeros.begin(), [](int a, int b) { return std::max(a, b); });
            noteExact(output);
            if (plain.empty()) {
                plain = std::move(output);
            } else {
                widen(otherForm ? m_otherSpread : m_spread, plain, std::move(output));
            }
        }
        m_isExact = isOneExact();
        return {};
    }

    /// Those that the output has bit for bit.
    Chosen exactTiles(ValueView output) const
    {
        Chosen same(m_chosen.size(), true);
        const auto cols = m_element.shape.cols;
        for (std::int64_t i = 0; i < m_element.shape.elements(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const auto tile =
                static_cast<std::size_t>(i / cols / TileErrors::side * m_grid.across + i % cols / TileErrors::side);
            const double captured = m_element.output[at];
            same[tile] = same[tile] && (captured == inFormatOf(m_element, output[at]) || !std::isfinite(captured));
        }
        return same;
    }

    void noteExact(ValueView output)
    {
        auto same = exactTiles(output);
        if (m_sameTiles.empty() || std::ranges::count(same, true) > std::ranges::count(m_sameTiles, true)) {
            m_sameTiles = std::move(same);
            m_nearestExact = errorsAgainst(m_element, output, m_chosen);
        }
    }

    /// One of the replays is what ran.
    bool isOneExact() const
    {
        std::size_t equal = 0;
        std::size_t all = 0;
        for (std::size_t tile = 0; tile < m_sameTiles.size(); ++tile) {
            const bool tells = m_chosen[tile] && m_spread[tile] > 0;
            all += tells ? 1 : 0;
            equal += tells && m_sameTiles[tile] ? 1 : 0;
        }
        return equal >= fewestExact && static_cast<double>(equal) >= exactRest * static_cast<double>(all);
    }

    void widen(std::vector<double>& spread, ValueView plain, Values other) const
    {
        Element asCaptured;
        asCaptured.shape = m_element.shape;
        asCaptured.output = std::move(other);
        const auto apart = errorsAgainst(asCaptured, plain, Chosen(m_chosen.size(), true));
        std::ranges::transform(spread, apart, spread.begin(), [](double a, double b) { return std::max(a, b); });
    }

    std::vector<std::size_t> oddOnes() const
    {
        const double typical = typicalError();
        std::vector<std::size_t> odd;
        std::size_t looked = 0;
        for (std::size_t i = 0; i < m_nearest.size(); ++i) {
            if (!m_chosen[i]) {
                continue;
            }
            const bool mayRecur = m_nearest[i] > std::max(oddError, overTypicalIfRecurring * typical);
            if (standsOut(i, typical) || isCleared(i)
                || (mayRecur && ++looked <= mostRecurring && !recursInside(m_element, regionOf(i)).empty())) {
                odd.push_back(i);
            }
        }
        return odd;
    }

    std::size_t chosenCount() const { return static_cast<std::size_t>(std::ranges::count(m_chosen, true)); }

    double typicalError() const { return quantileOf(ofChosen(m_nearest)); }

    std::vector<double> ofChosen(const std::vector<double>& tiles) const
    {
        std::vector<double> chosen;
        for (std::size_t i = 0; i < tiles.size(); ++i) {
            if (m_chosen[i]) {
                chosen.push_back(tiles[i]);
            }
        }
        return chosen;
    }

    bool standsOut(std::size_t tile, double typical) const
    {
        if (m_isExact) {
            return m_nearestExact[tile] > oddError;
        }
        if (!isFar(tile, typical)) {
            return false;
        }
        const auto calm = calmRatio();
        const double unlikely = calm ? overCalm * *calm * m_spread[tile] : overSpread * spreadAt(tile);
        return m_nearest[tile] > unlikely;
    }

    /// The error of three tiles in four, at most, as a part of what roundings of the members differ there; none where
    /// that is not little.
    std::optional<double> calmRatio() const
    {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < m_nearest.size(); ++i) {
            if (m_chosen[i] && m_spread[i] > 0) {
                ratios.push_back(m_nearest[i] / m_spread[i]);
            }
        }
        if (ratios.size() < fewestCalm || ratios.size() < chosenCount()) {
            return std::nullopt;
        }
        const double most = quantileOf(std::move(ratios), calmShare);
        return most <= calmOfSpread ? std::optional(most) : std::nullopt;
    }

    bool isFar(std::size_t tile, double typical) const
    {
        return typical <= typicalAtMost && m_nearest[tile] > std::max(oddError, overTypical * typical);
    }

    double spreadAt(std::size_t tile) const { return std::max(m_spread[tile], m_otherSpread[tile]); }

    bool tooNoisy() const { return !m_isExact && typicalError() > typicalAtMost; }

    /// Far off, and hidden by roundings: of unpublished forms alone, or of the others.
    std::vector<std::size_t> hiddenOnes(bool byOtherForms) const
    {
        const double typical = typicalError();
        std::vector<std::size_t> hidden;
        for (std::size_t i = 0; i < m_nearest.size() && !m_isExact; ++i) {
            const bool unlessOthers = m_nearest[i] > overSpread * m_spread[i];
            if (m_chosen[i] && isFar(i, typical) && !standsOut(i, typical) && unlessOthers == byOtherForms) {
                hidden.push_back(i);
            }
        }
        return hidden;
    }

    UnjudgedTiles unjudged() const
    {
        UnjudgedTiles tiles;
        tiles.of = static_cast<std::int64_t>(chosenCount());
        if (tooNoisy()) {
            tiles.count = tiles.of;
            tiles.error = typicalError();
            tiles.spread = quantileOf(m_spread);
            return tiles;
        }
        auto doubtful = hiddenOnes(false);
        for (const auto i : doubtful.empty() ? unevenOnes() : doubtful) {
            ++tiles.count;
            if (errors()[i] > tiles.error) {
                tiles.error = errors()[i];
                tiles.spread = m_spread[i];
                tiles.row = m_grid.rowOf(i);
                tiles.col = m_grid.colOf(i);
            }
        }
        return tiles;
    }

    std::vector<std::size_t> unevenOnes() const
    {
        std::vector<std::size_t> uneven;
        if (chosenCount() < fewestEven) {
            return uneven;
        }
        const auto chosen = ofChosen(errors());
        const double limit = std::max(
            unevenError, std::min(overEven * quantileOf(chosen, evenShare), overTypicalIfUneven * quantileOf(chosen)));
        const auto calm = calmRatio();
        const double share = m_isExact ? 0 : calm ? overCalm * *calm : overUnevenSpread;
        for (std::size_t i = 0; i < errors().size(); ++i) {
            if (m_chosen[i] && errors()[i] > std::max(limit, share * spreadAt(i))) {
                uneven.push_back(i);
            }
        }
        return uneven;
    }

    /// Per tile, against the replay that gives most of them bit for bit, or else against that which comes closest.
    const std::vector<double>& errors() const { return m_isExact ? m_nearestExact : m_nearest; }

    bool isCleared(std::size_t tile) const
    {
        const auto region = regionOf(tile);
        const auto size = sizeOf(region);
        return m_zeros[tile] >= zerosAtLeast && m_zeros[tile] >= zerosOfTile * size
            && m_replayZeros[tile] <= zerosReplayed * size;
    }

    Region regionOf(std::size_t tile) const
    {
        const auto row = m_grid.rowOf(tile);
        const auto col = m_grid.colOf(tile);
        return {row, std::min(row + TileErrors::side, m_element.shape.rows), col,
            std::min(col + TileErrors::side, m_element.shape.cols)};
    }

    OutlierTiles summary() const
    {
        OutlierTiles found;
        found.region = {m_element.shape.rows, 0, m_element.shape.cols, 0};
        found.unjudged = unjudged();
        auto odd = oddOnes();
        if (odd.empty()) {
            odd = hiddenOnes(true);
            found.unlessRan = odd.empty() ? std::vector<std::string>() : m_otherForms;
        }
        for (const auto i : odd) {
            ++found.count;
            const auto tile = regionOf(i);
            auto& region = found.region;
            region = {std::min(region.rowBegin, tile.rowBegin), std::max(region.rowEnd, tile.rowEnd),
                std::min(region.colBegin, tile.colBegin), std::max(region.colEnd, tile.colEnd)};
            if (const double error = errors()[i]; error > found.worstError) {
                found.worstError = error;
                found.row = tile.rowBegin;
                found.col = tile.colBegin;
                found.spread = spreadAt(i);
            }
        }
        return found;
    }

    const Element& m_element;
    ValueView m_first; ///< what the first member gives
    std::size_t m_fewest; ///< tiles without which nothing is said
    Chosen m_chosen;
    std::optional<double> m_epsilon;
    replay::Device& m_device;
    const CancelToken& m_cancel;
    std::vector<double> m_nearest; ///< per tile, the error against the replay that comes closest
    std::vector<double> m_spread; ///< per tile, by how much roundings of one member differ
    std::vector<double> m_otherSpread; ///< the same of unpublished forms, beside published ones
    std::vector<std::string> m_otherForms;
    bool m_isExact = false; ///< one of the replays is what ran
    Chosen m_sameTiles; ///< that a replay gives bit for bit, of the one that gives the most
    std::vector<double> m_nearestExact; ///< per tile, the error against that replay
    TileErrors m_grid; ///< only where its tiles lie
    std::vector<int> m_zeros; ///< of the captured output, per tile
    std::vector<int> m_replayZeros; ///< the most that a replay has
};

} // namespace

Result<OutlierTiles> findOutlierTiles(const Element& element, const std::vector<Member>& members, ValueView first,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel)
{
    if (members.empty()) {
        return OutlierTiles {};
    }
    OutlierSearch search(element, first, epsilon, device, cancel, 1);
    auto found = search.run(members);
    if (found) {
        found->deliberate = search.deliberate(*found);
    }
    return found;
}

Result<OutlierTiles> findOutliersOutsideDamage(const Element& element, const std::vector<Member>& members,
    ValueView first, std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel)
{
    return members.empty() ? Result<OutlierTiles>(OutlierTiles {})
                           : OutlierSearch(element, first, epsilon, device, cancel, fewestBesideDamage).run(members);
}

} // namespace nanscope::diagnose
