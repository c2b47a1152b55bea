// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variant.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/replay/variants/nearest.h"
#include "core/replay/variants/published.h"
#include "core/replay/variants/variantjson.h"

namespace nanscope::replay {

namespace {

constexpr std::size_t maxNameBytes = 64;
constexpr std::size_t maxTextBytes = 300;
// More than anybody compares; each is replayed wherever an output is identified.
constexpr std::ptrdiff_t maxAdded = 64;

struct AddedVariant
{
    Variant variant;
    bool known = true; ///< false: forgotten since
};

/// What the user added. A deque: what findVariant() gave away stays where it is, also when it is forgotten.
struct Catalogue
{
    std::mutex mutex;
    std::deque<AddedVariant> added;

    AddedVariant* find(std::string_view name)
    {
        const auto found =
            std::ranges::find_if(added, [&](const AddedVariant& one) { return one.known && one.variant.name == name; });
        return found == added.end() ? nullptr : &*found;
    }

    Result<void> add(Variant variant)
    {
        if (std::ranges::count(added, true, &AddedVariant::known) == maxAdded) {
            return failure(ErrorKind::usage, fmt::format("no more than {} variants can be added", maxAdded));
        }
        const auto before = std::ranges::find(added, variant, &AddedVariant::variant);
        if (before != added.end()) {
            before->known = true;
        } else {
            added.push_back({std::move(variant)});
        }
        return {};
    }
};

Catalogue& catalogue()
{
    static Catalogue all;
    return all;
}

std::vector<Variant> makeVariants()
{
    auto all = published::firstVariants();
    for (auto&& more : {published::projectVariants(), published::emergingVariants()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

bool builtIn(std::string_view name)
{
    const auto all = variants();
    return std::any_of(all.begin(), all.end(), [&](const Variant& v) { return v.name == name; });
}

// A name stands in lists with commas, before colons and in paths.
bool usableName(std::string_view name)
{
    const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
    return !name.empty() && name.size() <= maxNameBytes && name != "all"
        && std::isalnum(static_cast<unsigned char>(name.front())) != 0 && std::all_of(name.begin(), name.end(), plain);
}

std::string problemOfSteps(const Variant& v)
{
    if (v.steps.empty() || v.steps.size() > maxSteps) {
        return fmt::format("it has {} steps; give 1 to {}", v.steps.size(), maxSteps);
    }
    for (std::size_t i = 0; i < v.steps.size(); ++i) {
        for (const double c : v.steps[i]) {
            if (!std::isfinite(c)) {
                return fmt::format("step {} has a coefficient that is not a finite number", i + 1);
            }
        }
    }
    const auto size = static_cast<int>(v.steps.size());
    const auto outside = [size](int step) { return step < 1 || step >= size; };
    if (std::any_of(v.restarts.begin(), v.restarts.end(), outside)) {
        return fmt::format("a restart is before one of the steps 1 to {}, counted from 0", size - 1);
    }
    return {};
}

std::string problemOfNumbers(const Variant& v)
{
    if (!(v.epsilon >= 0) || !std::isfinite(v.epsilon)) {
        return "its epsilon is not a finite number from 0 on";
    }
    for (const auto& [value, what] :
        {std::pair {v.normFactor, "norm factor"}, std::pair {v.safetyFactor, "safety factor"}}) {
        if (!(value > 0) || !std::isfinite(value)) {
            return fmt::format("its {} is not a positive number", what);
        }
    }
    const bool gram = v.form == Form::gram || v.form == Form::gramFromLeft;
    if (!gram && !v.restarts.empty()) {
        return "only the gram forms have restarts";
    }
    if (gram && v.normalization == Normalization::aol) {
        return "AOL scaling is for the standard forms";
    }
    return {};
}

} // namespace

std::span<const Variant> variants()
{
    static const std::vector<Variant> all = makeVariants();
    return all;
}

std::vector<const Variant*> addedVariants()
{
    auto& known = catalogue();
    const std::lock_guard lock(known.mutex);
    std::vector<const Variant*> all;
    for (const auto& one : known.added) {
        if (one.known) {
            all.push_back(&one.variant);
        }
    }
    return all;
}

std::vector<const Variant*> knownVariants()
{
    std::vector<const Variant*> all;
    for (const auto& variant : variants()) {
        all.push_back(&variant);
    }
    const auto added = addedVariants();
    all.insert(all.end(), added.begin(), added.end());
    return all;
}

Result<void> checkVariant(const Variant& variant)
{
    if (!usableName(variant.name)) {
        return failure(ErrorKind::usage,
            fmt::format(
                "a variant's name is 1 to {} letters, digits, '-', '_' and '.', begins with a letter or digit and "
                "is not 'all'",
                maxNameBytes));
    }
    for (const auto* text : {&variant.title, &variant.source, &variant.family}) {
        if (text->size() > maxTextBytes) {
            return failure(ErrorKind::usage,
                fmt::format("the variant '{}' has a text of more than {} bytes", variant.name, maxTextBytes));
        }
    }
    auto problem = problemOfSteps(variant);
    if (problem.empty()) {
        problem = problemOfNumbers(variant);
    }
    return problem.empty()
        ? Result<void>()
        : failure(ErrorKind::usage, fmt::format("the variant '{}' cannot be run: {}", variant.name, problem));
}

namespace {

Result<void> checkOwn(const Variant& variant)
{
    auto usable = checkVariant(variant);
    return usable && builtIn(variant.name) ? failure(ErrorKind::usage,
               fmt::format("'{}' is a variant that Nanscope has itself; give yours another name", variant.name))
                                           : usable;
}

} // namespace

Result<void> addVariant(Variant variant)
{
    if (auto usable = checkOwn(variant); !usable) {
        return usable;
    }
    auto& known = catalogue();
    const std::lock_guard lock(known.mutex);
    if (const auto* same = known.find(variant.name)) {
        return same->variant == variant
            ? Result<void>()
            : failure(ErrorKind::usage,
                fmt::format("there are two different variants '{}' ({}); rename one", variant.name,
                    differText(differingKeys(same->variant, variant, VariantKeys::all))));
    }
    return known.add(std::move(variant));
}

Result<void> putVariant(Variant variant)
{
    if (auto usable = checkOwn(variant); !usable) {
        return usable;
    }
    auto& known = catalogue();
    const std::lock_guard lock(known.mutex);
    if (auto* same = known.find(variant.name)) {
        same->known = false;
    }
    return known.add(std::move(variant));
}

void forgetVariant(std::string_view name)
{
    auto& known = catalogue();
    const std::lock_guard lock(known.mutex);
    if (auto* found = known.find(name)) {
        found->known = false;
    }
}

Result<const Variant*> findVariant(std::string_view name)
{
    const auto all = knownVariants();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Variant* v) { return v->name == name; });
    if (found != all.end()) {
        return *found;
    }
    std::vector<std::string_view> names;
    for (const auto* variant : all) {
        names.push_back(variant->name);
    }
    return failure(ErrorKind::usage,
        fmt::format("there is no variant '{}'; the nearest are {}, and --variant-file names your own", name,
            fmt::join(nearest(name, names, 3), ", ")));
}

} // namespace nanscope::replay
