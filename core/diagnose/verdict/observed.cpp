// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/observed.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/margin.h"
#include "core/diagnose/verdict/retries.h"
#include "core/diagnose/verdict/rules.h"
#include "core/diagnose/verdict/thresholds.h"

namespace nanscope::diagnose::verdict {

namespace {

/// One outcome on its way into a verdict.
struct Outcomes
{
    CaptureVerdict& verdict;
    const Considered& considered;

    // Evidence is told from the side of the verdict as it stands; a line for the kernel speaks against the numbers.
    void forKernel(std::string text) const { side(verdict.blame != Blame::numerics).push_back(line(std::move(text))); }
    void againstKernel(std::string text) const { side(false).push_back(line(std::move(text))); }
    void forNumbers(std::string text) const { side(verdict.blame == Blame::numerics).push_back(line(std::move(text))); }
    void nothing(std::string text) const { verdict.notTestable.push_back(line(std::move(text))); }

    std::vector<EvidenceLine>& side(bool speaksFor) const
    {
        return speaksFor ? verdict.speaksFor : verdict.speaksAgainst;
    }

private:
    static EvidenceLine line(std::string text) { return {std::move(text), "experiment"}; }
};

void kernelsOff(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::gone) {
        out.forKernel(fmt::format("{} h clean with use_triton=False", hoursText(tried.hours)));
        return;
    }
    out.againstKernel("it came again with use_triton=False: not the custom kernels");
}

void launchBlocking(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::gone) {
        out.forKernel(fmt::format("{} h clean with CUDA_LAUNCH_BLOCKING=1", hoursText(tried.hours)));
        return;
    }
    out.againstKernel("it came again with CUDA_LAUNCH_BLOCKING=1: not the order of launches");
}

void fillNan(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::oftener) {
        out.forKernel(
            "it comes more often when fresh memory is filled with NaN: memory is read that was never written");
        return;
    }
    out.nothing("memory filled with NaN changed nothing that speaks for or against");
}

// The bar for the machine is two: once, another card may have failed in its own way.
bool isMachine(const CaptureVerdict& verdict, const TriedExperiment& tried)
{
    const bool open = verdict.blame == Blame::implementation || verdict.blame == Blame::undecided;
    return open && tried.times >= swapsThatName;
}

void swapGpus(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::moves) {
        out.side(isMachine(out.verdict, tried))
            .push_back({fmt::format("it moved with the card in {} swap{}: this speaks for the machine", tried.times,
                            tried.times == 1 ? "" : "s"),
                "experiment"});
        return;
    }
    if (tried.seen == Seen::stays) {
        out.forKernel("it stayed with its rank when two GPUs were swapped: not the card");
        return;
    }
    out.nothing("it was not seen again after two GPUs were swapped: that names neither card nor rank");
}

bool fromCast(const Outcomes& out)
{
    return out.verdict.blame == Blame::numerics && isCastFailing(out.considered, reproduces)
        && out.considered.facts.inputAbsmax > 1;
}

void numbersMended(const Outcomes& out, const TriedExperiment& tried, std::string_view setting)
{
    if (tried.seen == Seen::gone) {
        out.forNumbers(
            fmt::format("{} h clean with {}: it takes the numbers to fail", hoursText(tried.hours), setting));
        return;
    }
    if (fromCast(out)) {
        out.forKernel(fmt::format("it came again with {}: not the overflow alone", setting));
        return;
    }
    out.nothing(fmt::format("it came again with {}: the schedule may fail in any format", setting));
}

void argueWith(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.id == "kernels-off") {
        kernelsOff(out, tried);
    } else if (tried.id == "launch-blocking") {
        launchBlocking(out, tried);
    } else if (tried.id == "fill-nan") {
        fillNan(out, tried);
    } else if (tried.id == "swap-gpus") {
        swapGpus(out, tried);
    } else if (tried.id == "fp32-norm") {
        numbersMended(out, tried, "the norm taken in fp32");
    } else if (tried.id == "bf16") {
        numbersMended(out, tried, "bf16 instead of fp16");
    }
}

