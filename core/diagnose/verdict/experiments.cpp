// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/experiments.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/model/verdict.h"
#include "core/platform/platform.h"

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
    const auto function = functionToCall(verdict.facts.scene).substr(std::string_view("python:").size());
    return advice(
        fmt::format("PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool {} python repro.py --impl {} --n 1",
            tool.name, platform::shellQuoted(function)),
        fmt::format("{}; repro.py is in the bundle that nanscope report RUN --bundle FOLDER --with-capture writes",
            tool.meaning));
}

/// Not of a program that was started itself, nor of what lives inside of another function.
bool isImportable(const Scene& scene)
{
    return !scene.function.empty() && !scene.function.starts_with("__main__:")
        && scene.function.find('<') == std::string::npos;
}

Experiment calledAgain(const CaptureVerdict& verdict)
{
    return advice(fmt::format("nanscope measure repeat {} --impl {}", platform::shellQuoted(verdict.capture),
                      platform::shellQuoted(functionToCall(verdict.facts.scene))),
        "your own function on the captured input, a hundred times, from the folder that it is imported from; what "
        "fails every time is in its code, what fails now and then is not");
}

std::vector<Experiment> ofBadWeights(const Scene& scene)
{
    const auto& first = scene.weightsBefore->first;
    const auto whose = first.empty() ? std::string("all weights") : first;
    return {
        advice(fmt::format("check {} right after each step, and after each line of it that writes to a weight", whose),
            "a mask, decay, a scale or a learning rate after the iteration leaves a weight so"),
        advice("check the weights of the checkpoint that the run went on from, where there is one")};
}

std::vector<Experiment> ofOthers(const Scene& scene)
{
    std::vector<Experiment> list;
    if (scene.world > 1) {
        list.push_back(advice("look for a bad gradient on the other ranks, in their captures and logs",
            "what the optimizer sums or gathers within its step brings their values here"));
    }
    list.push_back(advice("check that the gradients of all parameters are finite before each step"));
    list.push_back(advice("check that the update is finite after each line of the optimizer's step before this call",
        "the weights, gradients and momenta of this shape were finite when the step began"));
    return list;
}

std::vector<Experiment> ofUpstream(const CaptureVerdict& verdict)
{
    // Also where it is asked what came before: no replay and no kernel of this call has to do with it.
    const auto& scene = verdict.facts.scene;
    const auto& known = scene.parameters;
    const auto whose = known && !known->firstBad.empty() ? known->firstBad : std::string("this parameter");
    const auto data = advice("look at the data of the step before, and at the loss scale where there is one");
    const auto weights = advice("check that all weights are finite right after the step before",
        "where one is not, code after the iteration spoilt it (a mask, decay, a scale), and this gradient follows");
    switch (scene.badBefore()) {
    case BadBefore::weights:
        return ofBadWeights(scene);
    case BadBefore::gradients:
        return {advice(fmt::format("log the non-finite count of the gradient of {} each step", whose)), data, weights};
    case BadBefore::states:
        return {
            advice(fmt::format(
                "check that the momentum of {}, and what else is kept of it, is finite right before each step", whose)),
            advice("check the optimizer state of the checkpoint that the run went on from, where there is one")};
    case BadBefore::nothing:
        return ofOthers(scene);
    case BadBefore::notKnown:
        break;
    }
    return {
        advice(fmt::format("log the non-finite count of gradient and momentum of {} each step", whose)), data, weights};
}

/// Kernels, streams and cards: none of a call on a CPU.
void addOfMachine(std::vector<Experiment>& list, const CaptureVerdict& verdict)
{
    const auto& scene = verdict.facts.scene;
    const bool open = verdict.blame == Blame::implementation || verdict.blame == Blame::undecided;
    if (open && !scene.onCpu) {
        list.push_back(known("kernels-off"));
    }
    if (!scene.onCpu && (verdict.blame == Blame::implementation || verdict.blame == Blame::nondeterministic)) {
        list.push_back(underSanitizer(verdict));
    }
    if (open && !scene.onCpu) {
        list.push_back(known("launch-blocking"));
    }
    if (open || verdict.blame == Blame::nondeterministic) {
        list.push_back(known("fill-nan"));
    }
    if (open && !scene.onCpu && scene.world != 1) {
        list.push_back(known("swap-gpus"));
    }
}

} // namespace

