// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What is replayed, by name: from options of the command line, and from what the window remembers. An unknown name is
// refused with the nearest ones.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::replay {

Result<std::vector<Precision>> precisionsOf(const std::vector<std::string>& names);
Result<std::vector<Lowering>> loweringsOf(const std::vector<std::string>& names);

/// Checks every name; "all" stands for every variant.
Result<std::vector<std::string>> variantsOf(const std::vector<std::string>& names, const Catalogue& catalogue);
std::vector<std::string> allVariants(const Catalogue& catalogue);

} // namespace nanscope::replay
