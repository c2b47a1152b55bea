// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nanscope::diagnose {

/// A rectangle of rows and columns; ends are exclusive.
struct Region
{
    std::int64_t rowBegin = 0;
    std::int64_t rowEnd = 0;
    std::int64_t colBegin = 0;
    std::int64_t colEnd = 0;
};

} // namespace nanscope::diagnose
