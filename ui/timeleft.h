// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nanscope {

struct Progress;

/// How long a phase of a job still takes, judged by what it took so far. Nothing until that says something: in the
/// first second, while nothing is done, or while the total is not known.
class TimeLeft
{
public:
    /// In seconds; `nowMs` is any clock that only goes forward.
    std::optional<double> after(const Progress& progress, std::int64_t nowMs);

private:
    std::string m_phase;
    std::int64_t m_startMs = 0;
    std::int64_t m_startDone = 0;
    std::int64_t m_lastDone = -1;
};

} // namespace nanscope
