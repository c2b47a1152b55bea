// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// One key of the schema of docs/variants.md.
struct VariantField
{
    using Json = nlohmann::ordered_json;

    std::string_view key;
    std::function<std::string(const Json&, Variant&)> read; ///< answers what is wrong with the value, or nothing
    std::function<Json(const Variant&)> write;
};
const std::vector<VariantField>& variantFields();

/// A word of a file in an error message: as JSON has it, and cut where it is long.
std::string quotedWord(std::string_view word);

/// What says where a variant comes from (title, source, family) has no part in what it computes.
enum class VariantKeys { computing, all };
std::vector<std::string> differingKeys(
    const Variant& one, const Variant& other, VariantKeys keys = VariantKeys::computing);

/// "steps, epsilon differ"
std::string differText(const std::vector<std::string>& keys);

} // namespace nanscope::replay
