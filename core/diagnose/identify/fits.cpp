// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/fits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/replay/program/formats.h"

namespace nanscope::diagnose {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool comparable(double captured)
{
    return std::isfinite(captured);
}

double plainFit(const Element& element, ValueView reference)
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

/// ||left^T M|| of what is held against each other: of the reference, and of what the output is off by.
struct Gains
{
    double reference = 0; ///< squared
    double difference = 0; ///< squared
};

Gains gainsAlong(const replay::SingularDirection& direction, const Element& element, ValueView reference)
{
    const auto cols = static_cast<std::size_t>(element.shape.cols);
    std::vector<double> kept(cols, 0);
    std::vector<double> off(cols, 0);
    auto at = reference.begin();
    auto captured = element.output.begin();
    for (const double weight : direction.left) {
        for (std::size_t c = 0; c < cols; ++c, ++at, ++captured) {
            const bool use = comparable(*captured);
            kept[c] += use ? weight * *at : 0;
            off[c] += use ? weight * (*captured - *at) : 0;
        }
    }
    const auto squared = [](const std::vector<double>& v) {
        return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
    };
    return {squared(kept), squared(off)};
}

// Low-rank inputs fill the null space with amplified noise; along the directions that carry signal every rounding of
// the right variant still agrees.
double signalFit(const Element& element, ValueView reference, const std::vector<replay::SingularDirection>& directions)
{
    Gains sum;
    for (const auto& direction : directions) {
        const auto gains = gainsAlong(direction, element, reference);
        sum.reference += gains.reference;
        sum.difference += gains.difference;
    }
    return sum.reference > 0 ? std::sqrt(sum.difference / sum.reference) : infinity;
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

double exactShare(const Element& element, ValueView reference)
{
    const auto format = formatOf(element.outputType);
    std::int64_t same = 0;
    std::int64_t compared = 0;
    for (std::size_t i = 0; format && i < reference.size(); ++i) {
        if (comparable(element.output[i])) {
            ++compared;
            same += replay::roundTo(*format, reference[i]) == element.output[i] ? 1 : 0;
        }
    }
    return compared > 0 ? static_cast<double>(same) / static_cast<double>(compared) : 0;
}

bool allFinite(ValueView values)
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

Fits fitsOf(const Element& element, ValueView reference, const std::vector<replay::SingularDirection>& signal)
{
    if (!allFinite(reference)) {
        return {};
    }
    return {plainFit(element, reference), medianTile(tileErrors(element, reference).tiles),
        signalFit(element, reference, signal), exactShare(element, reference)};
}

Values inFormatOf(const Element& element, ValueView replay)
{
    return replay.visit([&](auto values) -> Values {
        std::vector rounded(values.begin(), values.end());
        for (auto& value : rounded) {
            value = static_cast<decltype(value + 0)>(inFormatOf(element, static_cast<double>(value)));
        }
        return rounded;
    });
}

double inFormatOf(const Element& element, double replay)
{
    const auto format = formatOf(element.outputType);
    return format ? replay::roundTo(*format, replay) : replay;
}

double TileError::relative(double floor) const
{
    const double scale = std::max(reference, floor);
    return scale > 0 ? std::sqrt(difference / scale) : 0;
}

TileErrors tileErrors(const Element& element, ValueView reference)
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

} // namespace nanscope::diagnose
