// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>

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

// Without margin a finite replay is luck. Forms that nobody recommends never have any; they count once they fail.
bool lacksMargin(const MemberResult& m)
{
    const auto variant = findVariant(m.variant);
    if (!variant || !(*variant)->published) {
        return false;
    }
    const bool close = m.slackPercent && *m.slackPercent <= slackNeededFor(**variant, m.precision);
    return close || (m.absmaxQ && *m.absmaxQ >= absmaxQAllowed) || m.headroomBinades < headroomNeeded;
}

bool couldFail(const MemberResult& m)
{
    return blowsUp(m) || lacksMargin(m);
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

// True where the members that fail are those that cast an input to fp16 which does not fit it.
bool castOverflows(const Case& c, Property concerned)
{
    bool any = false;
    for (std::size_t i = 0; i < c.results.size(); ++i) {
        if (!concerned(c.results[i])) {
            continue;
        }
        any = true;
        const auto& member = c.members[i];
        const bool castsFirst = member.variant->castOrder == CastOrder::castFirst;
        if (!castsFirst || c.element->inputScan.absmax <= largestFinite(member.precision)) {
            return false;
        }
    }
    return any;
}

std::string question(const Case& c, Property concerned)
{
    const auto bad = namesOf(c, concerned);
    const auto good = namesOf(c, [concerned](const MemberResult& m) { return !concerned(m); });
    if (castOverflows(c, concerned)) {
        return fmt::format("does your code cast to fp16 before it normalises? If it does, the numbers did it (absmax "
                           "{:.0f} > 65504); if it normalises in fp32 first, the kernel did",
            c.element->inputScan.absmax);
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
    j.kind = castOverflows(c, reproduces) ? "overflow in the cast"
        : c.element->inputScan.allZero()  ? "zero divided by an epsilon that rounds to zero"
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
    return c.fit.compared && c.identification.matchesNone;
}

bool atTheEdge(const Case& c)
{
    return all(c, lacksMargin) && !any(c, blowsUp);
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

Judgement dependsOnVariant(const Case& c, Property concerned)
{
    Judgement j;
    j.kind = "depends on which function ran";
    const auto bad = namesOf(c, concerned);
    const auto* how = concerned == reproduces ? "can end with exactly this damage"
                                              : "leave the finite range on this input or come close to it";
    j.summary = fmt::format("{} of {} plausible variants {}, so neither the numbers nor the kernel can be named yet",
        bad.size(), c.results.size(), how);
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

bool isCorrupt(const OutputFit& fit, double typical)
{
    return fit.localDamage && fit.worstTileError > corruptTile && fit.worstTileError > corruptRatio * typical;
}

Judgement unknownFunction(const Case& c)
{
    Judgement j;
    j.kind = "matches no known variant";
    const auto& best = c.identification.all.front();
    j.summary =
        fmt::format("the finite part of the output is not the result of any known variant (nearest: {}, {:.0f} % "
                    "off)",
            best.variant, 100 * best.fit);
    j.question = "which function made this output? A healthy capture of the same shape (a control) would tell a wrong "
                 "kernel from an unknown function";
    return j;
}

} // namespace

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
            return zeroInput(c);
        }
        j.kind = "healthy";
        j.summary = "zero in, zero out";
        return j;
    }
    if (fitsNothingKnown(c)) {
        return unknownFunction(c);
    }
    const double typical = c.identification.fit.value_or(0);
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
    const auto property = c.element->outputScan.finite() ? nullptr : dividing(c);
    Division division;
    for (std::size_t i = 0; property != nullptr && i < c.results.size(); ++i) {
        (property(c.results[i]) ? division.can : division.cannot).push_back(i);
    }
    division.byCast = property != nullptr && castOverflows(c, property);
    return division;
}

} // namespace nanscope
