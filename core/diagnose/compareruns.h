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
    /// Where values differ and no longer do once rounded to so many decimals, which are all that one of the logs needs.
    /// Values are compared as they are: how many decimals a log prints is not kept, and a round value needs few.
    std::optional<int> equalDecimals;
};

/// A series that one of the runs does not have.
struct LoneSeries
{
    std::string name;
    std::optional<int> rank {}; ///< where its run has the name of several
    std::string source; ///< its log
    std::optional<Point> bad; ///< its first value that is not finite
    int otherRanks = 0; ///< in badA and badB: of how many other ranks the same series is first not finite at that step
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
    std::vector<LoneSeries> onlyA;
    std::vector<LoneSeries> onlyB;
    std::optional<LoneSeries>
        badA; ///< which series of the run, of those that both have too, is the first not to be finite
    std::optional<LoneSeries> badB;
    std::int64_t damagedA = 0; ///< captures whose output is not finite, whatever the log shows
    std::int64_t damagedB = 0;
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

/// Decimal places that every value can be printed with, at most 9; none where one needs more.
std::optional<int> decimalsOf(const Trace& trace);

} // namespace nanscope::diagnose
