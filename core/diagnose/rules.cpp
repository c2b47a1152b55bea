// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/rules.h"

#include <fmt/format.h>

#include "core/diagnose/casewords.h"
#include "core/diagnose/identify.h"
#include "core/diagnose/margin.h"

namespace nanscope {

namespace {

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
        reproducing, totals.roundings, membersWith(c, reproduces),
        c.results.front().firstBad.empty() ? "" : ", first at " + c.results.front().firstBad);
    return j;
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

// Numbers that run away take the whole matrix with them. Here and there they only overflow, in the last step, and only
// where the format is nearly full: past the limit of a schedule alone, values of one are next to values of one.
bool couldBeOverflow(const Case& c)
{
    const bool hereAndThere = c.damage.name == "scattered" || c.damage.name == "single element";
    return c.damage.name == "whole element" || (hereAndThere && any(c, lacksHeadroom));
}

// Numbers that run away spoil all they meet: a rest that is what the function gives was not among them.
bool restIsRight(const Case& c)
{
    const auto& id = c.identification;
    return c.fit.compared && id.how != IdentifiedBy::unknown && !id.matchesNone && id.fit.value_or(1) <= plausibleFit;
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

Judgement damagedWhereInputIsZero(const Case& c)
{
    Judgement j;
    j.kind = deadLinesKind;
    j.summary =
        fmt::format("{}, and all of it where the input is zero: a function that divides each row, column or block by "
                    "its norm gives 0/0 there, as a kernel that never wrote them may give anything",
            c.damage.text);
    j.question = "does your code divide rows, columns or blocks by their own norm, before or after the iteration "
                 "(NorMuon, row scaling, a quantiser)? If it does, 0/0 did it; if not, the kernel did";
    return j;
}

// 0/0, where the caller's epsilon was zero or became it in the function's format.
Judgement hangsOnEpsilon(const Case& c)
{
    Judgement j;
    j.kind = unknownEpsilonKind;
    j.summary =
        fmt::format("an all-zero matrix came out as {}; a dump says at most which epsilon the caller passed, and where "
                    "the function divided by zero, or by one that rounds to it, 0/0 does that",
            c.damage.text);
    j.question =
        "which function ran, and with which epsilon (a sidecar may say both: \"epsilon\": 1e-7)? If it was not "
        "zero in the function's format, this is proof of a fault that is not numeric";
    return j;
}

// 0/0, or an epsilon alone to divide by.
Judgement mayHaveVanished(const Case& c)
{
    Judgement j;
    j.kind = faintKind;
    j.summary =
        fmt::format("the input is so small (absmax {:.2g}) that the squares of its norm may vanish in the function's "
                    "format, and no healthy call of its size tells",
            c.element->inputScan.absmax);
    j.question =
        "how does your function take its norm, and with which epsilon? If the squares are summed in fp32 and the "
        "epsilon is the one of the dump, the kernel did it (--ran VARIANT:PRECISION says so)";
    return j;
}

// Where the iteration itself goes wrong, it does not spare the smaller values.
Judgement mayBeACast(const Case& c)
{
    Judgement j;
    j.kind = castKind;
    j.summary = fmt::format(
        "{}: exactly the largest values of the result{}, as a cast or a factor after it that leaves its format ends",
        c.damage.text, c.element->outputScan.nan > 0 ? "" : ", with their signs");
    j.question = "does your code cast or scale the result (fp16, fp8, a quantiser)? If it does not, the kernel did";
    return j;
}

// Weight decay brings the NaN of a weight, a second moment that of its row, a coefficient that of everything.
Judgement mayComeFromBesides(const Case& c)
{
    Judgement j;
    j.kind = besidesKind;
    j.summary = fmt::format("{}; no replay ends like that ({}). A kernel leaves it, and so does a weight, a moment or "
                            "a factor that was bad already",
        c.damage.text, totalsText(totalsOf(c.results)));
    j.question = "does your code add or multiply anything to the result before it is dumped (weight decay, second "
                 "moments, a coefficient, a norm per row)? If it does not, the kernel did";
    return j;
}

} // namespace

bool mayBeBesides(const DamagePattern& damage, bool inputAlone, bool inFaintLines)
{
    const bool lines = damage.name == "rows" || damage.name == "columns";
    const bool byState = lines || damage.name == "single element" || damage.name == "whole element";
    return damage.name == "scattered" || (lines && inFaintLines) || (byState && !inputAlone);
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
        return c.epsilonUnknown && c.damage.name == "whole element" ? hangsOnEpsilon(c) : zeroInput(c);
    }
    if (fitsNothingKnown(c)) {
        return unknownFunction(c);
    }
    if (c.likeACast && !saidToHaveRun(c)) {
        return mayBeACast(c);
    }
    if (c.faint && c.damage.name == "whole element") {
        return mayHaveVanished(c);
    }
    if (atTheEdge(c) && (any(c, lacksHeadroom) || !restIsRight(c))) {
        return marginalNumbers(c);
    }
    return c.besides && !saidToHaveRun(c) ? mayComeFromBesides(c) : allFinite(c);
}

bool saidToHaveRun(const Identification& id)
{
    return id.how == IdentifiedBy::given || id.how == IdentifiedBy::sidecar;
}

bool saidToHaveRun(const Case& c)
{
    return saidToHaveRun(c.identification);
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
