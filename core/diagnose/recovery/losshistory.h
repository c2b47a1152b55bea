// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// What a log says of the loss at one step, as far as a detector cares. In order of what outweighs what.
enum class LossSign : std::uint8_t {
    finite,
    absent, ///< the step was reported, its loss was not
    zeroed, ///< exactly 0 beside a gradient norm that is not finite: a filter may have put it there
    elsewhere, ///< not finite, but on another rank than the one that is watched
    nonFinite,
};

struct LossStep
{
    std::int64_t step = 0; ///< as a detector counts it: before the trainer adds one
    double loss = std::numeric_limits<double>::quiet_NaN(); ///< of the watched rank, where a line says it
    std::int64_t line = 0;
    std::uint32_t lane = 0;
    LossSign sign = LossSign::finite;
    bool badGradient = false; ///< the gradient norm of the step is not finite
    bool quoted = false; ///< the loss is the one that a later warning remembers
};

/// The losses of one rank in one log.
struct RankLossLog
{
    std::optional<int> rank;
    std::string source;
    bool ownDetector = false; ///< the log has a detector's lines: a step it does not name was finite
    bool countedSteps = false; ///< the log names no steps, its rows were counted
    bool runningAverage = false; ///< once NaN, always NaN
    std::int64_t offset = 0; ///< printed step minus the detector's
    EvidenceLine numbering; ///< what shows the offset; empty where nothing does
    std::int64_t interval = 1; ///< steps from line to line, most of the time
    std::int64_t absent = 0; ///< left out of the loss history: more steps come without a loss than with one
};

/// What one process lived through, joined over the ranks whose losses are logged.
struct LossHistory
{
    std::vector<RankLossLog> lanes; ///< the watched one first
    int life = 0; ///< counters start anew with each
    int lives = 1;
    std::vector<LossStep> steps; ///< one per step, ascending
    std::vector<std::pair<std::int64_t, int>> badRanks; ///< step and rank, as far as the logs name it
    EvidenceLine ownStop; ///< the run's own detector ended it; empty if not
    EvidenceLine crash; ///< a value that its trainer could not print ended it; empty if not
    std::vector<EvidenceLine> doubts; ///< where the log's own counters say that lines are missing

    EvidenceLine evidence(const LossStep& step, std::string text) const;
};

/// Per rank the log with the most losses, joined where they are of one run; a log that names no rank stands for itself.
/// The last writer of a step wins.
std::vector<LossHistory> lossHistoriesOf(const RunData& run);

/// The setting in which the reader of a log says what it knows of its trainer (core/ingest/log/logformat.h).
constexpr std::string_view stepBaseName = "log.step_base";

/// The loss printed as step s is that of W(s - base), W(n) being what checkpoint n holds. Steps as a detector counts
/// them are those of the weights; else the trainer's source, a resume or the first step of the log tells.
/// `losses` are those of its first lane.
std::int64_t stepBaseOf(const RunData& run, const RankLossLog& lane, const std::vector<const Series*>& losses);

/// What a resume of this log shows, or its detector: checkpoint n was written before the update of step n. Of other
/// logs that count from 0 a checkpoint may hold one update more than its name says, as those of Dion's train.py do.
bool savesBeforeUpdate(const RunData& run, const RankLossLog& lane, const std::vector<const Series*>& losses);

} // namespace nanscope::diagnose
