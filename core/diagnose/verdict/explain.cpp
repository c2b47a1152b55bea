// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/explain.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/margin.h"
#include "core/diagnose/verdict/rules.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/replay/variants/variantname.h"

namespace nanscope::diagnose::verdict {

namespace {

constexpr const char* sayWhatRan = "say so with --ran VARIANT[:PRECISION]";
constexpr const char* sayNothingElse = "--nothing-else says so";
constexpr const char* sayWhether = "--nothing-else says no, --other-code yes";

/// How the user's own text of a published function is made known.
std::string sayChanged(const Scene& scene)
{
    return fmt::format("describe it as a variant, --variant-file MINE.json --ran MINE (docs/variants.md), or put the "
                       "captured input to it, nanscope measure repeat FILE --impl {}",
        platform::shellQuoted(functionToCall(scene)));
}

/// "muon:f has the name of keller-jordan and another source than the published one"
std::string changedText(const Scene& scene, std::string_view link)
{
    return fmt::format("{}{} the name of {} and another source than the published one",
        scene.function.empty() ? "the function" : scene.function, link, scene.namedLike);
}

std::string whatWasChanged(const Scene& scene)
{
    return fmt::format("what was changed in {}? A coefficient, an epsilon, a cast or a transposition may do this by "
                       "itself",
        changedText(scene, ", which has"));
}

std::string membersThat(const Considered& c, Considered::Property property, bool have)
{
    std::vector<std::string> names;
    for (const auto& member : c.members) {
        if (property(member) == have) {
            names.push_back(fmt::format("{} in {}", member.variant, member.precision));
        }
    }
    constexpr std::size_t shown = 4;
    if (names.size() <= shown) {
        return fmt::format("{}", fmt::join(names, ", "));
    }
    return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + shown, ", "), names.size() - shown);
}

/// "gns-gram in bf16", "one of gns-gram in bf16, gns-standard in bf16 and 12 more"
std::string oneThat(const Considered& c, Considered::Property property, bool have)
{
    const auto count =
        std::ranges::count_if(c.members, [&](const MemberResult& member) { return property(member) == have; });
    return (count > 1 ? "one of " : "") + membersThat(c, property, have);
}

/// "3 of 12 plausible variants", "3 of 12 plausible pairs of variant and format"
std::string partOfMembers(const Considered& c, Considered::Property property)
{
    return fmt::format("{} of {} plausible {}", std::ranges::count_if(c.members, property), c.members.size(),
        memberNoun(c.members, std::ssize(c.members)));
}

std::string namesOf(const Considered& c)
{
    return fmt::format("{}", fmt::join(c.identified.names, " or "));
}

double fitOf(const Considered& c)
{
    return c.identified.fit.value_or(0);
}

std::string castText(const Facts& facts)
{
    return facts.inputAbsmax > 1
        ? fmt::format("absmax {:.6g} > 65504", facts.inputAbsmax)
        : fmt::format("absmax {:.2g}: every value becomes zero there, and 0/0 is NaN", facts.inputAbsmax);
}

/// Of a function that the helper saw, by its name.
std::string whichFunction(const Scene& scene)
{
    return scene.function.empty() ? "which function ran" : fmt::format("which variant is {}", scene.function);
}

std::string whichRan(const Considered& c, Considered::Property concerned)
{
    const auto good = oneThat(c, concerned, false);
    if (isCastFailing(c, concerned)) {
        const bool othersStay = std::ranges::none_of(
            c.members, [&](const MemberResult& m) { return !concerned(m) && (couldFail(m) || blowsUp(m)); });
        return fmt::format("does your code cast to fp16 before it normalises? If it does, the numbers did it ({}); if "
                           "it normalises in fp32 first, {}",
            castText(c.facts),
            othersStay ? "overflow cannot explain it: suspect the kernel or what follows it"
                       : "its numbers leave the format, too, or come close, and end otherwise than this dump");
    }
    return fmt::format("{}? If it was {}, the numbers can end like this; if it was {}, they cannot",
        whichFunction(c.facts.scene), oneThat(c, concerned, true), good.empty() ? std::string("another") : good);
}

