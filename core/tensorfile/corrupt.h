// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "core/base/result.h"

namespace nanscope::tensorfile {

inline auto corrupt(std::string what)
{
    return failure(ErrorKind::corrupt, std::move(what));
}

} // namespace nanscope::tensorfile
