// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/names.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/try.h"
#include "core/replay/variants/nearest.h"

namespace nanscope::replay {

namespace {

template <class Enum>
Result<std::vector<Enum>> valuesOf(
    std::string_view what, const std::vector<std::string>& names, const std::vector<Enum>& known)
{
    std::vector<Enum> values;
    for (const auto& word : names) {
        const auto found = std::find_if(known.begin(), known.end(), [&](Enum value) { return name(value) == word; });
        if (found == known.end()) {
            std::vector<std::string_view> all;
            std::transform(known.begin(), known.end(), std::back_inserter(all), [](Enum value) { return name(value); });
            return unknownName(what, word, all);
        }
        values.push_back(*found);
    }
    return values;
}

} // namespace

Result<std::vector<Precision>> precisionsOf(const std::vector<std::string>& names)
{
    const auto all = allPrecisions();
    return valuesOf<Precision>("precision", names, {all.begin(), all.end()});
}

Result<std::vector<Lowering>> loweringsOf(const std::vector<std::string>& names)
{
    return valuesOf<Lowering>("lowering", names, {Lowering::eager, Lowering::fused});
}

Result<std::vector<std::string>> variantsOf(const std::vector<std::string>& names, const Catalogue& catalogue)
{
    for (const auto& name : names) {
        if (name == "all") {
            return allVariants(catalogue);
        }
        TRY(catalogue.find(name));
    }
    return names;
}

std::vector<std::string> allVariants(const Catalogue& catalogue)
{
    std::vector<std::string> names;
    for (const auto* variant : catalogue.all()) {
        names.push_back(variant->name);
    }
    return names;
}

} // namespace nanscope::replay