/// "kernel, launch order, aliasing or communication": what the call can have had of them.
std::string suspectsText(
    const Facts& facts, const char* kernel = "kernel", bool launchOrder = true, bool machine = false)
{
    std::vector<std::string> suspects {kernel};
    if (launchOrder && !facts.scene.onCpu) {
        suspects.emplace_back("launch order");
    }
    suspects.emplace_back("aliasing");
    if (facts.scene.world != 1) {
        suspects.emplace_back("communication");
    }
    if (machine) {
        suspects.emplace_back("machine");
    }
    const auto last = suspects.back();
    suspects.pop_back();
    return fmt::format("{} or {}", fmt::join(suspects, ", "), last);
}

std::string damageText(const Facts& facts)
{
    return facts.outputZero ? "every value is zero" : facts.damage.text;
}

Words ofDuplicate(const Considered& c, RuleId rule)
{
    const auto whose = duplicateName(*c.facts.duplicate);
    switch (rule) {
    case RuleId::duplicateOfTheProcess:
        return {"the same input, another output",
            "the same process was given the same bits twice; once its output was finite and whole, and once: "
                + damageText(c.facts),
            {}};
    case RuleId::duplicateOnAnotherRank:
        return {suspectsText(c.facts, "kernel", true, true),
            fmt::format("{} gave a finite output for the very same input, so the numbers did not do it: {}", whose,
                damageText(c.facts)),
            {}};
    default:
        return {"the same input, another output",
            fmt::format("{} gave a finite output for the very same input, so its numbers alone did not do it: {}",
                whose, damageText(c.facts)),
            "does the function take anything besides this input (weights, moments, a coefficient)? If it does not, the "
            "kernel or its surroundings did it",
            sayWhether};
    }
}

Words dependsOnFunction(const Considered& c)
{
    const auto property = dividing(c);
    const auto* how = property == reproduces ? "can end with exactly this damage"
                                             : "leave the finite range on this input or come close to it";
    return {"depends on which function ran",
        fmt::format("{} {}, so neither the numbers nor the kernel can be named yet", partOfMembers(c, property), how),
        whichRan(c, property),
        isCastFailing(c, property) ? "--ran VARIANT:fp16 says yes, --ran VARIANT:bf16 no" : sayWhatRan};
}

/// What is still missing of the name, the epsilon and the word that nothing else ran.
std::string askEpsilon(const Considered& c)
{
    if (!c.saidToHaveRun()) {
        return fmt::format("{}, and which epsilon did it add to the norm? If that was not zero in its format, the "
                           "kernel did it",
            whichFunction(c.facts.scene));
    }
    if (c.facts.epsilonMissing) {
        return fmt::format(
            "which epsilon did {} add to the norm? If that was not zero in its format, the kernel did it",
            c.facts.scene.function.empty() ? namesOf(c) : c.facts.scene.function);
    }
    return fmt::format("did {} divide by the norm and this epsilon alone, and did no other code touch the result? If "
                       "so, the kernel did it",
        namesOf(c));
}

std::string sayEpsilon(const Considered& c)
{
    if (c.saidToHaveRun() && !c.facts.epsilonMissing) {
        return sayNothingElse;
    }
    const auto& names = c.identified.names;
    const auto name = names.size() == 1 ? replay::withoutEpsilon(names.front()) : "VARIANT";
    return fmt::format("--ran {0}@0 says that it added none, --ran {0}@1e-7 that one{1}", name,
        c.facts.nothingElse ? "" : ", and --nothing-else that no other code ran");
}

const char* whyNumbers(const Considered& c)
{
    if (isCastFailing(c, reproduces)) {
        return "the cast makes zeros of the input";
    }
    return c.facts.inputZero ? "zero divided by an epsilon that rounds to zero"
                             : "the iteration leaves the number format";
}

Words replaysEndAlike(const Considered& c, const char* kind)
{
    const auto totals = totalsOf(c.members);
    const auto& firstBad = c.members.front().firstBad;
    return {kind,
        fmt::format("the numbers explain the dump: {} of {} replays of {} end with exactly this damage{}",
            totals.reproducing, totals.replays, membersThat(c, reproduces, true),
            firstBad.empty() ? "" : ", first at " + firstBad),
        {}};
}

