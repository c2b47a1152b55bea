// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/recovery/failuretimeline.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// An update with a damaged call that no log says was left out: what is written after it may hold the damage. That a
/// loss was finite says nothing of weights that took no part in it, as those of experts and idle heads.
struct DamagedUpdate
{
    enum class Kind {
        born, ///< damaged inside the call
        cameIn, ///< its input was damaged already
        wrong, ///< finite, and not what it should be
    };

    const CaptureVerdict* verdict = nullptr;
    const TrainingProcess* process = nullptr; ///< null: which one is not known
    std::optional<std::int64_t> weights; ///< n of the first W(n) that hold it; none where its step is not known
    Kind kind = Kind::born;

    /// "the update of step 4"
    std::string name() const;
    /// "the update of step 4 was damaged and is not shown to have been skipped"
    std::string text() const;
    EvidenceLine line() const;
};

/// Of each process the first of each kind. Refers to all that it is made of.
class DamagedUpdates
{
public:
    DamagedUpdates(
        const RunData& run, const std::vector<CaptureVerdict>& verdicts, const std::vector<TrainingProcess>& processes);

    const DamagedUpdate* first(DamagedUpdate::Kind kind) const;
    /// What W(n), written by this process, may hold that a check for finite values would show; null for nothing.
    const DamagedUpdate* in(const TrainingProcess& process, std::int64_t n) const;
    /// The same of what no such check shows.
    const DamagedUpdate* wrongIn(const TrainingProcess& process, std::int64_t n) const;

private:
    bool reaches(const DamagedUpdate& update, const TrainingProcess& process, std::int64_t n) const;
    bool holds(const DamagedUpdate& other) const;

    const std::vector<TrainingProcess>& m_processes;
    std::vector<DamagedUpdate> m_updates; ///< by their weights, those without behind them
};

} // namespace nanscope::diagnose
