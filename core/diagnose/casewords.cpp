// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/casewords.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/margin.h"
#include "core/diagnose/plausible.h"

namespace nanscope {

namespace {

template <class Predicate>
std::vector<std::string> namesOf(const Case& c, Predicate predicate)
{
    std::vector<std::string> names;
    for (const auto& result : c.results) {
        if (predicate(result)) {
            names.push_back(fmt::format("{} in {}", result.variant, result.precision));
        }
    }
    return names;
}

std::string listed(const std::vector<std::string>& names)
{
    constexpr std::size_t shown = 4;
    if (names.size() <= shown) {
        return fmt::format("{}", fmt::join(names, ", "));
    }
    return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + shown, ", "), names.size() - shown);
}

bool castLoses(const Member& member, const Scan& input)
{
    const bool vanishes = member.precision == Precision::fp16 && halfLosesInput(input);
    return vanishes || input.absmax > largestFinite(member.precision);
}

std::string castText(const Scan& input)
{
    return input.absmax > 1
        ? fmt::format("absmax {:.0f} > 65504", input.absmax)
        : fmt::format("absmax {:.2g}: every value becomes zero there, and 0/0 is NaN", input.absmax);
}

std::string question(const Case& c, Property concerned)
{
    const auto good = membersWithout(c, concerned);
    if (castFails(c, concerned)) {
        return fmt::format("does your code cast to fp16 before it normalises? If it does, the numbers did it ({}); if "
                           "it normalises in fp32 first, the kernel did",
            castText(c.element->inputScan));
    }
    return fmt::format("which function ran? If it was one of {}, the numbers can end like this; if it was {}, they "
                       "cannot (say so with --ran VARIANT[:PRECISION])",
        membersWith(c, concerned), good.empty() ? std::string("another") : "one of " + good);
}

} // namespace

bool any(const Case& c, Property property)
{
    return std::any_of(c.results.begin(), c.results.end(), property);
}

bool all(const Case& c, Property property)
{
    return std::all_of(c.results.begin(), c.results.end(), property);
}

std::string membersWith(const Case& c, Property property)
{
    return listed(namesOf(c, property));
}

std::string membersWithout(const Case& c, Property property)
{
    return listed(namesOf(c, [property](const MemberResult& m) { return !property(m); }));
}

// A variant may be among the members in two formats.
std::string partOfMembers(const Case& c, std::size_t part)
{
    std::set<std::string_view> names;
    for (const auto& result : c.results) {
        names.insert(result.variant);
    }
    const auto* formats = names.size() < c.results.size() ? " and formats" : "";
    return fmt::format("{} of {} plausible variants{}", part, c.results.size(), formats);
}

bool fitsNothingKnown(const Case& c)
{
    return c.identification.matchesNone;
}

bool castFails(const Case& c, Property concerned)
{
    bool any = false;
    for (std::size_t i = 0; i < c.results.size(); ++i) {
        if (!concerned(c.results[i])) {
            continue;
        }
        any = true;
        const auto& member = c.members[i];
        const bool castsFirst = member.variant->castOrder == CastOrder::castFirst;
        if (!castsFirst || !castLoses(member, c.element->inputScan)) {
            return false;
        }
    }
    return any;
}

Judgement zeroInput(const Case& c)
{
    Judgement j;
    j.blame = Blame::implementation;
    j.kind = "zero in, non-zero out";
    j.summary = fmt::format("an all-zero matrix must give exactly zero, yet {}: proof of a fault that is not numeric, "
                            "and harmless for the weights if this is a padding matrix",
        c.damage.count > 0 ? c.damage.text : std::string("the output is not zero"));
    return j;
}

Judgement unknownFunction(const Case& c)
{
    Judgement j;
    j.kind = "matches no known variant";
    const auto& best = c.identification.all.front();
    const auto* what = c.fit.compared ? "the finite part of the output is" : "a call of this kind that went well is";
    j.summary = fmt::format(
        "{} not the result of any known variant (nearest: {}, {:.0f} % off)", what, best.variant, 100 * best.fit);
    j.question = "which function made this output? A healthy capture of the same shape (a control) would tell a wrong "
                 "kernel from an unknown function";
    return j;
}

Judgement dependsOnVariant(const Case& c, Property concerned)
{
    Judgement j;
    j.kind = "depends on which function ran";
    const auto bad = static_cast<std::size_t>(std::ranges::count_if(c.results, concerned));
    const auto* how = concerned == reproduces ? "can end with exactly this damage"
                                              : "leave the finite range on this input or come close to it";
    j.summary =
        fmt::format("{} {}, so neither the numbers nor the kernel can be named yet", partOfMembers(c, bad), how);
    j.question = question(c, concerned);
    return j;
}

} // namespace nanscope