Words noKnownVariant(const Considered& c)
{
    if (auto words = wordsOfOff(c)) {
        return *words;
    }
    const auto* what = c.facts.outputFinite ? "the output is"
        : c.facts.fit.compared              ? "the finite part of the output is"
                                            : "a call of this kind that went well is";
    return {"matches no known variant",
        fmt::format("{} not the result of any known variant{}{}", what, nearestText(c.identified),
            c.facts.matrices > 1 ? "; each matrix was held against replays of itself, and a function that flattens "
                                   "them gives another result"
                                 : ""),
        "which function made this output? A healthy capture of the same shape (a control) would tell a wrong kernel "
        "from an unknown function"};
}

Words zeroInSomethingOut(const Considered& c)
{
    return {"zero in, non-zero out",
        fmt::format("an all-zero matrix must give exactly zero, yet {}, and no replay does that; "
                    "harmless for the weights if this is a padding matrix",
            c.facts.damage.count > 0 ? c.facts.damage.text : std::string("the output is not zero")),
        {}};
}

Words noReplayEndsLikeThis(const Considered& c)
{
    const auto count = std::ssize(c.members);
    return {suspectsText(c.facts),
        fmt::format("the input is finite, and {} stays finite on it; in the dump {} ({})",
            count == 1 ? "the one plausible variant"
                       : fmt::format("each of {} plausible {}", count, memberNoun(c.members, count)),
            c.facts.damage.text, totalsText(totalsOf(c.members))),
        {}};
}

Words matricesTakenTogether(const Considered& c)
{
    const auto& facts = c.facts;
    return {"matrices that may have been taken together",
        fmt::format(
            "{}, and so it is with the matrices beside it; this one stays finite by itself ({}), and a function "
            "that flattens them or divides them by one norm takes them as one",
            facts.damage.text, totalsText(totalsOf(c.members))),
        "does the function take these matrices one by one? A dump in the shape that its iteration is given (after a "
        "view or reshape) would tell, and so would a healthy call of this shape"};
}

