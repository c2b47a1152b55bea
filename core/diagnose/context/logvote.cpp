// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/context/logvote.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "core/diagnose/recovery/trace.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

namespace {

/// The series whose points a verdict is weighed with; of the others a run needs none to be judged.
constexpr std::array<std::string_view, 2> weighedSeries {"grad_norm", "loss_scale"};

constexpr std::size_t window = 10;
constexpr std::size_t fewest = 4;
constexpr int risingOfWindow = 8;
constexpr double climb = 4;
constexpr double calmFactor = 2;

/// Gradients of one size add up to at most 1 / (1 - momentum) of it: to a thousand with 0.999, which nobody exceeds.
constexpr double mostOfMomentum = 1000;

bool rankFits(const Series& series, const CaptureVerdict& verdict)
{
    return !series.rank || !verdict.rank || series.rank == verdict.rank;
}

// The finite points before the birth, of the source that has most of them.
std::pair<const Series*, std::vector<Point>> pointsBefore(
    const RunData& run, const std::string& seriesName, const CaptureVerdict& verdict)
{
    std::pair<const Series*, std::vector<Point>> best {nullptr, {}};
    for (const auto& series : run.series) {
        if (series.name != seriesName || !rankFits(series, verdict)) {
            continue;
        }
        std::vector<Point> points;
        for (const auto& point : series.points) {
            const bool before = !verdict.step || point.step <= verdict.step->first;
            if (point.state == PointState::finite && before) {
                points.push_back(point);
            }
        }
        if (points.size() > best.second.size()) {
            best = {&series, std::move(points)};
        }
    }
    return best;
}

int rises(const std::vector<Point>& points)
{
    int count = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
        count += points[i].value > points[i - 1].value ? 1 : 0;
    }
    return count;
}

/// How many of the lines that a trend is read from had no finite value. Behind the last finite one they count only
/// where it is known that they came before the call.
std::int64_t nonFiniteAmong(const Series& series, const std::vector<Point>& points, const CaptureVerdict& verdict)
{
    return std::ranges::count_if(series.points, [&](const Point& point) {
        const bool before = verdict.step ? point.step <= verdict.step->first : point.step < points.back().step;
        return isNonFinite(point.state) && before && point.step > points.front().step;
    });
}

/// "over the 6 lines of steps 0 to 50": a line need not come with every step.
std::string spanOf(const std::vector<Point>& points, std::int64_t nonFinite)
{
    return fmt::format("over the {}{} lines of steps {} to {}", points.size(), nonFinite > 0 ? " finite" : "",
        points.front().step, points.back().step);
}

bool calm(const std::vector<Point>& points)
{
    std::vector<double> values;
    for (const auto& point : points) {
        values.push_back(point.value);
    }
    std::sort(values.begin(), values.end());
    const double median = values[values.size() / 2];
    return values.front() >= median / calmFactor && values.back() <= median * calmFactor;
}

} // namespace

LogVote voteOf(const RunData& run, const std::string& seriesName, const CaptureVerdict& verdict)
{
    LogVote vote;
    auto [series, points] = pointsBefore(run, seriesName, verdict);
    if (points.size() < fewest) {
        return vote;
    }
    if (points.size() > window) {
        points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(window));
    }
    const auto& last = points.back();
    const auto source = fmt::format("{}:{}", series->source, last.line);
    const auto nonFinite = nonFiniteAmong(*series, points, verdict);
    const auto span = spanOf(points, nonFinite);
    const double ratio = last.value / points.front().value;
    if (points.size() == window && rises(points) >= risingOfWindow && ratio >= climb) {
        vote.kind = LogVote::Kind::climbing;
        const auto others = nonFinite > 0 ? fmt::format("; {} more not finite", nonFinite) : std::string();
        vote.line = {
            fmt::format("{} climbs {:.3g}-fold {}, to {:.4g}{}", seriesName, ratio, span, last.value, others), source};
    } else if (nonFinite == 0 && calm(points)) {
        vote.kind = LogVote::Kind::calm;
        vote.line = {fmt::format("{} stays within {:g}x of its median {} ({:.4g} at the last)", seriesName, calmFactor,
                         span, last.value),
            source};
    }
    return vote;
}

namespace {

/// The grad_norm of this rank in the last line before the call, where that was not finite.
std::optional<EvidenceLine> notFiniteBefore(const RunData& run, const CaptureVerdict& verdict)
{
    if (!verdict.step) {
        return std::nullopt;
    }
    for (const auto& series : run.series) {
        if (series.name != "grad_norm" || !rankFits(series, verdict)) {
            continue;
        }
        const auto after =
            std::ranges::find_if(series.points, [&](const Point& point) { return point.step > verdict.step->first; });
        if (after != series.points.begin() && isNonFinite(std::prev(after)->state)) {
            const auto& last = *std::prev(after);
            return EvidenceLine {fmt::format("grad_norm is {} at step {}, before this call: something was not finite "
                                             "already, though the dumped input is",
                                     last.value, last.step),
                fmt::format("{}:{}", series.source, last.line)};
        }
    }
    return std::nullopt;
}

} // namespace

