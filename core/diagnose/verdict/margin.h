// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// How close the replays of one member come to leaving their format or the limit of their schedule.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/dtype.h"
#include "core/model/facts.h"

namespace nanscope::diagnose::verdict {

/// Per cent of slack without which finite replays are luck, of a schedule that its authors left so much of it (decision
/// 0007).
double slackNeeded(double slackOfSchedule, Precision precision);

/// Some replay ends exactly like the dump.
bool reproduces(const MemberResult& m);

/// Some replay leaves the finite range.
bool blowsUp(const MemberResult& m);

bool isPublished(const MemberResult& m);

/// Not replayed: its schedule, or a replay of the same steps, keeps it clear of every limit.
bool isForecast(const MemberResult& m);

/// Its Q runs away in a step more, or in another order of sums (decision 0008).
bool hasLargeQ(const MemberResult& m);

/// So close to the edge of its schedule or format that a finite replay is luck; decisions 0007 and 0008.
bool lacksMargin(const MemberResult& m);

/// The largest value met is within a few binades of what the format holds.
bool lacksHeadroom(const MemberResult& m);

/// Of what the user or the sidecar names, margin is asked like of any other.
bool hasLittleSlack(const MemberResult& m);

/// Leaves the finite range on this input, or comes so close to it that finite replays are luck.
bool couldFail(const MemberResult& m);

/// So far from every limit that no rounding takes it there: `clearTimes` the slack that roundings may use up, and
/// headroom to spare. Of 2,942 such members of the lab (seeds 71 and 72, by their own rounding) none came below the
/// slack it needs under any of the other seven.
bool isClear(const MemberResult& m);

/// Finite so far, and at its edge whatever more replays show.
bool isClose(const MemberResult& m);

/// What so many of these members are: "variant", "variants", or "pairs of variant and format" where a variant is among
/// them in several formats.
std::string_view memberNoun(const std::vector<MemberResult>& members, std::ptrdiff_t count);

/// Of all members, each replayed once for each rounding of its envelope that was tried.
struct EnvelopeTotals
{
    int replays = 0;
    int finite = 0;
    int reproducing = 0;
    int forecast = 0; ///< members that were not replayed
    std::string_view forecastNoun; ///< what that is a number of
    std::optional<double> slackPercent;
    std::optional<double> absmaxQ;
    double headroomBinades = 0;
};
EnvelopeTotals totalsOf(const std::vector<MemberResult>& results);

/// "8 of 8 replays finite, 2 variants by forecast, slack 5.1 %, headroom 11 binades"
std::string totalsText(const EnvelopeTotals& totals);

} // namespace nanscope::diagnose::verdict
