// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nanscope::reproduce {

/// core/reproduce/repro.py as it was when Nanscope was built.
std::string_view reproTemplate();

/// The line of it that the programs take the place of.
constexpr std::string_view programsMark = "# @PROGRAMS@\n";

} // namespace nanscope::reproduce