Words ofDamage(const Considered& c, RuleId rule)
{
    const auto& damage = c.facts.damage.text;
    switch (rule) {
    case RuleId::nothingToCompare:
        return {"nothing to compare with", "no plausible variant could be replayed", {}};
    case RuleId::damageOnZeros:
        return {"damaged where the input is zero",
            fmt::format("{}, and all of it where the input is zero: a function that divides each row, column or block "
                        "by its norm gives 0/0 there, as a kernel that never wrote them may give anything",
                damage),
            "does your code divide rows, columns or blocks by their own norm, before or after the iteration (NorMuon, "
            "row scaling, a quantiser)? If it does, 0/0 did it; if not, the kernel did"};
    case RuleId::zeroInAllBadOut:
        return {"zero in, NaN out, and which epsilon is not known",
            fmt::format("an all-zero matrix came out damaged ({}): 0/0 does that where the function adds no epsilon to "
                        "the norm, or one that rounds to zero; a dump has at most the epsilon that the caller passed",
                damage),
            askEpsilon(c), sayEpsilon(c)};
    case RuleId::matricesTakenTogether:
        return matricesTakenTogether(c);
    case RuleId::lostAmongLargest:
        return {"lost where the result is largest",
            fmt::format("{}: exactly the largest values of the result{}, as a cast or a factor after it that leaves "
                        "its format ends",
                damage, c.facts.damage.nan > 0 ? "" : ", with their signs"),
            "does your code cast or scale the result (fp16, fp8, a quantiser)? If it does not, the kernel did"};
    case RuleId::normMayVanish:
        return {"a norm that may have vanished",
            fmt::format("the input is so small (absmax {:.2g}) that the squares of its norm may vanish in the "
                        "function's format, and no healthy call of its size tells",
                c.facts.inputAbsmax),
            "how does your function take its norm, and with which epsilon? If the squares are summed in fp32 and the "
            "epsilon is the one of the dump, the kernel did it",
            sayNothingElse};
    case RuleId::edgeInOnePlace:
        return {"at the edge, and damaged in one place",
            fmt::format("the replays have no margin ({}), and numbers that run away do not end like this: {}",
                totalsText(totalsOf(c.members)), damage),
            {}};
    case RuleId::atTheEdge:
        return {"a Q that runs away",
            fmt::format("the replays stay finite, but their Q runs away ({}): the numbers may well have done it",
                totalsText(totalsOf(c.members))),
            {}};
    case RuleId::withoutMargin:
        return {"too little margin to tell numbers from kernel",
            fmt::format("the replays stay finite, but with little margin ({}): the numbers may have done it in another "
                        "order of sums, and so may a kernel",
                totalsText(totalsOf(c.members))),
            "does the same call fail with plain torch operations in place of the kernels? Then the numbers did it. "
            "Does "
            "it fail with the kernels and coefficients that leave margin? Then a kernel did it",
            "say so with --called FILE=K/N,kernels-off"};
    case RuleId::failsWithoutKernels:
        return {"the call fails without the custom kernels, too",
            fmt::format(
                "the replays stay finite, but with little margin ({}), and without the kernels {}: no kernel is "
                "needed for it",
                totalsText(totalsOf(c.members)),
                callsText(*std::ranges::find_if(c.facts.calledAgain, failsWithoutKernels))),
            {}};
    case RuleId::someReplaysFail:
        if (totalsOf(c.members).finite == 0) {
            return {"the iteration leaves the number format",
                fmt::format("each replay of {} leaves the finite range ({}), though none ends exactly like the dump",
                    namesOf(c), totalsText(totalsOf(c.members))),
                {}};
        }
        return {"the iteration leaves the number format under some roundings",
            fmt::format("some replays of {} leave the finite range and others do not ({}): the numbers did it, or may "
                        "well have",
                namesOf(c), totalsText(totalsOf(c.members))),
            {}};
    case RuleId::codeBesides:
        return {"damaged as code besides the iteration may leave it",
            fmt::format("{}; no replay ends like that ({}). A kernel leaves it, and so does a weight, a moment, a "
                        "factor or a mask that was bad already, or a block that came from elsewhere",
                damage, totalsText(totalsOf(c.members))),
            fmt::format(
                "does {} add or multiply anything to the result before it {} (weight decay, second moments, a "
                "coefficient, a norm per row or block), or put it together of parts, or is the function another "
                "than the published one? If not, it was made inside the call",
                c.facts.scene.function.empty() ? "your code" : c.facts.scene.function,
                c.facts.scene.function.empty() ? "is dumped" : "returns it")};
    case RuleId::inputMayBeLate:
        return {"the input may be older or newer than what the call read",
            fmt::format("{}, and no replay of the dumped input ends like that ({}); but a gradient of the run was not "
                        "finite before this call already, and the dumped input is",
                damage, totalsText(totalsOf(c.members))),
            "was the input copied right before the call (input.clone())? Then the gradient was that of other "
            "parameters; if not, the dump does not hold what the call read"};
    default:
        return noReplayEndsLikeThis(c);
    }
}

std::string mostFits(const Considered& c)
{
    const auto& fit = c.facts.fit;
    if (fit.leftover != Leftover::none && fit.isNoise()) {
        return fmt::format(
            "roundings of {} take this input too far to hold the output against it, but around [{}, {}] it "
            "is",
            namesOf(c), fit.worstRow, fit.worstCol);
    }
    return fmt::format("most of the output fits {} to {}, but around [{}, {}] it is", namesOf(c), percentText(fitOf(c)),
        fit.worstRow, fit.worstCol);
}

/// "80 % off", "the input, bit for bit"
std::string offText(const OutputFit& fit)
{
    switch (fit.leftover) {
    case Leftover::none:
        break;
    case Leftover::zeros:
        return "zero";
    case Leftover::input:
        return "the input, bit for bit";
    case Leftover::elsewhere:
        return fmt::format("what stands at [{}, {}], bit for bit", fit.leftoverRow, fit.leftoverCol);
    }
    return offByText(fit.worstTileError);
}

Words offInPlaces(const Considered& c, const char* kind)
{
    return {kind,
        fmt::format("{} {}: finite, and not what the function gives there", mostFits(c), offText(c.facts.fit)),
        "does your code treat this part otherwise (a mask, another optimizer or rate, weight decay, an old value)? If "
        "it does not, the kernel did"};
}

