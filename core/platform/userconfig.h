// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Where a user keeps what adds to the program: advisories.json.
#pragma once

#include <filesystem>

namespace nanscope::platform {

/// $XDG_CONFIG_HOME/nanscope, else ~/.config/nanscope.
std::filesystem::path userConfigFolder();

} // namespace nanscope::platform
