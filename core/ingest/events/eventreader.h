// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ingest/events/checkpointreader.h"
#include "core/ingest/events/tracebacks.h"
#include "core/ingest/log/logformat.h"
#include "core/ingest/settings/settingreader.h"

namespace nanscope::ingest {

/// Finds what is no metric: dumps, warnings, tracebacks, checkpoints, settings, failures of the machine and of other
/// ranks. One automaton looks for all their words at once.
class EventReader
{
public:
    /// True if the line gave something or belongs to a traceback.
    bool parse(const LogLine& line, LogBuilder& builder);

    /// A format took this line as metrics.
    void trainingWentOn(const LogLine& line, LogBuilder& builder) { m_checkpoints.trainingWentOn(line, builder); }

private:
    bool parseException(const LogLine& line, LogBuilder& builder);
    bool parseWords(const LogLine& line, LogBuilder& builder, const std::string& detail = {});
    void takeCheckpoint(const LogLine& line, LogBuilder& builder);
    void takeSettings(const LogLine& line, LogBuilder& builder);
    bool giveEvent(std::size_t signature, const LogLine& line, LogBuilder& builder, const std::string& detail);

    Tracebacks m_tracebacks;
    CheckpointReader m_checkpoints;
    SettingReader m_settings;
    std::optional<int> m_failedRank; ///< of the block torchrun prints for each failed process
    std::vector<int> m_hits;
};

} // namespace nanscope::ingest
