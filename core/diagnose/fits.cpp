// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/fits.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/replay/formats.h"

namespace nanscope {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

std::optional<Precision> formatOf(DType type)
{
    switch (type) {
    case DType::bfloat16:
        return Precision::bf16;
    case DType::float16:
        return Precision::fp16;
    case DType::float32:
        return Precision::fp32;
    default:
        return std::nullopt;
    }
}

double exactShare(const Element& element, const std::vector<double>& reference)
{
    const bool known = formatOf(element.outputType).has_value();
    const auto rounded = known ? inFormatOf(element, reference) : std::vector<double>();
    std::int64_t same = 0;
    std::int64_t compared = 0;
    for (std::size_t i = 0; i < rounded.size(); ++i) {
        if (comparable(element.output[i])) {
            ++compared;
            same += rounded[i] == element.output[i] ? 1 : 0;
        }
    }
    return compared > 0 ? static_cast<double>(same) / static_cast<double>(compared) : 0;
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
    return {plainFit(element, reference), medianTile(tileErrors(element, reference).tiles),
        signalFit(element, reference, signal), exactShare(element, reference)};
}

std::vector<double> inFormatOf(const Element& element, std::vector<double> replay)
{
    if (const auto format = formatOf(element.outputType)) {
        std::ranges::transform(replay, replay.begin(), [&](double value) { return roundTo(*format, value); });
    }
    return replay;
}

double TileError::relative(double floor) const
{
    const double scale = std::max(reference, floor);
    return scale > 0 ? std::sqrt(difference / scale) : 0;
}

TileErrors tileErrors(const Element& element, const std::vector<double>& reference)
{
    constexpr auto side = TileErrors::side;
    TileErrors errors;
    errors.across = (element.shape.cols + side - 1) / side;
    errors.tiles.resize(static_cast<std::size_t>(errors.across * ((element.shape.rows + side - 1) / side)));
    for (std::int64_t r = 0; r < element.shape.rows; ++r) {
        for (std::int64_t c = 0; c < element.shape.cols; ++c) {
            const auto i = static_cast<std::size_t>(r * element.shape.cols + c);
            if (comparable(element.output[i])) {
                auto& tile = errors.tiles[static_cast<std::size_t>((r / side) * errors.across + c / side)];
                const double d = element.output[i] - reference[i];
                tile.difference += d * d;
                tile.reference += reference[i] * reference[i];
            }
        }
    }
    return errors;
}

} // namespace nanscope
