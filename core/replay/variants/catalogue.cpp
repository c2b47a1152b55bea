// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/catalogue.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <system_error>
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

constexpr char epsilonMark = '@'; // no name of a variant has one

bool hasEpsilon(std::string_view name)
{
    return name.find(epsilonMark) != std::string_view::npos;
}

Result<double> parseEpsilon(std::string_view text)
{
    double value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && std::isfinite(value) && value >= 0
        ? Result<double>(value)
        : failure(ErrorKind::usage,
            fmt::format(
                "'{}' is no epsilon: after '@' comes a finite number from 0 on, as in keller-jordan@1e-7", text));
}

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
    return added != nullptr ? added : named(m_included, name);
}

Result<const Variant*> Catalogue::find(std::string_view name) const
{
    const auto* builtIn = builtInVariant(name);
    if (const auto* found = builtIn != nullptr ? builtIn : own(name)) {
        return found;
    }
    if (hasEpsilon(name)) {
        return derive(name).map([](const Entry& entry) { return entry.get(); });
    }
    std::vector<std::string_view> names;
    for (const auto* variant : all()) {
        names.push_back(variant->name);
    }
    return failure(ErrorKind::usage,
        fmt::format("there is no variant '{}'; the nearest are {}, and --variant-file names your own", name,
            fmt::join(nearest(name, names, 3), ", ")));
}

Result<Catalogue::Entry> Catalogue::derive(std::string_view name) const
{
    auto variant = *TRY(find(withoutEpsilon(name)));
    variant.epsilon = TRY(parseEpsilon(name.substr(name.find(epsilonMark) + 1)));
    variant.ignoresCallerEpsilon = true;
    variant.name = withEpsilon(variant.name, variant.epsilon);
    const std::scoped_lock lock(m_derived->mutex);
    auto& entries = m_derived->entries;
    const auto known = std::ranges::find(entries, variant, [](const Entry& one) -> const Variant& { return *one; });
    return known != entries.end() ? *known : entries.emplace_back(std::make_shared<const Variant>(std::move(variant)));
}

Result<void> Catalogue::include(std::string_view name)
{
    if (!hasEpsilon(name)) {
        return find(name).map([](const Variant*) {});
    }
    auto entry = TRY(derive(name));
    if (named(m_included, entry->name) == nullptr) {
        m_included.push_back(std::move(entry));
    }
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
    for (const auto* own : {&m_added, &m_included}) {
        std::ranges::transform(*own, std::back_inserter(known), &Entry::get);
    }
    return known;
}

bool Catalogue::operator==(const Catalogue& other) const
{
    return std::ranges::equal(m_added, other.m_added, [](const Entry& a, const Entry& b) { return *a == *b; });
}

std::string withEpsilon(std::string_view name, double epsilon)
{
    return fmt::format("{}{}{}", name, epsilonMark, epsilon);
}

std::string_view withoutEpsilon(std::string_view name)
{
    return name.substr(0, name.find(epsilonMark));
}

} // namespace nanscope::replay
