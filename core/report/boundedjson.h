// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace nanscope {

/// Reads a small JSON file of a stranger's. Discarded (is_discarded()) where it is no JSON, nests deeper than `deepest`
/// or holds more than `most` values: copying what nests deeply would end the stack, and keeping what is many the
/// memory.
nlohmann::ordered_json parseBounded(std::string_view text, int deepest, std::size_t most);

} // namespace nanscope