Words ofEarlierCall(const Considered& c, RuleId rule)
{
    const auto how = c.facts.outputOfEarlierOff == 0 ? std::string("bit for bit")
                                                     : fmt::format("to {:.2g} %", 100 * c.facts.outputOfEarlierOff);
    const auto& element = c.facts.outputOfElement;
    const auto whose = element ? fmt::format("element {} of this call", *element)
                               : fmt::format("{}, an earlier call of this process", c.facts.outputOfEarlier);
    const auto text =
        fmt::format("the output is {} that of {}, whose input was another", element ? "bit for bit" : how, whose);
    if (rule == RuleId::staleOutput) {
        return {"stale output", text + ": the result of this call was not written, or not read", {}};
    }
    return {element ? "the output of another matrix" : "the output of an earlier call", text,
        "does your code keep results (an update every few steps, a step that is skipped)? If it does not, the kernel "
        "wrote nothing",
        sayWhether};
}

Words unlikeItsControl(const Considered& c, RuleId rule)
{
    const auto what = c.fitsNothingKnown() ? "what any known variant gives" + nearestText(c.identified)
                                           : fmt::format("what {} gives ({})", namesOf(c), offByText(fitOf(c)));
    const auto known = offOutputText(c.facts);
    const auto text = fmt::format("the output is finite and not {}, and {} is{}", what, c.facts.control->source,
        known.empty() ? "" : "; " + known);
    if (rule == RuleId::wrongBesideItsControl) {
        return {"finite, and wrong everywhere", text, {}};
    }
    return {"unlike a healthy call", text,
        "does your code treat this call otherwise than the healthy one (a mask, another optimizer, a cast, an old "
        "value)? If it does not, the kernel did",
        sayWhether};
}

Words notWhatWasSaid(const Considered& c)
{
    const auto& id = c.identified;
    if (auto words = wordsOfOff(c)) {
        return *words;
    }
    return {"not what was said to have run",
        fmt::format("the output is not what {} gives: {}{}", namesOf(c), offByText(fitOf(c)),
            id.runnerUp ? fmt::format(", and {} from {}", percentText(*id.runnerUp), id.runnerUpName) : std::string()),
        "which function made this output?"};
}

Words allZeroOfSome(const Considered& c)
{
    auto words = dependsOnFunction(c);
    words.summary = fmt::format("the output is zero everywhere, silently; {} give that for this input, where the norm "
                                "leaves the number format",
        partOfMembers(c, reproduces));
    return words;
}

Words offUnlessAnotherForm(const Considered& c)
{
    const auto& fit = c.facts.fit;
    const auto others = fmt::format("{}", fmt::join(fit.unlessRan, " or "));
    return {"off in places, unless another form ran",
        fmt::format("{} {}, which no rounding of it does; roundings of {} end that far apart there", mostFits(c),
            offByText(fit.worstTileError), others),
        fmt::format("which function ran? If it was not {}, what stands there is wrong", others), sayWhatRan};
}

std::string unjudgedText(const UnjudgedTiles& tiles)
{
    if (tiles.count == tiles.of && overRoundings * tiles.spread < tiles.error) {
        return fmt::format(
            "; but its roundings account for {:.2g} % only: a small fault inside, another format or another "
            "function may be the rest",
            100 * tiles.spread);
    }
    if (tiles.count == tiles.of) {
        return fmt::format(
            "; but the typical tile of 16 × 16 is {:.0f} % off, as far as roundings take this input, so a "
            "wrong tile would not show",
            100 * tiles.error);
    }
    return fmt::format(
        "; but {} of {} tiles of 16 × 16 {} off by up to {:.0f} %, around [{}, {}], where roundings of it "
        "end {:.0f} % apart: whether {} wrong does not show",
        tiles.count, tiles.of, tiles.count == 1 ? "is" : "are", 100 * tiles.error, tiles.row, tiles.col,
        100 * tiles.spread, tiles.count == 1 ? "it is" : "they are");
}

Words fitsInPart(const Considered& c)
{
    const auto& facts = c.facts;
    auto tiles = facts.fit.unjudged.count > 0 ? unjudgedText(facts.fit.unjudged) : std::string();
    const auto& fit = facts.fit;
    if (fit.localDamage) {
        const auto why = excusedByWhatRan(c)
            ? fmt::format("where roundings of {} end that far apart", fmt::join(fit.unlessRan, " or "))
            : std::string("too little beside how far the rest is off");
        tiles += fmt::format("; but around [{}, {}] it is {:.0f} % off, {}: whether that is wrong does not show",
            fit.worstRow, fit.worstCol, 100 * fit.worstTileError, why);
    }
    const auto batch = facts.matricesJudged < facts.matrices
        ? fmt::format("; {} of {} matrices of the batch were looked at", facts.matricesJudged, facts.matrices)
        : std::string();
    return {"not judged in full",
        fmt::format("the output is what {} gives, to {}{}{}", namesOf(c), percentText(fitOf(c)), tiles, batch), {}};
}

