// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/replay/variants/catalogue.h"
#include "core/report/input/reportinput.h"

namespace nanscope::reproduce {

struct ReproducerOptions
{
    /// Random directions in place of the captured ones, with the same singular values; false shares the tensors.
    bool synthetic = true;
    bool minimise = true; ///< to the least that ends the same way, where a replay ends like the dump
    std::uint64_t seed = 0; ///< of the random directions
    std::size_t limit = 16'000'000; ///< bytes the tensors may take: what is beyond leaves matrices out
    std::vector<report::Redaction> hidden {}; ///< texts of the user's choice that may stand in no file
    replay::Catalogue catalogue {}; ///< of the variants that the verdict names
};

} // namespace nanscope::reproduce
