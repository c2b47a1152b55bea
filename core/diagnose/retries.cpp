// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/retries.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/diagnose/experiments.h"
#include "core/diagnose/margin.h"
#include "core/diagnose/twins.h"

namespace nanscope {

namespace {

constexpr double doubt = 0.05;
// With fewer, "always" cannot be told from "19 times in 20".
constexpr std::int64_t callsForAlways = 59;
constexpr std::int64_t mostCalls = 1'000'000;

std::string countText(const CallsAgain& called)
{
    return fmt::format(
        "{} of {} call{} with the same input failed", called.failed, called.calls, called.calls == 1 ? "" : "s");
}

EvidenceLine lineOf(std::string text)
{
    return {std::move(text), "retries"};
}

void addNone(CaptureVerdict& verdict, const CallsAgain& called)
{
    verdict.notTestable.push_back(lineOf(
        fmt::format("not reproduced in this setting: {}, so that at 95 % confidence fewer than {:.2g} % do here; this "
                    "lowers nothing",
            countText(called), 100 * mostThatFail(called.calls))));
}

void addAll(CaptureVerdict& verdict, const CallsAgain& called)
{
    if (called.calls < callsForAlways) {
        verdict.notTestable.push_back(
            lineOf(fmt::format("{}: to call it deterministic takes {} of {}, after which more than 95 % fail at 95 % "
                               "confidence",
                countText(called), callsForAlways, callsForAlways)));
        return;
    }
    auto line = lineOf(fmt::format("{}, at 95 % confidence more than {:.3g} % do: deterministic here, no chance and "
                                   "nothing that ran beside it",
        countText(called), 100 * fewestThatFail(called.calls)));
    if (verdict.blame == Blame::nondeterministic) {
        verdict.speaksAgainst.push_back(std::move(line));
    } else {
        // Numbers and a kernel can both fail every time.
        verdict.notTestable.push_back(std::move(line));
    }
}

void addSome(CaptureVerdict& verdict, const CallsAgain& called)
{
    auto line = lineOf(
        fmt::format("{} on the same GPU, and the others did not: the same bits end in two ways", countText(called)));
    if (verdict.blame == Blame::nondeterministic) {
        verdict.speaksFor.push_back(std::move(line));
        return;
    }
    if (verdict.blame != Blame::implementation || numbersCould(verdict)) {
        line.text += verdict.blame == Blame::machine
            ? "; a card that fails now and then does that"
            : "; numbers near an edge do that, too, where sums are taken in another order";
        verdict.notTestable.push_back(std::move(line));
        return;
    }
    verdict.speaksFor.insert(verdict.speaksFor.begin(), std::move(line));
    verdict.blame = Blame::nondeterministic;
    verdict.kind = otherOutputKind;
    verdict.summary = fmt::format("{} and the others did not; {}", countText(called), verdict.summary);
}

void addAsItRan(CaptureVerdict& verdict, const CallsAgain& called)
{
    if (called.failed == 0) {
        addNone(verdict, called);
    } else if (!called.sameGpu) {
        verdict.notTestable.push_back(lineOf(
            fmt::format("{}, on another GPU: that says nothing of the call that was captured", countText(called))));
    } else if (called.failed == called.calls) {
        addAll(verdict, called);
    } else {
        addSome(verdict, called);
    }
}

std::string chanceText(double chance)
{
    constexpr double smallest = 1e-4;
    return chance < smallest ? "less than 0.01 %" : fmt::format("{:.2g} %", 100 * chance);
}

void addChanged(CaptureVerdict& verdict, const CallsAgain& before, const CallsAgain& changed)
{
    const auto* experiment = findExperiment(changed.experiment);
    const double chance = chanceOfSoFew(before, changed);
    auto text = fmt::format("{} with {}, {} of {} without: chance explains that in {} of cases", countText(changed),
        experiment->what, before.failed, before.calls, chanceText(chance));
    if (chance > doubt) {
        verdict.notTestable.push_back(lineOf(text + ", so it says nothing yet"));
        return;
    }
    // What mends it narrows where to look; with the numbers mended it is for them, else for what runs them.
    const bool ofNumbers = changed.experiment == "fp32-norm" || changed.experiment == "bf16";
    const bool speaksFor = ofNumbers == (verdict.blame == Blame::numerics);
    auto& side = verdict.blame == Blame::undecided ? verdict.notTestable
        : speaksFor                                ? verdict.speaksFor
                                                   : verdict.speaksAgainst;
    side.push_back(lineOf(text + ": it makes a difference"));
}

} // namespace

Result<void> check(const CallsAgain& called)
{
    if (called.calls < 1 || called.failed < 0 || called.failed > called.calls) {
        return failure(ErrorKind::usage,
            fmt::format("{} of {} calls cannot have failed: name the failures, then all calls, such as 3/200",
                called.failed, called.calls));
    }
    // A table of that size is what is summed over; a session may be a stranger's.
    if (called.calls > mostCalls) {
        return failure(ErrorKind::usage, fmt::format("{} calls: give at most {}", called.calls, mostCalls));
    }
    if (!called.experiment.empty() && findExperiment(called.experiment) == nullptr) {
        return failure(ErrorKind::usage, fmt::format("no experiment is called {}", called.experiment));
    }
    return {};
}

double mostThatFail(std::int64_t calls)
{
    constexpr double ruleOfThree = 3;
    return std::min(1.0, ruleOfThree / static_cast<double>(calls));
}

double fewestThatFail(std::int64_t calls)
{
    return std::pow(doubt, 1 / static_cast<double>(calls));
}

double chanceOfSoFew(const CallsAgain& before, const CallsAgain& changed)
{
    // The odds of k failures among the changed calls against those of one fewer, summed as logarithms.
    const auto failed = before.failed + changed.failed;
    const auto fewest = std::max<std::int64_t>(0, failed - before.calls);
    const auto most = std::min(failed, changed.calls);
    std::vector<double> weights {0};
    for (auto k = fewest; k < most; ++k) {
        const auto more = static_cast<double>(failed - k) * static_cast<double>(changed.calls - k);
        const auto less = static_cast<double>(k + 1) * static_cast<double>(before.calls - failed + k + 1);
        weights.push_back(weights.back() + std::log(more / less));
    }
    const double largest = *std::ranges::max_element(weights);
    double few = 0;
    double all = 0;
    for (auto k = fewest; k <= most; ++k) {
        const double weight = std::exp(weights[static_cast<std::size_t>(k - fewest)] - largest);
        all += weight;
        few += k <= changed.failed ? weight : 0;
    }
    return few / all;
}

CaptureVerdict withRetries(CaptureVerdict verdict, const std::vector<CallsAgain>& called)
{
    // What was given values that were bad already says nothing of the function.
    if (verdict.role == Role::upstream || verdict.role == Role::downstream) {
        return verdict;
    }
    const auto counts = [&](const CallsAgain& one) { return one.capture == verdict.capture && check(one); };
    const auto asItRan = std::ranges::find_if(
        called, [&](const CallsAgain& one) { return counts(one) && one.experiment.empty() && one.sameGpu; });
    for (const auto& one : called) {
        if (!counts(one)) {
            continue;
        }
        if (one.experiment.empty()) {
            addAsItRan(verdict, one);
        } else if (asItRan != called.end()) {
            addChanged(verdict, *asItRan, one);
        }
    }
    return verdict;
}

} // namespace nanscope
