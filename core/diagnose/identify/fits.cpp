// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/fits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/replay/program/formats.h"

namespace nanscope::diagnose {

bool allFinite(ValueView values)
{
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool comparable(double captured)
{
    return std::isfinite(captured);
}

/// As it is, and times the factor <o, r> / <r, r>, which leaves the least.
struct Distances
{
    double plain = infinity;
    double multiple = infinity;
    double factor = 1;
};

Distances distancesOf(const Element& element, ValueView reference)
{
    double difference = 0;
    double total = 0;
    double both = 0;
    double own = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double value = element.output[i];
        if (comparable(value)) {
            const double d = value - reference[i];
            difference += d * d;
            total += reference[i] * reference[i];
            both += value * reference[i];
            own += value * value;
        }
    }
    if (!(total > 0)) {
        return {};
    }
    const double explained = both * both / total;
    const double left = std::max(0.0, own - explained);
    return {std::sqrt(difference / total), explained > 0 ? std::sqrt(left / explained) : infinity, both / total};
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
    const auto distances = distancesOf(element, reference);
    return {distances.plain, medianTile(tileErrors(element, reference).tiles), signalFit(element, reference, signal),
        exactShare(element, reference), distances.multiple, distances.factor};
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

namespace {

constexpr auto side = TileErrors::side;
constexpr std::int64_t rowBlocks = 8;
constexpr std::int64_t colBlocks = 16;

/// The first index of each of `wanted` blocks, at most, spread over those with at least half of the highest score.
/// Their distances differ, so that no structure of the matrix keeps step with them.
std::vector<std::int64_t> spreadBlocks(const std::vector<std::int64_t>& scores, std::int64_t wanted)
{
    constexpr double goldenRatio = 0.6180339887498949;
    const auto highest = std::ranges::max(scores);
    std::vector<std::int64_t> good;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (2 * scores[i] >= highest) {
            good.push_back(static_cast<std::int64_t>(i) * side);
        }
    }
    const auto count = static_cast<std::int64_t>(good.size());
    if (count <= wanted) {
        return good;
    }
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < wanted; ++i) {
        const double phase = std::fmod(goldenRatio * static_cast<double>(i + 1), 1.0);
        const double at = (static_cast<double>(i) + phase) * static_cast<double>(count) / static_cast<double>(wanted);
        chosen.push_back(good[static_cast<std::size_t>(at)]);
    }
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

std::vector<std::int64_t> linesOfBlocks(const std::vector<std::int64_t>& blocks)
{
    std::vector<std::int64_t> lines;
    for (const auto begin : blocks) {
        for (auto line = begin; line < begin + side; ++line) {
            lines.push_back(line);
        }
    }
    return lines;
}

/// Counts, for each whole block of rows, the finite outputs of rows whose input is not zero.
std::vector<std::int64_t> scoresOfRows(const Element& element)
{
    std::vector<std::int64_t> scores(static_cast<std::size_t>(element.shape.rows / side), 0);
    const auto cols = element.shape.cols;
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(scores.size()) * side; ++r) {
        const auto in = element.input.begin() + r * cols;
        const auto out = element.output.begin() + r * cols;
        const bool fed = std::any_of(in, in + cols, [](double x) { return x != 0; });
        scores[static_cast<std::size_t>(r / side)] +=
            fed ? std::count_if(out, out + cols, [](double x) { return std::isfinite(x); }) : 0;
    }
    return scores;
}

/// The same for columns, over the rows that were chosen.
std::vector<std::int64_t> scoresOfCols(const Element& element, const std::vector<std::int64_t>& rows)
{
    const auto cols = element.shape.cols;
    std::vector<bool> fed(static_cast<std::size_t>(cols), false);
    for (std::size_t i = 0; i < element.input.size(); ++i) {
        if (element.input[i] != 0) {
            fed[i % static_cast<std::size_t>(cols)] = true;
        }
    }
    std::vector<std::int64_t> scores(static_cast<std::size_t>(cols / side), 0);
    for (const auto r : rows) {
        for (std::int64_t c = 0; c < static_cast<std::int64_t>(scores.size()) * side; ++c) {
            const bool counts = fed[static_cast<std::size_t>(c)]
                && std::isfinite(element.output[static_cast<std::size_t>(r * cols + c)]);
            scores[static_cast<std::size_t>(c / side)] += counts ? 1 : 0;
        }
    }
    return scores;
}

bool finiteIn(const Element& element, std::int64_t row, const std::vector<std::int64_t>& cols)
{
    return std::ranges::all_of(cols, [&](std::int64_t col) {
        return std::isfinite(element.output[static_cast<std::size_t>(row * element.shape.cols + col)]);
    });
}

double raised(double sampled, double nearWhole, double nearSampled)
{
    const double rest = nearWhole * nearWhole - nearSampled * nearSampled;
    return rest > 0 ? std::sqrt(sampled * sampled + rest) : sampled;
}

} // namespace

