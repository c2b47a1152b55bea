// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinereadout.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QStringList>

#include "ui/shared/text.h"

namespace nanscope {

namespace {

struct ReadoutWords
{
    Q_DECLARE_TR_FUNCTIONS(Timeline)
};

constexpr int mostParts = 6;
const QString separator = QStringLiteral(" · ");

bool beats(std::int64_t step, const std::optional<std::int64_t>& best, double asked)
{
    const auto away = [asked](std::int64_t at) { return std::abs(static_cast<double>(at) - asked); };
    return !best || away(step) < away(*best) || (away(step) == away(*best) && step < *best);
}

/// "0.91 … 13.2 (82 values, 1 not finite)".
QString bucketText(const Bucket& bucket)
{
    if (bucket.count == 1) {
        return valueText(pointOf(bucket));
    }
    const QString range = bucket.finite == 0
        ? ReadoutWords::tr("nothing finite")
        : QStringLiteral("%1 … %2").arg(roundNumber(bucket.min, 5), roundNumber(bucket.max, 5));
    const std::int64_t bad = nonFiniteCount(bucket);
    return bad == 0
        ? ReadoutWords::tr("%1 (%2 values)").arg(range, countLabel(bucket.count))
        : ReadoutWords::tr("%1 (%2 values, %3 not finite)").arg(range, countLabel(bucket.count), countLabel(bad));
}

QStringList coarseParts(std::span<const TimelineTrace> traces, double step, int most)
{
    QStringList parts;
    for (const TimelineTrace& trace : traces) {
        const Bucket* bucket = nearestBucket(trace.buckets, step);
        if (bucket && parts.size() < most) {
            parts << QStringLiteral("%1: %2").arg(trace.label, bucketText(*bucket));
        }
    }
    return parts;
}

QString shortText(const TracePoint& point)
{
    return point.state == PointState::reported ? valueText(point) : roundNumber(point.value, 6);
}

QString deltaOf(const TracePoint& a, const TracePoint& b)
{
    if (a.state != PointState::finite || b.state != PointState::finite) {
        return QStringLiteral("%1 → %2").arg(shortText(a), shortText(b));
    }
    const double delta = b.value - a.value;
    return (delta > 0 ? QStringLiteral("+") : QString()) + roundNumber(delta, 6);
}

QString signedCount(std::int64_t count)
{
    return (count > 0 ? QStringLiteral("+") : QString()) + countLabel(count);
}

} // namespace

StepSamples alignSamples(double asked, const MaybePoints& nearest)
{
    StepSamples samples {asked, std::nullopt, MaybePoints(nearest.size()), true};
    for (const auto& point : nearest) {
        if (point && beats(point->step, samples.step, asked)) {
            samples.step = point->step;
        }
    }
    for (std::size_t i = 0; i < nearest.size(); ++i) {
        if (nearest[i] && nearest[i]->step == samples.step) {
            samples.points[i] = nearest[i];
        }
    }
    return samples;
}

StepSamples samplesOf(std::span<const TimelineTrace> traces, double step)
{
    MaybePoints nearest;
    bool exact = true;
    for (const TimelineTrace& trace : traces) {
        const Bucket* bucket = nearestBucket(trace.buckets, step);
        exact = exact && (!bucket || bucket->count == 1);
        nearest.push_back(bucket ? std::optional(pointOf(*bucket)) : std::nullopt);
    }
    StepSamples samples = alignSamples(step, nearest);
    if (!exact) {
        samples.exact = false;
        samples.points.assign(traces.size(), std::nullopt);
    }
    return samples;
}

NextSample nextSample(std::span<const TimelineTrace> traces, double from, int direction)
{
    NextSample next;
    for (const TimelineTrace& trace : traces) {
        for (const Bucket& bucket : within(trace.buckets, {from, from})) {
            const double end = static_cast<double>(direction > 0 ? bucket.lastStep : bucket.firstStep);
            next.hidden = next.hidden || (bucket.count > 1 && end != from);
        }
        std::optional<std::int64_t> own;
        if (direction > 0) {
            const auto at = std::ranges::upper_bound(
                trace.buckets, from, {}, [](const Bucket& bucket) { return static_cast<double>(bucket.firstStep); });
            own = at != trace.buckets.end() ? std::optional(at->firstStep) : std::nullopt;
        } else {
            const auto at = std::ranges::lower_bound(
                trace.buckets, from, {}, [](const Bucket& bucket) { return static_cast<double>(bucket.lastStep); });
            own = at != trace.buckets.begin() ? std::optional((at - 1)->lastStep) : std::nullopt;
        }
        if (own && (!next.step || (direction > 0 ? *own < *next.step : *own > *next.step))) {
            next.step = own;
        }
    }
    return next;
}

QString valueText(const TracePoint& point)
{
    return point.state == PointState::reported ? ReadoutWords::tr("not given") : exactNumber(point.value);
}

QString placeOf(const TimelineTrace& trace, const TracePoint& point)
{
    if (trace.source.isEmpty()) {
        return {};
    }
    return point.line > 0 ? QStringLiteral("%1:%2").arg(trace.source).arg(point.line) : trace.source;
}

QString readoutText(std::span<const TimelineTrace> traces, const StepSamples& samples)
{
    if (!samples.step) {
        return {};
    }
    QStringList parts;
    for (std::size_t i = 0; i < samples.points.size() && parts.size() < mostParts; ++i) {
        if (samples.points[i]) {
            parts << QStringLiteral("%1: %2").arg(traces[i].label, valueText(*samples.points[i]));
        }
    }
    if (!samples.exact) {
        parts = coarseParts(traces, samples.asked, mostParts);
        return ReadoutWords::tr("near step %1 · %2")
            .arg(countLabel(std::llround(samples.asked)), parts.join(separator));
    }
    return ReadoutWords::tr("step %1 · %2").arg(QString::number(*samples.step), parts.join(separator));
}

QString samplesTip(std::span<const TimelineTrace> traces, const StepSamples& samples)
{
    if (!samples.step) {
        return {};
    }
    constexpr int mostLines = 16;
    QStringList lines {ReadoutWords::tr("step %1").arg(*samples.step)};
    for (std::size_t i = 0; i < samples.points.size() && lines.size() <= mostLines; ++i) {
        if (const auto& point = samples.points[i]) {
            lines << QStringLiteral("%1: %2   %3").arg(traces[i].label, valueText(*point), placeOf(traces[i], *point));
        }
    }
    const bool several = std::ranges::any_of(traces, [&](const TimelineTrace& trace) {
        const Bucket* bucket = nearestBucket(trace.buckets, samples.asked);
        return bucket && bucket->count > 1;
    });
    if (several) {
        lines << ReadoutWords::tr("in this column:") << coarseParts(traces, samples.asked, mostLines);
    }
    return lines.join(QLatin1Char('\n'));
}

QString deltaText(std::span<const TimelineTrace> traces, const StepSamples& a, const StepSamples& b)
{
    if (!a.step || !b.step) {
        return {};
    }
    QStringList parts {
        ReadoutWords::tr("A %1 → B %2: %3 steps").arg(*a.step).arg(*b.step).arg(signedCount(*b.step - *a.step))};
    for (std::size_t i = 0; i < std::min({traces.size(), a.points.size(), b.points.size()}); ++i) {
        if (a.points[i] && b.points[i] && parts.size() <= mostParts) {
            parts << QStringLiteral("%1: %2").arg(traces[i].label, deltaOf(*a.points[i], *b.points[i]));
        }
    }
    return parts.join(separator);
}

QString roughCount(std::int64_t count)
{
    constexpr std::int64_t thousands = 100'000;
    constexpr std::int64_t millions = 1'000'000;
    if (count < thousands) {
        return countLabel(count);
    }
    return count < millions ? ReadoutWords::tr("%1 k").arg(count / 1000)
                            : ReadoutWords::tr("%1 M").arg(static_cast<double>(count) / 1e6, 0, 'f', 1);
}

QString samplesNote(const SampleCounts& counts)
{
    if (counts.drawn >= counts.all) {
        return {};
    }
    const QString all = roughCount(counts.all);
    return ReadoutWords::tr("showing %1 of %2 samples (min/max kept)")
        .arg(roughCount(counts.drawn), counts.exact ? all : ReadoutWords::tr("about %1").arg(all));
}

} // namespace nanscope
