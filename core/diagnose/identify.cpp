// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/diagnose/diagnose.h"
#include "core/replay/spectrum.h"

namespace nanscope {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Above this nothing that ran can be one of ours: measured fits of the right variant lie below 2 %, of the nearest
// wrong family above 9 % (user_view.md, result C).
constexpr double plausibleFit = 0.05;
// Best and runner-up closer than this cannot be told apart.
constexpr double decisiveRatio = 3;
// Below the rounding of the dump's own format, differences between variants mean nothing.
constexpr double fitFloor = 0x1p-9;
// Share of an output that must be finite before its fit is worth anything.
constexpr double finiteShare = 0.05;
constexpr std::int64_t tileSide = 16;
constexpr int signalDirections = 8;

/// Sums of squares of one tile, over the positions where the captured output is finite.
struct TileError
{
    double difference = 0;
    double reference = 0;
};

bool comparable(double captured)
{
    return std::isfinite(captured);
}

double plainFit(const Element& element, const std::vector<double>& reference)
{
    double difference = 0;
    double total = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        if (comparable(element.output[i])) {
            const double d = element.output[i] - reference[i];
            difference += d * d;
            total += reference[i] * reference[i];
        }
    }
    return total > 0 ? std::sqrt(difference / total) : infinity;
}

std::vector<TileError> tileErrors(const Element& element, const std::vector<double>& reference)
{
    const auto across = (element.shape.cols + tileSide - 1) / tileSide;
    const auto down = (element.shape.rows + tileSide - 1) / tileSide;
    std::vector<TileError> tiles(static_cast<std::size_t>(across * down));
    for (std::int64_t r = 0; r < element.shape.rows; ++r) {
        for (std::int64_t c = 0; c < element.shape.cols; ++c) {
            const auto i = static_cast<std::size_t>(r * element.shape.cols + c);
            if (comparable(element.output[i])) {
                auto& tile = tiles[static_cast<std::size_t>((r / tileSide) * across + c / tileSide)];
                const double d = element.output[i] - reference[i];
                tile.difference += d * d;
                tile.reference += reference[i] * reference[i];
            }
        }
    }
    return tiles;
}

// Low-rank inputs fill the null space with amplified noise; along the directions that carry signal every rounding of
// the right variant still agrees.
double signalFit(
    const Element& element, const std::vector<double>& reference, const std::vector<SingularDirection>& directions)
{
    std::vector<double> masked(reference.size());
    std::vector<double> difference(reference.size());
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const bool use = comparable(element.output[i]);
        masked[i] = use ? reference[i] : 0;
        difference[i] = use ? element.output[i] - reference[i] : 0;
    }
    double wrong = 0;
    double total = 0;
    for (const auto& direction : directions) {
        const double d = gainAlong(direction.left, difference, element.shape.cols);
        const double r = gainAlong(direction.left, masked, element.shape.cols);
        wrong += d * d;
        total += r * r;
    }
    return total > 0 ? std::sqrt(wrong / total) : infinity;
}

struct Fits
{
    double plain = infinity;
    double typical = infinity; ///< of the median tile: blind to damage of less than half the tiles
    double signal = infinity;
};

