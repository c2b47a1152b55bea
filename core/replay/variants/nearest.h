// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace nanscope::replay {

/// The `count` candidates that are nearest to `word`: those that hold three letters or more of it whole, then those
/// that differ least by edit distance; equals in the order given.
std::vector<std::string_view> nearest(
    std::string_view word, const std::vector<std::string_view>& candidates, std::size_t count);

/// "there is no card 'P20'; the nearest are P2, P10, P12".
tl::unexpected<Error> unknownName(
    std::string_view what, std::string_view word, const std::vector<std::string_view>& known);

} // namespace nanscope::replay
