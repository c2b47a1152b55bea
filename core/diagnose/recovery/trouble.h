// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// When the weights of a run went bad, counted in updates, process by process. W(n) are the weights after n updates:
// what a checkpoint of step n holds, and what the next loss is computed with. A log whose first step is 0 prints the
// loss of W(s) as step s, one that begins with 1 the loss of W(s - 1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/recovery/proofs.h"
#include "core/diagnose/recovery/trace.h"
#include "core/diagnose/recovery/trail.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

struct Sign
{
    std::int64_t weights = 0; ///< n of the first W(n) it concerns
    EvidenceLine line;
};

/// What the weights of one process lived through.
struct ProcessLife
{
    struct Source
    {
        std::string file;
        std::int64_t firstLine = 0;
        std::int64_t endLine = 0; ///< the next process begins here
        std::vector<const Series*> losses; ///< of the run, which outlives this
    };
    std::vector<Source> sources;
    int number = 0; ///< of the processes whose logs belong together, in their order
    bool last = true; ///< no later process of these logs
    bool countsRows = false; ///< the log names no steps: its rows cannot be held against a checkpoint
    std::int64_t firstWeights = 0;
    std::int64_t lastWeights = 0;

    /// W(n) with this n or more are bad: they gave NaN and never a number again, or were written by a bad update.
    std::optional<Sign> poisonedFrom;
    /// The log ends with one value that is not finite, or without values: these weights, or that batch.
    std::optional<Sign> doubtFrom;
    /// A step that was broken off by an exception: some of its updates were done, others were not.
    std::optional<Sign> tornFrom;
    /// W(n) with this n or more were written while loss or gradient norm were already far above their mean.
    std::optional<Sign> climbingFrom;
    Proofs proofs;

    bool inTrouble() const { return poisonedFrom || doubtFrom || tornFrom; }
    /// The first n that must not be gone back to; no n is as large where there was no trouble.
    std::int64_t first() const;
    /// The first finite loss that W(n) or later weights gave before the trouble; none where there was none.
    std::optional<Proof> proofOf(std::int64_t n) const;
    bool wrote(const std::string& source, std::int64_t line) const;
    EvidenceLine lineOf(const Proof& proof) const;
};

/// All processes whose logs are there, and the one that the run ended with.
struct Trouble
{
    std::vector<ProcessLife> lives;
    const ProcessLife* life = nullptr; ///< in trouble, and no other went on past it; into `lives`

    bool none() const { return life == nullptr; }
};

/// Points into `run`, which has to outlive it.
Trouble troubleOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts);
Trouble troubleOf(const RunData&& run, const std::vector<CaptureVerdict>& verdicts) = delete;

/// What happened first, in one phrase: "loss is NaN at step 21, and no number after it".
std::string troubleText(const RunData& run, const Trouble& trouble);

} // namespace nanscope::diagnose
