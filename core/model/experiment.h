// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope {

/// What became of the fault in an experiment.
enum class Seen {
    gone, ///< not seen again; worth what the clean hours are worth
    stays, ///< seen again
    moves, ///< seen again, on another rank: it went with what was moved
    oftener, ///< seen again, more often than before
};

inline constexpr Seen everySeen[] = {Seen::gone, Seen::stays, Seen::moves, Seen::oftener};

std::string_view name(Seen seen);

/// "4.2", "120": tenths only where they could matter.
std::string hoursText(double hours);

/// Something to try next.
struct Experiment
{
    std::string id; ///< "kernels-off"; empty for advice without an outcome
    std::string what; ///< to run, to set or to do, as it is copied
    std::string meaning; ///< what its outcomes mean
    std::vector<Seen> outcomes; ///< those that mean something
    std::optional<double> cleanHours; ///< without the fault before "gone" counts; see cleanHours()
};

/// "WHAT: MEANING", and how long it has to stay clean where that is known.
std::string lineOf(const Experiment& experiment);

/// How often a run fails, as its owner counts it.
struct FailureRate
{
    int failures = 0; ///< at least 1
    double hours = 0; ///< in which they came
    bool operator==(const FailureRate&) const = default;
};

struct TriedExperiment
{
    std::string id;
    Seen seen = Seen::gone;
    double hours = 0; ///< clean ones, for `gone`
    int times = 1; ///< how often it was seen so, for `moves`
    bool operator==(const TriedExperiment&) const = default;
};

/// Calls with the very input of a capture, as the user counted them.
struct CallsAgain
{
    std::string capture; ///< its name
    std::int64_t failed = 0; ///< whose output was damaged
    std::int64_t calls = 0;
    bool sameGpu = true; ///< as the one it was captured on
    std::string experiment {}; ///< id of what was changed; empty: as it ran
    bool atTheScene = false; ///< counted by the helper that wrote the capture, right after the call
    bool operator==(const CallsAgain&) const = default;
};

/// What the user says ran, of the functions that may have made a capture.
struct KeptAnswer
{
    std::string capture; ///< its name
    std::vector<std::string> ticks; ///< those that are left, in the names of diagnose::ticksOf()
    bool operator==(const KeptAnswer&) const = default;
};

/// What the owner of a run saw and said besides its files. Belongs to the run, not to one capture.
struct Observations
{
    std::optional<FailureRate> rate;
    std::vector<TriedExperiment> tried; ///< at most one of an id
    std::vector<CallsAgain> called {}; ///< the function that was captured, called again
    std::vector<KeptAnswer> answers {}; ///< at most one of a capture
    bool operator==(const Observations&) const = default;
};

} // namespace nanscope
