// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/experiments.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/retries.h"

namespace nanscope {

namespace {

const std::array<Experiment, 6>& catalogue()
{
    static const std::array<Experiment, 6> all {{
        {"kernels-off", "use_triton=False in the optimizer",
            "the same run without custom kernels; if it stays clean, the kernels are the suspect",
            {Seen::gone, Seen::stays}, {}},
        {"launch-blocking", "CUDA_LAUNCH_BLOCKING=1", "if the fault goes away, launch order is the suspect",
            {Seen::gone, Seen::stays}, {}},
        {"fill-nan", "torch.use_deterministic_algorithms(True)",
            "fills every torch.empty with NaN; a fault that comes more often means memory that was never written",
            {Seen::oftener, Seen::stays, Seen::gone}, {}},
        {"swap-gpus", "swap two GPUs between ranks", "a fault that moves with the card is the machine",
            {Seen::moves, Seen::stays, Seen::gone}, {}},
        {"fp32-norm", "normalise in fp32 before any cast", "a fault that goes away was the cast's overflow",
            {Seen::gone, Seen::stays}, {}},
        {"bf16", "bf16 instead of fp16 for the iteration", "2^127 instead of 65504 before it overflows",
            {Seen::gone, Seen::stays}, {}},
    }};
    return all;
}

Experiment known(std::string_view id)
{
    return *findExperiment(id);
}

Experiment advice(std::string what, std::string meaning = {})
{
    return {{}, std::move(what), std::move(meaning), {}, {}};
}

bool blames(const CaptureVerdict& verdict, Blame blame)
{
    return verdict.blame == blame;
}

/// What `implementation` leaves open. Only a fault that came again excludes anything: one that stayed away may have
/// been chance, or other timing.
struct Open
{
    bool customKernels = true;
    bool launchOrder = true;

    std::string text() const
    {
        return fmt::format("{}{}, aliasing or communication", customKernels ? "kernel" : "torch's own kernels",
            launchOrder ? ", launch order" : "");
    }
};

/// One outcome on its way into a verdict.
struct Outcomes
{
    CaptureVerdict& verdict;
    Open& open;

