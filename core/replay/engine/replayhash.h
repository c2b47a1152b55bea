// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace nanscope::replay {

/// 128 bits of what a replay computed.
struct ReplayHash
{
    std::array<std::uint64_t, 2> words {};
    std::string hex() const;
    bool operator==(const ReplayHash&) const = default;
};

} // namespace nanscope::replay
