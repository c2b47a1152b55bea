// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Two runs on one axis of steps: from where on their values differ, and what differs in how they were set up. States
// facts and blames neither run: two runs with one seed part for many reasons.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnose/recovery/trace.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

struct SeriesComparison
{
    std::string name;
    std::optional<int> rank {}; ///< where the runs have it of several
    Trace a;
    Trace b;
    std::int64_t common = 0; ///< steps that both have
    std::int64_t differing = 0; ///< of them
    std::optional<std::pair<Point, Point>> first; ///< the first of those
    std::optional<std::pair<Point, Point>> largest; ///< with the largest relative difference where both are finite
    double largestRelative = 0; ///< |a - b| / max(|a|, |b|)
    /// Values are held against each other as the coarser log prints them, where both have enough different ones to tell
    /// that from; else to the last bit.
    std::optional<int> decimals;
};

struct SettingComparison
{
    std::string name;
    std::optional<Setting> a;
    std::optional<Setting> b;
};

struct RunComparison
{
    std::vector<SeriesComparison> series; ///< that both runs have
    std::vector<std::string> onlyA; ///< names of series
    std::vector<std::string> onlyB;
    std::vector<SettingComparison> settings; ///< that differ; empty where either run shows none
    std::int64_t sameSettings = 0;
    std::int64_t settingsOfA = 0; ///< that the run shows at all
    std::int64_t settingsOfB = 0;

    /// The series that differs first; null where none does.
    const SeriesComparison* first() const;
};

/// Step s of `a` is held against step s + shift of `b`.
RunComparison compareRuns(const RunData& a, const RunData& b, std::int64_t shift = 0);

/// How many settings differ, or why none are compared: which run shows none, and what would show them.
std::string settingsSentence(const RunComparison& comparison, std::string_view nameA, std::string_view nameB);

/// Decimal places a log prints its values with, at most 9; none where it writes them in full or with an exponent.
std::optional<int> decimalsOf(const Trace& trace);

} // namespace nanscope::diagnose
