// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/diagnose/plausible.h"
#include "core/replay/scheduleslack.h"

namespace nanscope {

namespace {

// Margins without which "all replays are finite" is luck; user_view.md section 1, rule 2, and decision 0007.
constexpr double slackNeeded = 1.0; // percent
constexpr double partOfOwnSlack = 0.5; ///< of what the authors left a schedule, rounding may use up
constexpr double roundingSteps = 0.6; ///< of the format: less slack than one rounding is none
constexpr double absmaxQAllowed = 100;
constexpr double headroomNeeded = 4; // binades

// A tile this far off while the typical tile fits is not rounding; a missing mirror half measures 14 %.
constexpr double corruptTile = 0.08;
constexpr double corruptRatio = 10;

// Rounding never takes a variant this far from itself; the nearest other family begins at 9 %, user_view.md result C.
constexpr double foreignFit = 0.15;

using Property = bool (*)(const MemberResult&);

bool reproduces(const MemberResult& m)
{
    return m.reproducing > 0;
}

bool blowsUp(const MemberResult& m)
{
    return m.finite < m.roundings;
}

double slackNeededFor(const Variant& variant, const std::string& format)
{
    static std::mutex guard;
    static std::map<std::string, double> known;
    const std::scoped_lock lock(guard);
    const auto found = known.try_emplace(variant.name, 0.0);
    if (found.second) {
        found.first->second = slackOfSchedule(variant.steps);
    }
    const double rounding = 100 * roundingSteps * epsilonOf(parsePrecision(format).value_or(variant.precision));
    return std::max(rounding, std::min(slackNeeded, partOfOwnSlack * found.first->second));
}

bool isPublished(const MemberResult& m)
{
    const auto variant = findVariant(m.variant);
    return variant && (*variant)->published;
}

// Past its limit a schedule runs away in a step more, or in another order of sums (decision 0008).
bool runsAway(const MemberResult& m)
{
    return (m.slackPercent && *m.slackPercent < 0) || (m.absmaxQ && *m.absmaxQ >= absmaxQAllowed);
}

// Without margin a finite replay is luck. Forms that nobody recommends never have any; they count once they are past
// their limit.
bool lacksMargin(const MemberResult& m)
{
    const auto variant = findVariant(m.variant);
    if (!variant || !(*variant)->published) {
        return runsAway(m);
    }
    const bool close = m.slackPercent && *m.slackPercent <= slackNeededFor(**variant, m.precision);
    return close || runsAway(m) || m.headroomBinades < headroomNeeded;
}

// Of what the user or the sidecar names, margin is asked like of any other.
bool hasLittleSlack(const MemberResult& m)
{
    return m.slackPercent && *m.slackPercent <= slackNeeded;
}

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

// True where the members that fail are those that cast an input to fp16 which does not hold it.
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

std::string castText(const Scan& input)
{
    return input.absmax > 1
        ? fmt::format("absmax {:.0f} > 65504", input.absmax)
        : fmt::format("absmax {:.2g}: every value becomes zero there, and 0/0 is NaN", input.absmax);
}

std::string question(const Case& c, Property concerned)
{
    const auto bad = namesOf(c, concerned);
    const auto good = namesOf(c, [concerned](const MemberResult& m) { return !concerned(m); });
    if (castFails(c, concerned)) {
        return fmt::format("does your code cast to fp16 before it normalises? If it does, the numbers did it ({}); if "
                           "it normalises in fp32 first, the kernel did",
            castText(c.element->inputScan));
    }
    return fmt::format("which function ran? If it was one of {}, the numbers can end like this; if it was {}, they "
                       "cannot (say so with --ran VARIANT[:PRECISION])",
        listed(bad), good.empty() ? std::string("another") : "one of " + listed(good));
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

Judgement explainedByNumbers(const Case& c)
{
    Judgement j;
    j.blame = Blame::numerics;
    const auto totals = totalsOf(c.results);
    int reproducing = 0;
    for (const auto& result : c.results) {
        reproducing += result.reproducing;
    }
    j.marginal = reproducing < totals.roundings;
    j.kind = castFails(c, reproduces)
        ? (c.element->inputScan.absmax > 1 ? "overflow in the cast" : "the cast makes zeros of the input")
        : c.element->inputScan.allZero() ? "zero divided by an epsilon that rounds to zero"
                                         : "the iteration leaves the number format";
    j.summary = fmt::format("the numbers explain the dump: {} of {} replays of {} end with exactly this damage{}",
        reproducing, totals.roundings, listed(namesOf(c, reproduces)),
        c.results.front().firstBad.empty() ? "" : ", first at " + c.results.front().firstBad);
    return j;
}

bool any(const Case& c, Property property)
{
    return std::any_of(c.results.begin(), c.results.end(), property);
}

bool all(const Case& c, Property property)
{
    return std::all_of(c.results.begin(), c.results.end(), property);
}

bool fitsNothingKnown(const Case& c)
{
    return c.identification.matchesNone;
}

bool atTheEdge(const Case& c)
{
    const bool close = all(c, lacksMargin) || (!any(c, isPublished) && all(c, hasLittleSlack));
    return close && !any(c, blowsUp);
}

// What some members have and others lack, where the verdict hangs on which of them ran; nullptr where it does not.
Property dividing(const Case& c)
{
    if (any(c, reproduces)) {
        return all(c, reproduces) ? nullptr : reproduces;
    }
    if (c.element->inputScan.allZero() || fitsNothingKnown(c) || atTheEdge(c)) {
        return nullptr;
    }
    return any(c, couldFail) ? couldFail : nullptr;
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

Judgement dependsOnVariant(const Case& c, Property concerned)
{
    Judgement j;
    j.kind = "depends on which function ran";
    const auto bad = namesOf(c, concerned);
    const auto* how = concerned == reproduces ? "can end with exactly this damage"
                                              : "leave the finite range on this input or come close to it";
    j.summary =
        fmt::format("{} {}, so neither the numbers nor the kernel can be named yet", partOfMembers(c, bad.size()), how);
    j.question = question(c, concerned);
    return j;
}

// Numbers that run away take the whole matrix with them, or overflow here and there in the last step.
bool couldBeOverflow(const Case& c)
{
    return c.damage.name == "whole element" || c.damage.name == "scattered" || c.damage.name == "single element";
}

Judgement marginalNumbers(const Case& c)
{
    Judgement j;
    if (!couldBeOverflow(c)) {
        j.kind = "at the edge, and damaged in one place";
        j.summary =
            fmt::format("the replays stay finite, but without margin ({}), and numbers that run away do not end "
                        "like this: {}",
                totalsText(totalsOf(c.results)), c.damage.text);
        return j;
    }
    j.blame = Blame::numerics;
    j.marginal = true;
    j.kind = "at the edge of the format or of the schedule";
    j.summary = fmt::format("the replays stay finite, but without margin ({}): the numbers may well have done it",
        totalsText(totalsOf(c.results)));
    return j;
}

Judgement allFinite(const Case& c)
{
    Judgement j;
    const auto totals = totalsOf(c.results);
    j.blame = Blame::implementation;
    j.kind = "kernel, launch order, aliasing or communication";
    const auto count = c.results.size();
    j.summary = fmt::format("{} stays finite under {} roundings ({}), and none ends like this dump: {}",
        count == 1 ? "the one plausible variant" : fmt::format("each of {} plausible variants", count),
        c.results.front().roundings, totalsText(totals), c.damage.text);
    return j;
}

// What nowhere fits cannot be off in places.
bool isCorrupt(const OutputFit& fit, double typical)
{
    return fit.localDamage && typical <= corruptTile && fit.worstTileError > corruptTile
        && fit.worstTileError > corruptRatio * typical;
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

// The word of a sidecar or a user that the output itself contradicts.
Judgement notWhatWasSaid(const Case& c)
{
    Judgement j;
    const auto& id = c.identification;
    j.kind = "not what was said to have run";
    j.summary = fmt::format("the output is not what {} gives: {:.0f} % off{}", fmt::join(id.names, " or "),
        100 * id.fit.value_or(0),
        id.runnerUp ? fmt::format(", and {:.2g} % from {}", 100 * *id.runnerUp, id.runnerUpName) : std::string());
    j.question = "which function made this output?";
    return j;
}

Judgement damagedWhereInputIsZero(const Case& c)
{
    Judgement j;
    j.kind = deadLinesKind;
    j.summary =
        fmt::format("{}, and exactly there the input is zero: a function that divides each row or column by its "
                    "norm gives 0/0 there, as a kernel that never wrote them may give anything",
            c.damage.text);
    j.question = "does your code divide rows or columns by their own norm, before or after the iteration (NorMuon, "
                 "row scaling)? If it does, 0/0 did it; if not, the kernel did";
    return j;
}

Judgement silentlyZero(const Case& c)
{
    Judgement j;
    const auto count = std::ranges::count_if(c.results, reproduces);
    if (count == 0) {
        j.kind = "all zero";
        j.summary = "the output is zero everywhere, and no plausible variant gives zero for this input";
        j.question = "is the output masked or frozen, or was it read before the kernel wrote it?";
        return j;
    }
    if (!all(c, reproduces)) {
        j = dependsOnVariant(c, reproduces);
        j.summary = fmt::format("the output is zero everywhere, silently; {} give that for this input, where the norm "
                                "leaves the number format",
            partOfMembers(c, static_cast<std::size_t>(count)));
        return j;
    }
    j.blame = Blame::numerics;
    j.kind = "silently zero";
    j.summary = fmt::format("the output is zero everywhere, and so it is in the replays of {}: the norm leaves the "
                            "number format, and what is divided by infinity is zero",
        listed(namesOf(c, reproduces)));
    return j;
}

Judgement zeroedInPlaces(const Case& c)
{
    Judgement j;
    j.kind = maskedKind;
    j.summary = fmt::format("most of the output fits {} to {:.2g} %, but around [{}, {}] it is zero: memory that was "
                            "never written, or a mask",
        fmt::join(c.identification.names, " or "), 100 * c.identification.fit.value_or(0), c.fit.worstRow,
        c.fit.worstCol);
    j.question = "does your code set part of the update to zero (a mask, frozen rows)? If it does not, the kernel did";
    return j;
}

// What adds to its result, as weight decay does, need not give zero for zero; one that is known to be a variant must.
Judgement somethingForNothing(const Case& c)
{
    if (c.identification.how != IdentifiedBy::unknown) {
        return zeroInput(c);
    }
    Judgement j;
    j.kind = "zero in, non-zero out";
    j.summary = "an all-zero matrix came out finite and not zero; which function ran is not known";
    j.question = "does your function add something to its result, as weight decay or an old value would? If it does "
                 "not, this is proof of a fault that is not numeric";
    return j;
}

} // namespace

bool couldFail(const MemberResult& m)
{
    return blowsUp(m) || lacksMargin(m);
}

EnvelopeTotals totalsOf(const std::vector<MemberResult>& results)
{
    EnvelopeTotals totals;
    totals.headroomBinades = INFINITY;
    for (const auto& r : results) {
        totals.roundings += r.roundings;
        totals.finite += r.finite;
        if (r.slackPercent) {
            totals.slackPercent = std::min(totals.slackPercent.value_or(*r.slackPercent), *r.slackPercent);
        }
        if (r.absmaxQ) {
            totals.absmaxQ = std::max(totals.absmaxQ.value_or(0), *r.absmaxQ);
        }
        totals.headroomBinades = std::min(totals.headroomBinades, r.headroomBinades);
    }
    return totals;
}

std::string totalsText(const EnvelopeTotals& t)
{
    auto text = fmt::format("{} of {} finite", t.finite, t.roundings);
    if (t.slackPercent) {
        text += fmt::format(", slack {:.1f} %", *t.slackPercent);
    }
    if (t.absmaxQ) {
        text += fmt::format(", max|Q| {:.3g}", *t.absmaxQ);
    }
    return text + fmt::format(", headroom {:.0f} binades", std::floor(t.headroomBinades));
}

Judgement judgeDamage(const Case& c)
{
    if (c.results.empty()) {
        Judgement j;
        j.kind = "nothing to compare with";
        j.summary = "no plausible variant could be replayed";
        return j;
    }
    if (c.deadLines && !all(c, reproduces)) {
        return damagedWhereInputIsZero(c);
    }
    if (const auto property = dividing(c)) {
        return dependsOnVariant(c, property);
    }
    if (all(c, reproduces)) {
        return explainedByNumbers(c);
    }
    if (c.element->inputScan.allZero()) {
        return zeroInput(c);
    }
    if (fitsNothingKnown(c)) {
        return unknownFunction(c);
    }
    return atTheEdge(c) ? marginalNumbers(c) : allFinite(c);
}

Judgement judgeFinite(const Case& c)
{
    Judgement j;
    if (c.element->inputScan.allZero()) {
        if (!c.element->outputScan.allZero()) {
            return somethingForNothing(c);
        }
        j.kind = "healthy";
        j.summary = "zero in, zero out";
        return j;
    }
    if (c.element->outputScan.allZero()) {
        return silentlyZero(c);
    }
    if (fitsNothingKnown(c)) {
        return unknownFunction(c);
    }
    const double typical = c.identification.fit.value_or(0);
    const bool said = c.identification.how == IdentifiedBy::given || c.identification.how == IdentifiedBy::sidecar;
    if (said && c.fit.compared && typical > foreignFit) {
        return notWhatWasSaid(c);
    }
    if (c.masked && isCorrupt(c.fit, typical)) {
        return zeroedInPlaces(c);
    }
    if (isCorrupt(c.fit, typical)) {
        j.blame = Blame::implementation;
        j.kind = "finite corruption";
        j.summary = fmt::format("most of the output fits {} to {:.2g} %, but around [{}, {}] it is {:.0f} % off: "
                                "finite, and wrong",
            fmt::join(c.identification.names, " or "), 100 * typical, c.fit.worstRow, c.fit.worstCol,
            100 * c.fit.worstTileError);
        return j;
    }
    j.kind = "healthy";
    j.summary = c.fit.compared ? fmt::format("the output is what {} gives, to {:.2g} %",
                    fmt::join(c.identification.names, " or "), 100 * typical)
                               : std::string("finite in and out; too little to compare");
    return j;
}

Judgement judge(const Case& c)
{
    return c.element->outputScan.finite() ? judgeFinite(c) : judgeDamage(c);
}

Division divisionOf(const Case& c)
{
    const bool silent = c.element->outputScan.allZero() && !c.element->inputScan.allZero();
    const Property between = any(c, reproduces) && !all(c, reproduces) ? reproduces : nullptr;
    const auto property = silent ? between : c.deadLines || c.element->outputScan.finite() ? nullptr : dividing(c);
    Division division;
    for (std::size_t i = 0; property != nullptr && i < c.results.size(); ++i) {
        (property(c.results[i]) ? division.can : division.cannot).push_back(i);
    }
    division.byCast = property != nullptr && castFails(c, property);
    return division;
}

} // namespace nanscope
