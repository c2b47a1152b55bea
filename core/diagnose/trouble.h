// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// When the weights of a run went bad, counted in updates. W(n) are the weights after n updates: what a checkpoint of
// step n holds, and what the next loss is computed with. A log whose first step is 0 prints the loss of W(s) as step s,
// one that begins with 1 the loss of W(s - 1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/trace.h"
#include "core/model/model.h"

namespace nanscope {

struct Sign
{
    std::int64_t weights = 0; ///< n of the first W(n) it concerns
    EvidenceLine line;
};

struct Trouble
{
    /// W(n) with this n or more are bad: they gave NaN and never a number again, or were written by a bad update.
    std::optional<Sign> poisonedFrom;
    /// The log ends with one loss that is not finite: these weights, or that batch.
    std::optional<Sign> doubtFrom;
    /// W(n) with this n or more were written while loss or gradient norm were already far above their mean.
    std::optional<Sign> climbingFrom;
    /// A step that was broken off by an exception: some of its updates were done, others were not.
    std::optional<Sign> tornFrom;
    /// Each W(n) that gave a finite loss and, where it is logged, a finite gradient norm, before the trouble; in order.
    std::vector<Sign> proofs;

    bool none() const { return !poisonedFrom && !doubtFrom && !tornFrom; }
    /// The first n that must not be gone back to; no n is as large where there was no trouble.
    std::int64_t first() const;
    /// The first finite loss that W(n) or later weights gave; null where there was none before the trouble.
    const Sign* proofOf(std::int64_t n) const;
};

/// 0 where the log counts its steps from 0, else 1.
std::int64_t stepBase(const Trace& trace);

Trouble troubleOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts);

/// What happened first, in one phrase: "loss is NaN at step 21, and no number after it".
std::string troubleText(const RunData& run, const Trouble& trouble);

/// The first point of the climb that the last finite points are part of: at least twice the mean of the hundred points
/// before it (llm-foundry's rule for loss spikes, factor 2 over 100).
const Point* climbBefore(const Trace& trace, std::int64_t step);

} // namespace nanscope
