// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/fits.h"

#include <algorithm>
#include <cmath>

namespace nanscope {

namespace {

constexpr std::int64_t tileSide = 16;
constexpr double infinity = std::numeric_limits<double>::infinity();

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

} // namespace

Fits fitsOf(const Element& element, const std::vector<double>& reference, const std::vector<SingularDirection>& signal)
{
    if (!allFinite(reference)) {
        return {};
    }
    return {plainFit(element, reference), medianTile(tileErrors(element, reference)),
        signalFit(element, reference, signal)};
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

} // namespace nanscope
