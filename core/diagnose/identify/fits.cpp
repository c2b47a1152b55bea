// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/fits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "core/replay/device/ranges.h"
#include "core/replay/program/formats.h"
#include "core/replay/program/vectorclones.h"

namespace nanscope::diagnose {

bool allFinite(ValueView values)
{
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

namespace {

constexpr auto side = TileErrors::side;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of an output whose bits may be those of a replay. What is in fp64 was summed in an order that is not ours.
std::optional<Precision> formatOf(DType type)
{
    return type == DType::float64 ? std::nullopt : replay::precisionOf(type);
}

/// ||left^T M||_F squared: of the reference, and of what the output is off by.
struct Gains
{
    double reference = 0;
    double difference = 0;
};

/// Sums over the positions where the captured output is finite.
struct Sums
{
    bool finite = true; ///< the reference, at all positions
    double difference = 0; ///< of squares
    double reference = 0; ///< of squares
    double own = 0; ///< of squares
    double both = 0; ///< of products
    Gains gains; ///< of all directions together
    std::int64_t compared = 0;
    std::int64_t same = 0; ///< in the output's format
};

/// Columns that are compared together: whole tiles, so few that all that is summed of them stays in the cache.
constexpr std::int64_t widest = 32 * side;

/// A number for each of those columns.
using Line = std::array<double, static_cast<std::size_t>(widest)>;

/// One row of both, in those columns.
struct Row
{
    Line captured;
    Line reference;
    Line difference;
};

/// What is summed of each column, of what a Row has.
struct ColumnSums
{
    Line bad; ///< NaN where the reference is not finite anywhere
    Line compared;
    Line squaresOff; ///< of this row of tiles
    Line squares; ///< of this row of tiles
    Line own;
    Line both;
};

/// Sums a row, and leaves in it what is compared.
NANSCOPE_VECTOR_CLONES void addRow(Row& row, ColumnSums& sums, std::size_t count)
{
    for (std::size_t c = 0; c < count; ++c) {
        sums.bad[c] += row.reference[c] - row.reference[c];
        const bool use = row.captured[c] - row.captured[c] == 0;
        const double captured = use ? row.captured[c] : 0;
        const double reference = use ? row.reference[c] : 0;
        const double difference = captured - reference;
        sums.compared[c] += use ? 1 : 0;
        sums.squaresOff[c] += difference * difference;
        sums.squares[c] += reference * reference;
        sums.own[c] += captured * captured;
        sums.both[c] += captured * reference;
        row.captured[c] = captured;
        row.reference[c] = reference;
        row.difference[c] = difference;
    }
}

NANSCOPE_VECTOR_CLONES void addTimes(double weight, const double* values, double* sums, std::size_t count)
{
    for (std::size_t c = 0; c < count; ++c) {
        sums[c] += weight * values[c];
    }
}

NANSCOPE_VECTOR_CLONES std::int64_t countSame(const double* captured, const float* rounded, std::size_t count)
{
    std::int64_t same = 0;
    for (std::size_t c = 0; c < count; ++c) {
        same += captured[c] - captured[c] == 0 && captured[c] == static_cast<double>(rounded[c]) ? 1 : 0;
    }
    return same;
}

void read(ValueView from, double* to)
{
    from.visit([to](auto values) { std::ranges::copy(values, to); });
}

double sumOf(const double* begin, std::int64_t count)
{
    return std::accumulate(begin, begin + count, 0.0);
}

/// Some columns of an output and of a reference, over all rows.
class ColumnsComparison
{
public:
    ColumnsComparison(const Element& element, ValueView reference, const std::vector<replay::SingularDirection>& signal,
        replay::Range columns, TileErrors& tiles)
        : m_element(element)
        , m_reference(reference)
        , m_format(formatOf(element.outputType))
        , m_signal(signal)
        , m_columns(columns)
        , m_count(static_cast<std::size_t>(columns.end - columns.begin))
        , m_tiles(tiles)
        , m_kept(signal.size(), Line {})
        , m_off(signal.size(), Line {})
    { }

    Sums sums()
    {
        for (std::int64_t row = 0; row < m_element.shape.rows; ++row) {
            add(row);
            const bool tileEnds = (row + 1) % side == 0 || row + 1 == m_element.shape.rows;
            if (tileEnds) {
                endTiles(row / side);
            }
        }
        const auto count = m_columns.end - m_columns.begin;
        m_sums.finite = sumOf(m_columnSums.bad.data(), count) == 0;
        m_sums.compared = static_cast<std::int64_t>(sumOf(m_columnSums.compared.data(), count));
        m_sums.own = sumOf(m_columnSums.own.data(), count);
        m_sums.both = sumOf(m_columnSums.both.data(), count);
        for (std::size_t k = 0; k < m_signal.size(); ++k) {
            m_sums.gains.reference += squaresOf(m_kept[k]);
            m_sums.gains.difference += squaresOf(m_off[k]);
        }
        return m_sums;
    }

private:
    void add(std::int64_t row)
    {
        const auto at = static_cast<std::size_t>(row * m_element.shape.cols + m_columns.begin);
        const auto captured = m_element.output.view().subview(at, m_count);
        const auto reference = m_reference.subview(at, m_count);
        read(captured, m_row.captured.data());
        if (m_format) {
            round(reference);
            m_sums.same += countSame(m_row.captured.data(), m_rounded.data(), m_count);
        }
        read(reference, m_row.reference.data());
        addRow(m_row, m_columnSums, m_count);
        for (std::size_t k = 0; k < m_signal.size(); ++k) {
            const double weight = m_signal[k].left[static_cast<std::size_t>(row)];
            addTimes(weight, m_row.reference.data(), m_kept[k].data(), m_count);
            addTimes(weight, m_row.difference.data(), m_off[k].data(), m_count);
        }
    }

    /// The reference in the output's format, whose numbers are all floats.
    void round(ValueView reference)
    {
        reference.visit([this](auto values) {
            if constexpr (std::is_same_v<typename decltype(values)::value_type, float>) {
                std::ranges::copy(values, m_rounded.begin());
                replay::roundTo(*m_format, std::span(m_rounded).first(m_count));
            } else {
                std::ranges::transform(values, m_rounded.begin(),
                    [this](double value) { return static_cast<float>(replay::roundTo(*m_format, value)); });
            }
        });
    }

    void endTiles(std::int64_t row)
    {
        for (auto begin = m_columns.begin; begin < m_columns.end; begin += side) {
            const auto first = begin - m_columns.begin;
            const auto count = std::min<std::int64_t>(side, m_columns.end - begin);
            auto& tile = m_tiles.tiles[static_cast<std::size_t>(row * m_tiles.across + begin / side)];
            tile = {sumOf(m_columnSums.squaresOff.data() + first, count),
                sumOf(m_columnSums.squares.data() + first, count)};
            m_sums.difference += tile.difference;
            m_sums.reference += tile.reference;
        }
        m_columnSums.squaresOff.fill(0);
        m_columnSums.squares.fill(0);
    }

    double squaresOf(const Line& line) const
    {
        return std::inner_product(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(m_count), line.begin(), 0.0);
    }

    const Element& m_element;
    ValueView m_reference;
    std::optional<Precision> m_format;
    const std::vector<replay::SingularDirection>& m_signal;
    replay::Range m_columns;
    std::size_t m_count;
    TileErrors& m_tiles; ///< of the whole; those of these columns are written
    Row m_row {};
    std::array<float, static_cast<std::size_t>(widest)> m_rounded {};
    ColumnSums m_columnSums {};
    std::vector<Line> m_kept; ///< per direction, left^T times the reference
    std::vector<Line> m_off; ///< per direction, left^T times the difference
    Sums m_sums;
};

struct Comparison
{
    Sums sums;
    TileErrors tiles;
};

/// In one pass, since a large layer is read from memory again each time. The sums are the same for any number of
/// threads.
Comparison compared(const Element& element, ValueView reference, const std::vector<replay::SingularDirection>& signal)
{
    constexpr std::int64_t worthThreads = 1 << 16;
    const auto [batch, rows, cols] = element.shape;
    Comparison result;
    result.tiles.across = (cols + side - 1) / side;
    result.tiles.tiles.resize(static_cast<std::size_t>(result.tiles.across * ((rows + side - 1) / side)));
    std::vector<Sums> parts(static_cast<std::size_t>((cols + widest - 1) / widest));
    replay::forRanges(cols, widest, rows * cols < worthThreads ? 1 : replay::allThreads(), CancelToken(),
        [&](const replay::Range& columns) {
            parts[static_cast<std::size_t>(columns.begin / widest)] =
                ColumnsComparison(element, reference, signal, columns, result.tiles).sums();
        });
    for (const auto& part : parts) {
        auto& sums = result.sums;
        sums = {sums.finite && part.finite, sums.difference + part.difference, sums.reference + part.reference,
            sums.own + part.own, sums.both + part.both,
            {sums.gains.reference + part.gains.reference, sums.gains.difference + part.gains.difference},
            sums.compared + part.compared, sums.same + part.same};
    }
    return result;
}

double medianTile(const std::vector<TileError>& tiles)
{
    std::vector<double> ratios;
    for (const auto& tile : tiles) {
        if (tile.reference > 0) {
            ratios.push_back(std::sqrt(tile.difference / tile.reference));
        }
    }
    return ratios.empty() ? infinity : quantileOf(std::move(ratios));
}

} // namespace

Fits fitsOf(const Element& element, ValueView reference, const std::vector<replay::SingularDirection>& signal)
{
    const auto [sums, tiles] = compared(element, reference, signal);
    if (!sums.finite) {
        return {};
    }
    Fits fits;
    fits.typical = medianTile(tiles.tiles);
    // Low-rank inputs fill the null space with amplified noise; along the directions that carry signal every rounding
    // of the right variant still agrees.
    const auto& gains = sums.gains;
    fits.signal = gains.reference > 0 ? std::sqrt(gains.difference / gains.reference) : infinity;
    fits.exact = sums.compared > 0 ? static_cast<double>(sums.same) / static_cast<double>(sums.compared) : 0;
    if (sums.reference > 0) {
        // <o, r> / <r, r> leaves the least of what is off.
        const double explained = sums.both * sums.both / sums.reference;
        fits.plain = std::sqrt(sums.difference / sums.reference);
        fits.multiple = explained > 0 ? std::sqrt(std::max(0.0, sums.own - explained) / explained) : infinity;
        fits.factor = sums.both / sums.reference;
    }
    return fits;
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
    return compared(element, reference, {}).tiles;
}

namespace {

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
