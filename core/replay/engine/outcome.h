// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/replay/engine/replay.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::replay {

/// The directions of each matrix of a batch that carry signal. They depend on the input alone: one set serves every
/// cell of a capture.
std::vector<std::vector<SingularDirection>> signalDirections(
    const MatrixShape& shape, ValueView input, const CancelToken& cancel = {});

/// How each element of the batch ended; the replay measured its gains.
std::vector<Outcome> judgeOutcomes(const Replay& replay);

/// The same held against the output range of another schedule: the published one, where the replay changed it.
std::vector<Outcome> judgeOutcomes(const Replay& replay, const std::array<double, 2>& range);

/// How one matrix ended, by its scans and by how far it stretches directions that carry signal.
Outcome judgeOutcome(
    const Scan& input, const Scan& output, std::span<const double> gains, const std::array<double, 2>& range);

/// The first op whose result is non-finite, for one element. `batched`: the index leads with the batch element.
std::optional<NonFinite> firstNonFinite(const Replay& replay, std::size_t element, bool batched);

/// One gauge per iteration, for one element.
std::vector<Gauge> gauges(const Replay& replay, std::size_t element);

/// The same of ops that carry their scans.
std::vector<Gauge> gauges(const Program& program, const std::vector<OpTrace>& ops, std::size_t element);

} // namespace nanscope::replay
