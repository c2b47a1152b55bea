// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/catalogue.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/replay/variants/nearest.h"
#include "core/replay/variants/published.h"
#include "core/replay/variants/variantfields.h"

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

namespace {

/// The one catalogue that the functions below go by.
struct Known
{
    std::mutex mutex;
    Catalogue catalogue;
    std::vector<Catalogue::Entry> lent; ///< all that were ever added: what findVariant() gave away stays where it is

    /// The equal one that was added before, where there is one, so that `lent` does not grow by going to and fro.
    Catalogue::Entry entry(Variant variant) const
    {
        const auto before =
            std::find_if(lent.begin(), lent.end(), [&](const Catalogue::Entry& one) { return *one == variant; });
        return before != lent.end() ? *before : std::make_shared<const Variant>(std::move(variant));
    }

    void keep(const Catalogue::Entry& entry)
    {
        if (std::find(lent.begin(), lent.end(), entry) == lent.end()) {
            lent.push_back(entry);
        }
    }
};

Known& known()
{
    static Known all;
    return all;
}

Catalogue knownNow()
{
    const std::lock_guard lock(known().mutex);
    return known().catalogue;
}

using Taking = Result<void> (Catalogue::*)(Catalogue::Entry);

Result<void> take(Variant variant, Taking taking)
{
    const std::lock_guard lock(known().mutex);
    const auto entry = known().entry(std::move(variant));
    return (known().catalogue.*taking)(entry).map([&] { known().keep(entry); });
}

} // namespace

std::vector<const Variant*> addedVariants()
{
    std::vector<const Variant*> all;
    const auto now = knownNow();
    for (const auto& one : now.added()) {
        all.push_back(one.get());
    }
    return all;
}

std::vector<const Variant*> knownVariants()
{
    return knownNow().all();
}

Result<void> addVariant(Variant variant)
{
    return take(std::move(variant), &Catalogue::add);
}

Result<void> putVariant(Variant variant)
{
    return take(std::move(variant), &Catalogue::put);
}

void forgetVariant(std::string_view name)
{
    const std::lock_guard lock(known().mutex);
    known().catalogue.forget(name);
}

Result<const Variant*> findVariant(std::string_view name)
{
    return knownNow().find(name);
}

} // namespace nanscope::replay
