// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P15 to P18: logits that grow, runs that never started well, gradients that explode or vanish.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/values.h"
#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"

namespace nanscope::diagnose::cards {

namespace {

bool mentionsAny(std::string_view name, Names words)
{
    return std::any_of(
        words.begin(), words.end(), [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

bool isAttentionLogit(std::string_view name)
{
    return (mentionsAny(name, {"logit"}) && mentionsAny(name, {"att", "qk"}))
        || mentionsAny(name, {"max_qk", "qk_max"});
}

bool isOutputLogit(std::string_view name)
{
    const bool logits = mentionsAny(name, {"max_logit", "logit_max", "logits_max", "output_logit"});
    return (logits && !isAttentionLogit(name)) || mentionsAny(name, {"z_loss", "zloss", "log_z", "logz"});
}

/// Names of series as their log gives them, each once.
std::vector<std::string> namesOf(const RunData& run, bool (*wanted)(std::string_view))
{
    std::vector<std::string> names;
    for (const auto& series : run.series) {
        const bool known = std::find(names.begin(), names.end(), series.name) != names.end();
        if (!known && wanted(lowered(series.name))) {
            names.push_back(series.name);
        }
    }
    return names;
}

constexpr std::size_t quarters = 4;

std::array<double, quarters> quarterMedians(const std::vector<Point>& points)
{
    std::array<double, quarters> medians {};
    for (std::size_t i = 0; i < quarters; ++i) {
        std::vector<double> values;
        for (std::size_t k = i * points.size() / quarters; k < (i + 1) * points.size() / quarters; ++k) {
            values.push_back(points[k].value);
        }
        medians[i] = quantileOf(std::move(values));
    }
    return medians;
}

bool growsOn(const std::array<double, quarters>& medians)
{
    constexpr double factor = 2;
    constexpr double lastShare = 0.2;
    const bool rising = std::is_sorted(medians.begin(), medians.end(), std::less_equal<>());
    const double grown = medians.back() - medians.front();
    return rising && medians.front() > 0 && medians.back() >= factor * medians.front()
        && medians[quarters - 1] - medians[quarters - 2] >= lastShare * grown;
}

constexpr std::size_t fewestToGrow = 40;

std::optional<CardOutcome> growthOf(const Trace& trace)
{
    const auto points = finitePoints(trace);
    if (points.size() < fewestToGrow) {
        return std::nullopt;
    }
    const auto medians = quarterMedians(points);
    if (!growsOn(medians)) {
        return clear(fmt::format(
            "the trace {} does not keep growing ({:.4g} to {:.4g})", trace.name, medians.front(), medians.back()));
    }
    return at(
        fired(Confidence::medium,
            fmt::format("the trace {} grows from quarter to quarter of the run, {:.4g} to {:.4g}, and has not settled",
                trace.name, medians.front(), medians.back()),
            {evidenceOf(trace, points.front()), evidenceOf(trace, points.back())}),
        points.back().step, trace.rank);
}

std::optional<CardOutcome> beyondFp16(const RunSummary& summary, const Trace& trace)
{
    const auto formats = formatsOf(summary.run);
    const bool logit = lowered(trace.name).find("logit") != std::string::npos;
    for (const auto& point : finitePoints(trace)) {
        if (logit && formats.fp16 != nullptr && std::abs(point.value) > fp16Max) {
            return at(
                fired(Confidence::high,
                    fmt::format("the trace {} reaches {:.6g} in a run that computes in fp16", trace.name, point.value),
                    {evidenceOf(trace, point), evidenceOf(*formats.fp16)}),
                point.step, trace.rank);
        }
    }
    return std::nullopt;
}

CardOutcome logitGrowth(const RunSummary& summary, bool (*wanted)(std::string_view), std::string_view what)
{
    const auto names = namesOf(summary.run, wanted);
    if (names.empty()) {
        return notCheckable(fmt::format("not logged: {}", what));
    }
    std::optional<CardOutcome> last;
    for (const auto& name : names) {
        const auto trace = traceOf(summary.run, name);
        auto outcome = beyondFp16(summary, trace);
        outcome = outcome ? outcome : growthOf(trace);
        if (outcome && outcome->state == FindingState::fired) {
            return *outcome;
        }
        last = outcome ? outcome : last;
    }
    if (last) {
        return *last;
    }
    return notCheckable(traceOf(summary.run, names.front()).empty()
            ? whyEmpty(summary.run, names.front())
            : fmt::format("the trace {} has fewer than {} points", names.front(), fewestToGrow));
}

CardOutcome outputLogits(const RunSummary& summary)
{
    return logitGrowth(summary, isOutputLogit, "output logits, log Z or z-loss");
}

CardOutcome attentionLogits(const RunSummary& summary)
{
    return logitGrowth(summary, isAttentionLogit, "the largest attention logit");
}

CardOutcome initialisation(const RunSummary& summary)
{
    constexpr std::int64_t early = 500;
    const auto attempts = freshAttempts(summary);
    const bool differ = attempts.size() > 1
        && std::any_of(attempts.begin(), attempts.end(),
            [&](const Attempt& attempt) { return !sameRate(*attempt.peakLr, *attempts.front().peakLr); });
    if (!differ) {
        return notCheckable("one run alone cannot tell");
    }
    std::vector<Evidence> evidence;
    std::string rates;
    for (const auto& attempt : attempts) {
        if (!attempt.firstBad || *attempt.firstBad >= early) {
            return clear(
                fmt::format("with a learning rate of {:.3g} the first {} steps stay finite", *attempt.peakLr, early));
        }
        addEvidence(evidence, attempt.bad);
        rates += fmt::format("{}{:.3g} at step {}", rates.empty() ? "" : ", ", *attempt.peakLr, *attempt.firstBad);
    }
    return at(fired(Confidence::low, fmt::format("every attempt goes bad early, whatever its learning rate: {}", rates),
                  evidence),
        attempts.front().firstBad, summary.loss.rank);
}

struct Jump
{
    Point point;
    double mean = 0;
};

double meanOf(const std::vector<Point>& points, std::size_t begin, std::size_t end)
{
    double sum = 0;
    for (auto i = begin; i < end; ++i) {
        sum += points[i].value;
    }
    return sum / static_cast<double>(end - begin);
}

/// The first norm so many times over the mean of up to a hundred before it.
std::optional<Jump> explosionIn(const std::vector<Point>& norms)
{
    constexpr double factor = 50;
    constexpr std::size_t window = 100;
    constexpr std::size_t fewest = 10;
    for (std::size_t i = fewest; i < norms.size(); ++i) {
        const double mean = meanOf(norms, i - std::min(i, window), i);
        if (mean > 0 && norms[i].value > factor * mean) {
            return Jump {norms[i], mean};
        }
    }
    return std::nullopt;
}

/// Of a hundred in a row that are next to nothing, the first. A norm printed as 0 has too few digits to count.
std::optional<Jump> vanishingIn(const std::vector<Point>& norms)
{
    constexpr double share = 1e-7;
    constexpr std::size_t length = 100;
    constexpr std::size_t beginning = 10;
    std::vector<double> start;
    for (std::size_t i = 0; i < std::min(beginning, norms.size()); ++i) {
        start.push_back(norms[i].value);
    }
    const double least = share * quantileOf(start);
    std::size_t inARow = 0;
    for (std::size_t i = beginning; i < norms.size(); ++i) {
        inARow = norms[i].value > 0 && norms[i].value < least ? inARow + 1 : 0;
        if (inARow == length) {
            return Jump {norms[i + 1 - length], quantileOf(start)};
        }
    }
    return std::nullopt;
}

CardOutcome gradientNorm(const RunSummary& summary)
{
    constexpr std::size_t fewest = 11;
    const auto norms = finitePoints(summary.gradNorm);
    if (norms.size() < fewest) {
        return notCheckable(summary.gradNorm.empty()
                ? whyEmpty(summary, summary.gradNorm)
                : fmt::format("{} finite gradient norms are logged, the rule needs {}", norms.size(), fewest));
    }
    if (const auto jump = explosionIn(norms)) {
        return at(
            fired(Confidence::medium,
                fmt::format(
                    "the gradient norm is {:.4g} at step {}, {:.0f} times the mean of the steps before it ({:.4g})",
                    jump->point.value, jump->point.step, jump->point.value / jump->mean, jump->mean),
                {evidenceOf(summary.gradNorm, jump->point)}),
            jump->point.step, summary.gradNorm.rank);
    }
    if (const auto jump = vanishingIn(norms)) {
        return at(fired(Confidence::medium,
                      fmt::format("the gradient norm stays below a ten-millionth of its start ({:.4g}) from step {} on",
                          jump->mean, jump->point.step),
                      {evidenceOf(summary.gradNorm, jump->point)}),
            jump->point.step, summary.gradNorm.rank);
    }
    if (std::all_of(norms.begin(), norms.end(), [](const Point& point) { return point.value == 0; })) {
        return notCheckable("every gradient norm is printed as 0: not measured, or too few digits");
    }
    return clear("the gradient norm neither jumps 50-fold nor vanishes");
}

} // namespace

std::vector<Card> stabilityCards()
{
    return {
        {"P15", "Output logits that keep growing", "warning",
            "medians of the quarters of the run rise, the last at least twice the first, and the last quarter has a "
            "fifth of "
            "the growth (Nanscope's own threshold); over 65,504 in fp16",
            {"a z-loss pins them: 1e-4 times the square of log Z (PaLM, ST-MoE)"}, outputLogits},
        {"P16", "Attention logits that keep growing", "warning",
            "medians of the quarters of the run rise, the last at least twice the first, and the last quarter has a "
            "fifth of "
            "the growth (Nanscope's own threshold)",
            {"a norm on query and key per head (arXiv 2309.14322), or a cap on the logits such as Kimi K2's QK-Clip"},
            attentionLogits},
        {"P17", "Learning rates that all go bad early", "warning",
            "first bad step before 500 in at least two runs with different learning rates (Nanscope's own threshold)",
            {"scale the initialisation of residual branches by 1 / sqrt(2 layers); embeddings at about 0.02",
                "take initialisation and place of the norms from a configuration that is known to train"},
            initialisation},
        {"P18", "Exploding or vanishing gradient", "warning",
            "over 50 times the mean of up to 100 steps before it (SPAM's factor); or below 1e-7 of its start for 100 "
            "steps "
            "(Nanscope's own threshold)",
            {"explosion: clip (P13), lower the learning rate, lengthen the warmup (P12), bf16 instead of fp16 (P10)",
                "vanishing: residual connections, norms, another initialisation (P17); is the learning rate too low?",
                "log the norm per layer for a while: it tells which one begins"},
            gradientNorm},
    };
}

} // namespace nanscope::diagnose::cards
