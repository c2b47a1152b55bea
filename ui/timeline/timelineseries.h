// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <QString>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "ui/timeline/trace.h"

namespace nanscope {

/// One line of a timeline as the run knows it: series of one value and rank that follow each other. Where a restart
/// goes back in steps, another line of the same look begins.
struct TimelineLine
{
    QString label;
    std::optional<int> rank;
    QString source;
    int style = 0;
    std::vector<std::size_t> parts; ///< places in the run's list of series
    std::size_t otherLogs = 0; ///< of the same rank, or of none, which are not drawn
};

/// Names of all series that hold anything, the canonical ones first. `inMemory`: whose points are in `run`.
std::vector<std::string> seriesNames(const RunData& run, bool inMemory = false);

/// "Loss", "Gradient norm"; a name of the log's own stays as it is.
QString seriesTitle(std::string_view name);

/// Per rank the source with the most points; a log without ranks only where no rank has one of its own.
std::vector<TimelineLine> linesOf(const RunData& run, std::string_view name);

/// Marks for the upper row: judged captures between their steps, and log events that say their step.
std::vector<TimelineEvent> eventsOf(const RunData& run, const Diagnosis* diagnosis);

} // namespace nanscope
