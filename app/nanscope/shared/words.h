// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope {

/// "a, b,c" as its parts, without empty ones.
std::vector<std::string> listOf(std::string_view text);

/// Place of `word` among `known`; an unknown one is refused with the nearest names.
Result<std::size_t> oneOf(std::string_view what, std::string_view word, const std::vector<std::string_view>& known);

Result<std::vector<Precision>> precisionsOf(const std::vector<std::string>& names);
Result<std::vector<Lowering>> loweringsOf(const std::vector<std::string>& names);

/// Checks every name; "all" stands for every variant.
Result<std::vector<std::string>> variantsOf(const std::vector<std::string>& names, const replay::Catalogue& catalogue);
std::vector<std::string> allVariants(const replay::Catalogue& catalogue);

/// "12 ms", "3.4 s".
std::string durationText(double seconds);

/// "1.5 MiB".
std::string bytesText(std::int64_t bytes);

/// One labelled paragraph of an answer on the terminal; an empty label continues the one above.
std::string fact(std::string_view label, const std::string& text);

} // namespace nanscope
