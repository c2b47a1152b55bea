// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nanscope {

/// Orders names as people number them: "attempt_2" before "attempt_10".
bool naturalLess(std::string_view a, std::string_view b);

/// Two names that differ in nothing but their numbers, as those of two attempts do.
bool sameButForNumbers(std::string_view a, std::string_view b);

} // namespace nanscope
