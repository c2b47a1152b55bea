// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/considered.h"

#include <algorithm>
#include <iterator>

#include "core/diagnose/verdict/margin.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/replay/variants/variantname.h"

namespace nanscope::diagnose::verdict {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name)
{
    return std::ranges::find(names, name) != names.end();
}

// Fit and runner-up of what was said to have run, which need not be what fits best.
void refit(Identification& id)
{
    id.fit.reset();
    id.runnerUp.reset();
    id.runnerUpName.clear();
    for (const auto& [variant, fit] : id.all) {
        const bool named = contains(id.names, variant);
        auto& slot = named ? id.fit : id.runnerUp;
        if (!slot) {
            slot = fit;
            id.runnerUpName = named ? id.runnerUpName : variant;
        }
    }
}

/// Of the best of these variants.
std::optional<double> fitOf(const Identification& id, const std::vector<std::string>& names)
{
    const auto found =
        std::ranges::find_if(id.all, [&](const VariantFit& fit) { return contains(names, fit.variant); });
    return found == id.all.end() ? std::nullopt : std::optional(found->fit);
}

bool meansAny(const std::vector<std::string>& answers, const MemberResult& member)
{
    return std::ranges::any_of(answers, [&](const std::string& one) { return means(one, member); });
}

bool namesVariant(const std::vector<std::string>& answers, const std::string& variant)
{
    return std::ranges::any_of(
        answers, [&](const std::string& one) { return one.substr(0, one.find(':')) == variant; });
}

std::vector<std::string> variantsOf(const std::vector<MemberResult>& members)
{
    std::vector<std::string> names;
    for (const auto& member : members) {
        if (!contains(names, member.variant)) {
            names.push_back(member.variant);
        }
    }
    return names;
}

/// A finite output takes no members: it is held against the variants themselves.
std::vector<std::string> variantsLeft(const Considered& c)
{
    if (!c.members.empty() || !c.facts.members.empty()) {
        return variantsOf(c.members);
    }
    auto names = c.facts.identified.names;
    std::ranges::copy(c.facts.fit.unlessRan, std::back_inserter(names));
    std::erase_if(names, [&](const std::string& name) { return !namesVariant(c.facts.ran, name); });
    return names;
}

} // namespace

bool means(const std::string& answer, const MemberResult& member)
{
    return answer == member.variant || answer == member.variant + ":" + member.precision;
}

bool Considered::saidToHaveRun() const
{
    return identified.how == IdentifiedBy::given || identified.how == IdentifiedBy::sidecar;
}

bool Considered::hasOtherText() const
{
    return identified.how == IdentifiedBy::given && std::ranges::any_of(identified.names, [&](const std::string& name) {
        return replay::baseOf(name) == replay::baseOf(facts.scene.namedLike);
    });
}

std::optional<double> Considered::nameOffFromCall() const
{
    return facts.control && saidToHaveRun() ? fitOf(facts.control->identified, identified.names) : std::nullopt;
}

bool Considered::nameContradicted() const
{
    if (!saidToHaveRun()) {
        return false;
    }
    const auto onCall = nameOffFromCall();
    if (onCall && *onCall <= closeFit) {
        return false;
    }
    // What numbers that run away leave finite is nothing to hold a function against.
    const bool restIsOff = facts.fit.compared && identified.fit.value_or(0) > foreignFit && !any(blowsUp);
    // What is finite of the call itself tells more than a dump of which nothing says that it is of this process.
    const bool restFits = facts.fit.compared && identified.fit.value_or(1) <= closeFit;
    const bool isStranger = restFits && facts.control && facts.control->otherProcess;
    return restIsOff || (!isStranger && onCall.value_or(0) > foreignFit);
}

bool Considered::outputIsOff() const
{
    const bool unlikeItsName = saidToHaveRun() && identified.fit.value_or(0) > foreignFit;
    return facts.fit.compared && (fitsNothingKnown() || unlikeItsName);
}

bool Considered::controlConfirms() const
{
    if (!facts.control || facts.control->otherProcess) {
        return false;
    }
    const auto& onCall = facts.control->identified;
    if (saidToHaveRun()) {
        return fitOf(onCall, identified.names).value_or(1) <= closeFit;
    }
    return onCall.how == IdentifiedBy::fit && !onCall.matchesNone && onCall.fit.value_or(1) <= closeFit;
}

bool Considered::nameUnconfirmed() const
{
    return saidToHaveRun() && !facts.fit.compared && nameOffFromCall().value_or(1) > closeFit;
}

bool Considered::any(Property property) const
{
    return std::ranges::any_of(members, property);
}

bool Considered::all(Property property) const
{
    return std::ranges::all_of(members, property);
}

void sayRan(Identification& id, std::vector<std::string> names, IdentifiedBy how)
{
    id.how = how;
    id.names = std::move(names);
    id.matchesNone = false;
    refit(id);
}

Considered consider(const Facts& facts)
{
    Considered c {facts, facts.identified, {}};
    std::ranges::copy_if(facts.members, std::back_inserter(c.members),
        [&](const MemberResult& member) { return facts.ran.empty() || meansAny(facts.ran, member); });
    if (facts.ran.empty()) {
        return c;
    }
    auto names = variantsLeft(c);
    // What did not run does not make an unknown function known, until a single one is left.
    const bool unknownFunction = facts.identified.matchesNone && names.size() > 1;
    // A sidecar names the function and leaves the format open: an answer can only choose among its formats.
    const bool bySidecar = facts.identified.how == IdentifiedBy::sidecar;
    sayRan(c.identified, std::move(names), bySidecar ? IdentifiedBy::sidecar : IdentifiedBy::given);
    c.identified.matchesNone = unknownFunction;
    return c;
}

} // namespace nanscope::diagnose::verdict
