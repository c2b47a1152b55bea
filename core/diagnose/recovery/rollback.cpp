// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/rollback.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "core/base/text.h"
#include "core/base/values.h"
#include "core/diagnose/recovery/damagedupdates.h"
#include "core/diagnose/recovery/failuretimeline.h"
#include "core/diagnose/recovery/missingdumps.h"
#include "core/diagnose/recovery/trace.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/rules.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

namespace {

bool began(const CaptureVerdict& verdict)
{
    return verdict.role == Role::birth || verdict.role == Role::upstream;
}

/// A zero matrix on which the function divides by zero need not be padding.
bool isDividedByZero(const CaptureVerdict& verdict)
{
    return verdict.role == Role::padding && verdict.blame == Blame::numerics;
}

const CaptureVerdict* deciding(const std::vector<CaptureVerdict>& verdicts)
{
    const auto found = std::ranges::find_if(verdicts, began);
    const auto zero = found == verdicts.end() ? std::ranges::find_if(verdicts, isDividedByZero) : found;
    return zero == verdicts.end() ? nullptr : &*zero;
}

std::string machineSetting(const CaptureVerdict& verdict)
{
    return verdict.rank ? fmt::format("leave the GPU of rank {} out", *verdict.rank) : "leave the bad GPU out";
}

std::string numericsSetting(const CaptureVerdict& verdict)
{
    if (verdict.facts.inputZero) {
        return "add an epsilon to the norm that is not zero in its format";
    }
    const bool toBf16 = changesWhatRan("bf16", verdict);
    if (verdict.rule == RuleId::castOverflows) {
        return fmt::format("normalise in fp32 before any cast{}", toBf16 ? ", or iterate in bf16" : "");
    }
    return toBf16 ? "iterate in bf16, with a variant that stays inside its limits"
                  : "take a variant that stays inside its limits on this input (nanscope sweep)";
}

constexpr const char* guard = "turn on a guard that skips non-finite updates on all ranks";

/// Of an output that is finite and wrong no check for NaN and Inf tells.
constexpr const char* normGuard =
    "turn on a guard that also asks for the norm of an update (this one was finite; about the square root of the "
    "matrix's smaller side is healthy)";

const char* guardAgainst(const CaptureVerdict& verdict)
{
    return verdict.facts.outputFinite ? normGuard : guard;
}

/// A call on a CPU has no custom kernel, and what failed without them is none's.
bool kernelsMayHelp(const CaptureVerdict& verdict)
{
    const auto stays = [](const TriedExperiment& tried) {
        return tried.id == "kernels-off" && tried.seen == Seen::stays;
    };
    return !verdict.facts.scene.onCpu && std::ranges::none_of(verdict.facts.tried, stays);
}

std::string openSetting(const CaptureVerdict& verdict)
{
    std::vector<std::string> settings;
    if (kernelsMayHelp(verdict)) {
        settings.emplace_back("switch custom kernels off");
    }
    if (changesWhatRan("fp32-norm", verdict)) {
        settings.emplace_back("take the norm in fp32");
    }
    if (changesWhatRan("bf16", verdict)) {
        settings.emplace_back("iterate in bf16");
    }
    const auto* most = guardAgainst(verdict);
    return settings.empty() ? most : fmt::format("{}, and {}", fmt::join(settings, ", "), most);
}

/// Where no capture tells what began it.
std::string settingWithoutCause(const RunData& run)
{
    if (!run.captures.empty()) {
        return guard;
    }
    const char* then = !missingDumpsOf(run).missing.empty() ? "fetch the dumps that the log names"
        : helperMissedCalls(run)
        ? "have the capture helper look at the calls: it was on and did not see them all (finding capture-gaps)"
        : "turn on captures to find the cause (nanscope capture writes the helper)";
    return fmt::format("{}, and {}", guard, then);
}

constexpr const char* lowerRate = "take a lower learning rate or a longer warmup, and skip the batches of the fault";

std::string upstreamSetting(const CaptureVerdict& verdict, bool climbs)
{
    const auto bad = verdict.facts.scene.badBefore();
    if (bad == BadBefore::weights) {
        return "check the weights right after each step: an earlier update, by what follows its iteration, another "
               "optimizer or a checkpoint spoilt them";
    }
    if (bad == BadBefore::states) {
        return "check what the optimizer keeps before each step: it was bad where gradients of this shape were finite";
    }
    return climbs ? lowerRate : "skip the batches of the fault and check gradients before the optimizer";
}

/// What the cause asks for; where it is open, what covers most of what is open.
std::string settingFor(const CaptureVerdict* verdict, const FailureTimeline& timeline, const RunData& run)
{
    const bool climbs = timeline.failed && timeline.failed->climbingFrom;
    if (verdict == nullptr) {
        return climbs ? lowerRate : settingWithoutCause(run);
    }
    switch (verdict->blame) {
    case Blame::implementation:
    case Blame::nondeterministic:
        return kernelsMayHelp(*verdict) ? "set use_triton=False and use_gram_newton_schulz=False (no custom kernels)"
                                        : guardAgainst(*verdict);
    case Blame::machine:
        return machineSetting(*verdict);
    case Blame::numerics:
        return numericsSetting(*verdict);
    case Blame::upstream:
        return upstreamSetting(*verdict, climbs);
    default:
        return openSetting(*verdict);
    }
}

/// What all causes ask for: a run that mends the first of them meets the others again. What an open one asks for covers
/// most of what the others can be.
std::string settingsFor(
    const std::vector<CaptureVerdict>& verdicts, const FailureTimeline& timeline, const RunData& run)
{
    const auto* first = deciding(verdicts);
    std::vector<std::string> settings {settingFor(first, timeline, run)};
    if (first == nullptr) {
        return settings.front();
    }
    const bool open = first->blame == Blame::undecided;
    for (const auto& verdict : verdicts) {
        const bool covered = verdict.blame == Blame::undecided
            || (open && verdict.blame != Blame::machine && verdict.blame != Blame::upstream);
        auto setting = began(verdict) && !covered ? settingFor(&verdict, timeline, run) : "";
        if (!setting.empty() && std::ranges::find(settings, setting) == settings.end()) {
            settings.push_back(std::move(setting));
        }
    }
    return fmt::format("{}", fmt::join(settings, "; also "));
}

std::string costOf(const RunData& run, std::int64_t steps)
{
    auto text = fmt::format("{} step{} again", steps, steps == 1 ? "" : "s");
    std::vector<double> seconds;
    for (const auto& point : finitePoints(traceOf(run, "step_time_s"))) {
        seconds.push_back(point.value);
    }
    if (seconds.empty()) {
        return text;
    }
    const double hours = quantileOf(std::move(seconds)) * static_cast<double>(steps) / 3600;
    return hours >= 1 ? fmt::format("{}, about {:.1f} h", text, hours)
                      : fmt::format("{}, about {:.0f} min", text, std::max(1.0, hours * 60));
}

/// Checkpoints that a run deletes as it goes on: the clean one may be next.
std::string pruningRisk(const RunData& run)
{
    const bool prunes = std::any_of(run.checkpoints.begin(), run.checkpoints.end(),
        [](const Checkpoint& checkpoint) { return checkpoint.fact == CheckpointFact::removed; });
    return prunes ? "; copy it away first, the run deletes old ones" : "";
}

/// A checkpoint that may hold a damaged update, as far as is known: its logs show none, and it was not read.
struct Doubted
{
    std::int64_t step = 0;
    const DamagedUpdate* damage = nullptr;
};

const CheckpointAdvice* recommendedOf(const Rollback& rollback)
{
    const auto chosen = std::ranges::find_if(
        rollback.checkpoints, [&](const CheckpointAdvice& advice) { return advice.step == rollback.recommended; });
    return chosen == rollback.checkpoints.end() ? nullptr : &*chosen;
}

/// The newest that lacks something which is saved last, and of which nobody has seen whether its weights are whole.
std::optional<std::int64_t> tornAndUnread(const RunData& run, std::int64_t fault)
{
    std::optional<std::int64_t> newest;
    for (const auto& one : run.checkpoints) {
        const bool torn = one.fact == CheckpointFact::found && !one.problem.empty();
        if (torn && !one.place.empty() && !one.contents && one.step < fault && one.step > newest.value_or(-1)) {
            newest = one.step;
        }
    }
    return newest;
}

/// The newest checkpoint before the fault that may hold a damaged update, where it is newer than what is recommended.
const Doubted* newestDoubted(const std::vector<Doubted>& doubted, const Rollback& rollback)
{
    const auto found = std::ranges::find_if(doubted, [&](const Doubted& one) {
        return one.step < rollback.fault && one.step >= rollback.recommended.value_or(one.step);
    });
    return found == doubted.end() ? nullptr : &*found;
}

/// What reading the newer ones may save; of the recommended one, what it is recommended on.
std::string lessAgain(const Rollback& rollback, const std::vector<Doubted>& doubted)
{
    const auto* newest = newestDoubted(doubted, rollback);
    if (newest == nullptr) {
        return {};
    }
    const bool newer = newest->step > *rollback.recommended;
    const bool itself = std::ranges::find(doubted, *rollback.recommended, &Doubted::step) != doubted.end();
    return itself ? "; verify it first: --verify-checkpoints"
        : newer   ? fmt::format("; fewer if --verify-checkpoints finds a newer one finite, up to step {}", newest->step)
                  : std::string();
}

/// Why nothing that was logged can be gone back to.
std::string badFromTheFirst(const FailureTimeline& timeline)
{
    const auto& life = *timeline.failed;
    return life.sources.empty()
        ? fmt::format("no loss is logged, and a capture of step {} is damaged already: go back to weights from before "
                      "it, and check first that they are finite (run nanscope inspect on them)",
            life.first())
        : "what was logged first is bad already, so no update that was logged did it: look at the weights it began "
          "with and at its first batch";
}

/// What else is to be known of a checkpoint from before `newest`.
std::string conditionOf(const DamagedUpdate& damage, std::int64_t newest)
{
    if (!damage.weights) {
        return fmt::format("; verify it first (--verify-checkpoints): {}", damage.text());
    }
    return fmt::format(
        ": {}; a newer one, up to step {}, only if --verify-checkpoints finds it finite", damage.text(), newest);
}

/// Where no checkpoint is known: how old one has to be. `damage`: what one from just before the fault may hold.
std::string anyFromBefore(const FailureTimeline& timeline, const DamagedUpdate* damage)
{
    const auto first = timeline.failed->first();
    const auto spare = timeline.failed->newestIn(0) + 1;
    const auto newest = (damage != nullptr ? damage->weights.value_or(first) : first) - spare;
    if (newest < 0) {
        return "start anew, nothing came before the first step";
    }
    return fmt::format("resume from a checkpoint of step {} or earlier (none was found in this run){}", newest,
        damage != nullptr ? conditionOf(*damage, first - spare) : std::string());
}

/// "Can I go on tonight?" in one line: the setting, the checkpoint, the cost.
std::string tonightLine(const RunData& run, const std::vector<CaptureVerdict>& verdicts, const Rollback& rollback,
    const FailureTimeline& timeline, const DamagedUpdates& damages, const std::vector<Doubted>& doubted)
{
    const auto setting = settingsFor(verdicts, timeline, run);
    const auto& life = *timeline.failed;
    if (!rollback.recommended && life.first() <= life.firstWeights) {
        return fmt::format("{}; {}", setting, badFromTheFirst(timeline));
    }
    if (const auto torn = tornAndUnread(run, life.first()); torn && !rollback.recommended) {
        return fmt::format("{}; before you start anew, verify the checkpoints: whether the weights of step {} are "
                           "whole is not known",
            setting, *torn);
    }
    if (!rollback.recommended) {
        return fmt::format("{}; {}", setting,
            rollback.checkpoints.empty() ? anyFromBefore(timeline, damages.in(life, life.first() - 1))
                                         : "start anew, no clean checkpoint is left");
    }
    const auto* chosen = recommendedOf(rollback);
    const auto what = chosen->weightsAlone ? "the weights alone of step" : "step";
    return fmt::format("{}; resume from {} {} ({}{}){}", setting, what, *rollback.recommended,
        costOf(run, life.first() - *rollback.recommended), lessAgain(rollback, doubted), pruningRisk(run));
}

/// PaLM went back about 100 steps before a spike (Chowdhery et al. 2022, section 5.1).
constexpr std::int64_t wellBefore = 100;

/// All that is known of the checkpoint of one step.
struct Known
{
    const Checkpoint* found = nullptr;
    const Checkpoint* saved = nullptr;
    const Checkpoint* removed = nullptr;
    const Checkpoint* loaded = nullptr;
    std::vector<const Checkpoint*> complete {}; ///< of the found ones

