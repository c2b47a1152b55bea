// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What trainers print of their checkpoints, as their sources have it. A new one is one line.
#pragma once

#include <span>

namespace nanscope::ingest {

enum class CheckpointWord {
    begins, ///< saving began; only a line that `completes` tells of its end
    saves, ///< the same, and training waits for it: the next row of metrics tells of its end, too
    completes,
    saved,
    removed,
    loads, ///< loading began
    loaded,
    startsAt, ///< training goes on with this step: what was being loaded is loaded, if it was the step before
};

enum class CheckpointStep {
    inLine, ///< in a group `step`, else in what a group `path` took
    ofRowAbove, ///< of the metrics in the line right above; the file is the same every time
    ofInterval, ///< of the last metrics, where the configured interval of saving says that it was then
};

struct CheckpointLine
{
    CheckpointWord word;
    const char* pattern;
    CheckpointStep step = CheckpointStep::inLine;
};

std::span<const CheckpointLine> checkpointLines();

} // namespace nanscope::ingest