replay::SampledPlaces samplePlaces(const Element& element, const std::vector<replay::SingularDirection>& signal)
{
    replay::SampledPlaces places;
    places.rows = linesOfBlocks(spreadBlocks(scoresOfRows(element), rowBlocks));
    places.cols = linesOfBlocks(spreadBlocks(scoresOfCols(element, places.rows), colBlocks));
    for (const auto& direction : signal) {
        places.sums.push_back(direction.left);
    }
    for (std::int64_t row = 0; row < element.shape.rows; ++row) {
        if (!finiteIn(element, row, places.cols)) {
            std::ranges::for_each(places.sums, [row](auto& sum) { sum[static_cast<std::size_t>(row)] = 0; });
        }
    }
    return places;
}

Fits withTheRest(const Fits& sampled, const Fits& nearWhole, const Fits& nearSampled)
{
    return {raised(sampled.plain, nearWhole.plain, nearSampled.plain),
        raised(sampled.typical, nearWhole.typical, nearSampled.typical),
        raised(sampled.signal, nearWhole.signal, nearSampled.signal), sampled.exact,
        raised(sampled.multiple, nearWhole.multiple, nearSampled.multiple), sampled.factor};
}

std::optional<SampledFits> SampledFits::of(const Element& element, const std::vector<replay::SingularDirection>& signal,
    replay::Device& device, const CancelToken& cancel)
{
    auto places = samplePlaces(element, signal);
    auto system = replay::SampledSystem::of(element.input, element.shape, places, cancel, &device);
    return system ? std::optional(SampledFits(element, std::move(places), std::move(*system))) : std::nullopt;
}

SampledFits::SampledFits(const Element& element, replay::SampledPlaces places, replay::SampledSystem system)
    : m_shape(element.shape)
    , m_places(std::move(places))
    , m_system(std::move(system))
{
    m_part.shape = {
        1, static_cast<std::int64_t>(m_places.rows.size()), static_cast<std::int64_t>(m_places.cols.size())};
    m_part.outputType = element.outputType;
    auto lines = linesOf(element.output);
    const auto behind = lines.begin() + m_part.shape.elements();
    m_sums.assign(behind, lines.end());
    lines.erase(behind, lines.end());
    m_part.output = std::move(lines);
}

Fits SampledFits::under(std::span<const double> gains) const
{
    return fitsOfLines(m_system.amplified(gains));
}

Fits SampledFits::of(ValueView whole) const
{
    return fitsOfLines(linesOf(whole));
}

Fits SampledFits::fitsOfLines(std::vector<double> lines) const
{
    const auto count = m_part.output.size();
    const double signal = signalFit(std::span(lines).subspan(count));
    lines.resize(count);
    auto fits = fitsOf(m_part, lines, {});
    fits.signal = signal;
    return fits;
}

double SampledFits::signalFit(std::span<const double> sums) const
{
    double difference = 0;
    double total = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        difference += (m_sums[i] - sums[i]) * (m_sums[i] - sums[i]);
        total += sums[i] * sums[i];
    }
    return total > 0 && std::isfinite(difference) ? std::sqrt(difference / total)
                                                  : std::numeric_limits<double>::infinity();
}

std::vector<double> SampledFits::linesOf(ValueView whole) const
{
    const auto at = [&](std::int64_t row, std::int64_t col) {
        return whole[static_cast<std::size_t>(row * m_shape.cols + col)];
    };
    std::vector<double> lines;
    for (const auto row : m_places.rows) {
        for (const auto col : m_places.cols) {
            lines.push_back(at(row, col));
        }
    }
    for (const auto& sum : m_places.sums) {
        std::vector<double> totals(m_places.cols.size(), 0);
        for (std::int64_t row = 0; row < m_shape.rows; ++row) {
            const double weight = sum[static_cast<std::size_t>(row)];
            for (std::size_t c = 0; c < totals.size() && weight != 0; ++c) {
                totals[c] += weight * at(row, m_places.cols[c]);
            }
        }
        lines.insert(lines.end(), totals.begin(), totals.end());
    }
    return lines;
}

} // namespace nanscope::diagnose
