// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/catalogue.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"
#include "core/replay/variants/nearest.h"
#include "core/replay/variants/variant.h"
#include "core/replay/variants/variantfields.h"

namespace nanscope::replay {

namespace {

// More than a user compares; each is replayed wherever an output is identified.
constexpr std::size_t maxAdded = 64;

Result<void> checkOwn(const Variant& variant)
{
    auto usable = checkVariant(variant);
    return usable && builtInVariant(variant.name) != nullptr ? failure(ErrorKind::usage,
               fmt::format("'{}' is a variant that Nanscope has itself; give yours another name", variant.name))
                                                             : usable;
}

} // namespace

const Variant* Catalogue::own(std::string_view name) const
{
    const auto found = std::ranges::find_if(m_added, [&](const Entry& one) { return one->name == name; });
    return found == m_added.end() ? nullptr : found->get();
}

Result<const Variant*> Catalogue::find(std::string_view name) const
{
    const auto* builtIn = builtInVariant(name);
    if (const auto* found = builtIn != nullptr ? builtIn : own(name)) {
        return found;
    }
    std::vector<std::string_view> names;
    for (const auto* variant : all()) {
        names.push_back(variant->name);
    }
    return failure(ErrorKind::usage,
        fmt::format("there is no variant '{}'; the nearest are {}, and --variant-file names your own", name,
            fmt::join(nearest(name, names, 3), ", ")));
}

Result<void> Catalogue::add(Variant variant)
{
    TRY(checkOwn(variant));
    if (const auto* same = own(variant.name)) {
        return *same == variant ? Result<void>()
                                : failure(ErrorKind::usage,
                                    fmt::format("there are two different variants '{}' ({}); rename one", variant.name,
                                        differText(differingKeys(*same, variant, VariantKeys::all))));
    }
    if (m_added.size() == maxAdded) {
        return failure(ErrorKind::usage, fmt::format("no more than {} variants can be added", maxAdded));
    }
    m_added.push_back(std::make_shared<const Variant>(std::move(variant)));
    return {};
}

Result<void> Catalogue::put(Variant variant)
{
    TRY(checkOwn(variant));
    std::erase_if(m_added, [&](const Entry& one) { return one->name == variant.name && *one != variant; });
    return add(std::move(variant));
}

std::vector<const Variant*> Catalogue::all() const
{
    std::vector<const Variant*> known;
    for (const auto& variant : variants()) {
        known.push_back(&variant);
    }
    for (const auto& variant : m_added) {
        known.push_back(variant.get());
    }
    return known;
}

bool Catalogue::operator==(const Catalogue& other) const
{
    return std::ranges::equal(m_added, other.m_added, [](const Entry& a, const Entry& b) { return *a == *b; });
}

} // namespace nanscope::replay
