// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace nanscope::reproduce {

/// As sha256sum prints it.
std::string sha256(std::span<const std::byte> bytes);

} // namespace nanscope::reproduce