Words ofFinite(const Considered& c, RuleId rule)
{
    switch (rule) {
    case RuleId::somethingForNothing:
        return {"zero in, non-zero out",
            "an all-zero matrix came out finite and not zero, as a term that is added to the result leaves it",
            "does your function add something to its result, as weight decay or an old value would? If it does not, "
            "the kernel did it"};
    case RuleId::zeroInZeroOut:
        return {"healthy",
            c.facts.dumpedByWrapper || !c.facts.scene.function.empty()
                ? "zero in, zero out"
                : "zero in, zero out, unless a function that works in place left zeros in both (a norm that "
                  "overflowed): clone the input before the call to tell",
            {}};
    case RuleId::allZero:
        return {"all zero", "the output is zero everywhere, and no plausible variant gives zero for this input",
            c.facts.nothingElse
                ? "does it come again in a dump that waits for the kernels before it copies the result "
                  "(torch.cuda.synchronize(), or the capture helper in strict)? If it does, nothing wrote the result"
                : "does your code mask, freeze or skip this update? If it does not, nothing wrote the result, or it "
                  "was copied before it was written"};
    case RuleId::allZeroOfSome:
        return allZeroOfSome(c);
    case RuleId::allZeroOfAll:
        return {"silently zero",
            fmt::format("the output is zero everywhere, and so it is in the replays of {}: the norm leaves the number "
                        "format, and what is divided by infinity is zero",
                membersThat(c, reproduces, true)),
            {}};
    case RuleId::outputOfEarlierCall:
    case RuleId::staleOutput:
        return ofEarlierCall(c, rule);
    case RuleId::unlikeItsControl:
    case RuleId::wrongBesideItsControl:
        return unlikeItsControl(c, rule);
    case RuleId::notWhatWasSaid:
        return notWhatWasSaid(c);
    case RuleId::offUnlessAnotherForm:
        return offUnlessAnotherForm(c);
    case RuleId::zeroInPlaces:
        return {"zero in places", mostFits(c) + " zero: memory that was never written, or a mask",
            "does your code set part of the update to zero (a mask, frozen rows)? If it does not, the kernel did"};
    case RuleId::offByTermOrFactor:
        return offInPlaces(c, "off in places, by a term or a factor");
    case RuleId::offInPlaces:
        return offInPlaces(c, "off in places");
    case RuleId::finiteCorruption:
        return {"finite corruption", fmt::format("{} {}: finite, and wrong", mostFits(c), offText(c.facts.fit)), {}};
    case RuleId::fits:
        return {"healthy", fmt::format("the output is what {} gives, to {}", namesOf(c), percentText(fitOf(c))), {}};
    case RuleId::fitsInPart:
        return fitsInPart(c);
    default:
        return {"not judged",
            "finite in and out; nothing to compare with, or roundings of the function alone end as far apart as the "
            "output is off",
            {}};
    }
}

Words calledAgainFinite(const Considered& c)
{
    const auto& called = *std::ranges::find_if(c.facts.calledAgain, cameOutFinite);
    return {"the same input, another output",
        fmt::format("the captured call ended with: {}; made again, {}{}, so no function of its input "
                    "did it",
            damageText(c.facts), callsText(called),
            called.failed == 0 && mostThatFail(called.calls) < 1
                ? fmt::format(" (at 95 % confidence fewer than {:.2g} % do)", 100 * mostThatFail(called.calls))
                : ""),
        {}};
}

Words nameContradicted(const Considered& c)
{
    const auto& control = c.facts.control;
    const bool rest = c.facts.fit.compared && c.identified.fit.value_or(0) > foreignFit;
    if (auto words = rest ? wordsOfOff(c) : std::nullopt) {
        return *words;
    }
    const auto what = rest ? fmt::format("the finite part of the output is {}", offByText(fitOf(c)))
                           : fmt::format("{} is not what it gives", control ? control->source : std::string("a call"));
    return {"not what was said to have run",
        fmt::format("{} is said to have run, and {}: {}", namesOf(c), what, c.facts.damage.text),
        fmt::format(
            "did {} run, on this whole tensor and on nothing else? A healthy capture of the same call that fits it "
            "would tell, and so would the function that is called",
            namesOf(c)),
        "--other-code says that more than it ran"};
}

