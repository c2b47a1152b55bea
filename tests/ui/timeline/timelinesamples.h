// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <vector>

#include <QCoreApplication>
#include <QKeyEvent>

#include "core/model/run.h"
#include "tests/ui/samples.h"
#include "ui/timeline/timelineplot.h"

namespace nanscope::test {

inline std::vector<TracePoint> points(std::initializer_list<double> values)
{
    std::vector<TracePoint> result;
    for (const double value : values) {
        result.push_back(point(static_cast<std::int64_t>(result.size()), value));
    }
    return result;
}

inline TimelineTrace trace(int rank, std::initializer_list<double> values)
{
    return {QStringLiteral("rank %1").arg(rank), bucketsOf(points(values)), QStringLiteral("console.log"), rank};
}

inline Series makeSeries(
    const char* name, const char* source, std::optional<int> rank, std::initializer_list<double> values)
{
    Series series;
    series.name = name;
    series.rank = rank;
    series.source = source;
    for (const TracePoint& point : points(values)) {
        series.points.push_back({point.step, point.value, point.state, 10 + point.step});
    }
    return series;
}

inline void press(QWidget& widget, int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
{
    QKeyEvent event(QEvent::KeyPress, key, modifiers);
    QCoreApplication::sendEvent(&widget, &event);
}

} // namespace nanscope::test
