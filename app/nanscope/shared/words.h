// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/replay/variants/names.h"

namespace nanscope {

/// "a, b,c" as its parts, without empty ones.
std::vector<std::string> listOf(std::string_view text);

/// Place of `word` among `known`; an unknown one is refused with the nearest names.
Result<std::size_t> oneOf(std::string_view what, std::string_view word, const std::vector<std::string_view>& known);

using replay::allVariants;
using replay::loweringsOf;
using replay::precisionsOf;
using replay::variantsOf;

/// "12 ms", "3.4 s".
std::string durationText(double seconds);

/// "1.5 MiB".
std::string bytesText(std::int64_t bytes);

/// One labelled paragraph of an answer on the terminal; an empty label continues the one above.
std::string fact(std::string_view label, const std::string& text);

} // namespace nanscope
