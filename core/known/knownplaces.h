// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace nanscope {

/// advisories.json in the user's configuration folder, where there is one.
std::optional<std::filesystem::path> ownAdvisories();

} // namespace nanscope
