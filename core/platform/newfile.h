// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace nanscope::platform {

int processId();

/// Gives a finished file the name `path` in the same folder instead of its temporary one unless that is taken, whoever
/// else asks for it at the same time; false where it is. File systems without links are not safe from a second writer
/// of the same name.
Result<bool> giveNewName(const std::filesystem::path& temporary, const std::filesystem::path& path);

} // namespace nanscope::platform
