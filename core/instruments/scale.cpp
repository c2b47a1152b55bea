// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/try.h"

namespace nanscope::instruments {

namespace {

constexpr double aroundGuess = closedFormWidth;

/// Where a number format ends, as one value of the scaled matrix meets it.
struct FormatPlace
{
    bool ofNorm = false; ///< the value is of the Frobenius norm, else of the largest element
    double value = 0;
    std::string_view words; ///< "the norm rounds to Inf in fp16"
};

/// What rounds to Inf, what rounds to zero, and what does once it is squared (1.8447e19 in fp32).
constexpr FormatPlace places[] {
    {false, 65520, "the largest element rounds to Inf in fp16"},
    {false, 0x1p-25, "the largest element rounds to zero in fp16"},
    {false, 0x1p-75, "the square of the largest element rounds to zero in fp32"},
    {false, 0x1p-134, "the largest element rounds to zero in bf16"},
    {false, 0x1p-150, "the largest element rounds to zero in fp32"},
    {true, 65520, "the norm rounds to Inf in fp16"},
    {true, 0x1p64, "the square of the norm overflows fp32"},
};

class Search
{
public:
    Search(Measurement& measurement, const ScaleRequest& request)
        : m_measurement(measurement)
        , m_request(request)
        , m_element(measurement.inputBatch().watched)
        , m_shape(measurement.inputBatch().input.matrices())
    { }

    Result<ScaleAnswer> run();

private:
    using Point = ScalePoint;

    Matrices scaled(double scale) const;
    Result<Point> look(double scale);
    Result<void> lookCoarsely();
    Result<Point> narrow(Point inside, Point outside);
    Result<void> narrowAll(const Point& inside, const Point& outside);
    std::vector<double> guesses() const;
    std::vector<double> coarseScales() const;
    double nextScale(const Point& inside, const Point& outside, std::vector<double>& wanted) const;
    void note(const Point& inside, const Point& outside);
    void setRange();

