// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/catalogue.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"
#include "core/replay/variants/nearest.h"
#include "core/replay/variants/variant.h"
#include "core/replay/variants/variantfields.h"
#include "core/replay/variants/variantname.h"

namespace nanscope::replay {

namespace {

// More than a user compares; each is replayed wherever an output is identified.
constexpr std::size_t maxAdded = 64;

const Variant* named(const std::vector<Catalogue::Entry>& entries, std::string_view name)
{
    const auto found = std::ranges::find(entries, name, [](const auto& one) { return std::string_view(one->name); });
    return found == entries.end() ? nullptr : found->get();
}

Result<void> checkOwn(const Variant& variant)
{
    auto usable = checkVariant(variant);
    return usable && builtInVariant(variant.name) != nullptr ? failure(ErrorKind::usage,
               fmt::format("'{}' is a variant that Nanscope has itself; give yours another name", variant.name))
                                                             : usable;
}

} // namespace

// Copies of a catalogue share it, and may be in several threads.
struct Catalogue::Derived
{
    std::mutex mutex;
    std::vector<Entry> entries;
};

Catalogue::Catalogue()
    : m_derived(std::make_shared<Derived>())
{ }

const Variant* Catalogue::own(std::string_view name) const
{
    const auto* added = named(m_added, name);
    const auto included = std::ranges::find(m_included, name, &Variant::name);
    return added != nullptr || included == m_included.end() ? added : *included;
}

Result<const Variant*> Catalogue::find(std::string_view name) const
{
    const auto* builtIn = builtInVariant(name);
    if (const auto* found = builtIn != nullptr ? builtIn : own(name)) {
        return found;
    }
    if (baseOf(name) != name) {
        return derive(name);
    }
    std::vector<std::string_view> names;
    for (const auto* variant : all()) {
        names.push_back(variant->name);
    }
    return failure(ErrorKind::usage,
        fmt::format("there is no variant '{}'; the nearest are {}, and --variant-file names your own", name,
            fmt::join(nearest(name, names, 3), ", ")));
}

Result<const Variant*> Catalogue::derive(std::string_view name) const
{
    const auto* base = TRY(find(baseOf(name)));
    auto variant = TRY(withNumbers(*base, name));
    if (variant == *base) {
        return base;
    }
    const std::scoped_lock lock(m_derived->mutex);
    auto& entries = m_derived->entries;
    const auto known = std::ranges::find(entries, variant, [](const Entry& one) -> const Variant& { return *one; });
    const auto& entry =
        known != entries.end() ? *known : entries.emplace_back(std::make_shared<const Variant>(std::move(variant)));
    return entry.get();
}

Result<void> Catalogue::include(std::string_view name)
{
    const auto* variant = TRY(find(name));
    if (baseOf(variant->name) == variant->name || own(variant->name) != nullptr) {
        return {};
    }
    if (m_included.size() == maxAdded) {
        return failure(ErrorKind::usage, fmt::format("no more than {} variants with other numbers", maxAdded));
    }
    m_included.push_back(variant);
    return {};
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
    std::ranges::transform(m_added, std::back_inserter(known), &Entry::get);
    known.insert(known.end(), m_included.begin(), m_included.end());
    return known;
}

bool Catalogue::operator==(const Catalogue& other) const
{
    return std::ranges::equal(m_added, other.m_added, [](const Entry& a, const Entry& b) { return *a == *b; });
}

} // namespace nanscope::replay
