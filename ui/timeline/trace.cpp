// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/trace.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nanscope {

namespace {

std::size_t nonFiniteIndex(PointState state)
{
    return static_cast<std::size_t>(state) - static_cast<std::size_t>(PointState::nan);
}

void mergeFinite(Bucket& bucket, const Bucket& next)
{
    if (bucket.finite == 0) {
        bucket.first = next.first;
    }
    if (!(bucket.min <= next.min)) {
        bucket.min = next.min;
        bucket.minAt = next.minAt;
    }
    if (!(bucket.max >= next.max)) {
        bucket.max = next.max;
        bucket.maxAt = next.maxAt;
    }
    bucket.last = next.last;
    bucket.sum += next.sum;
    bucket.finite += next.finite;
    bucket.nonPositive += next.nonPositive;
}

void extend(std::optional<Interval>& range, double value)
{
    range = range ? Interval {std::min(range->low, value), std::max(range->high, value)} : Interval {value, value};
}

} // namespace

Bucket bucketOf(const TracePoint& point)
{
    Bucket bucket;
    bucket.firstStep = bucket.lastStep = point.step;
    bucket.count = 1;
    bucket.line = point.line;
    if (point.state == PointState::finite) {
        bucket.finite = 1;
        bucket.first = bucket.last = bucket.min = bucket.max = bucket.sum = point.value;
        bucket.minAt = bucket.maxAt = static_cast<double>(point.step);
        bucket.nonPositive = point.value > 0 ? 0 : 1;
        return bucket;
    }
    bucket.opensWithGap = bucket.closesWithGap = true;
    if (point.state != PointState::reported) {
        bucket.nonFinite[nonFiniteIndex(point.state)] = 1;
        bucket.nonFiniteAt[nonFiniteIndex(point.state)] = point.step;
    }
    return bucket;
}

void merge(Bucket& bucket, const Bucket& next)
{
    if (next.finite > 0) {
        mergeFinite(bucket, next);
    }
    for (std::size_t i = 0; i < bucket.nonFinite.size(); ++i) {
        if (bucket.nonFinite[i] == 0) {
            bucket.nonFiniteAt[i] = next.nonFiniteAt[i];
        }
        bucket.nonFinite[i] += next.nonFinite[i];
    }
    bucket.count += next.count;
    bucket.firstStep = std::min(bucket.firstStep, next.firstStep);
    bucket.lastStep = std::max(bucket.lastStep, next.lastStep);
    bucket.closesWithGap = next.closesWithGap;
    bucket.exact = bucket.exact && next.exact;
}

std::vector<Bucket> bucketsOf(std::span<const TracePoint> points)
{
    std::vector<Bucket> buckets;
    buckets.reserve(points.size());
    for (const TracePoint& point : points) {
        buckets.push_back(bucketOf(point));
    }
    return buckets;
}

void appendReduced(std::vector<Bucket>& buckets, std::span<const TracePoint> points, double width)
{
    double cell = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double own = std::floor(static_cast<double>(points[i].step) / width);
        if (i > 0 && own == cell && width > 1) {
            merge(buckets.back(), bucketOf(points[i]));
        } else {
            buckets.push_back(bucketOf(points[i]));
        }
        cell = own;
    }
}

std::int64_t nonFiniteCount(const Bucket& bucket)
{
    return std::accumulate(bucket.nonFinite.begin(), bucket.nonFinite.end(), std::int64_t {0});
}

TracePoint pointOf(const Bucket& bucket)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double values[] = {Bucket::none, infinity, -infinity};
    if (bucket.finite > 0) {
        return {bucket.firstStep, bucket.first, PointState::finite, bucket.line};
    }
    for (std::size_t i = 0; i < bucket.nonFinite.size(); ++i) {
        if (bucket.nonFinite[i] > 0) {
            return {bucket.firstStep, values[i], stateOf(values[i]), bucket.line};
        }
    }
    return {bucket.firstStep, 0, PointState::reported, bucket.line};
}

std::span<const Bucket> within(std::span<const Bucket> buckets, Interval steps)
{
    const auto begin = std::ranges::lower_bound(
        buckets, steps.low, {}, [](const Bucket& bucket) { return static_cast<double>(bucket.lastStep); });
    const auto end = std::ranges::upper_bound(
        buckets, steps.high, {}, [](const Bucket& bucket) { return static_cast<double>(bucket.firstStep); });
    return {begin, std::max(begin, end)};
}

std::span<const Bucket> around(std::span<const Bucket> buckets, Interval steps)
{
    const auto inside = within(buckets, steps);
    const auto first = static_cast<std::size_t>(inside.data() - buckets.data());
    const std::size_t begin = first > 0 ? first - 1 : 0;
    const std::size_t end = std::min(buckets.size(), first + inside.size() + 1);
    return buckets.subspan(begin, end - begin);
}

const Bucket* nearestBucket(std::span<const Bucket> buckets, double step)
{
    const auto distance = [step](const Bucket& bucket) {
        return std::max(
            {static_cast<double>(bucket.firstStep) - step, step - static_cast<double>(bucket.lastStep), 0.0});
    };
    const auto after = std::ranges::lower_bound(
        buckets, step, {}, [](const Bucket& bucket) { return static_cast<double>(bucket.firstStep); });
    if (after == buckets.begin()) {
        return buckets.empty() ? nullptr : &buckets.front();
    }
    const auto before = after - 1;
    return after == buckets.end() || distance(*before) <= distance(*after) ? &*before : &*after;
}

std::optional<Interval> finiteRange(std::span<const Bucket> buckets, Interval steps)
{
    std::optional<Interval> range;
    for (const Bucket& bucket : within(buckets, steps)) {
        if (bucket.finite > 0) {
            range = united(range, Interval {bucket.min, bucket.max});
        }
    }
    return range;
}

std::optional<Interval> positiveRange(std::span<const Bucket> buckets, Interval steps)
{
    std::optional<Interval> range;
    for (const Bucket& bucket : within(buckets, steps)) {
        for (const double value : {bucket.min, bucket.first, bucket.last, bucket.max}) {
            if (value > 0) {
                extend(range, value);
            }
        }
    }
    return range;
}

std::optional<Interval> stepRange(std::span<const Bucket> buckets)
{
    if (buckets.empty()) {
        return std::nullopt;
    }
    return Interval {static_cast<double>(buckets.front().firstStep), static_cast<double>(buckets.back().lastStep)};
}

std::optional<Interval> united(std::optional<Interval> a, const std::optional<Interval>& b)
{
    if (!a || !b) {
        return a ? a : b;
    }
    return Interval {std::min(a->low, b->low), std::max(a->high, b->high)};
}

} // namespace nanscope
