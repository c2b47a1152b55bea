// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of a verdict, in the order in which they are asked: the first that holds decides. docs/verdicts.md shows
// this table, and a test holds it against the document.
#pragma once

#include <span>
#include <string_view>

#include "core/diagnose/verdict/considered.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose::verdict {

/// What answers the question of a rule.
enum class Answers {
    nothing, ///< it asks nothing
    ran, ///< which function ran, and in which format: --ran, a sidecar
    nothingElse, ///< whether other code touched the input or the result
    epsilon, ///< which epsilon was in effect
    control, ///< a healthy call of the same kind
    calls, ///< the captured call made again as the question says: --called
    capture, ///< another dump, made as the question says
};

std::string_view name(Answers answers);

struct Rule
{
    RuleId id;
    std::string_view holdsWhen; ///< for the document
    Blame blame = Blame::undecided;
    Answers answers = Answers::nothing;
    bool (*holds)(const Considered&) = nullptr;
};

std::span<const Rule> rules();

/// Applied to what a rule decided, in this order, each to what the one before left.
struct Refinement
{
    RuleId id;
    std::string_view holdsWhen;
    Blame from; ///< what the rules said
    Blame to;
    bool (*holds)(const Considered&) = nullptr;
};

std::span<const Refinement> refinements();

/// What answers the question of this rule; nothing for a refinement.
Answers answersOf(RuleId rule);

bool asks(RuleId rule);
/// Its question is which function ran, or which one made the output.
bool asksForName(RuleId rule);

/// True for a finite output whose question or accusation makes a birth of it.
bool makesABirth(RuleId rule);

/// A finite output with a place that the user has to explain.
bool asksAboutPlace(RuleId rule);

/// What is said to have run is a form whose roundings end as far apart as the place is off.
bool excusedByWhatRan(const Considered& c);

/// The members that an undecided verdict hangs on have this property, and others lack it; null where it hangs on
/// something else.
Considered::Property dividing(const Considered& c);

/// True where the members with the property are those that cast an input to a format which does not hold it.
bool isCastFailing(const Considered& c, Considered::Property concerned);

/// What the rules say of a call.
struct Decision
{
    RuleId rule = RuleId::tooLittleToCompare; ///< that spoke last
    RuleId first = RuleId::tooLittleToCompare; ///< before it was refined
    Blame blame = Blame::undecided;
    Blame firstBlame = Blame::undecided;
    bool marginal = false;
    Role role = Role::birth;
};

} // namespace nanscope::diagnose::verdict
