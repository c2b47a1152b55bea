// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/difference.h"

namespace nanscope::replay {

/// A replay and what it is compared with, if anything.
struct ReplayPair
{
    CellRun run;
    std::unique_ptr<Counterpart> other;
    std::int64_t batches = 1;

    /// What both hold, about.
    std::int64_t bytes() const { return run.workspaceBytes() + (other ? other->bytes() : 0); }
};

Result<ReplayPair> beginPair(const FilmRequest& request, const DeviceFactory& devices);

struct Difference
{
    std::vector<double> values; ///< empty where the op has no counterpart
    std::optional<double> distance;
};

/// Of the op that was last run through.
Result<Difference> differenceAt(ReplayPair& pair, std::size_t op, const CancelToken& cancel);

/// Scan and tile map of a difference.
void describe(OpTrace& trace, std::span<const double> values);

/// Progress of a "film" or a "frame": this op is next.
void reportOp(const JobContext& job, const char* what, const OpTrace& op, std::size_t done, std::size_t total);

} // namespace nanscope::replay