    std::string path() const
    {
        for (const auto* fact : {found, saved, loaded, removed}) {
            if (fact != nullptr && !fact->path.empty()) {
                return fact->path;
            }
        }
        return {};
    }
};

const Checkpoint*& slotOf(Known& known, CheckpointFact fact)
{
    switch (fact) {
    case CheckpointFact::found:
        return known.found;
    case CheckpointFact::saved:
        return known.saved;
    case CheckpointFact::removed:
        return known.removed;
    default:
        return known.loaded;
    }
}

/// What is written again under the name of one that was removed is there again.
bool writtenAgain(const Checkpoint* removed, const Checkpoint& saved)
{
    return removed != nullptr && removed->source == saved.source && removed->line < saved.line;
}

/// It was read, and its weights lie there whole, whatever else of it does not.
bool weightsAreWhole(const Checkpoint& checkpoint)
{
    const auto& held = checkpoint.contents;
    return held && held->weights > 0 && held->damaged + held->unread == 0;
}

std::map<std::int64_t, Known, std::greater<>> checkpointsOf(const RunData& run)
{
    std::map<std::int64_t, Known, std::greater<>> all;
    for (const auto& checkpoint : run.checkpoints) {
        auto& known = all[checkpoint.step];
        if (checkpoint.fact == CheckpointFact::found && checkpoint.problem.empty()) {
            known.complete.push_back(&checkpoint);
        }
        auto*& slot = slotOf(known, checkpoint.fact);
        // A complete copy in one place is worth more than a torn one in another.
        const bool better = slot == nullptr || checkpoint.fact != CheckpointFact::found || checkpoint.problem.empty()
            || (!slot->problem.empty() && weightsAreWhole(checkpoint));
        slot = better ? &checkpoint : slot;
        if (checkpoint.fact == CheckpointFact::saved && writtenAgain(known.removed, checkpoint)) {
            known.removed = nullptr;
        }
    }
    return all;
}

EvidenceLine lineOf(const Checkpoint& fact)
{
    if (fact.source.empty()) {
        return {"it lies in the folder", fact.path};
    }
    return {fmt::format("{}: {}", name(fact.fact), fact.path), fmt::format("{}:{}", fact.source, fact.line)};
}

void set(CheckpointAdvice& advice, CheckpointStatus status, std::string reason, std::vector<EvidenceLine> proof)
{
    advice.status = status;
    advice.reason = std::move(reason);
    advice.proof = std::move(proof);
}

/// Removed and torn ones need no other argument.
bool isMissing(CheckpointAdvice& advice, const Known& known)
{
    if (known.found != nullptr && (known.found->problem.empty() || weightsAreWhole(*known.found))) {
        return false;
    }
    if (known.found != nullptr) {
        // What was read of it comes beside that: it may be about another of its files.
        const bool read = known.found->contents && !known.found->contents->first.empty();
        set(advice, CheckpointStatus::missing, known.found->problem,
            {read ? EvidenceLine {known.found->contents->first, advice.path} : lineOf(*known.found)});
    } else if (known.removed != nullptr) {
        set(advice, CheckpointStatus::missing, "the log says that it was deleted", {lineOf(*known.removed)});
    } else {
        return false;
    }
    return true;
}

bool reaches(const std::optional<Sign>& sign, std::int64_t step)
{
    return sign && sign->weights <= step;
}

/// A finite loss is a proof of weights that took part in it, and of no others.
void judgeByProof(
    CheckpointAdvice& advice, const TrainingProcess& life, const Proof& proof, const DamagedUpdate* damage)
{
    const std::string gave =
        proof.weights == advice.step ? "its weights gave a finite loss" : "weights made from it gave a finite loss";
    if (damage == nullptr) {
        set(advice, CheckpointStatus::safe, gave, {life.lineOf(proof)});
        return;
    }
    set(advice, CheckpointStatus::unverified,
        fmt::format("{}, but {}: verify it (--verify-checkpoints)", gave, damage->text()),
        {life.lineOf(proof), damage->line()});
}

/// `damage`: what it may hold.
void judgeByLog(CheckpointAdvice& advice, const TrainingProcess& life, const DamagedUpdate* damage)
{
    const auto step = advice.step;
    if (life.countsRows) {
        set(advice, CheckpointStatus::unverified, "the log counts rows and names no steps", {});
    } else if (reaches(life.poisonedFrom, step)) {
        set(advice, CheckpointStatus::poisoned, "its weights gave values that are not finite",
            {life.poisonedFrom->line});
    } else if (reaches(life.tornFrom, step)) {
        set(advice, CheckpointStatus::suspect,
            "half-stepped: the step was broken off after some of its updates were done", {life.tornFrom->line});
    } else if (reaches(life.doubtFrom, step)) {
        set(advice, CheckpointStatus::suspect,
            "the log ends with a value that is not finite: these weights, or that batch", {life.doubtFrom->line});
    } else if (reaches(life.climbingFrom, step)) {
        set(advice, CheckpointStatus::suspect, "written while the run was already climbing", {life.climbingFrom->line});
    } else if (const auto proof = life.proofOf(life.newestIn(step))) {
        judgeByProof(advice, life, *proof, damage);
    } else if (damage != nullptr) {
        set(advice, CheckpointStatus::unverified, fmt::format("{}: verify it (--verify-checkpoints)", damage->text()),
            {damage->line()});
    } else if (const auto before = life.proofOf(step)) {
        set(advice, CheckpointStatus::unverified,
            fmt::format("the last finite loss is that of step {}, and whether the checkpoint was written before the "
                        "update of that step or after it no line says: verify it (--verify-checkpoints)",
                before->step),
            {life.lineOf(*before)});
    } else {
        set(advice, CheckpointStatus::unverified,
            "no finite loss with a finite gradient norm was logged between it and the fault", {});
    }
}

/// The process was at this step at some time, and can have written it.
bool passed(const TrainingProcess& life, std::int64_t step)
{
    return life.firstWeights <= step && life.lastWeights + 1 >= step;
}

/// By the process that wrote it, where a log says which. Otherwise all that passed its step have to agree: a resume
/// goes through the steps of the attempt before, and may have written over its checkpoints or not. Returns what it may
/// hold.
const DamagedUpdate* judge(
    CheckpointAdvice& advice, const Known& known, const FailureTimeline& timeline, const DamagedUpdates& damages)
{
    const auto judgeBy = [&](CheckpointAdvice& one, const TrainingProcess& life) {
        const auto* damage = damages.in(life, life.newestIn(one.step));
        judgeByLog(one, life, damage);
        return damage;
    };
    if (known.saved != nullptr) {
        for (const auto& life : timeline.processes) {
            if (life.wrote(known.saved->source, known.saved->line)) {
                return judgeBy(advice, life);
            }
        }
    }
    bool any = false;
    const DamagedUpdate* damage = nullptr;
    for (const auto& life : timeline.processes) {
        if (!passed(life, advice.step)) {
            continue;
        }
        auto other = advice;
        const auto* held = judgeBy(other, life);
        // An attempt that ended well at this step says nothing against one that went on from it.
        if (!life.inTrouble() && other.status == CheckpointStatus::unverified && held == nullptr) {
            continue;
        }
        damage = damage != nullptr ? damage : held;
        if (any && other.status != advice.status) {
            set(advice, CheckpointStatus::unverified,
                "two attempts went through this step, and which of them wrote it is not known", {});
            return damage;
        }
        advice = any ? advice : other;
        any = true;
    }
    return any ? damage : judgeBy(advice, *timeline.failed);
}

/// What all complete copies of one step hold together; nothing where one of them was not read.
std::optional<CheckpointContents> contentsAt(const Known& known)
{
    std::optional<CheckpointContents> sum;
    for (const auto* one : known.complete) {
        if (!one->contents) {
            return std::nullopt;
        }
        const auto& contents = *one->contents;
        if (!sum) {
            sum = contents;
            continue;
        }
        // Of several copies the worst speaks.
        const bool damaged = contents.damaged > 0 && sum->badWeights == 0;
        if (contents.badWeights > 0 || damaged || sum->first.empty()) {
            sum->first = contents.first;
        }
        sum->weights = std::min(sum->weights, contents.weights);
        sum->tensors += contents.tensors;
        sum->badWeights += contents.badWeights;
        sum->badState += contents.badState;
        sum->open += contents.open;
        sum->unread += contents.unread;
        sum->damaged += contents.damaged;
    }
    return sum;
}

/// What its tensors hold is worth more than what a log lets one expect.
void judgeByContents(CheckpointAdvice& advice, const CheckpointContents& contents)
{
    const auto seen = [&](std::string text) { return EvidenceLine {std::move(text), advice.path}; };
    if (contents.badWeights > 0) {
        set(advice, CheckpointStatus::poisoned, "its weights are not finite", {seen(contents.first)});
    } else if (contents.damaged > 0) {
        set(advice, CheckpointStatus::missing, fmt::format("it cannot be loaded whole: {}", contents.first),
            {seen(contents.first)});
    } else if (contents.unread > 0 || contents.weights == 0) {
        const bool none = contents.weights == 0;
        advice.status = advice.status == CheckpointStatus::safe ? CheckpointStatus::unverified : advice.status;
        advice.reason += none ? "; no weights in it could be read" : "; not all of it could be read";
        advice.proof.push_back(seen(contents.first));
    } else if (contents.badState > 0) {
        set(advice, CheckpointStatus::suspect,
            "its weights are finite, the state of its optimizer is not: load the weights alone",
            {seen(contents.first)});
        advice.weightsAlone = true;
    } else if (contents.open > 0) {
        advice.reason += fmt::format("; {} with infinities that may be meant", counted(contents.open, "tensor"));
        advice.proof.push_back(seen(contents.first));
    } else if (advice.status == CheckpointStatus::unverified || advice.status == CheckpointStatus::safe) {
        const bool proven = advice.status == CheckpointStatus::safe;
        set(advice, CheckpointStatus::safe,
            fmt::format("{}every value of its {} is finite", proven ? advice.reason + ", and " : std::string(),
                counted(contents.tensors, "tensor")),
            proven ? std::move(advice.proof) : std::vector<EvidenceLine>());
    } else {
        advice.status = CheckpointStatus::suspect;
        advice.reason += fmt::format("; every value of its {} is finite", counted(contents.tensors, "tensor"));
    }
}

/// By what was read of it, where it was.
void judgeWhatWasRead(CheckpointAdvice& advice, const Known& known)
{
    const bool torn = known.complete.empty() && known.found != nullptr;
    const auto contents = torn ? known.found->contents : contentsAt(known);
    if (!contents) {
        return;
    }
    judgeByContents(advice, *contents);
    if (torn && (advice.status == CheckpointStatus::safe || advice.status == CheckpointStatus::unverified)) {
        set(advice, CheckpointStatus::suspect,
            "its weights are whole and finite, the rest of it may not be: load the weights alone",
            {{known.found->problem, advice.path}});
    }
    advice.weightsAlone = advice.weightsAlone || torn;
}

/// Of wrong values that are finite no loss and no reading tells.
void doubtWrongValues(CheckpointAdvice& advice, const FailureTimeline& timeline, const DamagedUpdates& damages)
{
    const auto& life = *timeline.failed;
    const auto* wrong =
        advice.status == CheckpointStatus::safe ? damages.wrongIn(life, life.newestIn(advice.step)) : nullptr;
    if (wrong != nullptr) {
        advice.status = CheckpointStatus::suspect;
        advice.reason += fmt::format("; but {}, with wrong values that are finite", wrong->text());
        advice.proof.push_back(wrong->line());
    }
}

/// How a trainer that names its checkpoints in one way is made to go on from one.
struct ResumeWord
{
    const char* name; ///< of its file or folder
    const char* line; ///< {0}: its path, {1}: the folder it lies in, {2}: its name, {3}: its step
};

// As the trainers' own command lines and documents have them: torchtitan docs/checkpoint.md, KempnerForge's page on
// its NaN detector, OLMo's README, Megatron-LM's arguments.py, nanochat's base_train.py, the classes named.
constexpr std::array resumeWords {
    ResumeWord {R"(step-\d+)", "torchtitan: --checkpoint.load_step={3}"},
    ResumeWord {R"(step_\d+)", "KempnerForge: checkpoint.load_path={0}"},
    ResumeWord {R"(step\d+(?:-unsharded)?)", "OLMo: --load_path={0}"},
    ResumeWord {R"(checkpoint-\d+)",
        "transformers: trainer.train(resume_from_checkpoint=\"{0}\"), or diffusers: --resume_from_checkpoint={2}"},
    ResumeWord {R"(global_step\d+)", "DeepSpeed: engine.load_checkpoint(\"{1}\", tag=\"{2}\")"},
    ResumeWord {R"(iter_\d+)", "Megatron-LM: --load {1} --ckpt-step {3}"},
    ResumeWord {R"(model_\d{6}\.pt)", "nanochat: --resume-from-step={3}"},
    ResumeWord {R"(.*step=\d+(?:-v\d+)?\.ckpt)", "Lightning: trainer.fit(model, ckpt_path=\"{0}\")"},
    ResumeWord {R"(ep\d+-ba\d+-rank\d+\.pt)", "Composer: Trainer(load_path=\"{0}\")"},
};

/// Anything else would have to be quoted, in a shell in one way and in Python in another.
bool needsNoQuotes(const std::string& path)
{
    static const RE2 plain(R"([\w./@=+:,-]+)", RE2::Latin1);
    return RE2::FullMatch(path, plain);
}

/// Of one that a log names, as the log has it: where that was begun is not known.
std::string pathToLoad(const RunData& run, const CheckpointAdvice& advice, ResumePaths paths)
{
    for (const auto& one : run.checkpoints) {
        const bool here = one.fact == CheckpointFact::found && one.step == advice.step && one.path == advice.path;
        if (paths == ResumePaths::absolute && here && !one.place.empty()) {
            const auto whole = std::filesystem::absolute(one.place).lexically_normal().string();
            return needsNoQuotes(whole) ? whole : advice.path;
        }
    }
    return advice.path;
}

std::string resumeLine(const RunData& run, const CheckpointAdvice& advice, ResumePaths paths)
{
    const std::filesystem::path path(pathToLoad(run, advice, paths));
    const auto place = path.has_filename() ? path : path.parent_path();
    // One of several is a part, or another run's; and nothing of these loads weights alone.
    if (!needsNoQuotes(path.string()) || advice.weightsAlone || advice.places > 1) {
        return {};
    }
    for (const auto& word : resumeWords) {
        if (RE2::FullMatch(place.filename().string(), RE2(word.name, RE2::Latin1))) {
            const auto folder = place.has_parent_path() ? place.parent_path().string() : std::string(".");
            return fmt::format(fmt::runtime(word.line), place.string(), folder, place.filename().string(), advice.step);
        }
    }
    return {};
}

/// Whatever a kernel or a machine did was not in the weights before; where numbers failed, too, it may have been.
bool sparesTheNewest(const std::vector<CaptureVerdict>& verdicts)
{
    const auto any = [&verdicts](std::initializer_list<Blame> blames) {
        return std::ranges::any_of(verdicts,
            [&](const CaptureVerdict& verdict) { return std::ranges::find(blames, verdict.blame) != blames.end(); });
    };
    return any({Blame::implementation, Blame::machine, Blame::nondeterministic})
        && !any({Blame::numerics, Blame::upstream});
}

/// Finite captures tell whether a finite loss proves anything.
std::string doubtOfFiniteLosses(const std::vector<CaptureVerdict>& verdicts)
{
    if (std::ranges::any_of(
            verdicts, [](const CaptureVerdict& verdict) { return verdict.rule == RuleId::finiteCorruption; })) {
        return "; a capture shows finite corruption, so a finite loss is no proof that the weights are right";
    }
    if (std::ranges::any_of(
            verdicts, [](const CaptureVerdict& verdict) { return verdict::asksAboutPlace(verdict.rule); })) {
        return "; a capture is off in places and finite: unless your code did that, a finite loss is no proof that the "
               "weights are right";
    }
    return {};
}

bool isSafeBefore(const CheckpointAdvice& advice, std::int64_t step)
{
    return advice.status == CheckpointStatus::safe && advice.step < step;
}

/// What caused the fault may be in those written just before it already, unless that was a kernel or a machine.
void doubtTheNewest(std::vector<CheckpointAdvice>& all, std::int64_t first)
{
    const bool older = std::ranges::any_of(
        all, [&](const CheckpointAdvice& advice) { return isSafeBefore(advice, first - wellBefore + 1); });
    for (auto& advice : all) {
        if (older && isSafeBefore(advice, first) && first - advice.step < wellBefore) {
            advice.status = CheckpointStatus::suspect;
            advice.reason += fmt::format("; but it was written {} steps before the fault: what caused that may be in "
                                         "there already (PaLM went back about {})",
                first - advice.step, wellBefore);
        }
    }
}

std::string lostText(std::int64_t lost)
{
    return fmt::format("{} step{} before the fault", lost, lost == 1 ? "" : "s");
}

/// What newer ones there are, and why they are not recommended.
std::string newerText(const Rollback& rollback, const std::vector<Doubted>& doubted)
{
    const auto* newest = newestDoubted(doubted, rollback);
    return newest == nullptr || newest->step == rollback.recommended
        ? std::string()
        : fmt::format("; newer ones, up to step {}, may hold {}, which was damaged and is not shown to have been "
                      "skipped: --verify-checkpoints tells",
            newest->step, newest->damage->name());
}

std::string reasonOf(const RunData& run, const Rollback& rollback, const FailureTimeline& timeline,
    const std::vector<Doubted>& doubted, const std::string& doubt)
{
    if (!rollback.recommended && tornAndUnread(run, rollback.fault)) {
        return "none of the known checkpoints is complete and clean; what is there was not read";
    }
    if (!rollback.recommended) {
        return rollback.checkpoints.empty()
            ? "no checkpoint was found, in the folder or in a log; a file of weights counts as one where its name "
              "(step_15.pt) or a number beside its tensors (step, iteration) says the step"
            : "none of the known checkpoints is left and clean";
    }
    const auto* chosen = recommendedOf(rollback);
    const auto text = chosen->status == CheckpointStatus::safe
        ? fmt::format("the newest that nothing speaks against, {}", lostText(timeline.failed->first() - chosen->step))
        : fmt::format(
            "nothing better is left, {}: {}", lostText(timeline.failed->first() - chosen->step), chosen->reason);
    return text + newerText(rollback, doubted) + doubt;
}

/// Where nothing is safe, the newest that may be clean; never one that is poisoned, gone, or behind the fault. One that
/// may hold a damaged update only where there is no other.
std::optional<std::int64_t> choose(
    const std::vector<CheckpointAdvice>& all, const std::vector<Doubted>& doubted, std::int64_t first)
{
    for (const bool anyOne : {false, true}) {
        for (const auto status : {CheckpointStatus::safe, CheckpointStatus::unverified, CheckpointStatus::suspect}) {
            const auto found = std::ranges::find_if(all, [&](const CheckpointAdvice& advice) {
                const bool mayHold = std::ranges::find(doubted, advice.step, &Doubted::step) != doubted.end();
                return advice.status == status && advice.step < first && (anyOne || !mayHold);
            });
            if (found != all.end()) {
                return found->step;
            }
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Rollback> adviseRollback(
    const RunData& run, const std::vector<CaptureVerdict>& verdicts, ResumePaths paths)
{
    const auto timeline = failureTimelineOf(run, verdicts);
    if (timeline.none()) {
        return std::nullopt;
    }
    const DamagedUpdates damages(run, verdicts, timeline.processes);
    std::vector<Doubted> doubted;
    Rollback rollback;
    for (const auto& [step, known] : checkpointsOf(run)) {
        auto& advice = rollback.checkpoints.emplace_back();
        advice.step = step;
        advice.path = known.path();
        if (!isMissing(advice, known)) {
            const auto* damage = judge(advice, known, timeline, damages);
            advice.places = std::max<std::int64_t>(1, std::ssize(known.complete));
            judgeWhatWasRead(advice, known);
            doubtWrongValues(advice, timeline, damages);
            if (damage != nullptr && advice.status == CheckpointStatus::unverified) {
                doubted.push_back({step, damage});
            }
        }
    }
    if (!sparesTheNewest(verdicts)) {
        doubtTheNewest(rollback.checkpoints, timeline.failed->first());
    }
    rollback.fault = timeline.failed->first();
    rollback.recommended = choose(rollback.checkpoints, doubted, rollback.fault);
    if (const auto* chosen = recommendedOf(rollback)) {
        rollback.resume = resumeLine(run, *chosen, paths);
    }
    rollback.reason = reasonOf(run, rollback, timeline, doubted, doubtOfFiniteLosses(verdicts));
    rollback.tonight = tonightLine(run, verdicts, rollback, timeline, damages, doubted);
    return rollback;
}

namespace {

/// Its points may not be in memory.
bool endsFinite(const Series& series)
{
    return series.points.empty() ? series.nan + series.posInf + series.negInf == 0
                                 : series.points.back().state == PointState::finite;
}

bool lossesEndFinite(const std::vector<Series>& all)
{
    const auto isLoss = [](const Series& series) {
        return series.name == "loss" && (series.pointCount > 0 || !series.points.empty());
    };
    return std::ranges::any_of(all, isLoss)
        && std::ranges::all_of(all, [&](const Series& series) { return !isLoss(series) || endsFinite(series); });
}

/// Its name, where one lies in the folder; what nobody has seen cannot be named.
std::string newestCheckpoint(const RunData& run)
{
    const Checkpoint* newest = nullptr;
    for (const auto& one : run.checkpoints) {
        const bool whole = one.fact == CheckpointFact::found && one.problem.empty();
        if (whole && (newest == nullptr || one.step > newest->step)) {
            newest = &one;
        }
    }
    return newest == nullptr ? "the newest checkpoint" : fmt::format("the newest checkpoint, {},", newest->path);
}

} // namespace

std::string goOnTonight(const RunData& run, const std::vector<CaptureVerdict>& verdicts)
{
    if (deciding(verdicts) == nullptr) {
        return {};
    }
    const auto setting = settingsFor(verdicts, {}, run);
    const auto check = fmt::format("{} is finite (run nanscope inspect on it)", newestCheckpoint(run));
    if (!lossesEndFinite(run.series)) {
        return fmt::format("{}; first check that {}", setting, check);
    }
    const auto timeline = failureTimelineOf(run, verdicts);
    const DamagedUpdates damages(run, verdicts, timeline.processes);
    const auto* cameIn = damages.first(DamagedUpdate::Kind::cameIn);
    const auto* born = damages.first(DamagedUpdate::Kind::born);
    const auto finite = std::string("the losses that are logged end finite");
    if (cameIn != nullptr) {
        return fmt::format(
            "{}; first check that {}: {}, but {} came in damaged, and {} is not shown to have been skipped", setting,
            check, finite, cameIn->verdict->capture, cameIn->name());
    }
    return born == nullptr
        ? fmt::format("{}; then go on from where the run is: {}", setting, finite)
        : fmt::format("{}; then go on from where the run is, if {}: {}, but {}", setting, check, finite, born->text());
}

void adviseAgain(Diagnosis& diagnosis, const RunData& run, ResumePaths paths)
{
    if (diagnosis.rollback) {
        diagnosis.rollback = adviseRollback(run, diagnosis.captures, paths);
    }
}

} // namespace nanscope::diagnose
