// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <QString>

#include "ui/timeline/timelinelines.h"
#include "ui/timeline/trace.h"

namespace nanscope {

using MaybePoints = std::vector<std::optional<TracePoint>>; ///< one a trace

/// What the traces hold at the sample nearest to where somebody asked.
struct StepSamples
{
    double asked = 0;
    std::optional<std::int64_t> step; ///< nothing where there are no samples at all
    MaybePoints points; ///< of those that have this step
    bool exact = true; ///< false: the sample stands in a bucket of several, `points` is empty
};

/// `nearest` has the nearest point of each trace; only those at the nearest step of all are kept.
StepSamples alignSamples(double asked, const MaybePoints& nearest);
StepSamples samplesOf(std::span<const TimelineTrace> traces, double step);

/// First step of a sample after (before) a step; nothing where there is none, or where a bucket of several hides it.
struct NextSample
{
    std::optional<std::int64_t> step;
    bool hidden = false;
};
NextSample nextSample(std::span<const TimelineTrace> traces, double from, int direction);

/// "1.5", "NaN", "not given".
QString valueText(const TracePoint& point);
/// "console.log:31".
QString placeOf(const TimelineTrace& trace, const TracePoint& point);

/// "step 5 · rank 0: 1.5 · rank 1: NaN".
QString readoutText(std::span<const TimelineTrace> traces, const StepSamples& samples);
/// A line per trace, with file:line, and what the pixel column holds besides.
QString samplesTip(std::span<const TimelineTrace> traces, const StepSamples& samples);
/// "A 10 → B 40: +30 steps · rank 0: −0.25".
QString deltaText(std::span<const TimelineTrace> traces, const StepSamples& a, const StepSamples& b);

/// "12,345", "1.2 M".
QString roughCount(std::int64_t count);
/// "showing 1,920 of 4.0 M samples (min/max kept)"; empty where every sample is drawn.
QString samplesNote(const SampleCounts& counts);

} // namespace nanscope
