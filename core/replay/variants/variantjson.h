// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Variants as JSON: files of the user's (docs/variants.md has the schema), and what is sent to the replay service.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// Every field of it, as variantFromJson() reads it.
nlohmann::ordered_json variantToJson(const Variant& variant);

/// One variant from an object; `base` in it names what every other field starts from, one of `known`. A key that does
/// not exist, a value of the wrong kind and a variant that cannot be run are each one sentence that names the key or
/// the step.
Result<Variant> variantFromJson(const nlohmann::ordered_json& json, const Catalogue& known);

/// One variant or a list of them.
Result<std::vector<Variant>> variantsFromText(std::string_view text, const Catalogue& known);

/// The same of a file; an error names it.
Result<std::vector<Variant>> readVariantFile(const std::filesystem::path& path, const Catalogue& known);

/// Adds the variants of a file; an error names the file.
Result<void> addVariantFile(Catalogue& catalogue, const std::filesystem::path& path);

/// A file of variants is a few kilobytes; a larger one is not read.
constexpr std::uintmax_t maxVariantFileBytes = std::uintmax_t {1} << 20;

} // namespace nanscope::replay