Words dependsOnEpsilon(const Considered& c)
{
    const bool said = std::ranges::any_of(c.identified.names,
        [](const std::string& name) { return replay::withoutEpsilon(name) != std::string_view(name); });
    return {"depends on the epsilon in effect",
        fmt::format("{} {}; with the one that the dump records it ends otherwise: {}", namesOf(c),
            said ? "is said to have run with an epsilon of its own" : "takes its own epsilon in its published source",
            c.facts.damage.text),
        "which epsilon was in effect, the one of the dump or the one in the source of the function?",
        "--ran VARIANT@EPSILON says so"};
}

Words functionChanged(const Considered& c)
{
    const auto& scene = c.facts.scene;
    return {"a changed function",
        fmt::format("{}, and {}: replays of the published one ({}) say nothing of what was changed",
            c.facts.damage.text, changedText(scene, " has"), totalsText(totalsOf(c.members))),
        whatWasChanged(scene), sayChanged(scene)};
}

Words functionUnknown(const Considered& c)
{
    if (c.hasOtherText()) {
        return functionChanged(c);
    }
    const auto count = std::ssize(c.members);
    const auto values = c.identified.how == IdentifiedBy::unknown
        ? std::string("nothing says which function ran")
        : fmt::format("only values say that it was {}, and functions that share them may fail otherwise", namesOf(c));
    return {"which function ran is not known",
        fmt::format("{}, and {}: {} known {} {} finite ({}), which says nothing of another one", c.facts.damage.text,
            values, count, memberNoun(c.members, count), count == 1 ? "stays" : "stay",
            totalsText(totalsOf(c.members))),
        whichFunction(c.facts.scene) + ", in which format?", sayWhatRan};
}

Words ofRule(const Considered& c, RuleId rule)
{
    switch (rule) {
    case RuleId::calledAgainFinite:
        return calledAgainFinite(c);
    case RuleId::nameContradicted:
        return nameContradicted(c);
    case RuleId::dependsOnEpsilon:
        return dependsOnEpsilon(c);
    case RuleId::functionUnknown:
        return functionUnknown(c);
    case RuleId::duplicateMayHaveOtherState:
    case RuleId::duplicateOfTheProcess:
    case RuleId::duplicateOnAnotherRank:
        return ofDuplicate(c, rule);
    case RuleId::dependsOnFunction:
        return dependsOnFunction(c);
    case RuleId::castOverflows:
        return replaysEndAlike(c, "overflow in the cast");
    case RuleId::replaysEndAlike:
        return replaysEndAlike(c, whyNumbers(c));
    case RuleId::noKnownVariant:
    case RuleId::finiteOfNoKnownVariant:
        return noKnownVariant(c);
    case RuleId::zeroInSomethingOut:
    case RuleId::zeroInFiniteOut:
        return zeroInSomethingOut(c);
    default:
        return c.facts.outputFinite ? ofFinite(c, rule) : ofDamage(c, rule);
    }
}

// What came again excludes something: a fault that stayed away may have been chance, or other timing.
std::string narrowedKind(const Considered& c)
{
    const auto& facts = c.facts;
    const bool unconfirmed = c.nameUnconfirmed();
    const auto stays = [&](std::string_view id) {
        return std::ranges::any_of(
            facts.tried, [&](const TriedExperiment& tried) { return tried.id == id && tried.seen == Seen::stays; });
    };
    const auto* kernel = stays("kernels-off") ? "torch's own kernels" : "kernel";
    if (std::ranges::any_of(facts.calledAgain, failsElsewhere)) {
        return fmt::format("{} or aliasing", kernel);
    }
    return suspectsText(facts, kernel, !stays("launch-blocking"))
        + (unconfirmed ? ", or another function than was named" : "");
}

int swapsWithTheCard(const Facts& facts)
{
    int swaps = 0;
    for (const auto& tried : facts.tried) {
        swaps = tried.seen == Seen::moves ? std::max(swaps, tried.times) : swaps;
    }
    return swaps;
}

