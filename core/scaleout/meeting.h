// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "core/base/job.h"
#include "core/scaleout/keyvaluestore.h"
#include "core/scaleout/launch.h"

namespace nanscope::scaleout {

/// Words that the ranks of one launch leave for each other in a store. A failure means that the store does not answer.
class Meeting
{
public:
    using Clock = std::chrono::steady_clock;

    /// `subject` tells meetings apart that share a store. All have to outlive this.
    Meeting(const Launch& launch, KeyValueStore& store, std::string subject, const CancelToken& cancel);

    Result<void> say(const std::string& what, const std::string& text);

    /// What was said under this name; none where nothing was until then, or once cancelled.
    Result<std::optional<std::string>> hear(const std::string& what, Clock::time_point until);

    /// For ranks that have heard all they need. Rank 0 waits a few seconds for those named, since the store may go with
    /// it.
    Result<void> leave(std::span<const int> others);

    const Launch& launch() const { return m_launch; }
    const CancelToken& cancel() const { return m_cancel; }

private:
    std::string key(const std::string& what) const;

    const Launch& m_launch;
    KeyValueStore& m_store;
    std::string m_subject;
    const CancelToken& m_cancel;
};

} // namespace nanscope::scaleout
