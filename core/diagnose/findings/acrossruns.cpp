// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/acrossruns.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/diagnose/findings/cards.h"
#include "core/model/run.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

namespace {

using cards::Attempt;
using cards::CardOutcome;
using cards::RunSummary;

struct RunAttempt
{
    std::string run;
    Attempt attempt;
    std::int64_t interval = 1; ///< steps between the lines of its log
};

using Choose = std::vector<Attempt> (*)(const RunSummary& summary);

std::vector<RunAttempt> attemptsOfAll(const std::vector<NamedRun>& runs, Choose choose)
{
    std::vector<RunAttempt> all;
    const std::vector<CaptureVerdict> none;
    for (const auto& [name, run] : runs) {
        const auto summary = cards::runSummaryOf(*run, none, cards::defaultSpikeRule());
        const auto interval = std::max<std::int64_t>(cards::intervalOf(summary.loss), 1);
        for (auto& attempt : choose(summary)) {
            attempt.bad.file = fmt::format("{}/{}", name, attempt.bad.file);
            all.push_back({name, std::move(attempt), interval});
        }
    }
    return all;
}

/// Those from the beginning, with the rate that is logged, or else with that of the configuration.
std::vector<Attempt> withAnyRate(const RunSummary& summary)
{
    auto attempts = cards::freshAttempts(summary);
    const auto* setting = cards::settingNamed(summary.run, {"lr", "learning_rate", "muon_lr"});
    const auto rate = setting == nullptr ? std::nullopt : cards::numberOf(*setting);
    if (!attempts.empty() || !rate || *rate <= 0) {
        return attempts;
    }
    attempts = cards::startedAttempts(summary);
    for (auto& attempt : attempts) {
        attempt.peakLr = rate;
    }
    return attempts;
}

std::string stepsText(const std::vector<RunAttempt>& attempts)
{
    constexpr std::size_t most = 6;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, attempts.size()); ++i) {
        text += fmt::format("{}{} at step {}", i == 0 ? "" : ", ", attempts[i].run, *attempts[i].attempt.firstBad);
    }
    return attempts.size() > most ? fmt::format("{} and {} more", text, attempts.size() - most) : text;
}

using SameStep = std::vector<const RunAttempt*>;

/// The most attempts, not all of one run, that have the same first bad step; empty where there are none.
SameStep mostOfOneStep(const std::vector<RunAttempt>& attempts)
{
    std::map<std::int64_t, SameStep> steps;
    for (const auto& one : attempts) {
        steps[*one.attempt.firstBad].push_back(&one);
    }
    SameStep most;
    for (const auto& step : steps) {
        const auto& same = step.second;
        const bool ofSeveral =
            std::ranges::any_of(same, [&](const RunAttempt* other) { return other->run != same.front()->run; });
        most = ofSeveral && same.size() > most.size() ? same : most;
    }
    return most;
}

CardOutcome sameStep(const std::vector<NamedRun>& runs)
{
    const auto attempts = attemptsOfAll(runs, cards::wentBadLater);
    const auto same = mostOfOneStep(attempts);
    if (same.empty()) {
        return attempts.size() < 2 ? cards::notCheckable("fewer than two runs went bad after they had been good")
                                   : cards::clear(fmt::format("the first bad steps differ: {}", stepsText(attempts)));
    }
    std::vector<cards::Evidence> evidence;
    std::set<std::string_view> names;
    std::int64_t interval = 1;
    for (const auto* one : same) {
        cards::addEvidence(evidence, one->attempt.bad);
        names.insert(one->run);
        interval = std::max(interval, one->interval);
    }
    const auto step = *same.front()->attempt.firstBad;
    const auto coarse = interval > 1 ? fmt::format(", as far as one line in {} steps shows", interval) : std::string();
    return cards::at(cards::fired(interval > 1 ? cards::Confidence::low : cards::Confidence::medium,
                         fmt::format("{} runs have the same first bad step, {}{}: the batch, or anything else that "
                                     "repeats exactly",
                             names.size(), step, coarse),
                         evidence),
        step, std::nullopt);
}

CardOutcome everyRate(const std::vector<NamedRun>& runs)
{
    constexpr std::int64_t early = 500;
    auto attempts = attemptsOfAll(runs, withAnyRate);
    const auto lasted = std::ranges::find_if(attempts, [](const RunAttempt& one) {
        return one.attempt.firstBad ? *one.attempt.firstBad >= early : one.attempt.loss->lastStep >= early;
    });
    if (lasted != attempts.end()) {
        return cards::clear(fmt::format("{} stays finite for {} steps, with a learning rate of {:.3g}", lasted->run,
            early, *lasted->attempt.peakLr));
    }
    std::erase_if(attempts, [](const RunAttempt& one) { return !one.attempt.firstBad; });
    const bool differ = std::ranges::any_of(attempts, [&](const RunAttempt& one) {
        return one.run != attempts.front().run
            && !cards::sameRate(*one.attempt.peakLr, *attempts.front().attempt.peakLr);
    });
    if (!differ) {
        return cards::notCheckable(
            "fewer than two runs went bad with learning rates of their own, each from its start");
    }
    std::vector<cards::Evidence> evidence;
    std::string rates;
    for (const auto& one : attempts) {
        cards::addEvidence(evidence, one.attempt.bad);
        rates +=
            fmt::format("{}{:.3g} at step {}", rates.empty() ? "" : ", ", *one.attempt.peakLr, *one.attempt.firstBad);
    }
    return cards::at(
        cards::fired(cards::Confidence::low,
            fmt::format("every run that names its learning rate goes bad early, whatever that is: {}", rates),
            evidence),
        attempts.front().attempt.firstBad, std::nullopt);
}

/// The card of one run, with what several say.
Finding findingOf(std::string_view id, const CardOutcome& outcome)
{
    const auto& all = cards::allCards();
    const auto card = std::ranges::find(all, id, &cards::Card::id);
    return cards::findingOf(*card, outcome);
}

} // namespace

std::vector<Finding> findingsAcross(const std::vector<NamedRun>& runs)
{
    return {findingOf("P11", sameStep(runs)), findingOf("P17", everyRate(runs))};
}

} // namespace nanscope::diagnose
