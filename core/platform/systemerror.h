// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/model/result.h"

namespace nanscope {

/// The failure that errno value `code` stands for, as a sentence beginning with `doing`.
tl::unexpected<Error> systemFailure(const char* doing, int code, const std::filesystem::path& path);

} // namespace nanscope
