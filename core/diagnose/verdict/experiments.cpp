// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/experiments.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/verdict/thresholds.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

namespace {

constexpr std::int64_t mostCalls = 1'000'000;

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

struct SanitizerTool
{
    std::string_view name;
    std::string_view meaning;
};

/// The tool of compute-sanitizer that sees what may have left this damage.
SanitizerTool sanitizerToolFor(const CaptureVerdict& verdict)
{
    using enum DamageShape;
    constexpr std::array tiles {
        rows, columns, rectangle, stridedRectangle, blocks, lowerTriangle, upperTriangle, mirroredPair};
    const auto& facts = verdict.facts;
    const auto& fit = facts.fit;
    if (verdict.blame == Blame::nondeterministic) {
        return {
            "racecheck", "names the kernel whose threads meet in shared memory in no order, and sees no other memory"};
    }
    const bool fromElsewhere = facts.misplaced || facts.outputOfElement || fit.leftover == Leftover::elsewhere;
    const bool unwritten = fit.leftover != Leftover::none || !facts.outputOfEarlier.empty()
        || std::ranges::find(tiles, facts.damage.shape) != tiles.end();
    return unwritten && !fromElsewhere
        ? SanitizerTool {"initcheck", "names the kernel, or the copy of the result, that reads what nobody wrote"}
        : SanitizerTool {"memcheck", "names the kernel that reaches beyond what was allocated"};
}

/// One call with the captured input is enough: each kernel of it is watched.
Experiment underSanitizer(const CaptureVerdict& verdict)
{
    const auto tool = sanitizerToolFor(verdict);
    return advice(fmt::format("PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool {} python repro.py --impl "
                              "MODULE:FUNCTION --n 1",
                      tool.name),
        fmt::format("{}; repro.py is in the bundle of `nanscope report RUN --bundle FOLDER`", tool.meaning));
}

} // namespace

const Experiment* findExperiment(std::string_view id)
{
    const auto found = std::find_if(
        catalogue().begin(), catalogue().end(), [&](const Experiment& experiment) { return experiment.id == id; });
    return found == catalogue().end() ? nullptr : &*found;
}

bool isCommand(const Experiment& experiment)
{
    return experiment.id.empty() && experiment.what.starts_with("nanscope ");
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
    if (verdict.role == Role::upstream || verdict.blame == Blame::upstream) {
        // Also where it is asked what came before: no replay and no kernel of this call has to do with it.
        list.push_back(advice("log the non-finite count of gradient and momentum of this parameter each step"));
        list.push_back(advice("look at the loss scale and the data of the step before"));
        return list;
    }
    const bool named = verdict.variant.how == IdentifiedBy::given || verdict.variant.how == IdentifiedBy::sidecar;
    if (verdict.blame == Blame::undecided && !named) {
        list.push_back(advice("nanscope diagnose PATH --ran VARIANT[:PRECISION]", "say which function ran"));
    }
    if (verdict.blame == Blame::implementation || verdict.blame == Blame::undecided) {
        for (const auto* id : {"kernels-off", "launch-blocking", "fill-nan", "swap-gpus"}) {
            list.push_back(known(id));
        }
    }
    if (verdict.blame == Blame::implementation || verdict.blame == Blame::nondeterministic) {
        list.insert(list.begin() + (list.empty() ? 0 : 1), underSanitizer(verdict));
    }
    if (verdict.blame == Blame::numerics) {
        list.push_back(known("fp32-norm"));
        list.push_back(known("bf16"));
    }
    return list;
}

double cleanHours(const FailureRate& rate)
{
    return -std::log(0.05) * rate.hours / rate.failures;
}

Result<void> check(const CallsAgain& called)
{
    if (called.calls < 1 || called.failed < 0 || called.failed > called.calls) {
        return failure(ErrorKind::usage,
            fmt::format("{} of {} calls cannot have failed: name the failures, then all calls, such as 3/200",
                called.failed, called.calls));
    }
    // chanceOfSoFew() sums over a table of that size; a session may be a stranger's.
    if (called.calls > mostCalls) {
        return failure(ErrorKind::usage, fmt::format("{} calls: give at most {}", called.calls, mostCalls));
    }
    if (!called.experiment.empty() && findExperiment(called.experiment) == nullptr) {
        return failure(ErrorKind::usage, fmt::format("no experiment is called {}", called.experiment));
    }
    return {};
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

double mostThatFail(std::int64_t calls)
{
    constexpr double ruleOfThree = 3;
    return std::min(1.0, ruleOfThree / static_cast<double>(calls));
}

double fewestThatFail(std::int64_t calls)
{
    return std::pow(verdict::doubt, 1 / static_cast<double>(calls));
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

std::vector<CallsAgain> callsAtTheScene(const std::string& capture, const Facts& facts)
{
    const auto& scene = facts.scene;
    const CallsAgain called {
        .capture = capture, .failed = scene.failedAgain, .calls = scene.calledAgain, .atTheScene = true};
    return !facts.outputFinite && check(called) ? std::vector {called} : std::vector<CallsAgain> {};
}

std::string callsText(const CallsAgain& called)
{
    return fmt::format("{} of {} call{} with the same input{} failed", called.failed, called.calls,
        called.calls == 1 ? "" : "s", called.atTheScene ? " at the scene" : "");
}

bool failsElsewhere(const CallsAgain& called)
{
    return called.experiment.empty() && !called.sameGpu && called.failed == called.calls;
}

bool cameOutFinite(const CallsAgain& called)
{
    return called.experiment.empty() && called.sameGpu && called.failed < called.calls;
}

bool failsWithoutKernels(const CallsAgain& called)
{
    return called.experiment == "kernels-off" && called.calls > 0 && called.failed == called.calls;
}

} // namespace nanscope::diagnose
