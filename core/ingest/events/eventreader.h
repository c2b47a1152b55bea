// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ingest/events/checkpointreader.h"
#include "core/ingest/events/overflowtraces.h"
#include "core/ingest/events/sanitizerreports.h"
#include "core/ingest/log/logformat.h"
#include "core/ingest/settings/settingreader.h"

namespace nanscope::ingest {

/// Follows Python tracebacks through a log, of every rank its own, until the line that names the exception.
class Tracebacks
{
public:
    enum class Part {
        none, ///< the line belongs to no traceback
        inside,
        exception, ///< it ends one: frames() tells how it came there
    };

    Part take(const LogLine& line);

    /// Of the exception that was taken last, the innermost frame last. Of one that followed another, that one before
    /// them; of one in a backward pass, where anomaly mode says so, the frames of the forward call behind them.
    const std::string& frames() const { return m_frames; }

    /// The frames of a forward call follow.
    void startForward(const LogLine& line);

private:
    struct State
    {
        enum class Phase { frames, forward, ended } phase = Phase::frames;
        int lines = 0;
        bool chained = false;
        std::string frames;
        std::string forward;
        std::string exception; ///< what the traceback before ended with
    };
    using States = std::map<int, State>;

    bool start(const LogLine& line);
    Part takeFrame(States::iterator open, const LogLine& line);
    Part takeForward(State& state, const LogLine& line) const;
    Part takeBehind(States::iterator open, const LogLine& line);
    void finish(State& state, std::string_view exception);

    States m_states; ///< by rank, -1 for none
    std::string m_frames;
};

/// Finds what is no metric: dumps, warnings, tracebacks, checkpoints, settings, failures of the machine and of other
/// ranks. One automaton looks for all their words at once.
class EventReader
{
public:
    /// True if the line gave something or belongs to a traceback.
    bool parse(const LogLine& line, LogBuilder& builder);

    /// A format took this line as metrics.
    void trainingWentOn(const LogLine& line, LogBuilder& builder) { m_checkpoints.trainingWentOn(line, builder); }

    /// The end of the log.
    void finish(LogBuilder& builder) { m_sanitizer.finish(builder); }

private:
    bool parseException(const LogLine& line, LogBuilder& builder);
    bool parseWords(const LogLine& line, LogBuilder& builder, const std::string& detail = {});
    bool takeOverflow(const LogLine& line, LogBuilder& builder);
    void takeCheckpoint(const LogLine& line, LogBuilder& builder);
    void takeSettings(const LogLine& line, LogBuilder& builder);
    bool giveEvent(std::size_t signature, const LogLine& line, LogBuilder& builder, const std::string& detail);

    Tracebacks m_tracebacks;
    OverflowTraces m_overflows;
    SanitizerReports m_sanitizer;
    CheckpointReader m_checkpoints;
    SettingReader m_settings;
    std::optional<int> m_failedRank; ///< of the block torchrun prints for each failed process
    std::vector<int> m_hits;
};

} // namespace nanscope::ingest
