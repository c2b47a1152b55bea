// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace nanscope {

/// Non-finite numbers become "nan", "inf" and "-inf" (design section 9).
nlohmann::ordered_json jsonNumber(double value);

/// What jsonNumber() makes of the number; null where there is none.
nlohmann::ordered_json numberOrNull(const std::optional<double>& value);

/// The value; null where there is none. A number that is not finite is written as null, too.
template <class T, class Json = nlohmann::ordered_json>
Json orNull(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

/// The text; null where it is empty.
nlohmann::ordered_json orNull(const std::string& text);

/// Text of an answer. Bytes that are not UTF-8 (file names, log lines) become U+FFFD rather than an exception.
std::string jsonText(const nlohmann::ordered_json& json, int indent = -1);

/// Reads a small JSON file of a stranger's. Discarded (is_discarded()) where it is no JSON, nests deeper than `deepest`
/// or holds more than `most` values: copying what nests deeply would end the stack, and keeping what is many the
/// memory.
nlohmann::ordered_json parseBounded(std::string_view text, int deepest, std::size_t most);

} // namespace nanscope
