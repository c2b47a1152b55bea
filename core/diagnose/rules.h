// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/controls.h"
#include "core/diagnose/element.h"
#include "core/diagnose/envelope.h"
#include "core/diagnose/oddtiles.h"
#include "core/model/model.h"

namespace nanscope {

/// What the rules weigh for one matrix with a finite input.
struct Case
{
    const Element* element = nullptr;
    DamagePattern damage;
    Identification identification;
    OutputFit fit; ///< its worst tile is that which no replay of any member gives
    std::optional<Control> control; ///< a call that went well and fits a variant
    OddBox odd; ///< of a finite output, around the tiles that no replay gives
    bool masked = false; ///< what is odd in a finite output is zero, as a mask leaves it
    bool deliberate = false; ///< what is odd in a finite output may be a term or a factor of the user's own
    bool misplaced = false; ///< what is odd there stands elsewhere among the results of this call
    bool epsilonUnknown = false; ///< nobody says what ran, or with which epsilon
    bool likeACast = false; ///< every damaged value is an Inf among the largest of the result
    bool besides = false; ///< what else is in the user's code can leave such damage, too: see mayBeBesides()
    bool faint = false; ///< so small that its norm may have vanished, and nobody says how it was taken
    bool deadLines = false; ///< all that is damaged lies where the input is zero
    std::vector<EvidenceLine> facts; ///< found in the bytes: they hold whatever ran
    std::vector<Member> members;
    std::vector<MemberResult> results; ///< one per member
};

struct Judgement
{
    Blame blame = Blame::undecided;
    bool marginal = false;
    std::string kind;
    std::string summary;
    std::string question;
};

/// The verdict on a matrix whose output is damaged.
Judgement judgeDamage(const Case& c);

/// The verdict on a matrix whose output is finite: fine, corrupted in places, or of no known variant.
Judgement judgeFinite(const Case& c);

/// Whether code around the iteration leaves such damage, too. Of the input alone: a quantiser, and a norm of each row
/// or column where these are faint. Where the call may have taken more, a weight, a moment or a coefficient that was
/// bad already. A tile is a kernel's.
bool mayBeBesides(const DamagePattern& damage, bool inputAlone, bool inFaintLines = false);

/// Whether a sidecar or the user names what ran: then no code around it is presumed.
bool saidToHaveRun(const Identification& id);
bool saidToHaveRun(const Case& c);

/// The one of the two that the output asks for.
Judgement judge(const Case& c);

/// The members that an undecided verdict hangs on, as indices: those whose numbers can end like the dump, and the
/// others. Both are empty where it hangs on something else.
struct Division
{
    std::vector<std::size_t> can;
    std::vector<std::size_t> cannot;
    bool byCast = false; ///< the ones that can are those that cast an input to fp16 which does not fit it
};
Division divisionOf(const Case& c);

/// Judgement::kind of what a second look at the verdict has to know.
constexpr std::string_view maskedKind = "zero in places";
constexpr std::string_view corruptKind = "finite corruption";
constexpr std::string_view deliberateKind = "off in places, by a term or a factor";
constexpr std::string_view unsaidKind = "off in places";
/// A finite output with a place that somebody has to explain.
inline bool asksAboutPlace(std::string_view kind)
{
    return kind == deliberateKind || kind == unsaidKind || kind == maskedKind;
}
constexpr std::string_view noOutputKind = "no output";
constexpr std::string_view castKind = "lost where the result is largest";
constexpr std::string_view faintKind = "a norm that may have vanished";
constexpr std::string_view unknownEpsilonKind = "zero in, NaN out, and which epsilon is not known";
constexpr std::string_view besidesKind = "damaged as code besides the iteration may leave it";
constexpr std::string_view deadLinesKind = "damaged where the input is zero";

} // namespace nanscope