    Measurement& m_measurement;
    const ScaleRequest& m_request;
    std::size_t m_element;
    MatrixShape m_shape;
    ScaleAnswer m_answer;
};

Matrices Search::scaled(double scale) const
{
    auto values = m_measurement.inputBatch().values;
    for (auto& value : values) {
        value *= scale;
    }
    const auto& input = m_measurement.inputBatch().input;
    auto result = packed(m_request.roundedTo.value_or(DType::float64), input.shape, values);
    result.strides = input.strides;
    return result;
}

Result<ScalePoint> Search::look(double scale)
{
    const auto judged = TRY(m_measurement.ask(scaled(scale), m_measurement.inputBatch().epsilon));
    return Point {scale, judged.answered() ? std::optional(judged.outcomes[m_element]) : std::nullopt};
}

/// No capture holds numbers beyond those of its type; a cell without a type to round to is handed those of fp32.
void Search::setRange()
{
    const auto& facts = m_measurement.facts();
    const auto own = m_measurement.inputBatch().input.dtype;
    const bool wide = facts.format == Precision::fp64 && own == DType::float64;
    const auto type = m_request.roundedTo.value_or(wide ? DType::float64 : DType::float32);
    const bool half = type == DType::float16;
    const bool twofold = type == DType::float64;
    const double largest = half ? 65504 : twofold ? std::numeric_limits<double>::max() : 0x1.fep127;
    const double smallest = half ? 0x1p-24 : twofold ? 0x1p-1022 : type == DType::bfloat16 ? 0x1p-133 : 0x1p-149;
    m_answer.highest = std::max(1.0, largest / m_answer.absmax);
    m_answer.lowest = std::min(1.0, smallest / m_answer.absmax);
}

std::vector<double> Search::guesses() const
{
    std::vector<double> found;
    for (const auto& place : places) {
        found.push_back(place.value / (place.ofNorm ? m_answer.frobenius : m_answer.absmax));
    }
    // Where the norm no longer matters beside epsilon, and where fp16 loses what was divided by epsilon alone.
    const double epsilon = m_measurement.inputBatch().epsilon.value_or(1e-7);
    for (const double used : {epsilon, 1e-7}) {
        found.push_back(used / m_answer.frobenius);
        found.push_back(0x1p-25 * used / m_answer.absmax);
    }
    std::erase_if(found, [this](double scale) {
        return !(scale > m_answer.lowest * (1 + aroundGuess) && scale < m_answer.highest * (1 - aroundGuess));
    });
    std::ranges::sort(found);
    return found;
}

/// One scale between each two places where something may happen, the capture's own, and both ends.
std::vector<double> Search::coarseScales() const
{
    auto places = guesses();
    places.insert(places.begin(), m_answer.lowest);
    places.push_back(m_answer.highest);
    std::vector<double> scales;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
        const bool around = places[i] <= 1 && 1 < places[i + 1];
        scales.push_back(around ? 1.0 : std::sqrt(places[i]) * std::sqrt(places[i + 1]));
    }
    scales.push_back(m_answer.lowest);
    scales.push_back(m_answer.highest);
    if (std::ranges::find(scales, 1.0) == scales.end()) {
        scales.push_back(1);
    }
    std::ranges::sort(scales);
    scales.erase(std::unique(scales.begin(), scales.end()), scales.end());
    // Too many: of the two that lie closest together one is enough.
    while (scales.size() > static_cast<std::size_t>(std::max(3, m_request.coarse))) {
        std::size_t closest = 1;
        for (std::size_t i = 1; i + 1 < scales.size(); ++i) {
            const auto room = [&](std::size_t at) { return scales[at + 1] / scales[at - 1]; };
            closest = scales[i] != 1 && (scales[closest] == 1 || room(i) < room(closest)) ? i : closest;
        }
        scales.erase(scales.begin() + static_cast<std::ptrdiff_t>(closest));
    }
    return scales;
}

Result<void> Search::lookCoarsely()
{
    for (const double scale : coarseScales()) {
        m_answer.points.push_back(TRY(look(scale)));
    }
    return {};
}

/// A guess within the bracket is tried from both sides first; then the middle, in binades.
double Search::nextScale(const Point& inside, const Point& outside, std::vector<double>& wanted) const
{
    const double low = std::min(inside.scale, outside.scale);
    const double high = std::max(inside.scale, outside.scale);
    while (!wanted.empty()) {
        const double scale = wanted.back();
        wanted.pop_back();
        if (scale > low && scale < high && high / low > 1 + 3 * aroundGuess) {
            return scale;
        }
    }
    return std::sqrt(low) * std::sqrt(high);
}

/// What was found to lie just outside of the edge nearest to `inside`.
Result<ScalePoint> Search::narrow(Point inside, Point outside)
{
    std::vector<double> wanted;
    for (const double guess : guesses()) {
        wanted.push_back(guess * (1 + aroundGuess));
        wanted.push_back(guess * (1 - aroundGuess));
    }
    const auto width = [&] { return std::abs(std::log(outside.scale / inside.scale)); };
    for (int i = 0; i < m_request.perEdge && width() > m_request.precision; ++i) {
        const auto point = TRY(look(nextScale(inside, outside, wanted)));
        (point.outcome == inside.outcome ? inside : outside) = point;
    }
    if (inside.outcome && outside.outcome) {
        note(inside, outside);
    }
    return outside;
}

/// A bracket of the coarse scan may hold several edges: zero lies between finite and NaN, and may be narrow.
Result<void> Search::narrowAll(const Point& inside, const Point& outside)
{
    constexpr int mostWithin = 4;
    auto from = inside;
    for (int i = 0; i < mostWithin && from.outcome != outside.outcome; ++i) {
        from = TRY(narrow(from, outside));
    }
    return {};
}

void Search::note(const Point& inside, const Point& outside)
{
    ScaleEdge edge;
    edge.inside = *inside.outcome;
    edge.outside = *outside.outcome;
    edge.lastInside = inside.scale;
    edge.firstOutside = outside.scale;
    edge.up = outside.scale > inside.scale;
    const auto values = valuesOf(scaled(outside.scale));
    double sum = 0;
    for (const double value : matrixOf(std::span<const double>(values), m_shape, m_element)) {
        const double magnitude = std::abs(value);
        edge.absmax = std::max(edge.absmax, magnitude);
        sum += magnitude / outside.scale * (magnitude / outside.scale);
    }
    edge.frobenius = outside.scale * std::sqrt(sum);
    m_answer.edges.push_back(edge);
}

Result<ScaleAnswer> Search::run()
{
    const auto& scan = m_measurement.inputBatch().scans[m_element];
    if (!scan.finite() || scan.allZero()) {
        return failure(ErrorKind::usage,
            fmt::format("matrix {} is {}: there is no scale to change",
                m_measurement.inputBatch().firstBatch + static_cast<std::int64_t>(m_element),
                scan.finite() ? "all zero" : "not finite"),
            m_measurement.inputBatch().path);
    }
    m_answer.batch = m_measurement.inputBatch().firstBatch + static_cast<std::int64_t>(m_element);
    m_answer.absmax = scan.absmax;
    m_answer.frobenius = std::sqrt(scan.sumSquares);
    m_answer.roundedTo = m_request.roundedTo;
    setRange();
    m_measurement.setPhase("scale", 0, "calls");
    TRY(lookCoarsely());
    const auto& points = m_answer.points;
    const auto own = static_cast<std::size_t>(std::ranges::find(points, 1.0, &Point::scale) - points.begin());
    for (std::size_t i = own; i > 0; --i) {
        TRY(narrowAll(points[i], points[i - 1]));
    }
    for (std::size_t i = own; i + 1 < points.size(); ++i) {
        TRY(narrowAll(points[i], points[i + 1]));
    }
    return m_answer;
}

} // namespace

double ScaleEdge::width() const
{
    return std::abs(firstOutside / lastInside - 1);
}

double ScaleEdge::headroom() const
{
    return std::abs(std::log2(firstOutside));
}

Result<ScaleAnswer> bisectScale(Measurement& measurement, const ScaleRequest& request)
{
    return Search(measurement, request).run();
}

namespace {

constexpr double fp16Underflow = 0x1p-25;

/// How far the edge lies from a place, relative; nothing where it lies elsewhere.
std::optional<double> distance(const ScaleEdge& edge, const FormatPlace& place)
{
    const double outside = place.ofNorm ? edge.frobenius : edge.absmax;
    const double away = std::abs(outside / place.value - 1);
    return away <= edge.width() + closedFormWidth ? std::optional(away) : std::nullopt;
}

} // namespace

std::string_view closedFormOf(const ScaleEdge& edge, std::optional<double> epsilon)
{
    constexpr double farthest = 0.01; // an edge that is known no better could be any of them
    if (edge.width() > farthest) {
        return {};
    }
    std::optional<double> least;
    std::string_view words;
    const auto consider = [&](const FormatPlace& place) {
        const auto away = distance(edge, place);
        if (away && (!least || *away < *least)) {
            least = away;
            words = place.words;
        }
    };
    for (const auto& place : places) {
        consider(place);
    }
    if (epsilon && *epsilon > 0) {
        consider({false, fp16Underflow * *epsilon, "the largest element over epsilon rounds to zero in fp16"});
    }
    return words;
}

} // namespace nanscope::instruments
