// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/plausible.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"
#include "core/diagnose/verdict/considered.h"
#include "core/replay/program/formats.h"
#include "core/replay/variants/variantname.h"

namespace nanscope::diagnose {

namespace {

std::vector<Member> membersNamed(const std::vector<std::string>& names, const replay::Catalogue& catalogue)
{
    std::vector<Member> members;
    for (const auto& name : names) {
        if (const auto variant = catalogue.find(name)) {
            members.push_back({*variant, (*variant)->precision});
        }
    }
    return members;
}

std::vector<Member> allMembers(const replay::Catalogue& catalogue)
{
    std::vector<Member> members;
    for (const auto* variant : catalogue.all()) {
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

// Unpublished forms fit whenever their published sibling does. They are replayed all the same, and
// count if they explain the dump.
void keepPublished(std::vector<std::string>& names, const replay::Catalogue& catalogue)
{
    const auto unpublished = [&](const std::string& name) { return !(*catalogue.find(name))->published; };
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
std::vector<Member> membersOfControl(Facts& facts, const replay::Catalogue& catalogue)
{
    auto& id = facts.identified;
    const auto& control = *facts.control;
    id = control.identified;
    id.names = control.exact.empty() ? namesNear(id) : control.exact;
    auto members = membersNamed(id.names, catalogue);
    keepPublished(id.names, catalogue);
    for (auto& member : members) {
        member.formatKnown = !control.exact.empty();
    }
    addHalfPrecision(members);
    return members;
}

} // namespace

std::string ranText(const std::vector<Member>& said)
{
    std::vector<std::string> words;
    for (const auto& member : said) {
        const auto format = member.formatKnown ? ':' + std::string(name(member.precision)) : std::string();
        const auto& variant = *member.variant;
        const bool published =
            member.stepsKnown && replay::withoutEpsilon(variant.name) == replay::baseOf(variant.name);
        const auto steps = static_cast<int>(variant.steps.size());
        words.push_back((published ? replay::withSteps(variant.name, steps) : variant.name) + format);
    }
    return fmt::format("{}", fmt::join(words, " or "));
}

namespace {

/// The same function, of which a word or a file may leave format and numbers open.
bool isSameFunction(const Member& a, const Member& b)
{
    return replay::baseOf(a.variant->name) == replay::baseOf(b.variant->name);
}

bool saysEpsilon(const Member& member)
{
    return replay::withoutEpsilon(member.variant->name) != member.variant->name;
}

bool contradictInSteps(const Member& recorded, const Member& said)
{
    return said.stepsKnown
        && replay::withoutEpsilon(said.variant->name) != replay::withoutEpsilon(recorded.variant->name);
}

/// The one that is known without the user: of the function's source, else of the dump.
std::optional<double> epsilonOf(const Member& recorded, const Capture& stored)
{
    return recorded.variant->ignoresCallerEpsilon ? std::optional(recorded.variant->epsilon) : stored.epsilon;
}

/// Dump and user both say it, and not the same.
bool contradict(const Member& recorded, const Member& said, const Capture& stored)
{
    const bool formats = recorded.formatKnown && said.formatKnown && recorded.precision != said.precision;
    const auto epsilon = epsilonOf(recorded, stored);
    return formats || contradictInSteps(recorded, said)
        || (epsilon && saysEpsilon(said) && said.variant->epsilon != *epsilon);
}

/// What is said of the recorded function beyond what the sidecar says.
bool addsTo(const Member& recorded, const Member& said, const Capture& stored)
{
    const bool format = !recorded.formatKnown && said.formatKnown;
    const bool epsilon = !epsilonOf(recorded, stored) && saysEpsilon(said);
    return isSameFunction(recorded, said) && !contradict(recorded, said, stored) && (format || epsilon);
}

Member joined(const Member& recorded, Member said, const replay::Catalogue& catalogue)
{
    if (recorded.formatKnown) {
        said.precision = recorded.precision;
        said.formatKnown = true;
    }
    const auto& name = recorded.variant->name;
    said.variant =
        saysEpsilon(said) ? *catalogue.find(replay::withEpsilon(name, said.variant->epsilon)) : recorded.variant;
    return said;
}

} // namespace

std::vector<Member> outweighed(const Member& recorded, const std::vector<Member>& given, const Capture& stored)
{
    std::vector<Member> others;
    std::ranges::copy_if(given, std::back_inserter(others), [&](const Member& member) {
        return !isSameFunction(member, recorded) || contradict(recorded, member, stored);
    });
    return others;
}

std::vector<Member> choosePlausible(
    Facts& facts, const Capture& stored, const std::vector<Member>& given, const replay::Catalogue& catalogue)
{
    auto& id = facts.identified;
    if (const auto recorded = stored.variant ? parseRan(*stored.variant, catalogue) : failure(ErrorKind::usage, {});
        recorded) {
        std::vector<Member> members;
        for (const auto& said : given) {
            if (addsTo(*recorded, said, stored)) {
                members.push_back(joined(*recorded, said, catalogue));
            }
        }
        if (members.empty()) {
            members.push_back(*recorded);
        }
        verdict::sayRan(id, namesOf(members), IdentifiedBy::sidecar);
        return members;
    }
    if (!given.empty()) {
        verdict::sayRan(id, namesOf(given));
        return given;
    }
    if (id.how == IdentifiedBy::fit) {
        auto members = membersNamed(id.names, catalogue);
        keepPublished(id.names, catalogue);
        return members;
    }
    const bool controlTells = facts.control && !facts.fit.compared;
    if (controlTells && !facts.control->identified.matchesNone) {
        return membersOfControl(facts, catalogue);
    }
    if (controlTells) {
        id = facts.control->identified;
    }
    id.how = IdentifiedBy::unknown;
    auto members = allMembers(catalogue);
    id.names = namesOf(members);
    return members;
}

Result<Member> parseRan(const std::string& text, const replay::Catalogue& catalogue)
{
    const auto colon = text.find(':');
    const auto named = text.substr(0, colon);
    const auto variant = TRY(catalogue.find(named));
    Member member {variant, variant->precision};
    member.stepsKnown = replay::withoutEpsilon(named) != replay::baseOf(named);
    if (colon != std::string::npos) {
        const auto precision = parsePrecision(text.substr(colon + 1));
        if (!precision) {
            return failure(ErrorKind::usage,
                fmt::format("there is no precision '{}'; use fp64, fp32, tf32, bf16, fp16 or fp16-acc16",
                    text.substr(colon + 1)));
        }
        member.precision = *precision;
        member.formatKnown = true;
    }
    return member;
}

bool halfLosesSquares(ValueView input)
{
    constexpr double forgiven = 0x1p-7;
    double exact = 0;
    double rounded = 0;
    for (const double value : input) {
        exact += value * value;
        rounded += replay::roundTo(Precision::fp16, value * value);
    }
    return rounded < (1 - forgiven) * exact;
}

void addHalfPrecision(std::vector<Member>& members)
{
    const auto own = members;
    const auto halved = [&own](const replay::Variant* variant) {
        return std::ranges::any_of(
            own, [variant](const Member& m) { return m.variant == variant && m.precision == Precision::fp16; });
    };
    for (const auto& member : own) {
        if (!member.formatKnown && !halved(member.variant)) {
            members.push_back({member.variant, Precision::fp16});
        }
    }
}

void addRecordedEpsilon(std::vector<Member>& members, const Element& element, std::optional<double> recorded)
{
    constexpr double matters = 1e-3;
    const double norm = std::sqrt(element.inputScan.sumSquares);
    const auto own = members;
    for (const auto& member : own) {
        const auto& variant = *member.variant;
        const bool differs = recorded && variant.ignoresCallerEpsilon && *recorded != variant.epsilon;
        if (differs && std::max(*recorded, variant.epsilon) >= matters * norm) {
            members.push_back(member);
            members.back().recordedEpsilon = true;
        }
    }
}

bool counts(const MemberResult& result, const Identification& id)
{
    const bool named = std::find(id.names.begin(), id.names.end(), result.variant) != id.names.end();
    return named || result.reproducing > 0;
}

} // namespace nanscope::diagnose
