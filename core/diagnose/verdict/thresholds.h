// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The numbers that a verdict hangs on, with their units and the measurement behind each.
#pragma once

#include <cstdint>

namespace nanscope::diagnose::verdict {

/// Relative Frobenius distance. Above this nothing that ran can be one of ours: measured fits of the right variant lie
/// below 2 %, of the nearest wrong family above 9 % (user_view.md, result C).
constexpr double plausibleFit = 0.05;

/// Relative Frobenius distance of a healthy call from what ran: of the lab's it is 1.5 % at most; on its rank-1
/// matrices a wrong schedule comes to 5 %, a momentum that was dumped instead of the argument to 2.4 %.
constexpr double closeFit = 0.02;

/// Relative Frobenius distance: twice what the rounding of an output to bf16 makes (2^-9 at most of each value). Any
/// output is so near to what gave it.
constexpr double roundedFit = 0x1p-8;

/// Relative Frobenius distance. Rounding never takes a variant this far from itself; the nearest other family begins at
/// 9 % (user_view.md, result C).
constexpr double foreignFit = 0.15;

/// Times that an output is off by what its own roundings make. Of 220 finite outputs of the lab that fit (seeds 83, 84,
/// 96) 19 come to more: two plain calls, to 2.3, and others that run another number of steps, another norm, a function
/// of one's own, or that are not of the argument that was dumped.
constexpr double overRoundings = 2;

/// Relative Frobenius distance of a tile of 16 x 16. While the typical tile fits, this is not rounding; a missing
/// mirror half measures 14 %.
constexpr double corruptTile = 0.08;
/// Such a tile is off by so many times the typical one.
constexpr double corruptRatio = 10;

/// Per cent of ||X||_2 below the divergence limit of the schedule; user_view.md section 1, rule 2.
constexpr double slackEnough = 1.0;
/// Of what the authors left a schedule, rounding may use up this part (decision 0007).
constexpr double partOfOwnSlack = 0.5;
/// Unit roundoffs of the format: less slack than one rounding is none.
constexpr double roundingSteps = 0.6;
/// Times the slack that roundings may use up: past it other roundings are not tried (lab, seeds 71 and 72: of 2,942
/// members none came near its limit under the rest of the envelope).
constexpr double clearTimes = 2;
/// Per cent of ||X||_2: a replay may have so much less slack than its schedule leaves any matrix, and one whose
/// schedule leaves less than twice that is replayed.
constexpr double forecastError = 0.5;
/// Past max|Q| of this a Gram form runs away in a step more (decision 0008).
constexpr double absmaxQAllowed = 100;
/// Binades between the largest value met and the largest of the format.
constexpr double headroomNeeded = 4;

/// Times that one rank alone was damaged where another was right: once, a race may have done it.
constexpr int rankWrongAtLeast = 2;
/// Swaps in which a fault moved with its card: once, another card may have failed in its own way.
constexpr int swapsThatName = 2;

/// Of chance as the explanation of an outcome.
constexpr double doubt = 0.05;
/// Calls that all failed: with fewer, "always" cannot be distinguished from "19 times in 20" (0.95^59 < 0.05).
constexpr std::int64_t callsForAlways = 59;

} // namespace nanscope::diagnose::verdict
