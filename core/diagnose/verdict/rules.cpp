// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/margin.h"
#include "core/diagnose/verdict/thresholds.h"

namespace nanscope::diagnose::verdict {

namespace {

bool isWhole(const Considered& c)
{
    return c.facts.damage.shape == DamageShape::wholeElement;
}

bool isDamaged(const Considered& c)
{
    return c.facts.replayed && !c.facts.outputFinite;
}

bool isFinite(const Considered& c)
{
    return c.facts.replayed && c.facts.outputFinite;
}

// Squares of zeros are not what a norm of it lost: zero in and zero out is no silence.
bool isSilentlyZero(const Considered& c)
{
    return isFinite(c) && c.facts.outputZero && !c.facts.inputZero;
}

bool atTheEdge(const Considered& c)
{
    const bool close = c.all(lacksMargin) || (!c.any(isPublished) && c.all(hasLittleSlack));
    return close && !c.any(blowsUp);
}

/// A healthy call of that shape is what the named function gives of each matrix by itself, or any known one.
bool takesMatricesOneByOne(const Considered& c)
{
    const auto& control = c.facts.control;
    if (c.saidToHaveRun()) {
        return c.nameOffFromCall().value_or(1) <= closeFit;
    }
    return control && !control->otherProcess && !control->identified.matchesNone;
}

bool mayBeTakenTogether(const Considered& c)
{
    return c.facts.takenTogether && !takesMatricesOneByOne(c);
}

// Numbers that run away take the whole matrix with them. Here and there they only overflow, in the last step, and only
// where the format is nearly full: past the limit of a schedule alone, values of one are next to values of one.
bool couldBeOverflow(const Considered& c)
{
    const auto shape = c.facts.damage.shape;
    const bool hereAndThere = shape == DamageShape::scattered || shape == DamageShape::singleElement;
    return isWhole(c) || (hereAndThere && c.any(lacksHeadroom));
}

/// What is compared is what a known function gives, to this relative Frobenius distance.
bool fitsWithin(const Considered& c, double distance)
{
    const auto& id = c.identified;
    return c.facts.fit.compared && id.how != IdentifiedBy::unknown && !id.matchesNone && id.fit.value_or(1) <= distance;
}

/// Finite without margin, and no finite rest shows that the function came out right: numbers that run away spoil all
/// they meet, so that a rest that is what the function gives was not among them.
bool mayHaveFailed(const Considered& c)
{
    return isDamaged(c) && atTheEdge(c) && (c.any(lacksHeadroom) || !fitsWithin(c, plausibleFit));
}

bool isOfLines(DamageShape shape)
{
    return shape == DamageShape::rows || shape == DamageShape::columns;
}

/// A name is said, and no helper found another source under it.
bool isNamed(const Considered& c)
{
    return c.saidToHaveRun() && !c.hasOtherText();
}

/// Its code is known: by a name or by bits. Values alone are shared by
/// functions that fail otherwise: on a Gaussian matrix any polar factor is what polar-express gives. And bits of an
/// input of another size tell nothing of a branch that this one takes.
bool isKnownCode(const Considered& c)
{
    const auto& control = c.facts.control;
    const bool sameCode = control && !control->otherSize && !control->otherProcess;
    return isNamed(c) || c.facts.exactBits || (sameCode && !control->exact.empty());
}

/// What scales, masks or quantises a result by its rows, columns or blocks may leave such damage, and every other value
/// as it was.
bool looksLikeOwnCode(const Considered& c)
{
    const auto& facts = c.facts;
    return !facts.outputFinite
        && (facts.damage.shape == DamageShape::scattered || facts.damageInFaintLines || facts.damageInOwnBlock);
}

/// A published function by its sidecar, or by the user where no helper saw other code: of that a name says what it
/// computes, and not what else it does.
bool isPublishedCode(const Considered& c)
{
    return isNamed(c) && (c.identified.how == IdentifiedBy::sidecar || c.facts.scene.function.empty());
}

/// The helper saw code that is no published one. Where it has the name of one, something was changed in it or put
/// around it, which may be a mask of any tile; elsewhere one lost value is like a mask's, and a kernel writes tiles.
/// Every other bit is the iteration's.
bool mayBeOfOwnText(const Considered& c)
{
    const auto& facts = c.facts;
    const bool oneValue = !facts.outputFinite && facts.damage.shape == DamageShape::singleElement;
    return !facts.scene.function.empty() && !isPublishedCode(c) && (oneValue || !facts.scene.namedLike.empty());
}

/// Of a call that was dumped by the wrapper, around a function of one matrix and an epsilon. That function may be one's
/// own, which a name or bits exclude: it may scale rows or columns by what it keeps, quantise, and take blocks one by
/// one. Where the iteration left the format, nothing is finite to know a function by.
bool isAloneInWrapper(const Considered& c)
{
    const auto& facts = c.facts;
    const auto shape = facts.damage.shape;
    if (facts.outputFinite) {
        return isKnownCode(c) || fitsWithin(c, closeFit);
    }
    if (looksLikeOwnCode(c) || c.nameUnconfirmed()) {
        return false;
    }
    if (isOfLines(shape)) {
        return facts.exactBits || (isNamed(c) && fitsWithin(c, closeFit));
    }
    return isKnownCode(c) || (!isWhole(c) && fitsWithin(c, closeFit));
}

/// Nothing but a known function lies between what was dumped as its input and as its result. The word that nothing else
/// touched them is said of whatever ran: of a function of one's own it does not make a published one.
bool isAlone(const Considered& c)
{
    const auto& facts = c.facts;
    const bool damaged = !facts.outputFinite;
    if (facts.otherCode || mayBeOfOwnText(c)) {
        return false;
    }
    if (facts.nothingElse && looksLikeOwnCode(c) && !isPublishedCode(c)) {
        return false;
    }
    if (facts.nothingElse && (isKnownCode(c) || (damaged && fitsWithin(c, roundedFit)))) {
        return true;
    }
    // That nothing else ran takes nothing from what the wrapper shows of damage.
    return (damaged || !facts.nothingElse) && facts.dumpedByWrapper && !facts.besideBadInput && isAloneInWrapper(c);
}

/// Of zeros alone a function of them knows no place from another: a tile of what it makes of them is no number's.
bool isTileOfZeros(const Considered& c)
{
    const auto shape = c.facts.damage.shape;
    return c.facts.dumpedByWrapper && !c.facts.besideBadInput && !c.facts.otherCode && !isWhole(c) && !isOfLines(shape)
        && shape != DamageShape::scattered;
}

/// It is the code that is not known, not what else there was.
bool asksWhatRan(const Considered& c)
{
    const bool sure = c.facts.nothingElse || (c.facts.dumpedByWrapper && !c.facts.besideBadInput && isWhole(c));
    return sure && !isAlone(c) && !isNamed(c);
}

bool isCorrupt(const Considered& c)
{
    const auto& fit = c.facts.fit;
    if (fit.leftover != Leftover::none) {
        return true;
    }
    const double typical = c.identified.fit.value_or(0);
    return fit.localDamage && !excusedByWhatRan(c) && typical <= corruptTile && fit.worstTileError > corruptTile
        && fit.worstTileError > corruptRatio * typical;
}

// A place that is off and not by enough to be called wrong was not shown to be right.
bool isJudgedInPart(const Considered& c)
{
    const auto& facts = c.facts;
    return facts.fit.unjudged.count > 0 || facts.matricesJudged < facts.matrices || facts.fit.localDamage;
}

bool isBirth(const Considered& c)
{
    return isDamaged(c) || isSilentlyZero(c) || (isFinite(c) && isCorrupt(c));
}

// The user's own code can leave any finite value in a place. Of a wrapped function that is known, what stands elsewhere
// in the result was not put there on purpose, but for a mask and a term, and where the rest tells nothing of it.
bool perhapsMeant(const Considered& c)
{
    const auto& facts = c.facts;
    if (!isAlone(c)) {
        return true;
    }
    const bool onPurpose = facts.zeroInPlaces || facts.termOrFactor || !facts.misplaced;
    return !facts.nothingElse && (onPurpose || (facts.fit.leftover != Leftover::none && facts.fit.isNoise()));
}

bool asksAboutPlace(const Considered& c)
{
    return isFinite(c) && !c.facts.outputZero && isCorrupt(c) && perhapsMeant(c);
}

/// Whether the numbers of a member could have done it. Where it is known which variants gave the clean output for the
/// same bits, a form that only comes near the edge counts if it has the schedule of one of them: the naive Gram form,
/// tried again in the standard one.
bool numbersCould(const Considered& c)
{
    const auto& duplicate = c.facts.duplicate;
    const bool anySchedule = !duplicate || duplicate->fits.empty();
    return std::ranges::any_of(c.members, [&](const MemberResult& member) {
        const bool scheduleRan =
            anySchedule || std::ranges::find(duplicate->sameSchedule, member.variant) != duplicate->sameSchedule.end();
        return reproduces(member) || blowsUp(member) || (couldFail(member) && scheduleRan);
    });
}

/// A call that was given the same bits came out finite, and no member's numbers end in two ways.
bool duplicateAcquitsNumbers(const Considered& c)
{
    return isBirth(c) && c.facts.role != Role::padding && c.facts.duplicate && !numbersCould(c) && !asksAboutPlace(c);
}

// The same bits, and yet not the same call: it may take more than them, run in another format, or be another function,
// as a guard calls one that fails again in fp32. A wrapped one whose finite rest is the other's has nothing more to
// take; but what it keeps by itself another rank may have otherwise.
bool maybeOtherState(const Considered& c)
{
    const auto& duplicate = *c.facts.duplicate;
    const bool sameState = c.facts.dumpedByWrapper && duplicate.sameProcess && duplicate.sameRest;
    return !c.facts.nothingElse && (c.facts.otherCode || !sameState);
}

/// Sums in another order, of which no two runs need have the same, may end otherwise: each member comes near enough.
bool sumsMayDecide(const Considered& c)
{
    return !c.members.empty()
        && c.all([](const MemberResult& m) { return couldFail(m) && m.reproducing < m.roundings; });
}

// The functions that are known are not all there are: that each of them stays finite says nothing of another. Beside
// other code the name of one would tell nothing.
bool isUnknownFunction(const Considered& c)
{
    if (c.facts.otherCode) {
        return false;
    }
    const bool nothingTells = c.identified.how == IdentifiedBy::unknown && !c.facts.fit.compared;
    const bool changed = c.hasOtherText() && !isAlone(c);
    return (changed || !c.facts.inputZero) && (nothingTells || changed || asksWhatRan(c));
}

/// The log says that a gradient was not finite before this call, and nobody says that the input was copied before it:
/// the wrapper and the helper do that.
bool inputMayBeLate(const Considered& c)
{
    const bool logged = std::ranges::any_of(c.facts.logs, &LogTrend::notFinite);
    return logged && !c.facts.dumpedByWrapper && c.facts.scene.function.empty();
}

// The members of each variant differ in nothing but the epsilon.
bool dividedByEpsilon(const Considered& c)
{
    const auto property = dividing(c);
    if (property == nullptr || !c.any([](const MemberResult& m) { return m.recordedEpsilon; })) {
        return false;
    }
    const auto agrees = [&](bool recorded) {
        return std::ranges::all_of(
            c.members, [&](const MemberResult& m) { return property(m) == (m.recordedEpsilon == recorded); });
    };
    return agrees(true) || agrees(false);
}

// Of the function that is named, some roundings blow up and others do not.
bool failsInSomeReplays(const Considered& c)
{
    return c.saidToHaveRun() && c.all(couldFail) && c.any(blowsUp);
}

bool movedTwice(const Considered& c)
{
    return std::ranges::any_of(c.facts.tried, [](const TriedExperiment& tried) {
        return tried.id == "swap-gpus" && tried.seen == Seen::moves && tried.times >= swapsThatName;
    });
}

bool cameAgain(const Considered& c, std::string_view experiment)
{
    return std::ranges::any_of(c.facts.tried,
        [&](const TriedExperiment& tried) { return tried.id == experiment && tried.seen == Seen::stays; });
}

bool isCastOverflow(const Considered& c)
{
    return c.all(reproduces) && isCastFailing(c, reproduces) && c.facts.inputAbsmax > 1;
}

// What ran is known from another call, and this one's output is another's. A factor and another number of steps are
// arguments, which two calls need not share.
bool isUnlikeItsControl(const Considered& c)
{
    const auto as = c.facts.off.as;
    return isFinite(c) && c.outputIsOff() && as != OffAs::multiple && as != OffAs::otherSteps && c.controlConfirms()
        && !c.facts.epsilonMatters && !c.facts.normMayVanish;
}

bool hardwareMayHave(const Considered& c)
{
    return c.facts.hardwareError && std::ranges::none_of(c.facts.calledAgain, failsElsewhere);
}

// Of an earlier call, or of another matrix of this one.
bool isOutputOfAnother(const Considered& c)
{
    return isFinite(c) && (!c.facts.outputOfEarlier.empty() || c.facts.outputOfElement);
}

/// A helper compares what the function keeps. What a user calls again elsewhere, in a new process for one, has the
/// state that it has there, and of what the function was given the input alone.
std::vector<CallsAgain> againAlone(const Considered& c)
{
    std::vector<CallsAgain> calls;
    const bool alone = (c.facts.nothingElse || isAlone(c)) && c.facts.scene.otherTensors == 0;
    std::ranges::copy_if(c.facts.calledAgain, std::back_inserter(calls),
        [alone](const CallsAgain& called) { return called.atTheScene || alone; });
    return calls;
}

constexpr Rule table[] = {
    {RuleId::calledAgainFinite,
        "the captured call, made again on the same GPU, came out finite at least once: no function of its input does "
        "that, unless the order of its sums decides; where a helper made the call, or it is said that nothing else ran",
        Blame::nondeterministic, Answers::nothing,
        [](const Considered& c) {
            return isBirth(c) && std::ranges::any_of(againAlone(c), cameOutFinite) && !sumsMayDecide(c);
        }},
    {RuleId::duplicateMayHaveOtherState,
        "a call with the same bits came out finite; no member's numbers could end both ways; nobody says that nothing "
        "else ran, and it was not the wrapper that dumped both in one process, with the same bits wherever both are "
        "finite",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) { return duplicateAcquitsNumbers(c) && maybeOtherState(c); }},
    {RuleId::duplicateOfTheProcess, "the same, where nothing else ran or it was the wrapper, in the same process",
        Blame::nondeterministic, Answers::nothing,
        [](const Considered& c) { return duplicateAcquitsNumbers(c) && c.facts.duplicate->sameProcess; }},
    {RuleId::duplicateOnAnotherRank, "the same, on another rank", Blame::implementation, Answers::nothing,
        duplicateAcquitsNumbers},
    {RuleId::nothingToCompare, "no plausible variant could be replayed", Blame::undecided, Answers::nothing,
        [](const Considered& c) { return isDamaged(c) && c.members.empty(); }},
    {RuleId::nameContradicted,
        "what is said to have run is more than 15 % off the finite rest of the output or a healthy call, and fits no "
        "healthy call",
        Blame::undecided, Answers::control,
        [](const Considered& c) { return isDamaged(c) && c.nameContradicted() && !c.fitsNothingKnown(); }},
    {RuleId::damageOnZeros,
        "all that is damaged lies where the input is zero, not every member ends like the dump, and nobody says that "
        "nothing else ran",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) {
            return isDamaged(c) && c.facts.damageOnZeros && !c.all(reproduces) && !c.facts.nothingElse;
        }},
    {RuleId::zeroInAllBadOut,
        "the input is zero, the whole output is damaged, not every member ends so, and which epsilon was in effect is "
        "not known",
        Blame::undecided, Answers::epsilon,
        [](const Considered& c) {
            return isDamaged(c) && c.facts.inputZero && c.epsilonUnknown() && isWhole(c) && !c.all(reproduces);
        }},
    {RuleId::dependsOnEpsilon,
        "with the epsilon of the dump the function ends otherwise than with its own, which its source always takes",
        Blame::undecided, Answers::epsilon, [](const Considered& c) { return isDamaged(c) && dividedByEpsilon(c); }},
    {RuleId::dependsOnFunction,
        "some members can end like the dump, or leave the finite range, or come close to it; others cannot",
        Blame::undecided, Answers::ran, [](const Considered& c) { return isDamaged(c) && dividing(c) != nullptr; }},
    {RuleId::castOverflows,
        "every member ends exactly like the dump, because its cast to fp16 makes infinities of the largest inputs",
        Blame::numerics, Answers::nothing, [](const Considered& c) { return isDamaged(c) && isCastOverflow(c); }},
    {RuleId::replaysEndAlike, "every member ends exactly like the dump under at least one rounding", Blame::numerics,
        Answers::nothing, [](const Considered& c) { return isDamaged(c) && c.all(reproduces); }},
    {RuleId::matricesTakenTogether,
        "several matrices of the call came out without a finite value, each of them stays finite in replays of it "
        "alone, and no healthy call of that shape shows that the function takes them one by one",
        Blame::undecided, Answers::control, [](const Considered& c) { return isDamaged(c) && mayBeTakenTogether(c); }},
    {RuleId::zeroInSomethingOut,
        "the input is zero and the output is not; nothing but a known function ran, or a wrapped one left a tile",
        Blame::implementation, Answers::nothing,
        [](const Considered& c) { return isDamaged(c) && c.facts.inputZero && (isAlone(c) || isTileOfZeros(c)); }},
    {RuleId::noKnownVariant, "the finite part of the output, or a healthy call, is what no known variant gives",
        Blame::undecided, Answers::control, [](const Considered& c) { return isDamaged(c) && c.fitsNothingKnown(); }},
    {RuleId::lostAmongLargest,
        "every damaged value is an Inf, or a NaN of its format, where the result is largest, and nobody says that"
        " nothing else ran",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) { return isDamaged(c) && c.facts.damageAmongLargest && !c.facts.nothingElse; }},
    {RuleId::normMayVanish,
        "everything is damaged, the input is so small that its norm may have vanished, and nobody says that "
        "nothing else ran",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) {
            return isDamaged(c) && c.facts.normMayVanish && !c.facts.nothingElse && isWhole(c);
        }},
    {RuleId::edgeInOnePlace, "the replays have no margin, and the damage is not what numbers leave that run away",
        Blame::undecided, Answers::nothing,
        [](const Considered& c) {
            return isDamaged(c) && (mayHaveFailed(c) || failsInSomeReplays(c)) && !couldBeOverflow(c);
        }},
    {RuleId::atTheEdge,
        "all replays stay finite, but with a Q that runs away in a step more, and no finite rest is what the function "
        "gives",
        Blame::numerics, Answers::nothing, [](const Considered& c) { return mayHaveFailed(c) && c.all(hasLargeQ); }},
    {RuleId::failsWithoutKernels,
        "all replays stay finite without margin, and the captured call, made again without the custom kernels, fails "
        "every time",
        Blame::numerics, Answers::nothing,
        [](const Considered& c) {
            return mayHaveFailed(c) && std::ranges::any_of(c.facts.calledAgain, diagnose::failsWithoutKernels);
        }},
    {RuleId::withoutMargin,
        "all replays stay finite, with too little margin to acquit the numbers, and no finite rest is what the "
        "function gives, or the format is nearly full",
        Blame::undecided, Answers::calls, mayHaveFailed},
    {RuleId::someReplaysFail, "some replays of what is said to have run leave the finite range, and others do not",
        Blame::numerics, Answers::nothing, [](const Considered& c) { return isDamaged(c) && failsInSomeReplays(c); }},
    {RuleId::inputMayBeLate,
        "the log has a gradient that was not finite when the call was made, and neither the wrapper nor the helper "
        "dumped it, which copy the input before the call",
        Blame::undecided, Answers::capture, [](const Considered& c) { return isDamaged(c) && inputMayBeLate(c); }},
    {RuleId::codeBesides,
        "code besides the iteration leaves such damage, too: a weight, a moment, a factor, a mask, a norm of rows, a "
        "quantiser or a block of another rank; and nobody says that nothing else ran, nor was a known function "
        "wrapped; or the damage lies as such code leaves it, and of the function no more is known than a name",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) {
            const bool open = !c.facts.nothingElse || looksLikeOwnCode(c) || mayBeOfOwnText(c);
            return isDamaged(c) && open && !isAlone(c) && !isUnknownFunction(c);
        }},
    {RuleId::functionUnknown,
        "too little of the output is finite to tell what ran, no healthy call tells it bit for bit, and nobody says "
        "it; "
        "or nothing else ran, and what did is not known by name or by bits",
        Blame::undecided, Answers::ran, [](const Considered& c) { return isDamaged(c) && isUnknownFunction(c); }},
    {RuleId::noReplayEndsLikeThis,
        "every member stays finite under every rounding, with margin; nothing but a known function ran",
        Blame::implementation, Answers::nothing, isDamaged},
    {RuleId::somethingForNothing, "zero in, finite and not zero out; a term may have been added to the result",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) { return isFinite(c) && c.facts.inputZero && !c.facts.outputZero && !isAlone(c); }},
    {RuleId::zeroInFiniteOut, "zero in, finite and not zero out, and nothing but a known function ran",
        Blame::implementation, Answers::nothing,
        [](const Considered& c) { return isFinite(c) && c.facts.inputZero && !c.facts.outputZero; }},
    {RuleId::zeroInZeroOut, "zero in, zero out", Blame::undecided, Answers::nothing,
        [](const Considered& c) { return isFinite(c) && c.facts.inputZero; }},
    {RuleId::allZero, "all zero, and no member gives that", Blame::undecided, Answers::capture,
        [](const Considered& c) { return isSilentlyZero(c) && !c.any(reproduces); }},
    {RuleId::allZeroOfSome, "all zero, as some members give it and others do not", Blame::undecided, Answers::ran,
        [](const Considered& c) { return isSilentlyZero(c) && !c.all(reproduces); }},
    {RuleId::allZeroOfAll, "all zero, as every member gives it", Blame::numerics, Answers::nothing, isSilentlyZero},
    {RuleId::outputOfEarlierCall,
        "finite, and but for roundings the output of an earlier call of the process, or bit for bit that of another "
        "matrix of the call, whose input was another; nobody says that nothing else ran, or what ran is not known",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) { return isOutputOfAnother(c) && !(c.facts.nothingElse && isKnownCode(c)); }},
    {RuleId::staleOutput, "the same, of a known function, and nothing else ran", Blame::implementation,
        Answers::nothing, isOutputOfAnother},
    {RuleId::unlikeItsControl,
        "finite, and not what is named or any known variant gives, while a healthy call is; no epsilon matters; nobody "
        "says that nothing else ran, or what did is known by its values alone",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) { return isUnlikeItsControl(c) && !(c.facts.nothingElse && isKnownCode(c)); }},
    {RuleId::wrongBesideItsControl, "the same, of a known function, and nothing else ran", Blame::implementation,
        Answers::nothing, isUnlikeItsControl},
    {RuleId::finiteOfNoKnownVariant, "finite, and not what any known variant gives", Blame::undecided, Answers::control,
        [](const Considered& c) { return isFinite(c) && c.fitsNothingKnown(); }},
    {RuleId::notWhatWasSaid, "finite, and not what the named function gives", Blame::undecided, Answers::ran,
        [](const Considered& c) {
            return isFinite(c) && c.saidToHaveRun() && c.facts.fit.compared
                && c.identified.fit.value_or(0) > foreignFit;
        }},
    {RuleId::offUnlessAnotherForm,
        "most fits, and a place is off by more than roundings of what is published differ, but not of forms that "
        "nobody recommends and that fit as well",
        Blame::undecided, Answers::ran,
        [](const Considered& c) {
            return isFinite(c) && isCorrupt(c) && !c.facts.fit.unlessRan.empty() && !c.saidToHaveRun();
        }},
    {RuleId::zeroInPlaces, "most fits, a place is zero as a mask leaves it, and nobody says that nothing else ran",
        Blame::undecided, Answers::nothingElse,
        [](const Considered& c) { return asksAboutPlace(c) && c.facts.zeroInPlaces; }},
    {RuleId::offByTermOrFactor, "the same, and the place is off by what may be a term or a factor", Blame::undecided,
        Answers::nothingElse, [](const Considered& c) { return asksAboutPlace(c) && c.facts.termOrFactor; }},
    {RuleId::offInPlaces, "the same, and the place is off, but not by what stands elsewhere in the result",
        Blame::undecided, Answers::nothingElse, [](const Considered& c) { return asksAboutPlace(c); }},
    {RuleId::finiteCorruption, "most fits, and a place is off", Blame::implementation, Answers::nothing,
        [](const Considered& c) { return isFinite(c) && isCorrupt(c); }},
    {RuleId::fitsInPart,
        "finite, and what a known variant gives as far as it was judged: roundings differ too much in some places, or "
        "explain too little, or a place is off by too little, or not every matrix of the batch was looked at",
        Blame::undecided, Answers::nothing,
        [](const Considered& c) { return isFinite(c) && c.facts.fit.compared && isJudgedInPart(c); }},
    {RuleId::fits, "finite, and what a known variant gives", Blame::undecided, Answers::nothing,
        [](const Considered& c) { return isFinite(c) && c.facts.fit.compared; }},
    {RuleId::tooLittleToCompare,
        "finite in and out, and nothing to hold against the variants, or roundings of what is named end as far apart "
        "as it is off",
        Blame::undecided, Answers::nothing, isFinite},
};

