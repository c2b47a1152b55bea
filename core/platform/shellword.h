// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nanscope::platform {

/// As a shell takes it for one word, for lines to copy.
std::string shellQuoted(const std::string& word);

} // namespace nanscope::platform
