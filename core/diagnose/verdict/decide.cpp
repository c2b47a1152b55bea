// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/decide.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/explain.h"
#include "core/diagnose/verdict/margin.h"
#include "core/diagnose/verdict/rules.h"

namespace nanscope::diagnose::verdict {

namespace {

bool isMarginal(const Considered& c, RuleId rule)
{
    if (rule == RuleId::replaysEndAlike || rule == RuleId::castOverflows) {
        const auto totals = totalsOf(c.members);
        return totals.reproducing < totals.replays;
    }
    return rule == RuleId::atTheEdge || rule == RuleId::someReplaysFail;
}

Role roleOf(const Considered& c, const Decision& decision)
{
    const bool birth = decision.blame != Blame::undecided || makesABirth(decision.rule);
    return c.facts.role == Role::healthy && birth ? Role::birth : c.facts.role;
}

} // namespace

Decision decide(const Considered& c)
{
    Decision decision;
    const auto holds = [&c](const Rule& rule) { return rule.holds(c); };
    if (const auto found = std::ranges::find_if(rules(), holds); found != rules().end()) {
        decision.rule = decision.first = found->id;
        decision.blame = decision.firstBlame = found->blame;
    }
    decision.marginal = isMarginal(c, decision.rule);
    decision.role = roleOf(c, decision);
    if (decision.role == Role::healthy) {
        return decision;
    }
    for (const auto& refinement : refinements()) {
        if (decision.blame == refinement.from && refinement.holds(c)) {
            decision.rule = refinement.id;
            decision.blame = refinement.to;
            decision.marginal = false;
        }
    }
    return decision;
}

void judgeAgain(CaptureVerdict& verdict)
{
    if (!verdict.facts.replayed) {
        return;
    }
    const auto considered = consider(verdict.facts);
    const auto decision = decide(considered);
    verdict.rule = decision.rule;
    verdict.role = decision.role;
    verdict.blame = decision.blame;
    verdict.marginal = decision.marginal;
    verdict.variant = considered.identified;
    verdict.members = considered.members;
    auto words = explain(considered, decision);
    verdict.kind = std::move(words.kind);
    verdict.summary = std::move(words.summary);
    verdict.question =
        words.command.empty() ? std::move(words.question) : fmt::format("{} ({})", words.question, words.command);
    verdict.speaksFor.clear();
    verdict.speaksAgainst.clear();
    verdict.notTestable.clear();
    verdict.next.clear();
    collectEvidence(verdict, considered, decision);
}

} // namespace nanscope::diagnose::verdict

namespace nanscope::diagnose {

CaptureVerdict withObservations(CaptureVerdict verdict, const Observations& observed)
{
    verdict.facts.failureRate = observed.rate;
    verdict.facts.tried = observed.tried;
    verdict.facts.calledAgain = callsAtTheScene(verdict.capture, verdict.facts);
    std::ranges::copy_if(observed.called, std::back_inserter(verdict.facts.calledAgain),
        [&](const CallsAgain& one) { return one.capture == verdict.capture && check(one); });
    for (auto& experiment : verdict.next) {
        if (observed.rate && !experiment.outcomes.empty()) {
            experiment.cleanHours = cleanHours(*observed.rate);
        }
    }
    verdict::judgeAgain(verdict);
    return verdict;
}

Diagnosis withObservations(Diagnosis diagnosis, const Observations& observed)
{
    for (auto& verdict : diagnosis.captures) {
        verdict = withObservations(std::move(verdict), observed);
    }
    diagnosis.observed = observed;
    return diagnosis;
}

} // namespace nanscope::diagnose
