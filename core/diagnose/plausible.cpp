// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/plausible.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/replay/formats.h"
#include "core/replay/variant.h"

namespace nanscope {

namespace {

// Half of its smallest subnormal rounds to zero, and half a step above its largest number to infinity.
constexpr double halfVanishes = 0x1p-25;
constexpr double halfOverflows = 65520;

std::vector<Member> membersNamed(const std::vector<std::string>& names)
{
    std::vector<Member> members;
    for (const auto& name : names) {
        if (const auto variant = findVariant(name)) {
            members.push_back({*variant, (*variant)->precision});
        }
    }
    return members;
}

std::vector<Member> allMembers()
{
    std::vector<Member> members;
    for (const auto* variant : knownVariants()) {
        members.push_back({variant, variant->precision});
    }
    return members;
}

std::vector<std::string> namesOf(const std::vector<Member>& members)
{
    std::vector<std::string> names;
    for (const auto& member : members) {
        names.emplace_back(member.variant->name);
    }
    return names;
}

// Fit and runner-up of what was said to have run, which need not be what fits best.
void refit(Identification& id)
{
    id.fit.reset();
    id.runnerUp.reset();
    id.runnerUpName.clear();
    for (const auto& [variant, fit] : id.all) {
        const bool named = std::find(id.names.begin(), id.names.end(), variant) != id.names.end();
        auto& slot = named ? id.fit : id.runnerUp;
        if (!slot) {
            slot = fit;
            id.runnerUpName = named ? id.runnerUpName : variant;
        }
    }
}

// Forms that nobody recommends fit whenever their published sibling does. They are replayed all the same, and
// count if they explain the dump.
void keepPublished(std::vector<std::string>& names)
{
    const auto unpublished = [](const std::string& name) { return !(*findVariant(name))->published; };
    if (!std::all_of(names.begin(), names.end(), unpublished)) {
        std::erase_if(names, unpublished);
    }
}

// Singular values that lie close together tell schedules apart at one point only; another family is 9 % off at least.
constexpr double nearEnough = 0.15;

std::vector<std::string> namesNear(const Identification& id)
{
    std::vector<std::string> names;
    for (const auto& [variant, fit] : id.all) {
        if (fit <= nearEnough) {
            names.push_back(variant);
        }
    }
    return names;
}

// That a call fits in the variant's own format does not say that it ran in it, unless the very bits do.
void takeControl(Case& c)
{
    auto& id = c.identification;
    id = c.control->fit.identification;
    const auto& exact = c.control->fit.exact;
    id.names = exact.empty() ? namesNear(id) : exact;
    c.members = membersNamed(id.names);
    keepPublished(id.names);
    for (auto& member : c.members) {
        member.formatKnown = !exact.empty();
    }
    addHalfPrecision(c.members);
}

} // namespace

void choosePlausible(Case& c, const Capture& stored, const std::vector<Member>& given)
{
    auto& id = c.identification;
    const auto recorded = stored.variant ? parseRan(*stored.variant) : failure(ErrorKind::usage, {});
    if (recorded) {
        c.members = {*recorded};
        sayRan(id, namesOf(c.members), IdentifiedBy::sidecar);
    } else if (!given.empty()) {
        sayRan(id, namesOf(given));
        c.members = given;
    } else if (id.how == IdentifiedBy::fit) {
        c.members = membersNamed(id.names);
        keepPublished(id.names);
    } else if (c.control && !c.control->stranger && !c.fit.compared) {
        takeControl(c);
    } else {
        if (c.control && c.control->stranger && !c.fit.compared) {
            id = c.control->fit.identification;
        }
        id.how = IdentifiedBy::unknown;
        c.members = allMembers();
        id.names = namesOf(c.members);
    }
}

void sayRan(Identification& id, std::vector<std::string> names, IdentifiedBy how)
{
    id.how = how;
    id.names = std::move(names);
    id.matchesNone = false;
    refit(id);
}

Result<Member> parseRan(const std::string& text)
{
    const auto colon = text.find(':');
    const auto variant = findVariant(text.substr(0, colon));
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    Member member {*variant, (*variant)->precision};
    if (colon != std::string::npos) {
        const auto precision = parsePrecision(text.substr(colon + 1));
        if (!precision) {
            return failure(ErrorKind::usage,
                fmt::format("there is no precision '{}'; use fp64, fp32, tf32, bf16 or fp16", text.substr(colon + 1)));
        }
        member.precision = *precision;
        member.formatKnown = true;
    }
    return member;
}

bool halfLosesInput(const Scan& input)
{
    return !input.allZero() && (input.absmax >= halfOverflows || input.absmax <= halfVanishes);
}

bool halfLosesSquares(std::span<const double> input)
{
    constexpr double forgiven = 0x1p-7;
    double exact = 0;
    double rounded = 0;
    for (const double value : input) {
        exact += value * value;
        rounded += roundTo(Precision::fp16, value * value);
    }
    return rounded < (1 - forgiven) * exact;
}

void addHalfPrecision(std::vector<Member>& members)
{
    const auto own = members;
    const auto halved = [&own](const Variant* variant) {
        return std::ranges::any_of(
            own, [variant](const Member& m) { return m.variant == variant && m.precision == Precision::fp16; });
    };
    for (const auto& member : own) {
        if (!member.formatKnown && !halved(member.variant)) {
            members.push_back({member.variant, Precision::fp16});
        }
    }
}

bool counts(const MemberResult& result, const Identification& id)
{
    const bool named = std::find(id.names.begin(), id.names.end(), result.variant) != id.names.end();
    return named || result.reproducing > 0;
}

} // namespace nanscope
