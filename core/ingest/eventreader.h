// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ingest/logformat.h"
#include "core/ingest/tracebacks.h"

namespace nanscope {

/// Finds what is no metric: dumps, warnings, tracebacks, failures of the machine and of other ranks. One automaton
/// looks for all signatures at once.
class EventReader
{
public:
    /// True if the line gave an event or belongs to a traceback.
    bool parse(const LogLine& line, LogBuilder& builder);

private:
    bool parseException(const LogLine& line, LogBuilder& builder);
    bool parseSignature(const LogLine& line, LogBuilder& builder, const std::string& detail = {});

    Tracebacks m_tracebacks;
    std::optional<int> m_failedRank; ///< of the block torchrun prints for each failed process
    std::vector<int> m_hits;
};

} // namespace nanscope