constexpr Refinement refined[] = {
    {RuleId::hardwareErrorLogged,
        "a log of this rank or process has an Xid, ECC or SDC error, and the captured call, made again on another GPU, "
        "does not fail there every time",
        Blame::implementation, Blame::machine, hardwareMayHave},
    {RuleId::hardwareErrorLogged, "the same", Blame::nondeterministic, Blame::machine, hardwareMayHave},
    {RuleId::rankWrongAgain, "this rank alone was damaged, more than once, where another was right on the same bits",
        Blame::implementation, Blame::undecided,
        [](const Considered& c) { return c.facts.wrongBesideOtherRanks >= rankWrongAtLeast; }},
    {RuleId::cameAgainWithoutTheCast, "the cast explains the dump, and the fault came again with the cast mended",
        Blame::numerics, Blame::undecided,
        [](const Considered& c) {
            return isDamaged(c) && isCastOverflow(c) && (cameAgain(c, "fp32-norm") || cameAgain(c, "bf16"));
        }},
    {RuleId::movesWithTheCard, "the fault moved with the card in two swaps", Blame::implementation, Blame::machine,
        movedTwice},
    {RuleId::movesWithTheCard, "the same", Blame::undecided, Blame::machine, movedTwice},
};

} // namespace

std::string_view name(Answers answers)
{
    switch (answers) {
    case Answers::nothing:
        return "nothing";
    case Answers::ran:
        return "what ran";
    case Answers::nothingElse:
        return "whether anything else ran";
    case Answers::epsilon:
        return "the epsilon in effect";
    case Answers::control:
        return "a healthy call";
    case Answers::calls:
        return "the call made again";
    case Answers::capture:
        return "another dump";
    }
    return {};
}