/// Why a clean run says nothing yet; empty where it is long enough.
std::string tooShort(const Experiment& experiment, const TriedExperiment& tried, const std::optional<FailureRate>& rate)
{
    if (tried.seen != Seen::gone) {
        return {};
    }
    if (!rate) {
        return fmt::format("{}: {} h clean, but how often the fault comes without it is not known", experiment.what,
            hoursText(tried.hours));
    }
    const auto needed = cleanHours(*rate);
    return tried.hours < needed ? fmt::format("{}: {} h clean, of the {} h after which that means something",
               experiment.what, hoursText(tried.hours), hoursText(needed))
                                : std::string();
}

EvidenceLine lineOf(std::string text)
{
    return {std::move(text), "retries"};
}

void addAll(CaptureVerdict& verdict, const CallsAgain& called)
{
    if (called.calls < callsForAlways) {
        verdict.notTestable.push_back(
            lineOf(fmt::format("{}: to call it deterministic takes {} of {}, after which more than 95 % fail at 95 % "
                               "confidence",
                callsText(called), callsForAlways, callsForAlways)));
        return;
    }
    auto line = lineOf(fmt::format("{}, at 95 % confidence more than {:.3g} % do: deterministic here, no chance and "
                                   "nothing that ran beside it",
        callsText(called), 100 * fewestThatFail(called.calls)));
    if (verdict.blame == Blame::nondeterministic) {
        verdict.speaksAgainst.push_back(std::move(line));
    } else {
        // Numbers and a kernel can both fail every time.
        verdict.notTestable.push_back(std::move(line));
    }
}

void addFinite(CaptureVerdict& verdict, const CallsAgain& called, const Decision& decision)
{
    auto line = lineOf(fmt::format("{} on the same GPU{}: the same bits end in two ways", callsText(called),
        called.failed == 0 ? ", and the captured one did" : ", and the others did not"));
    (decision.blame == Blame::nondeterministic ? verdict.speaksFor : verdict.notTestable).push_back(std::move(line));
}

void addAsItRan(CaptureVerdict& verdict, const CallsAgain& called, const Decision& decision)
{
    if (!called.sameGpu) {
        verdict.notTestable.push_back(lineOf(
            fmt::format("{}, on another GPU: that says nothing of the call that was captured", callsText(called))));
    } else if (called.failed == called.calls) {
        addAll(verdict, called);
    } else {
        addFinite(verdict, called, decision);
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
    auto text = fmt::format("{} with {}, {} of {} without: chance explains that in {} of cases", callsText(changed),
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

void addExperiments(CaptureVerdict& verdict, const Considered& c)
{
    for (auto& experiment : verdict.next) {
        if (c.facts.failureRate && !experiment.outcomes.empty()) {
            experiment.cleanHours = cleanHours(*c.facts.failureRate);
        }
    }
    for (const auto& tried : c.facts.tried) {
        // What belongs to another kind of verdict says nothing about this capture.
        const auto asked = std::ranges::find(verdict.next, tried.id, &Experiment::id);
        if (asked == verdict.next.end()) {
            continue;
        }
        const Outcomes out {verdict, c};
        if (auto why = tooShort(*asked, tried, c.facts.failureRate); !why.empty()) {
            out.nothing(std::move(why));
        } else {
            argueWith(out, tried);
        }
    }
}

void addCallsAgain(CaptureVerdict& verdict, const Facts& facts, const Decision& decision)
{
    const auto asItRan = std::ranges::find_if(
        facts.calledAgain, [](const CallsAgain& one) { return one.experiment.empty() && one.sameGpu; });
    for (const auto& one : facts.calledAgain) {
        if (one.experiment.empty()) {
            addAsItRan(verdict, one, decision);
        } else if (asItRan != facts.calledAgain.end()) {
            addChanged(verdict, *asItRan, one);
        }
    }
}

} // namespace nanscope::diagnose::verdict
