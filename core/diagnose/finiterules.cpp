// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/casewords.h"
#include "core/diagnose/margin.h"
#include "core/diagnose/rules.h"

namespace nanscope {

namespace {

// A tile this far off while the typical tile fits is not rounding; a missing mirror half measures 14 %.
constexpr double corruptTile = 0.08;
constexpr double corruptRatio = 10;

// Rounding never takes a variant this far from itself; the nearest other family begins at 9 %, user_view.md result C.
constexpr double foreignFit = 0.15;

// What nowhere fits cannot be off in places.
bool isCorrupt(const OutputFit& fit, double typical)
{
    return fit.localDamage && typical <= corruptTile && fit.worstTileError > corruptTile
        && fit.worstTileError > corruptRatio * typical;
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
        membersWith(c, reproduces));
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

// The user's own code can leave any finite value in a place.
Judgement perhapsDeliberate(const Case& c)
{
    Judgement j;
    j.kind = c.deliberate ? deliberateKind : unsaidKind;
    j.summary =
        fmt::format("most of the output fits {} to {:.2g} %, but around [{}, {}] it is {:.0f} % off: finite, and not "
                    "what the function gives there",
            fmt::join(c.identification.names, " or "), 100 * c.identification.fit.value_or(0), c.fit.worstRow,
            c.fit.worstCol, 100 * c.fit.worstTileError);
    j.question =
        "does your code treat this part otherwise (a mask, another optimizer or rate, weight decay, an old value)? "
        "If it does not, the kernel did";
    return j;
}

Judgement corruptInPlaces(const Case& c, double typical)
{
    Judgement j;
    j.blame = Blame::implementation;
    j.kind = corruptKind;
    j.summary = fmt::format("most of the output fits {} to {:.2g} %, but around [{}, {}] it is {:.0f} % off: finite, "
                            "and wrong",
        fmt::join(c.identification.names, " or "), 100 * typical, c.fit.worstRow, c.fit.worstCol,
        100 * c.fit.worstTileError);
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
    if (saidToHaveRun(c) && c.fit.compared && typical > foreignFit) {
        return notWhatWasSaid(c);
    }
    if (c.masked && isCorrupt(c.fit, typical)) {
        return zeroedInPlaces(c);
    }
    // Of what only a fit names, the code around it is not known.
    const bool perhapsMeant = c.deliberate || !(saidToHaveRun(c) || c.misplaced);
    if (perhapsMeant && isCorrupt(c.fit, typical)) {
        return perhapsDeliberate(c);
    }
    if (isCorrupt(c.fit, typical)) {
        return corruptInPlaces(c, typical);
    }
    j.kind = "healthy";
    j.summary = c.fit.compared ? fmt::format("the output is what {} gives, to {:.2g} %",
                    fmt::join(c.identification.names, " or "), 100 * typical)
                               : std::string("finite in and out; too little to compare");
    return j;
}

} // namespace nanscope
