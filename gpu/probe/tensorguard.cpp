// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/tensorguard.h"

#include <exception>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "gpu/probe/nonfinite.h"
#include "gpu/torchguard.h"

namespace nanscope {

void TensorGuard::note(const at::Tensor& output)
{
    try {
        const auto flag = nonFiniteFlag(output);
        m_flag = m_flag.defined() ? at::maximum(m_flag, flag.to(m_flag.device())) : flag;
    } catch (const std::exception& error) {
        keep(error);
    }
}

Result<probe::GuardAnswer> TensorGuard::agree(std::optional<std::int64_t> step)
{
    m_guard.note(!takeFlag());
    auto answer = m_guard.agree(step);
    if (const auto error = std::exchange(m_error, std::nullopt); error && answer) {
        return tl::make_unexpected(*error);
    }
    return answer;
}

bool TensorGuard::takeFlag()
{
    const auto flag = std::exchange(m_flag, at::Tensor());
    try {
        const bool bad = flag.defined() && flag.item<std::uint8_t>() != 0;
        return bad || m_error;
    } catch (const std::exception& error) {
        keep(error);
        return true;
    }
}

void TensorGuard::keep(const std::exception& error)
{
    m_error = Error {ErrorKind::internal,
        fmt::format(
            "it could not be told whether an output is finite (torch: {}); the other ranks leave the update out",
            firstLine(error.what())),
        {}};
}

} // namespace nanscope
