// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/model.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

/// Which update a capture belongs to, as far as the logs tell.
struct StepLink
{
    std::optional<std::pair<std::int64_t, std::int64_t>> between; ///< after the line of the first, before the second
    StepSource source = StepSource::unknown;
    std::string file; ///< of the console line that names the dump
    std::int64_t line = 0;
    bool closed = false; ///< a later step line of the same rank exists; else the second is only the next number
    bool merged = false; ///< of a log of several ranks: their lines need not be in the order they were written in
    /// Of a step that the capture gives: between which others the log has it instead; `file` and `line` are of the log.
    std::optional<std::pair<std::int64_t, std::int64_t>> otherwise {};
};

/// The links of all captures of a run, which has to outlive it. Each takes a search among the lines of its log, not a
/// reading of them.
class StepLinks
{
public:
    explicit StepLinks(const RunData& run);

    StepLink of(const Capture& capture) const;

private:
    void add(const LogRecords& run);
    struct Lines
    {
        const Series* series = nullptr;
        bool inOrder = false; ///< of lines; attempts that were put together may not be
    };
    struct Neighbours
    {
        std::optional<Point> before;
        std::optional<Point> after;
    };

    Neighbours neighbours(const Event& event) const;
    StepLink byLogs(const Capture& capture) const;
    bool isMerged(std::string_view source) const;
    StepLink byLine(const Event& event) const;

    std::multimap<std::string_view, const Event*> m_naming; ///< by the dump that they name
    std::map<std::string_view, std::vector<Lines>> m_lines; ///< by the log, of those that name a dump
};

/// "between the log lines of steps 5 and 6"
std::string stepText(const std::optional<std::pair<std::int64_t, std::int64_t>>& between);

} // namespace nanscope::diagnose