bool allFinite(const std::vector<double>& values)
{
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

double medianTile(const std::vector<TileError>& tiles)
{
    std::vector<double> ratios;
    for (const auto& tile : tiles) {
        if (tile.reference > 0) {
            ratios.push_back(std::sqrt(tile.difference / tile.reference));
        }
    }
    if (ratios.empty()) {
        return infinity;
    }
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    return *middle;
}

Fits fitsOf(const Element& element, const std::vector<double>& reference, const std::vector<SingularDirection>& signal)
{
    if (!allFinite(reference)) {
        return {};
    }
    return {plainFit(element, reference), medianTile(tileErrors(element, reference)),
        signalFit(element, reference, signal)};
}

void keepBetter(Fits& best, const Fits& fits)
{
    best.plain = std::min(best.plain, fits.plain);
    best.typical = std::min(best.typical, fits.typical);
    best.signal = std::min(best.signal, fits.signal);
}

Result<Fits> fitVariant(const Variant& variant, const Element& element, std::optional<double> epsilon, Device& device,
    const std::vector<SingularDirection>& signal, const CancelToken& cancel)
{
    Fits best;
    for (const auto precision : {Precision::fp64, variant.precision}) {
        ReplayOptions options;
        options.precision = precision;
        options.rounding.lowering = variant.lowering;
        options.epsilon = epsilon;
        options.keepOutput = true;
        const auto replayed = replay(variant, element.shape, element.input, device, options, cancel);
        if (!replayed) {
            return tl::make_unexpected(replayed.error());
        }
        keepBetter(best, fitsOf(element, replayed->outputs[0], signal));
    }
    return best;
}

using Measure = double Fits::*;

// Fills the set from one measure; false if that measure does not single out anything.
bool chooseBy(Measure measure, const std::vector<std::pair<const Variant*, Fits>>& fits, Identification& result)
{
    auto ranked = fits;
    std::stable_sort(ranked.begin(), ranked.end(),
        [measure](const auto& a, const auto& b) { return a.second.*measure < b.second.*measure; });
    result.all.clear();
    for (const auto& [variant, f] : ranked) {
        result.all.push_back({std::string(variant->name), f.*measure});
    }
    const double best = ranked.front().second.*measure;
    result.fit = best;
    if (!(best <= plausibleFit)) {
        return false;
    }
    const double bound = decisiveRatio * std::max(best, fitFloor);
    result.names.clear();
    result.runnerUp.reset();
    for (const auto& [variant, f] : ranked) {
        if (f.*measure < bound) {
            result.names.emplace_back(variant->name);
        } else if (!result.runnerUp) {
            result.runnerUp = f.*measure;
            result.runnerUpName = variant->name;
        }
    }
    result.how = IdentifiedBy::fit;
    return true;
}

} // namespace

Result<ElementFit> identifyElement(
    const Element& element, std::optional<double> epsilon, Device& device, const CancelToken& cancel)
{
    ElementFit result;
    const auto finite = element.outputScan.count - element.outputScan.nonFinite();
    const bool worthwhile = static_cast<double>(finite) >= finiteShare * static_cast<double>(element.outputScan.count);
    if (!worthwhile || !element.inputScan.finite() || element.inputScan.allZero()) {
        return result;
    }
    const auto signal =
        leadingDirections(element.input, element.shape.rows, element.shape.cols, 0.01, signalDirections);
    std::vector<std::pair<const Variant*, Fits>> fits;
    for (const auto& variant : variants()) {
        const auto fit = fitVariant(variant, element, epsilon, device, signal, cancel);
        if (!fit) {
            return tl::make_unexpected(fit.error());
        }
        fits.emplace_back(&variant, *fit);
    }
    result.compared = true;
    auto& identification = result.identification;
    if (chooseBy(&Fits::plain, fits, identification)) {
        return result;
    }
    if (chooseBy(&Fits::typical, fits, identification)) {
        result.localDamage = true;
        return result;
    }
    if (chooseBy(&Fits::signal, fits, identification)) {
        result.signalOnly = true;
        return result;
    }
    chooseBy(&Fits::plain, fits, identification);
    identification.matchesNone = true;
    return result;
}

double worstTile(const Element& element, const std::vector<double>& reference, std::int64_t& row, std::int64_t& col)
{
    const auto across = (element.shape.cols + tileSide - 1) / tileSide;
    const auto tiles = tileErrors(element, reference);
    double worst = 0;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const double error = tiles[i].reference > 0 ? std::sqrt(tiles[i].difference / tiles[i].reference) : 0;
        if (error > worst) {
            worst = error;
            row = static_cast<std::int64_t>(i) / across * tileSide;
            col = static_cast<std::int64_t>(i) % across * tileSide;
        }
    }
    return worst;
}

Result<Identification> identify(const CaptureFile& capture, Device& device, const CancelToken& cancel)
{
    Identification best;
    const auto batches = capture.input.matrices().batch;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        const auto element = loadElement(capture, batch);
        if (!element) {
            return tl::make_unexpected(element.error());
        }
        auto fit = identifyElement(*element, capture.capture.epsilon, device, cancel);
        if (!fit) {
            return tl::make_unexpected(fit.error());
        }
        if (fit->identification.how == IdentifiedBy::fit) {
            return std::move(fit->identification);
        }
        if (fit->compared) {
            best = std::move(fit->identification);
        }
    }
    return best;
}

} // namespace nanscope
