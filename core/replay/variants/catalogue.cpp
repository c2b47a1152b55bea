// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/catalogue.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/replay/variants/nearest.h"
#include "core/replay/variants/variantjson.h"

namespace nanscope::replay {

namespace {

// More than anybody compares; each is replayed wherever an output is identified.
constexpr std::size_t maxAdded = 64;

bool builtIn(std::string_view name)
{
    const auto all = variants();
    return std::any_of(all.begin(), all.end(), [&](const Variant& v) { return v.name == name; });
}

Result<void> checkOwn(const Variant& variant)
{
    auto usable = checkVariant(variant);
    return usable && builtIn(variant.name) ? failure(ErrorKind::usage,
               fmt::format("'{}' is a variant that Nanscope has itself; give yours another name", variant.name))
                                           : usable;
}

} // namespace

std::vector<Catalogue::Entry>::const_iterator Catalogue::own(std::string_view name) const
{
    return std::find_if(m_added.begin(), m_added.end(), [&](const Entry& one) { return one->name == name; });
}

Result<const Variant*> Catalogue::find(std::string_view name) const
{
    const auto known = all();
    const auto found = std::find_if(known.begin(), known.end(), [&](const Variant* v) { return v->name == name; });
    if (found != known.end()) {
        return *found;
    }
    std::vector<std::string_view> names;
    for (const auto* variant : known) {
        names.push_back(variant->name);
    }
    return failure(ErrorKind::usage,
        fmt::format("there is no variant '{}'; the nearest are {}, and --variant-file names your own", name,
            fmt::join(nearest(name, names, 3), ", ")));
}

Result<void> Catalogue::add(Entry variant)
{
    if (auto usable = checkOwn(*variant); !usable) {
        return usable;
    }
    if (const auto same = own(variant->name); same != m_added.end()) {
        return **same == *variant
            ? Result<void>()
            : failure(ErrorKind::usage,
                fmt::format("there are two different variants '{}' ({}); rename one", variant->name,
                    differText(differingKeys(**same, *variant, VariantKeys::all))));
    }
    if (m_added.size() == maxAdded) {
        return failure(ErrorKind::usage, fmt::format("no more than {} variants can be added", maxAdded));
    }
    m_added.push_back(std::move(variant));
    return {};
}

Result<void> Catalogue::put(Entry variant)
{
    if (auto usable = checkOwn(*variant); !usable) {
        return usable;
    }
    if (const auto same = own(variant->name); same != m_added.end() && **same != *variant) {
        m_added.erase(same);
    }
    return add(std::move(variant));
}

void Catalogue::forget(std::string_view name)
{
    if (const auto found = own(name); found != m_added.end()) {
        m_added.erase(found);
    }
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

} // namespace nanscope::replay
