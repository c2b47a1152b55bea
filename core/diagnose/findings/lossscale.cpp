// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P5 to P7: the scale that fp16 needs for its gradients, where it is missing, useless or forgotten.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/diagnose/findings/skips.h"

namespace nanscope::diagnose::cards {

namespace {

/// Of the elements of a captured input, without matrices that are all zero: those are padding.
std::optional<double> vanishedShare(const Capture& capture)
{
    std::int64_t small = 0;
    std::int64_t all = 0;
    for (const auto& batch : capture.input.batches) {
        if (!batch.allZero()) {
            small += batch.zero + batch.subnormal;
            all += batch.count;
        }
    }
    return all > 0 ? std::optional(static_cast<double>(small) / static_cast<double>(all)) : std::nullopt;
}

const Capture* mostVanished(const RunData& run)
{
    const Capture* most = nullptr;
    for (const auto& capture : run.captures) {
        const auto share = vanishedShare(capture);
        most = share && (most == nullptr || *share > *vanishedShare(*most)) ? &capture : most;
    }
    return most;
}

bool hasScaler(const RunSummary& summary, const Skips& skips)
{
    return skips.byScaler || !summary.lossScale.empty()
        || settingNamed(summary.run, {"loss_scale", "initial_loss_scale", "init_scale", "grad_scaler"}) != nullptr;
}

CardOutcome endlessCalibration(const SkipStreak& streak, std::int64_t most)
{
    return at(fired(Confidence::medium,
                  fmt::format("the first {} were left out without one between that was taken; a search for the loss "
                              "scale ends after {}",
                      howMany(streak.count, "step"), most),
                  {streak.first, streak.last}),
        streak.firstStep, std::nullopt);
}

CardOutcome vanishedGradients(const RunSummary& summary, const Skips& skips)
{
    constexpr double most = 0.5;
    const auto formats = formatsOf(summary.run);
    const auto* capture = mostVanished(summary.run);
    const bool half = formats.fp16 != nullptr || (capture != nullptr && capture->input.dtype == DType::float16);
    if (capture == nullptr) {
        return notCheckable(skips.known ? "no capture shows the gradients" : "no skipped step, no capture");
    }
    if (!half && !formats.known()) {
        return notCheckable(missingSetting(summary.run, "number format"));
    }
    const auto share = *vanishedShare(*capture);
    if (!half || hasScaler(summary, skips) || share <= most) {
        return clear(!half ? "the run does not compute in fp16"
                : hasScaler(summary, skips)
                ? "a loss scale is there"
                : fmt::format("{:.0f} % of a captured input are zero or subnormal", 100 * share));
    }
    return at(fired(Confidence::low,
                  fmt::format("{:.0f} % of a captured input are zero or subnormal, in a run that computes in fp16 and "
                              "logs no loss scale",
                      100 * share),
                  {evidenceOf(*capture, fmt::format("input {}", shapeText(capture->input.shape)))}),
        capture->step, capture->rank);
}

CardOutcome scalerMissing(const RunSummary& summary)
{
    const auto skips = skipsOf(summary);
    const auto most = calibrationSteps(skips);
    const auto* start = skips.byScaler ? longest(skips.streaks, true) : nullptr;
    if (start != nullptr && start->count > most) {
        return endlessCalibration(*start, most);
    }
    auto outcome = vanishedGradients(summary, skips);
    if (outcome.state == FindingState::notCheckable && start != nullptr) {
        return clear(fmt::format(
            "{} left out at the start: a search for the loss scale may take {}", howMany(start->count, "step"), most));
    }
    return outcome;
}

CardOutcome scalerWithBf16(const RunSummary& summary)
{
    const auto formats = formatsOf(summary.run);
    if (!formats.known()) {
        return notCheckable(missingSetting(summary.run, "number format"));
    }
    if (formats.bf16 == nullptr || formats.fp16 != nullptr) {
        return clear(formats.bf16 == nullptr ? "the run does not use bf16" : "the run uses fp16 as well");
    }
    for (const auto& point : summary.lossScale.points) {
        if (point.state == PointState::finite && point.value != 1) {
            return at(fired(Confidence::high, fmt::format("the loss scale is {:g} in a bf16 run", point.value),
                          {evidenceOf(*formats.bf16), evidenceOf(summary.lossScale, point)}),
                point.step, summary.lossScale.rank);
        }
    }
    for (const auto& event : summary.run.events) {
        if (isScalerSkip(event)) {
            return at(fired(Confidence::high, "a step was left out for its loss scale in a bf16 run",
                          {evidenceOf(*formats.bf16), evidenceOf(event)}),
                event.step, std::nullopt);
        }
    }
    return summary.lossScale.empty() ? notCheckable(whyEmpty(summary, summary.lossScale))
                                     : clear("the loss scale stays 1");
}

struct Change
{
    double scale = 0; ///< in binades
    double norm = 0;
};

/// Of neighbours that have both values, those between which the scale moves: a trend of the norm alone is no evidence.
std::vector<Change> changesOf(const Trace& scale, const Trace& norm)
{
    std::vector<Change> changes;
    std::optional<std::pair<double, double>> before;
    for (const auto& point : scale.points) {
        const auto* other = pointAt(norm, point.step);
        const bool both = other != nullptr && point.state == PointState::finite && other->state == PointState::finite;
        if (!both || point.value <= 0 || other->value <= 0) {
            continue;
        }
        const auto now = std::pair(std::log2(point.value), std::log2(other->value));
        if (before && now.first != before->first) {
            changes.push_back({now.first - before->first, now.second - before->second});
        }
        before = now;
    }
    return changes;
}

struct Fit
{
    double slope = 0;
    double correlation = 0;
};

Fit fitOf(const std::vector<Change>& changes)
{
    double ss = 0;
    double sn = 0;
    double nn = 0;
    for (const auto& change : changes) {
        ss += change.scale * change.scale;
        sn += change.scale * change.norm;
        nn += change.norm * change.norm;
    }
    return {ss > 0 ? sn / ss : 0, ss > 0 && nn > 0 ? sn / std::sqrt(ss * nn) : 0};
}

/// Lines of overflows that say the scale, in the order of the log that the gradient norm is from.
std::vector<const Event*> scaledOverflows(const RunSummary& summary)
{
    std::vector<const Event*> lines;
    std::ranges::copy_if(summary.events, std::back_inserter(lines), [&](const Event* event) {
        return event->facts.attemptedScale.has_value()
            && (summary.gradNorm.empty() || event->source == summary.gradNorm.source);
    });
    std::ranges::stable_sort(lines, {}, &Event::line);
    return lines;
}

/// The last finite norm before a line, and the first behind it.
std::pair<const Point*, const Point*> normsAround(const Trace& norm, std::int64_t line)
{
    std::pair<const Point*, const Point*> around;
    for (const auto& point : norm.points) {
        if (point.state != PointState::finite || point.value <= 0 || sourceOf(norm, point) != norm.source) {
            continue;
        }
        if (point.line < line && (around.first == nullptr || point.line > around.first->line)) {
            around.first = &point;
        } else if (point.line > line && (around.second == nullptr || point.line < around.second->line)) {
            around.second = &point;
        }
    }
    return around;
}

/// Where one overflow is told with half the scale of the one before, the scale was that from the first line to the
/// second. How it grew no line tells, so that other neighbours tell nothing.
std::vector<Change> changesOfOverflows(const std::vector<const Event*>& lines, const Trace& norm)
{
    std::vector<Change> changes;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const double before = *lines[i - 1]->facts.attemptedScale;
        const double after = *lines[i]->facts.attemptedScale;
        const auto [first, second] = normsAround(norm, lines[i - 1]->line);
        const bool between = first != nullptr && second != nullptr && second->line < lines[i]->line
            && (i < 2 || first->line > lines[i - 2]->line);
        if (before > 0 && after == before / 2 && between) {
            changes.push_back({-1, std::log2(second->value) - std::log2(first->value)});
        }
    }
    return changes;
}

constexpr std::size_t fewestChanges = 3;

std::string followingText(const std::vector<Change>& changes, const Fit& fit)
{
    return fmt::format("over {} changes of the loss scale the gradient norm follows it with slope {:.2f} (r {:.2f})",
        changes.size(), fit.slope, fit.correlation);
}

bool follows(const Fit& fit)
{
    return fit.slope >= 0.8 && fit.slope <= 1.2 && fit.correlation >= 0.9;
}

CardOutcome clipByOverflows(const RunSummary& summary)
{
    const auto lines = scaledOverflows(summary);
    if (lines.empty()) {
        return notCheckable(whyEmpty(summary, summary.lossScale));
    }
    const auto changes = changesOfOverflows(lines, summary.gradNorm);
    if (changes.size() < fewestChanges) {
        return notCheckable(fmt::format("the loss scale is logged in {} of overflows only, which tell of {} beside a "
                                        "logged gradient norm; the rule needs {}",
            howMany(std::ssize(lines), "line"), howMany(std::ssize(changes), "halving"), fewestChanges));
    }
    const auto fit = fitOf(changes);
    const auto numbers = followingText(changes, fit) + ", by the lines of overflows";
    return follows(fit) ? fired(Confidence::medium, numbers, {evidenceOf(*lines.front()), evidenceOf(*lines.back())})
                        : clear(numbers);
}

CardOutcome clipBeforeUnscale(const RunSummary& summary)
{
    if (summary.lossScale.empty()) {
        return clipByOverflows(summary);
    }
    if (summary.gradNorm.empty()) {
        return notCheckable(whyEmpty(summary, summary.gradNorm));
    }
    const auto changes = changesOf(summary.lossScale, summary.gradNorm);
    if (changes.size() < fewestChanges) {
        return notCheckable(fmt::format("the loss scale changes {} beside a logged gradient norm, the rule needs {}",
            howMany(std::ssize(changes), "time"), fewestChanges));
    }
    const auto fit = fitOf(changes);
    return !follows(fit) ? clear(followingText(changes, fit))
                         : fired(Confidence::medium, followingText(changes, fit),
                             {evidenceOf(summary.lossScale, summary.lossScale.points.back()),
                                 evidenceOf(summary.gradNorm, summary.gradNorm.points.back())});
}

} // namespace

