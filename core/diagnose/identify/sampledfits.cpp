// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/sampledfits.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanscope::diagnose {

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
        raised(sampled.signal, nearWhole.signal, nearSampled.signal), sampled.exact};
}

std::optional<SampledFits> SampledFits::of(
    const Element& element, const std::vector<replay::SingularDirection>& signal, const CancelToken& cancel)
{
    auto places = samplePlaces(element, signal);
    auto system = replay::SampledSystem::of(element.input, element.shape, places, cancel);
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
