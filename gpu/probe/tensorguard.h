// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "core/probe/nonfiniteguard.h"

namespace nanscope {

/// probe::NonFiniteGuard for tensors:
///
///     C10dRanks ranks(group->getBackend(at::kCUDA), {.timeout = std::chrono::minutes(2), .store = store});
///     TensorGuard guard(ranks);
///     ...
///     const auto answer = guard(update, step);           // between Newton-Schulz and the update
///     if (!answer) { throw std::runtime_error(answer.error().what); }
///     if (answer->skip) { return; }                      // on every rank, or on none
///
/// Where ranks orthogonalise unequal numbers of matrices, note() each and agree() once a step, before any update is
/// made. One thread.
class TensorGuard
{
public:
    /// `ranks` outlives the guard.
    explicit TensorGuard(probe::RankGroup& ranks, const probe::GuardOptions& options = {})
        : m_guard(ranks, options)
    { }

    /// Remembers on its device whether the output is finite: no exchange, no wait. Any shape and dtype. Where torch
    /// fails, the output counts as not finite, so that this rank still takes part, and agree() says why.
    void note(const at::Tensor& output);

    /// As NonFiniteGuard::agree(); waits for the device.
    Result<probe::GuardAnswer> agree(std::optional<std::int64_t> step = {});

    /// Where all ranks orthogonalise equally many matrices: asks for one.
    Result<probe::GuardAnswer> operator()(const at::Tensor& output, std::optional<std::int64_t> step = {})
    {
        note(output);
        return agree(step);
    }

    std::int64_t skipped() const { return m_guard.skipped(); }

private:
    bool takeFlag();
    void keep(const std::exception& error);

    probe::NonFiniteGuard m_guard;
    at::Tensor m_flag; ///< one byte on the device of the first output
    std::optional<Error> m_error;
};

} // namespace nanscope
