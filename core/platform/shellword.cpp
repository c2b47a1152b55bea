// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/shellword.h"

namespace nanscope::platform {

std::string shellQuoted(const std::string& word)
{
    const auto* safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=";
    if (!word.empty() && word.find_first_not_of(safe) == std::string::npos) {
        return word;
    }
    std::string quoted = "'";
    for (const auto byte : word) {
        quoted += byte == '\'' ? "'\\''" : std::string(1, byte);
    }
    return quoted + "'";
}

} // namespace nanscope::platform