    // Evidence is told from the side of the verdict as it stands; a line for the kernel speaks against the numbers.
    void forKernel(std::string text) const { side(!blames(verdict, Blame::numerics)).push_back(line(std::move(text))); }
    void againstKernel(std::string text) const { side(false).push_back(line(std::move(text))); }
    void forNumbers(std::string text) const { side(blames(verdict, Blame::numerics)).push_back(line(std::move(text))); }
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
    out.open.customKernels = false;
    out.againstKernel("it came again with use_triton=False: not the custom kernels");
}

void launchBlocking(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::gone) {
        out.forKernel(fmt::format("{} h clean with CUDA_LAUNCH_BLOCKING=1", hoursText(tried.hours)));
        return;
    }
    out.open.launchOrder = false;
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
    const bool open = blames(verdict, Blame::implementation) || blames(verdict, Blame::undecided);
    return open && tried.id == "swap-gpus" && tried.seen == Seen::moves && tried.times >= 2;
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

bool fromCast(const CaptureVerdict& verdict)
{
    return blames(verdict, Blame::numerics) && verdict.kind == "overflow in the cast";
}

void numbersMended(const Outcomes& out, const TriedExperiment& tried, std::string_view setting)
{
    if (tried.seen == Seen::gone) {
        out.forNumbers(
            fmt::format("{} h clean with {}: it takes the numbers to fail", hoursText(tried.hours), setting));
        return;
    }
    if (fromCast(out.verdict)) {
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

bool cameAgain(const Observations& observed, std::string_view id)
{
    return std::any_of(observed.tried.begin(), observed.tried.end(),
        [&](const TriedExperiment& t) { return t.id == id && t.seen == Seen::stays; });
}

void doubtNumbers(CaptureVerdict& verdict, const Observations& observed)
{
    if (!fromCast(verdict) || !(cameAgain(observed, "fp32-norm") || cameAgain(observed, "bf16"))) {
        return;
    }
    verdict.blame = Blame::undecided;
    verdict.marginal = false;
    verdict.kind = "the numbers explain this dump, and the fault came again without them";
    verdict.question =
        "did the setting reach the optimizer step? A capture of the new failure would tell: judge it, too";
}

void blameMachine(CaptureVerdict& verdict, const Observations& observed)
{
    const auto move = std::find_if(observed.tried.begin(), observed.tried.end(),
        [&](const TriedExperiment& tried) { return isMachine(verdict, tried); });
    if (move == observed.tried.end()) {
        return;
    }
    verdict.blame = Blame::machine;
    verdict.kind = "moves with the card";
    verdict.summary = fmt::format("the fault moved with the card in {} swaps; {}", move->times, verdict.summary);
    verdict.question.clear();
}

void narrow(CaptureVerdict& verdict, const Open& open)
{
    if (blames(verdict, Blame::implementation) && verdict.kind == Open {}.text()) {
        verdict.kind = open.text();
    }
}

} // namespace

const Experiment* findExperiment(std::string_view id)
{
    const auto found = std::find_if(
        catalogue().begin(), catalogue().end(), [&](const Experiment& experiment) { return experiment.id == id; });
    return found == catalogue().end() ? nullptr : &*found;
}

std::vector<std::string_view> experimentIds()
{
    std::vector<std::string_view> ids;
    for (const auto& experiment : catalogue()) {
        ids.emplace_back(experiment.id);
    }
    return ids;
}

std::vector<Experiment> nextExperiments(const CaptureVerdict& verdict)
{
    std::vector<Experiment> list;
    if (verdict.blame == Blame::undecided) {
        list.push_back(advice("nanscope diagnose PATH --ran VARIANT[:PRECISION]", "say which function ran"));
    }
    if (verdict.blame == Blame::implementation || verdict.blame == Blame::undecided) {
        for (const auto* id : {"kernels-off", "launch-blocking", "fill-nan", "swap-gpus"}) {
            list.push_back(known(id));
        }
    }
    if (verdict.blame == Blame::numerics) {
        list.push_back(known("fp32-norm"));
        list.push_back(known("bf16"));
    }
    if (verdict.blame == Blame::upstream) {
        list.push_back(advice("log the non-finite count of gradient and momentum of this parameter each step"));
        list.push_back(advice("look at the loss scale and the data of the step before"));
    }
    return list;
}

void repeatInCommands(Diagnosis& diagnosis, const std::string& words)
{
    for (auto& verdict : diagnosis.captures) {
        for (auto& experiment : verdict.next) {
            experiment.what += experiment.what.starts_with("nanscope ") ? words : std::string();
        }
    }
}

double cleanHours(const FailureRate& rate)
{
    return -std::log(0.05) * rate.hours / rate.failures;
}

Result<void> check(const Observations& observed)
{
    if (observed.rate
        && (observed.rate->failures < 1 || !(observed.rate->hours > 0) || !std::isfinite(observed.rate->hours))) {
        return failure(ErrorKind::usage, "how often it fails takes at least one failure and a time above zero hours");
    }
    for (const auto& tried : observed.tried) {
        const auto* experiment = findExperiment(tried.id);
        if (experiment == nullptr) {
            return failure(ErrorKind::usage,
                fmt::format("no experiment is called {}; there are {}", tried.id, fmt::join(experimentIds(), ", ")));
        }
        const auto& outcomes = experiment->outcomes;
        if (std::find(outcomes.begin(), outcomes.end(), tried.seen) == outcomes.end()) {
            return failure(ErrorKind::usage, fmt::format("{} cannot end as {}", tried.id, name(tried.seen)));
        }
        if (!(tried.hours >= 0) || !std::isfinite(tried.hours) || tried.times < 1) {
            return failure(
                ErrorKind::usage, fmt::format("{} takes hours of zero or more, and one time or more", tried.id));
        }
    }
    for (const auto& one : observed.called) {
        if (auto can = check(one); !can) {
            return can;
        }
    }
    return {};
}

CaptureVerdict withObservations(CaptureVerdict verdict, const Observations& observed)
{
    Open open;
    for (auto& experiment : verdict.next) {
        if (observed.rate && !experiment.outcomes.empty()) {
            experiment.cleanHours = cleanHours(*observed.rate);
        }
    }
    // What belongs to another kind of verdict says nothing about this capture.
    for (const auto& tried : observed.tried) {
        const auto asked = std::find_if(verdict.next.begin(), verdict.next.end(),
            [&](const Experiment& experiment) { return experiment.id == tried.id; });
        if (asked == verdict.next.end()) {
            continue;
        }
        const Outcomes out {verdict, open};
        if (auto why = tooShort(*asked, tried, observed.rate); !why.empty()) {
            out.nothing(std::move(why));
        } else {
            argueWith(out, tried);
        }
    }
    narrow(verdict, open);
    doubtNumbers(verdict, observed);
    blameMachine(verdict, observed);
    return withRetries(std::move(verdict), observed.called);
}

Diagnosis withObservations(Diagnosis diagnosis, const Observations& observed)
{
    for (auto& verdict : diagnosis.captures) {
        verdict = withObservations(std::move(verdict), observed);
    }
    diagnosis.observed = observed;
    return diagnosis;
}

} // namespace nanscope