std::span<const Rule> rules()
{
    return table;
}

std::span<const Refinement> refinements()
{
    return refined;
}

Answers answersOf(RuleId rule)
{
    const auto* found = std::ranges::find(table, rule, &Rule::id);
    return found == std::end(table) ? Answers::nothing : found->answers;
}

bool asks(RuleId rule)
{
    return answersOf(rule) != Answers::nothing;
}

bool asksForName(RuleId rule)
{
    return answersOf(rule) == Answers::ran || rule == RuleId::noKnownVariant || rule == RuleId::finiteOfNoKnownVariant;
}

bool makesABirth(RuleId rule)
{
    constexpr std::array births {RuleId::allZero, RuleId::allZeroOfSome, RuleId::allZeroOfAll, RuleId::zeroInPlaces,
        RuleId::offByTermOrFactor, RuleId::offInPlaces, RuleId::duplicateMayHaveOtherState, RuleId::outputOfEarlierCall,
        RuleId::unlikeItsControl, RuleId::offUnlessAnotherForm};
    return std::ranges::find(births, rule) != births.end();
}

bool asksAboutPlace(RuleId rule)
{
    return rule == RuleId::zeroInPlaces || rule == RuleId::offByTermOrFactor || rule == RuleId::offInPlaces;
}

bool excusedByWhatRan(const Considered& c)
{
    return c.saidToHaveRun() && std::ranges::any_of(c.facts.fit.unlessRan, [&](const std::string& form) {
        return std::ranges::find(c.identified.names, form) != c.identified.names.end();
    });
}

Considered::Property dividing(const Considered& c)
{
    if (isFinite(c)) {
        return isSilentlyZero(c) && c.any(reproduces) && !c.all(reproduces) ? reproduces : nullptr;
    }
    if (c.facts.damageOnZeros) {
        return nullptr;
    }
    if (c.any(reproduces)) {
        return c.all(reproduces) ? nullptr : reproduces;
    }
    if (c.facts.inputZero || c.fitsNothingKnown() || atTheEdge(c)) {
        return nullptr;
    }
    const bool named = c.saidToHaveRun() && c.all(couldFail);
    return c.any(couldFail) && !named ? couldFail : nullptr;
}

bool isCastFailing(const Considered& c, Considered::Property concerned)
{
    const auto castFails = [&](const MemberResult& m) { return !concerned(m) || (m.castsFirst && m.castLoses); };
    return c.any(concerned) && std::ranges::all_of(c.members, castFails);
}

} // namespace nanscope::diagnose::verdict
