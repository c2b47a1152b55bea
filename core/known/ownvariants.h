// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/known/known.h"

namespace nanscope {

/// Makes the variants of these files known; what this made known before and is in none of them is forgotten. In the
/// order of the files.
std::vector<KnownFile> useVariantFiles(const std::vector<std::string>& paths);

} // namespace nanscope