void refine(Words& words, const Considered& c, RuleId rule)
{
    const auto& facts = c.facts;
    switch (rule) {
    case RuleId::hardwareErrorLogged:
        words.kind = "hardware error in the log";
        break;
    case RuleId::rankWrongAgain:
        words.kind = fmt::format("this rank was wrong {} times where another was right", facts.wrongBesideOtherRanks);
        words.summary += "; its card, or what else this rank alone has: a build, a cache of kernels, a setting";
        words.question = "does the fault move with the card when two GPUs are swapped between ranks? Then it is the "
                         "machine; if it stays, it is what else the rank has";
        words.command.clear();
        break;
    case RuleId::cameAgainWithoutTheCast:
        words.kind = "the numbers explain this dump, and the fault came again without them";
        words.question = "did the setting reach the optimizer step? A capture of the new failure would tell: judge it, "
                         "too";
        words.command.clear();
        break;
    case RuleId::movesWithTheCard:
        words.kind = "moves with the card";
        words.summary =
            fmt::format("the fault moved with the card in {} swaps; {}", swapsWithTheCard(facts), words.summary);
        words.question.clear();
        words.command.clear();
        break;
    default:
        if (rule == RuleId::noReplayEndsLikeThis) {
            words.kind = narrowedKind(c);
        }
    }
}

/// Where the helper found the name of a published function and another source, that is what is to be asked.
void askOfOtherText(Words& words, const Considered& c, RuleId rule)
{
    const auto& scene = c.facts.scene;
    const bool ofCast = rule == RuleId::dependsOnFunction && isCastFailing(c, dividing(c));
    if (asksForName(rule) && !ofCast && !c.saidToHaveRun() && !scene.namedLike.empty()) {
        words.question = whatWasChanged(scene);
        words.command = sayChanged(scene);
    }
}

} // namespace

bool asksAboutOtherCode(const Considered& c, RuleId rule)
{
    const bool ofEpsilon = rule == RuleId::zeroInAllBadOut && c.saidToHaveRun() && !c.facts.epsilonMissing;
    const auto answers = answersOf(rule);
    return answers == Answers::nothingElse || answers == Answers::control || rule == RuleId::allZero || ofEpsilon
        || rule == RuleId::notWhatWasSaid;
}

bool asksWhetherOtherCode(const Facts& facts, RuleId rule)
{
    return !facts.nothingElse && (answersOf(rule) == Answers::nothingElse || rule == RuleId::allZero);
}

// Facts may come from a session that was edited by hand: any list of them may be empty.
std::string nearestText(const Identification& id)
{
    return id.all.empty() ? std::string()
                          : fmt::format(" (nearest: {}, {})", id.all.front().variant, offByText(id.all.front().fit));
}

std::string duplicateName(const DuplicateInput& duplicate)
{
    return duplicate.sameProcess ? "the same process"
        : duplicate.rank         ? fmt::format("rank {}", *duplicate.rank)
                                 : "another rank";
}

Words explain(const Considered& c, const Decision& decision)
{
    auto words = ofRule(c, decision.first);
    refine(words, c, decision.rule);
    if (c.facts.otherCode && asksAboutOtherCode(c, decision.rule)) {
        words.question = "what does the iteration alone make of its input? Other code touched what was dumped, as is "
                         "said, and may have left this: capture the iteration by itself "
                         "(nanscope_capture.wrap, docs/capture.md), and judge that";
        words.command.clear();
        return words;
    }
    // Who has said that nothing else ran is asked for the other half, and who has said both, what the function does.
    const bool isSaid = c.facts.nothingElse && answersOf(decision.rule) == Answers::nothingElse;
    if (isSaid && decision.rule == RuleId::codeBesides && c.saidToHaveRun()) {
        words.command = "--other-code says yes";
    } else if (isSaid) {
        words.question =
            "which function ran? Nothing else did, as is said, but a function of your own may leave this by "
            "itself";
        words.command = sayWhatRan;
    }
    askOfOtherText(words, c, decision.rule);
    if (words.command.empty() && asksWhetherOtherCode(c.facts, decision.rule)) {
        words.command = sayWhether;
    }
    return words;
}

} // namespace nanscope::diagnose::verdict
