// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/model.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nanscope {

std::string shapeText(const Shape& shape)
{
    return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

MatrixShape matrixShape(const Shape& shape)
{
    MatrixShape result {1, 1, 1};
    const auto rank = shape.size();
    if (rank >= 1) {
        result.cols = shape[rank - 1];
    }
    if (rank >= 2) {
        result.rows = shape[rank - 2];
    }
    for (std::size_t i = 0; i + 2 < rank; ++i) {
        result.batch *= shape[i];
    }
    // The other extents of a shape without elements take no bytes of a file, so nothing bounds them.
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    return empty ? MatrixShape {0, 0, 0} : result;
}

Scan CaptureTensor::total() const
{
    Scan sum;
    for (const auto& scan : batches) {
        addScan(sum, scan, scan.firstNonFinite < 0 ? -1 : sum.count + scan.firstNonFinite);
        sum.trace += scan.trace;
    }
    return sum;
}

void addScan(Scan& whole, const Scan& part, std::int64_t first)
{
    if (first >= 0 && (whole.firstNonFinite < 0 || first < whole.firstNonFinite)) {
        whole.firstNonFinite = first;
        whole.firstClass = part.firstClass;
    }
    whole.count += part.count;
    whole.nan += part.nan;
    whole.posInf += part.posInf;
    whole.negInf += part.negInf;
    whole.zero += part.zero;
    whole.subnormal += part.subnormal;
    whole.absmax = std::max(whole.absmax, part.absmax);
    if (part.minNonzero > 0 && (whole.minNonzero == 0 || part.minNonzero < whole.minNonzero)) {
        whole.minNonzero = part.minNonzero;
    }
    whole.sumSquares += part.sumSquares;
}

std::int64_t pointsOf(const LogRecords& records)
{
    std::int64_t sum = 0;
    for (const auto& series : records.series) {
        sum += series.pointCount;
    }
    return sum;
}

bool EventFacts::says(Phrase phrase) const
{
    return std::binary_search(phrases.begin(), phrases.end(), phrase);
}

PointState stateOf(double value)
{
    if (std::isnan(value)) {
        return PointState::nan;
    }
    if (std::isinf(value)) {
        return value > 0 ? PointState::posInf : PointState::negInf;
    }
    return PointState::finite;
}

std::string hoursText(double hours)
{
    char digits[400]; // the largest double has 309 before its point
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), hours, std::chars_format::fixed, hours < 100 ? 1 : 0);
    return {std::begin(digits), end.ptr};
}

std::string lineOf(const Experiment& experiment)
{
    auto line = experiment.what;
    if (!experiment.meaning.empty()) {
        line += ": " + experiment.meaning;
    }
    if (experiment.cleanHours) {
        line += " (" + hoursText(*experiment.cleanHours) + " clean hours for 95 %)";
    }
    return line;
}

} // namespace nanscope
