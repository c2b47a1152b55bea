// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/probe/rankgroup.h"

namespace nanscope::probe {

/// What all ranks do with the update that was asked about.
struct GuardAnswer
{
    bool skip = false; ///< the same on every rank: leave the update out, and all that comes after it in this step
    bool local = false; ///< an output of this rank is a reason
    std::string
        message {}; ///< a line for the log, which `nanscope diagnose` reads; empty where this rank has none to say
};

struct GuardOptions
{
    /// Also asks whether all ranks are at the same step, which costs a second exchange.
    bool checkSteps = false;
};

/// Lets every rank leave out the same update where the output of one is not finite (dion's pull request 79). One byte,
/// the maximum over the group, so that no rank updates what another leaves: replicas would drift apart, shards would be
/// torn, and ranks that go on to different collectives would wait for ever.
///
/// It stands behind Newton-Schulz and before anything is changed but the momentum. The momentum has taken in a gradient
/// that was finite, and stays; what is left out then is as if the batch had not been.
class NonFiniteGuard
{
public:
    /// `ranks` outlives the guard.
    explicit NonFiniteGuard(RankGroup& ranks, const GuardOptions& options = {})
        : m_ranks(&ranks)
        , m_options(options)
    { }

    /// One output of this rank. Exchanges nothing: ranks may note unequal numbers of them.
    void note(bool finite) { m_bad = m_bad || !finite; }

    /// Whether any rank has noted an output that is not finite since the last time. A collective: once a step on every
    /// rank, also on one that had nothing to note. `step` is for the message. Fails where the group does, and where
    /// `checkSteps` finds ranks at different steps; the run has to end then, as nobody knows what the others do.
    Result<GuardAnswer> agree(std::optional<std::int64_t> step = {});

    std::int64_t skipped() const { return m_skipped; } ///< updates left out so far

private:
    Result<void> checkSteps(std::int64_t step);
    std::string messageAt(bool local, std::optional<std::int64_t> step) const;

    RankGroup* m_ranks;
    GuardOptions m_options;
    bool m_bad = false;
    std::int64_t m_skipped = 0;
};

} // namespace nanscope::probe
