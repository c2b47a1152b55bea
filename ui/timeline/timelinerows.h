// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include <QString>

#include "core/base/result.h"
#include "ui/timeline/trace.h"

namespace nanscope {

class TimelineStore;
struct TimelineLine;

/// One value as people copy it.
struct TimelineRow
{
    TracePoint point;
    QString line; ///< "rank 0"
    QString source;
};

/// "finite", "nan", "inf", "-inf", "missing".
QString stateWord(PointState state);
/// "console.log:31".
QString placeOf(const TimelineRow& row);

/// With a line of headings; NaN and the infinities as such, a value that was not given as nothing.
QString rowsAsTsv(std::span<const TimelineRow> rows);
/// An array of objects; numbers that are not finite are the strings "nan", "inf" and "-inf".
QString rowsAsJson(std::span<const TimelineRow> rows);

/// All values of these lines within the steps, one line behind the other, to a file in the form that its ending says:
/// how many there were.
Result<std::int64_t> saveRows(
    TimelineStore& store, std::span<const TimelineLine> lines, Interval steps, const QString& path);

} // namespace nanscope