std::vector<LogTrend> logLinesOf(const RunData& run, const CaptureVerdict& verdict)
{
    std::vector<LogTrend> lines;
    // Steady is nothing that ends like that.
    if (auto bad = notFiniteBefore(run, verdict)) {
        lines.push_back({false, true, std::move(*bad)});
        return lines;
    }
    for (const auto series : weighedSeries) {
        auto vote = voteOf(run, std::string(series), verdict);
        if (vote.kind != LogVote::Kind::silent) {
            lines.push_back({vote.kind == LogVote::Kind::climbing, false, std::move(vote.line)});
        }
    }
    return lines;
}

namespace {

/// The first that is not finite among those of these steps.
const Point* badPoint(const Series& series, const std::pair<std::int64_t, std::int64_t>& steps)
{
    const auto bad = std::ranges::find_if(series.points, [&](const Point& point) {
        return isNonFinite(point.state) && point.step >= steps.first && point.step <= steps.second;
    });
    return bad == series.points.end() ? nullptr : &*bad;
}

const Series* lossBeside(const RunData& run, const Series& norm)
{
    const auto loss = std::ranges::find_if(run.series, [&](const Series& series) {
        return series.name == "loss" && series.source == norm.source && series.rank == norm.rank;
    });
    return loss == run.series.end() ? nullptr : &*loss;
}

bool isFiniteWithin(const Series& series, const std::pair<std::int64_t, std::int64_t>& steps)
{
    return std::ranges::any_of(series.points, [&](const Point& point) {
        return point.state == PointState::finite && point.step >= steps.first && point.step <= steps.second;
    });
}

/// `step` is that of the call.
std::optional<EvidenceLine> wentBadFirst(
    const Series& norm, const Series& loss, const std::pair<std::int64_t, std::int64_t>& step)
{
    // A trainer may count its steps from 1, and a helper the updates from 0.
    const std::pair steps {step.first - 1, step.second + 1};
    const auto* badNorm = badPoint(norm, steps);
    const auto* badLoss = badPoint(loss, steps);
    // A loss of the next step may be what came of this very update.
    if (badLoss != nullptr && badLoss->step > step.second && isFiniteWithin(loss, step)) {
        badLoss = nullptr;
    }
    if (badLoss != nullptr && (badNorm == nullptr || badNorm->step >= badLoss->step)) {
        return EvidenceLine {
            fmt::format("the loss itself is {} at step {}, and no gradient norm before it: the forward "
                        "pass made it, of its data or of weights that were bad by then",
                wordOf(badLoss->state), badLoss->step),
            fmt::format("{}:{}", loss.source, badLoss->line)};
    }
    if (badNorm == nullptr) {
        return std::nullopt;
    }
    const auto beside = std::ranges::find(loss.points, badNorm->step, &Point::step);
    if (beside == loss.points.end() || beside->state != PointState::finite) {
        return std::nullopt;
    }
    return EvidenceLine {
        fmt::format(
            "grad_norm is {} at step {}, where the loss is still {:.4g}: as far as that shows, the forward pass "
            "was sound and what follows it was not (the backward pass, the loss scale, a reduction)",
            wordOf(badNorm->state), badNorm->step, beside->value),
        fmt::format("{}:{}", norm.source, badNorm->line)};
}

} // namespace

std::optional<EvidenceLine> wentBadFirst(const RunData& run, const CaptureVerdict& verdict)
{
    if (!verdict.step) {
        return std::nullopt;
    }
    for (const auto& norm : run.series) {
        const auto* loss = norm.name == "grad_norm" && rankFits(norm, verdict) ? lossBeside(run, norm) : nullptr;
        if (auto line = loss != nullptr ? wentBadFirst(norm, *loss, *verdict.step) : std::nullopt) {
            return line;
        }
    }
    return std::nullopt;
}

std::optional<EvidenceLine> beyondGradients(const RunData& run, const CaptureVerdict& verdict, double inputAbsmax)
{
    // A trainer that logs behind the update has the norm of this one a line later.
    auto until = verdict;
    if (until.step) {
        until.step->first = until.step->second;
    }
    const auto [series, points] = pointsBefore(run, "grad_norm", until);
    if (points.size() < fewest) {
        return std::nullopt;
    }
    // What became infinite before the birth was no size at all; behind it, it is the birth's own doing.
    const auto last = verdict.step ? verdict.step->first : std::numeric_limits<std::int64_t>::max();
    if (std::ranges::any_of(series->points,
            [&](const Point& point) { return point.step <= last && point.state != PointState::finite; })) {
        return std::nullopt;
    }
    const auto largest = std::ranges::max_element(points, {}, &Point::value);
    if (largest->value <= 0 || inputAbsmax <= mostOfMomentum * largest->value) {
        return std::nullopt;
    }
    return EvidenceLine {fmt::format("the input reaches {:.6g}, and the largest grad_norm logged until then is {:.4g}: "
                                     "no momentum makes that of such gradients; something scaled them in between, "
                                     "such as a loss scale that was left in, or the logged norm is clipped",
                             inputAbsmax, largest->value),
        fmt::format("{}:{}", series->source, largest->line)};
}

} // namespace nanscope::diagnose
