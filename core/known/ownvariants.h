// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/known/known.h"
#include "core/replay/variant.h"

namespace nanscope {

/// Makes the variants of these files known; what this made known before and is in none of them is forgotten, unless the
/// open run's session keeps it. In the order of the files.
std::vector<KnownFile> useVariantFiles(const std::vector<std::string>& paths);

/// Makes known what the session of the open run keeps, before the files of that run are used: what neither holds is
/// forgotten. One sentence for each variant that cannot be had.
std::vector<std::string> useKeptVariants(const std::vector<Variant>& kept, const std::vector<std::string>& paths);

/// What it was called with last, by name.
std::vector<std::string> keptVariantNames();

} // namespace nanscope
