// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/diagnose/recovery/losshistory.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

// When the weights of a run went bad, counted in updates, process by process. W(n) are the weights after n updates:
// what a checkpoint of step n holds, and what the next loss is computed with. A log whose first step is 0 prints the
// loss of W(s) as step s, one that begins with 1 the loss of W(s - 1).

/// A loss that is finite and whose gradient norm is, where that is logged.
struct Proof
{
    std::int64_t weights = 0;
    double loss = 0;
    std::int64_t step = 0; ///< as it is printed
    std::int64_t line = 0;
    std::uint32_t source = 0; ///< place in TrainingProcess::sources
};

/// The weights that gave a finite loss. A run has millions of them, one like the other: what is kept are ranges of
/// steps that lie equally far apart, and the losses stay where they were read.
class Proofs
{
public:
    /// In order of weights. `quoted`: no line prints this loss as its own, a later one remembers it.
    void add(const Proof& proof, bool quoted);

    bool empty() const { return m_ranges.empty(); }
    std::int64_t lastWeights() const;
    /// Printed step minus weights.
    std::int64_t base() const { return m_ranges.front().first.step - m_ranges.front().first.weights; }

    /// The first of these weights or later ones. Inside a range its loss is not known.
    struct Found
    {
        Proof proof;
        bool lossKnown = false;
    };
    std::optional<Found> from(std::int64_t weights) const;

private:
    struct Range
    {
        Proof first;
        std::int64_t count = 1;
        std::int64_t apart = 1; ///< in steps
        std::int64_t linesApart = 0;
        bool closed = false;

        Proof at(std::int64_t index) const;
    };
    std::vector<Range> m_ranges;
};

struct Sign
{
    std::int64_t weights = 0; ///< n of the first W(n) it concerns
    std::optional<std::int64_t> step {}; ///< as it is printed, where a line says it
    EvidenceLine line;
};

/// What the weights of one process lived through.
struct TrainingProcess
{
    struct Source
    {
        std::string file;
        std::int64_t firstLine = 0;
        std::int64_t endLine = 0; ///< the next process begins here
        std::vector<const Series*> losses; ///< of the run, which outlives this
    };
    std::vector<Source> sources;
    bool last = true; ///< no later process of these logs
    bool countsRows = false; ///< the log names no steps: its rows cannot be held against a checkpoint
    /// A checkpoint of step n may hold W(n + 1): nothing shows whether it was written before or after the update of
    /// that step. Where a log counts from 1, that update has its number.
    bool mayHoldOneMore = false;
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

    /// Of its first log.
    std::string file() const { return sources.empty() ? std::string() : sources.front().file; }
    bool inTrouble() const { return poisonedFrom || doubtFrom || tornFrom; }
    /// The first n that must not be gone back to; no n is as large where there was no trouble.
    std::int64_t first() const;
    /// The first finite loss that W(n) or later weights gave before the trouble; none where there was none.
    std::optional<Proof> proofOf(std::int64_t n) const;
    /// The most updates that a checkpoint of this step may hold.
    std::int64_t newestIn(std::int64_t step) const { return step + (mayHoldOneMore ? 1 : 0); }
    bool wrote(const std::string& source, std::int64_t line) const;
    EvidenceLine lineOf(const Proof& proof) const;
};

/// Reads what the weights of processes lived through, as far as their losses tell. A log may hold very many of them, so
/// what they have in common is looked for once.
class TrainingProcessReader
{
public:
    explicit TrainingProcessReader(const RunData& run);

    TrainingProcess read(const LossHistory& history);

private:
    using Lane = std::pair<std::string, std::optional<int>>;

    struct Counting
    {
        std::int64_t base = 1;
        bool mayHoldOneMore = false;
    };

    Counting countingOf(const RankLossLog& lane);

    const RunData& m_run;
    std::map<Lane, std::vector<const Series*>> m_losses;
    std::map<Lane, Counting> m_countings;
};

/// All processes whose logs are there, and the one that the run ended with.
struct FailureTimeline
{
    std::vector<TrainingProcess> processes;
    const TrainingProcess* failed = nullptr; ///< the one that failed and that no other went on past; into `processes`

    bool none() const { return failed == nullptr; }
};

/// Points into `run`, which has to outlive it.
FailureTimeline failureTimelineOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts);
FailureTimeline failureTimelineOf(const RunData&& run, const std::vector<CaptureVerdict>& verdicts) = delete;

} // namespace nanscope::diagnose
