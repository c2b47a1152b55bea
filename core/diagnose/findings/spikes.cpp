// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P12 to P14: spikes of the loss, gradients that are always clipped, and steps that are left out more and more.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/diagnose/findings/skips.h"

namespace nanscope::diagnose::cards {

namespace {

const Trace& watched(const RunSummary& summary)
{
    return summary.spikeRule.series == summary.gradNorm.name ? summary.gradNorm : summary.loss;
}

std::string_view wordOf(const Trace& trace)
{
    return trace.name == "grad_norm" ? "the gradient norm" : "the loss";
}

/// A factor of a mean says nothing where the value may be negative.
bool factorMakesSense(const std::vector<Point>& points, const SpikeRule& rule)
{
    const bool factor = rule.baseline != Baseline::sigmas && rule.baseline != Baseline::emaSigmas;
    return !factor || std::none_of(points.begin(), points.end(), [](const Point& p) { return p.value < 0; });
}

/// Where the learning rate stood when the spike came; empty where nothing tells.
std::string warmupText(const RunSummary& summary, std::int64_t step)
{
    const auto rates = finitePoints(summary.lr);
    const auto peak =
        std::max_element(rates.begin(), rates.end(), [](const Point& a, const Point& b) { return a.value < b.value; });
    if (peak != rates.end() && peak != rates.begin() && step <= peak->step) {
        return fmt::format(", while the learning rate still rose (to {:.3g} at step {})", peak->value, peak->step);
    }
    const auto* warmup = settingNamed(summary.run, {"warmup_steps", "warmup_iters", "lr_warmup_iters", "warmup"});
    const auto steps = warmup != nullptr ? numberOf(*warmup) : std::nullopt;
    return steps && *steps > 1 && static_cast<double>(step) <= *steps
        ? fmt::format(", within the warmup ({})", textOf(*warmup))
        : std::string();
}

struct Lead
{
    const Point* point = nullptr;
    double mean = 0; ///< of up to a hundred norms before it
};

/// Of norms that stand out shortly before a step, the first that reaches half of the largest: a smaller one may be
/// noise. Twice the mean before it at least, llm-foundry's factor for losses.
Lead leadOf(const std::vector<Point>& norms, std::int64_t step)
{
    constexpr std::int64_t shortly = 50;
    constexpr std::size_t window = 100;
    constexpr std::size_t fewest = 10;
    constexpr double factor = 2;
    const auto begin = std::ranges::lower_bound(norms, step - shortly, {}, &Point::step);
    const auto end = std::ranges::lower_bound(norms, step, {}, &Point::step);
    const auto largest = begin < end
        ? std::max_element(begin, end, [](const Point& a, const Point& b) { return a.value < b.value; })->value
        : 0;
    for (auto point = begin; point < end; ++point) {
        const auto before = std::min(window, static_cast<std::size_t>(point - norms.begin()));
        const double sum = std::accumulate(point - static_cast<std::ptrdiff_t>(before), point, 0.0,
            [](double all, const Point& one) { return all + one.value; });
        const double mean = before < fewest ? 0 : sum / static_cast<double>(before);
        if (mean > 0 && point->value >= factor * mean && 2 * point->value >= largest) {
            return {&*point, mean};
        }
    }
    return {};
}

std::string afterText(const std::vector<Point>& points, const Spike& spike)
{
    return spike.last + 1 < points.size() ? fmt::format("; back below at step {}", points[spike.last + 1].step)
                                          : std::string("; the log ends in it");
}

CardOutcome spikeOutcome(const RunSummary& summary, const std::vector<Point>& points, const std::vector<Spike>& spikes)
{
    const auto& trace = watched(summary);
    const auto& spike = spikes.front();
    const auto& first = points[spike.first];
    auto reason = fmt::format("{} is {:.4g} at step {}, limit {:.4g}{}{}", wordOf(trace), first.value, first.step,
        spike.limit, warmupText(summary, first.step), afterText(points, spike));
    if (spikes.size() > 1) {
        reason += fmt::format("; {} more of them", spikes.size() - 1);
    }
    std::vector<Evidence> evidence {evidenceOf(trace, first)};
    const auto norms = &trace == &summary.loss ? finitePoints(summary.gradNorm) : std::vector<Point>();
    if (const auto lead = leadOf(norms, first.step); lead.point != nullptr) {
        evidence.push_back(evidenceOf(summary.gradNorm, *lead.point));
        evidence.back().text += fmt::format(", {} before and {:.2g} times the mean before it",
            howMany(first.step - lead.point->step, "step"), lead.point->value / lead.mean);
    }
    return at(fired(summary.spikeRule.inARow > 1 ? Confidence::high : Confidence::medium, reason, evidence), first.step,
        trace.rank);
}

const Event* ownMonitor(const RunData& run)
{
    const auto found = std::find_if(
        run.events.begin(), run.events.end(), [](const Event& event) { return event.kind == EventKind::lossSpike; });
    return found == run.events.end() ? nullptr : &*found;
}

CardOutcome spikeByRule(const RunSummary& summary)
{
    const auto& rule = summary.spikeRule;
    const auto& trace = watched(summary);
    const auto points = finitePoints(trace);
    const auto needed = rule.fewest + rule.inARow;
    if (trace.empty()) {
        return notCheckable(whyEmpty(summary, trace));
    }
    if (!factorMakesSense(points, rule)) {
        return notCheckable(fmt::format("{} is negative in places, where a factor says nothing", wordOf(trace)));
    }
    if (const auto spikes = spikesOf(points, rule); !spikes.empty()) {
        return spikeOutcome(summary, points, spikes);
    }
    if (points.size() < needed) {
        return notCheckable(fmt::format("{} of {} are logged, the {} rule needs {}",
            howMany(static_cast<std::int64_t>(points.size()), "finite value"), trace.name, rule.name, needed));
    }
    return clear(fmt::format(
        "no spike among {} by the {} rule", howMany(static_cast<std::int64_t>(points.size()), "value"), rule.name));
}

CardOutcome lossSpike(const RunSummary& summary)
{
    auto outcome = spikeByRule(summary);
    const auto* said = outcome.state != FindingState::fired ? ownMonitor(summary.run) : nullptr;
    if (said != nullptr) {
        outcome = at(fired(Confidence::medium, "the trainer's own monitor of spikes spoke", {evidenceOf(*said)}),
            said->step, said->rank);
    }
    outcome.threshold = summary.spikeRule.text;
    return outcome;
}

const Setting* normLimit(const RunData& run)
{
    for (const auto* setting : settingsNamed(run,
             {"max_norm", "clip_grad", "clip_grad_norm", "grad_clip", "gradient_clipping", "max_grad_norm",
                 "grad_clip_norm", "gradient_clip_val"})) {
        if (numberOf(*setting).value_or(0) > 0) {
            return setting;
        }
    }
    return nullptr;
}

CardOutcome alwaysClipped(const RunSummary& summary)
{
    constexpr std::size_t window = 200;
    constexpr std::size_t most = 198;
    const auto* limit = normLimit(summary.run);
    if (limit == nullptr) {
        return notCheckable(missingSetting(summary.run, "limit of the gradient norm"));
    }
    const auto norms = finitePoints(summary.gradNorm);
    if (norms.size() < window) {
        return notCheckable(norms.empty()
                ? whyEmpty(summary, summary.gradNorm)
                : fmt::format("{} finite gradient norms are logged, the rule needs {}", norms.size(), window));
    }
    // Some trainers print the norm after clipping; then a clipped one lies at the limit.
    const double least = 0.999 * *numberOf(*limit);
    const auto begin = norms.end() - static_cast<std::ptrdiff_t>(window);
    const auto over = std::count_if(begin, norms.end(), [&](const Point& point) { return point.value >= least; });
    const auto numbers = fmt::format("{} of the last {} logged gradient norms reach {}", over, window, textOf(*limit));
    if (static_cast<std::size_t>(over) < most) {
        return clear(numbers);
    }
    return at(fired(Confidence::medium, numbers, {evidenceOf(*limit), evidenceOf(summary.gradNorm, norms.back())}),
        norms.back().step, summary.gradNorm.rank);
}

struct Halves
{
    std::int64_t first = 0;
    std::int64_t second = 0;
    std::int64_t middle = 0;
};

/// Without the search for a loss scale at the start.
Halves halvesOf(const RunSummary& summary, const Skips& skips)
{
    Halves halves;
    const auto* start = longest(skips.streaks, true);
    const auto from = start != nullptr ? start->lastStep : std::numeric_limits<std::int64_t>::min();
    const auto begin = std::min(
        skips.counts.front().step, summary.loss.empty() ? skips.counts.front().step : summary.loss.points.front().step);
    const auto end = std::max(
        skips.counts.back().step, summary.loss.empty() ? skips.counts.back().step : summary.loss.points.back().step);
    halves.middle = begin + (end - begin) / 2;
    for (const auto& count : skips.counts) {
        if (count.step > from) {
            (count.step <= halves.middle ? halves.first : halves.second) += count.skipped;
        }
    }
    return halves;
}

std::vector<Evidence> lastSkips(const Skips& skips)
{
    std::vector<Evidence> evidence;
    for (auto count = skips.counts.rbegin(); count != skips.counts.rend(); ++count) {
        if (count->skipped > 0) {
            addEvidence(evidence, count->line);
        }
    }
    return evidence;
}

CardOutcome skipRate(const RunSummary& summary)
{
    constexpr std::int64_t stop = 10;
    constexpr std::int64_t fewest = 5;
    const auto skips = skipsOf(summary);
    if (!skips.known) {
        return notCheckable("skipped steps are not logged");
    }
    const auto* streak = longest(skips.streaks, false);
    if (streak != nullptr && streak->count >= stop) {
        return at(fired(Confidence::high,
                      fmt::format("{} were left out in a row, from step {} to {}", howMany(streak->count, "step"),
                          streak->firstStep, streak->lastStep),
                      {streak->first, streak->last}),
            streak->firstStep, std::nullopt);
    }
    if (skips.onlyWarnings) {
        return notCheckable(
            fmt::format("at least {}: Python prints the same warning once", howMany(skips.total, "skipped step")));
    }
    if (skips.counts.empty()) {
        return notCheckable(fmt::format("{} without a step beside them", howMany(skips.total, "skipped step")));
    }
    const auto halves = halvesOf(summary, skips);
    const auto numbers = fmt::format(
        "{} left out up to step {}, {} after it", howMany(halves.first, "step"), halves.middle, halves.second);
    return halves.second >= fewest && halves.second >= 2 * halves.first
        ? fired(Confidence::medium, numbers, lastSkips(skips))
        : clear(numbers);
}

} // namespace

std::vector<Card> spikeCards()
{
    return {
        {"P12", "Loss spikes", "warning", "",
            {"a longer warmup, then a peak learning rate 3 to 10 times lower",
                "go back to a checkpoint well before the spike; PaLM skipped 200 to 500 batches as well",
                "log the gradient norm of every step: it often rises first"},
            lossSpike},
        {"P13", "Nearly every gradient clipped", "info",
            "at least 99 % of the last 200 logged norms reach the limit (Nanscope's own threshold)",
            {"clipping every step is a symptom: look at learning rate (P12) and initialisation (P17) before the limit",
                "one global norm throttles all modules: where embeddings dominate it, clip them by themselves"},
            alwaysClipped},
        {"P14", "More and more skipped steps", "warning",
            "at least 10 in a row (KempnerForge stops there); or at least 5 in the second half of the run and twice as "
            "many as in the first (Nanscope's own threshold)",
            {"a rising rate is a cause that stays, such as range (P10) or learning rate (P12), not stray batches",
                "count them in the trainer: Python shows a repeated warning once per process"},
            skipRate},
    };
}

} // namespace nanscope::diagnose::cards
