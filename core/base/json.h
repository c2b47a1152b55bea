// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace nanscope {

/// Non-finite numbers become "nan", "inf" and "-inf" (design section 9).
nlohmann::ordered_json jsonNumber(double value);

/// Text of an answer. Bytes that are not UTF-8 (file names, log lines) become U+FFFD rather than an exception.
std::string jsonText(const nlohmann::ordered_json& json, int indent = -1);

/// Reads a small JSON file of a stranger's. Discarded (is_discarded()) where it is no JSON, nests deeper than `deepest`
/// or holds more than `most` values: copying what nests deeply would end the stack, and keeping what is many the
/// memory.
nlohmann::ordered_json parseBounded(std::string_view text, int deepest, std::size_t most);

} // namespace nanscope
