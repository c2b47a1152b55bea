// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/probe/nonfiniteguard.h"

#include <fmt/format.h>

#include "core/base/try.h"

namespace nanscope::probe {

Result<GuardAnswer> NonFiniteGuard::agree(std::optional<std::int64_t> step)
{
    if (m_options.checkSteps && step) {
        TRY(checkSteps(*step));
    }
    const bool local = m_bad;
    const auto most = TRY(m_ranks->maximum(local ? 1 : 0));
    m_bad = false;
    if (most == 0) {
        return GuardAnswer {};
    }
    ++m_skipped;
    return GuardAnswer {true, local, messageAt(local, step)};
}

Result<void> NonFiniteGuard::checkSteps(std::int64_t step)
{
    const auto range = TRY(m_ranks->range(step));
    if (range.first == range.last) {
        return {};
    }
    return failure(ErrorKind::internal,
        fmt::format(
            "ranks are at different steps, {} to {} (rank {} at {}): some have left a step out that others made. "
            "Weights have drifted apart or are torn; go back to a checkpoint",
            range.first, range.last, m_ranks->rank(), step));
}

/// Ranks that only follow say it once, by the mouth of the first.
std::string NonFiniteGuard::messageAt(bool local, std::optional<std::int64_t> step) const
{
    const auto at = step ? fmt::format(" at step {}", *step) : std::string();
    if (local) {
        return fmt::format(
            "[nan_guard_fallback] rank {}: non-finite Newton-Schulz output{}; skipping update on all ranks",
            m_ranks->rank(), at);
    }
    if (m_ranks->rank() == 0) {
        return fmt::format(
            "[nan_guard_fallback] non-finite Newton-Schulz output on another rank{}; skipping update on all ranks", at);
    }
    return {};
}

} // namespace nanscope::probe
