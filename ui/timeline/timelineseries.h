// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <QString>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "ui/timeline/timelinestore.h"
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
    std::size_t otherRanks = 0; ///< of the same log, which are not drawn
};

/// What a log gave of one rank.
struct LineOrigin
{
    std::optional<int> rank;
    std::string source;

    bool operator==(const LineOrigin&) const = default;
    bool operator<(const LineOrigin& other) const
    {
        return std::tie(rank, source) < std::tie(other.rank, other.source);
    }
};

/// Which of the lines that a run has of a value are drawn.
struct LineChoice
{
    enum class Which { automatic, all, one };
    Which which = Which::automatic;
    std::string run {}; ///< the root of the run that has the one: other runs have logs of the same name
    LineOrigin one {};

    bool operator==(const LineChoice&) const = default;
};

/// Names of all series that hold anything, the canonical ones first. `inMemory`: whose points are in `run`.
std::vector<std::string> seriesNames(const RunData& run, bool inMemory = false);

/// "Loss", "Gradient norm"; a name of the log's own stays as it is.
QString seriesTitle(std::string_view name);

/// Where the lines of some values may come from, in the order of ranks and then of logs.
std::vector<LineOrigin> lineOriginsOf(const RunData& run, const std::vector<std::string>& names);

/// "rank 0 · train.log"; of a run with a single log "rank 0", of a log without ranks "train.log".
QString originLabel(const LineOrigin& origin, bool namesLog, const std::vector<QString>& rankNames = {});

/// Unless something else is chosen that the run has of this value: per rank the source with the most points; a log
/// without ranks only where no rank has one of its own. `rankNames` take the place of "rank 0" and so on.
std::vector<TimelineLine> linesOf(const RunData& run, std::string_view name, const LineChoice& choice = {},
    const std::vector<QString>& rankNames = {});

/// Marks for the upper row: judged captures between their steps, and log events that say their step.
std::vector<TimelineEvent> eventsOf(const RunData& run, const Diagnosis* diagnosis);

/// Events of one log that name no step, in the order of their lines, and the series that tell where these stand: none
/// where the log has no steps.
struct SteplessEvents
{
    std::vector<const Event*> events;
    std::vector<std::size_t> parts;
};

std::vector<SteplessEvents> steplessEvents(const RunData& run);

/// The mark of such an event; none where nothing of its log stands around its line.
std::optional<TimelineEvent> placedEvent(const Event& event, const LineSteps& steps);

/// What is to be said of events that have no mark: "2 skipped updates without a step, the first at err.log:12".
QString unplacedNote(const std::vector<const Event*>& events);

} // namespace nanscope
