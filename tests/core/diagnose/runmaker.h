// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs made of a few values, for what reads their run's summary.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/logtext/eventfacts.h"
#include "core/model/model.h"

namespace nanscope {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Values of consecutive steps from `first` on, on consecutive lines from 100 on; NaN and Inf are given as they are.
inline Series seriesOf(const std::string& name, std::int64_t first, const std::vector<double>& values,
    const std::string& source = "train.log")
{
    Series series;
    series.name = name;
    series.source = source;
    series.rank = 0;
    series.firstStep = first;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        const auto state = stateOf(values[i]);
        series.points.push_back({first + number, values[i], state, 100 + number});
        series.nan += state == PointState::nan ? 1 : 0;
        series.posInf += state == PointState::posInf ? 1 : 0;
        series.negInf += state == PointState::negInf ? 1 : 0;
    }
    series.lastStep = series.points.empty() ? first : series.points.back().step;
    series.pointCount = static_cast<std::int64_t>(values.size());
    return series;
}

inline std::vector<double> constant(std::size_t count, double value)
{
    return std::vector<double>(count, value);
}

/// One list after the other.
inline std::vector<double> joined(std::vector<double> first, const std::vector<double>& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

inline void say(Event& event, const std::string& text)
{
    event.text = text;
    event.facts = logtext::factsIn(text);
}

inline Event eventOf(EventKind kind, std::optional<std::int64_t> step, const std::string& text, std::int64_t line = 1)
{
    Event event;
    event.kind = kind;
    event.rank = 0;
    event.step = step;
    say(event, text);
    event.source = "train.log";
    event.line = line;
    return event;
}

inline Checkpoint saved(std::int64_t step)
{
    return {step, CheckpointFact::saved, "out/step_" + std::to_string(step), "", "train.log", 1000 + step};
}

inline Checkpoint found(std::int64_t step, const std::string& problem = {})
{
    return {step, CheckpointFact::found, "out/step_" + std::to_string(step), problem, "", 0};
}

} // namespace nanscope
