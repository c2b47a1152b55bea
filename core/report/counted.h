// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nanscope {

/// "1 capture", "2 captures".
std::string counted(std::int64_t count, std::string_view noun);

} // namespace nanscope
