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

#include "core/diagnose/recovery/failuretimeline.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Updates that the logs say were left out: by a guard, a loss scaler, a detector, or as the trainer counts them.
/// Refers to the run, which has to outlive it.
class LeftOutUpdates
{
public:
    explicit LeftOutUpdates(const RunData& run);

    /// Whether the update that the capture belongs to is one of them. Of several processes only the lines of its own
    /// say that; null where there is one process.
    bool hold(const CaptureVerdict& verdict, const TrainingProcess* process) const;

private:
    /// All updates behind the line of step `after`, up to that of `upTo`.
    struct Span
    {
        std::int64_t after = 0;
        std::int64_t upTo = 0;
        std::string_view source;
        std::int64_t line = 0;
        const Event* guard = nullptr; ///< of one call on one rank; null: of the whole update
        bool named = false; ///< by a line that says its step, and stands between those of others
    };
    using Lane = std::pair<std::string_view, std::optional<int>>;

    void addNamed(const RunData& run, const std::vector<const Event*>& events);
    void addBetweenLines(const RunData& run, const std::vector<const Event*>& events);
    void addCounters(const RunData& run);
    void addGuarded(const RunData& run, const std::vector<const Event*>& events);

    std::vector<Span> m_spans; ///< by their ends
    std::int64_t m_longest = 0;
    std::map<std::string_view, const Event*> m_guarded; ///< dumps whose line that of a guard follows
};

} // namespace nanscope::diagnose