std::string functionToCall(const Scene& scene)
{
    const auto* space = scene.arguments.empty() ? "" : " ";
    return "python:"
        + (isImportable(scene) ? scene.function + space + scene.arguments : std::string("MODULE:FUNCTION"));
}

const Experiment* findExperiment(std::string_view id)
{
    const auto found = std::find_if(
        catalogue().begin(), catalogue().end(), [&](const Experiment& experiment) { return experiment.id == id; });
    return found == catalogue().end() ? nullptr : &*found;
}

bool changesWhatRan(std::string_view id, const CaptureVerdict& verdict)
{
    const auto concerned = [&](const MemberResult& member) {
        return id == "bf16" ? member.precision.starts_with("fp16") : id != "fp32-norm" || member.castsFirst;
    };
    return verdict.members.empty() || std::ranges::any_of(verdict.members, concerned);
}

bool isCommand(const Experiment& experiment)
{
    return experiment.id.empty() && experiment.what.starts_with("nanscope ");
}

bool hasButton(const Experiment& experiment)
{
    return isCommand(experiment)
        && (experiment.what.starts_with("nanscope diagnose ") || experiment.what.starts_with("nanscope sweep "));
}

void nameByPath(std::vector<Experiment>& next, const Capture& capture)
{
    const auto name = fmt::format(" {} ", platform::shellQuoted(capture.file));
    for (auto& experiment : next) {
        const auto at = isCommand(experiment) ? experiment.what.find(name) : std::string::npos;
        if (at != std::string::npos) {
            experiment.what.replace(at, name.size(), fmt::format(" {} ", platform::shellQuoted(capture.path)));
        }
    }
}

std::vector<std::string_view> experimentIds()
{
    std::vector<std::string_view> ids;
    for (const auto& experiment : catalogue()) {
        ids.emplace_back(experiment.id);
    }
    return ids;
}

namespace {

std::vector<Experiment> ofNumerics(const CaptureVerdict& verdict)
{
    if (verdict.facts.inputZero) {
        return {advice("add an epsilon to the norm that is not zero in its format", "0/0 of a zero matrix goes away")};
    }
    std::vector<Experiment> list;
    for (const auto* id : {"fp32-norm", "bf16"}) {
        if (changesWhatRan(id, verdict)) {
            list.push_back(known(id));
        }
    }
    // A schedule that runs away does so in any format, and wherever the norm is taken.
    if (list.empty() || verdict.rule != RuleId::castOverflows) {
        list.insert(list.begin(),
            advice(fmt::format("nanscope sweep {}", platform::shellQuoted(verdict.capture)),
                "which variants and formats stay finite on this input"));
    }
    return list;
}

} // namespace

std::vector<Experiment> nextExperiments(const CaptureVerdict& verdict, bool asksName)
{
    if (verdict.role == Role::upstream || verdict.blame == Blame::upstream) {
        return ofUpstream(verdict);
    }
    std::vector<Experiment> list;
    if (verdict.blame == Blame::undecided && asksName && verdict.facts.scene.namedLike.empty()) {
        list.push_back(advice("nanscope diagnose PATH --ran VARIANT[:PRECISION]", "say which function ran"));
    }
    if (verdict.blame == Blame::undecided && verdict.facts.otherCode) {
        list.push_back(advice("wrap the iteration alone with nanscope_capture.wrap (docs/capture.md)",
            "what it is given and what it returns, before any other code: that can be judged"));
    }
    if (verdict.blame == Blame::numerics) {
        return ofNumerics(verdict);
    }
    if (verdict.rule == RuleId::inputMayBeResult) {
        return {advice("dump input.clone(), taken before the call", "what the call left in its input tells nothing")};
    }
    if (isImportable(verdict.facts.scene) && verdict.facts.scene.otherTensors == 0) {
        list.push_back(calledAgain(verdict));
    }
    if (verdict.rule == RuleId::calledAgainFinite && verdict.facts.damage.count == 0) {
        list.push_back(advice("the same run with NANSCOPE_CAPTURE_KEEP=1",
            "holds the outputs of a step until it ends: where the damage lies tells a tile of a kernel from the rest"));
    }
    addOfMachine(list, verdict);
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
        TRY(check(one));
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
