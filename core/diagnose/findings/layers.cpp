// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Gradient norms of single layers or parameters, where they are logged: which of them left its range first.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"

namespace nanscope::diagnose::cards {

namespace {

/// "grad_norm/layers.4.mlp.weight", but not the norm of all together, and no other statistic of a layer's norm.
bool isLayerNorm(std::string_view name)
{
    constexpr std::array<std::string_view, 3> ofAll {"total", "global", "clip"};
    constexpr std::array<std::string_view, 5> statistics {"avg", "mean", "min", "max", "std"};
    const auto words = lowered(name);
    const auto last = std::string_view(words).substr(words.find_last_of("./") + 1);
    if (std::ranges::find(statistics, last) != statistics.end()) {
        return false;
    }
    const auto has = [&](std::string_view word) { return words.find(word) != std::string::npos; };
    return has("grad") && has("norm") && words.find_first_of("0123456789") != std::string::npos
        && std::ranges::none_of(ofAll, has);
}

struct Departure
{
    Trace trace;
    Point point;
    double mean = 0; ///< of up to a hundred norms before it
};

/// Follows one layer's norm. It leaves its range where it passes five times the mean of up to a hundred norms before;
/// what lies beyond is not learned, or a slow rise would carry the mean along. Only who reaches fifty times that mean,
/// or a value that is not finite, has left for good; who stays between the two for long has a new level.
class RangeWatch
{
public:
    void look(const Point& point)
    {
        if (point.state != PointState::finite && !isNonFinite(point.state)) {
            return;
        }
        if (m_window.size() < fewest || !passes(point, outside)) {
            comeBack();
            learn(point);
            return;
        }
        m_left = m_left == nullptr ? &point : m_left;
        m_gone = m_gone || passes(point, farOutside);
        if (!m_gone && ++m_between > window) {
            comeBack();
            m_window.clear();
            m_sum = 0;
        }
    }

    /// Where it left; null where it did not, or came back.
    const Point* left() const { return m_gone ? m_left : nullptr; }
    double mean() const { return m_window.empty() ? 0 : m_sum / static_cast<double>(m_window.size()); }

private:
    static constexpr std::size_t fewest = 10;
    static constexpr std::size_t window = 100;
    static constexpr double outside = 5;
    static constexpr double farOutside = 50;

    bool passes(const Point& point, double factor) const
    {
        return isNonFinite(point.state) || (mean() > 0 && point.value > factor * mean());
    }

    void comeBack()
    {
        m_left = nullptr;
        m_gone = false;
        m_between = 0;
    }

    void learn(const Point& point)
    {
        if (point.state != PointState::finite) {
            return;
        }
        m_window.push_back(point.value);
        m_sum += point.value;
        if (m_window.size() > window) {
            m_sum -= m_window.front();
            m_window.pop_front();
        }
    }

    std::deque<double> m_window;
    double m_sum = 0;
    std::size_t m_between = 0;
    const Point* m_left = nullptr;
    bool m_gone = false;
};

std::vector<std::string> layerNames(const RunData& run)
{
    std::set<std::string> names;
    for (const auto& series : run.series) {
        if (isLayerNorm(series.name)) {
            names.insert(series.name);
        }
    }
    return {names.begin(), names.end()};
}

std::optional<Departure> departureOf(const RunData& run, const std::string& name)
{
    Departure departure {traceOf(run, name), {}, 0};
    RangeWatch watch;
    for (const auto& point : departure.trace.points) {
        watch.look(point);
    }
    if (watch.left() == nullptr) {
        return std::nullopt;
    }
    departure.point = *watch.left();
    departure.mean = watch.mean();
    return departure;
}

std::string firstText(const Departure& first)
{
    return first.point.state == PointState::finite
        ? fmt::format("the norm {} left its range first: {:.4g} at step {}, {:.2g} times its mean before",
            first.trace.name, first.point.value, first.point.step, first.point.value / first.mean)
        : fmt::format("the norm {} left its range first: not finite at step {}", first.trace.name, first.point.step);
}

/// "; then grad_norm/layers.5 at step 291 and 4 more from step 299 on"
std::string othersText(const std::vector<Departure>& departures)
{
    if (departures.size() < 2) {
        return "; no other layer did";
    }
    auto text = fmt::format("; then {} at step {}", departures[1].trace.name, departures[1].point.step);
    return departures.size() == 2
        ? text
        : fmt::format("{} and {} more from step {} on", text, departures.size() - 2, departures[2].point.step);
}

CardOutcome rankedLayers(const std::vector<Departure>& departures)
{
    std::vector<Evidence> evidence;
    for (const auto& departure : departures) {
        addEvidence(evidence, evidenceOf(departure.trace, departure.point));
    }
    const auto& first = departures.front();
    return at(fired(Confidence::medium, firstText(first) + othersText(departures), evidence), first.point.step,
        first.trace.rank);
}

CardOutcome firstLayer(const RunSummary& summary)
{
    const auto names = layerNames(summary.run);
    if (names.size() < 2) {
        return notCheckable("gradient norms of single layers are not logged");
    }
    const auto isRead = [&](const std::string& name) { return !traceOf(summary.run, name).empty(); };
    if (std::ranges::none_of(names, isRead)) {
        return notCheckable(whyEmpty(summary.run, names.front()));
    }
    std::vector<Departure> departures;
    for (const auto& name : names) {
        if (auto departure = departureOf(summary.run, name)) {
            departures.push_back(std::move(*departure));
        }
    }
    if (departures.empty()) {
        return clear(fmt::format(
            "of {} none leaves its range", howMany(static_cast<std::int64_t>(names.size()), "layer's gradient norm")));
    }
    std::ranges::stable_sort(departures, {}, [](const Departure& one) { return one.point.step; });
    if (departures.size() > 1 && departures[0].point.step == departures[1].point.step) {
        const auto together = std::ranges::count_if(
            departures, [&](const Departure& one) { return one.point.step == departures.front().point.step; });
        return notCheckable(fmt::format("{} leave their range at one step, {}: the log does not tell which began",
            howMany(together, "layer"), departures.front().point.step));
    }
    return rankedLayers(departures);
}

} // namespace

std::vector<Card> layerCards()
{
    return {
        {"layer-norms", "Layer whose gradient left its range first", "warning",
            "a norm of a single layer or parameter that is not finite, or over 50 times the mean of up to 100 before "
            "it "
            "(SPAM's factor), and does not come back; no other one left as early",
            {"look at what feeds this layer before the step: its input, its mask, its labels",
                "clip it by itself, or lower its learning rate; capture its matrices with the wrapper to see what the "
                "optimizer was given"},
            firstLayer},
    };
}

} // namespace nanscope::diagnose::cards
