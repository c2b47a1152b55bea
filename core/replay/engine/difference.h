// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/replay/engine/frame.h"

namespace nanscope::replay {

/// `values` becomes values - other, with the rules of Against. What comes back is ||values - other||_F / ||other||_F
/// over the positions where both are finite: 0 where they are equal, infinite where only the other is zero, none where
/// there is no such position.
std::optional<double> subtract(std::span<double> values, std::span<const double> other);

/// What the ops of a replay are compared with, op by op in their order.
class Counterpart
{
public:
    Counterpart() = default;
    virtual ~Counterpart() = default;
    Counterpart(const Counterpart&) = delete;
    Counterpart& operator=(const Counterpart&) = delete;

    /// The matrix that belongs to this op, or an empty one; valid until the next call. An op before one that was asked
    /// for is not to be had any more.
    virtual Result<std::span<const double>> matrixFor(std::size_t op, const CancelToken& cancel) = 0;

    /// What it holds, about.
    virtual std::int64_t bytes() const = 0;
};

/// For the ops of a replay of this capture; none where nothing is to be compared with.
Result<std::unique_ptr<Counterpart>> makeCounterpart(const tensorfile::CaptureFile& capture, const FilmRequest& request,
    const std::vector<OpTrace>& ops, const DeviceFactory& devices);

} // namespace nanscope::replay
