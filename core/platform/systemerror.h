// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace nanscope::platform {

/// What errno value `code` stands for, with what can be done about it.
std::string systemReason(int code);

/// The failure that errno value `code` stands for, as a sentence beginning with `doing`.
tl::unexpected<Error> systemFailure(const char* doing, int code, const std::filesystem::path& path);

/// From now on a write beyond the limit on the size of files fails with EFBIG rather than ends the program by a signal.
void failAtFileSizeLimit();

} // namespace nanscope::platform