std::vector<Card> lossScaleCards()
{
    return {
        {"P5", "fp16 without a working loss scale", "warning",
            "more skipped steps at the start than lowering the scale explains, one for each halving and 2 more "
            "(DeepSpeed's defaults); or over 50 % of a captured input zero or subnormal in fp16 without a loss scale "
            "(Nanscope's own threshold)",
            {"fp16 needs a GradScaler: without one, small gradients become zero and the model learns little",
                "steps left out at the very start are the search for a scale, and normal; bf16 needs none"},
            scalerMissing},
        {"P6", "Loss scale in a bf16 run", "info", "bf16 in the configuration and a loss scale other than 1",
            {"bf16 has the range of fp32: the GradScaler costs time and does nothing; leave it out"}, scalerWithBf16},
        {"P7", "Gradient norm that follows the loss scale", "warning",
            "slope of log2(grad_norm) on log2(loss_scale) from 0.8 to 1.2, r at least 0.9, over at least 3 changes of "
            "the scale, or as many halvings by DeepSpeed's lines of overflows (Nanscope's own threshold)",
            {"what is logged is the norm of scaled gradients; if it is also what is clipped, the limit has no effect",
                "scaler.unscale_(optimizer) once, then clip, then scaler.step(optimizer)"},
            clipBeforeUnscale},
    };
}

} // namespace nanscope::diagnose::cards
