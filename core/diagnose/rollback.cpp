// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/rollback.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/diagnose/tonight.h"

namespace nanscope {

namespace {

/// PaLM went back about 100 steps before a spike (Chowdhery et al. 2022, section 5.1).
constexpr std::int64_t wellBefore = 100;

/// All that is known of the checkpoint of one step.
struct Known
{
    const Checkpoint* found = nullptr;
    const Checkpoint* saved = nullptr;
    const Checkpoint* removed = nullptr;
    const Checkpoint* loaded = nullptr;

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
std::map<std::int64_t, Known, std::greater<>> checkpointsOf(const RunData& run)
{
    std::map<std::int64_t, Known, std::greater<>> all;
    for (const auto& checkpoint : run.checkpoints) {
        auto& known = all[checkpoint.step];
        auto*& slot = slotOf(known, checkpoint.fact);
        // A complete copy in one place is worth more than a torn one in another.
        const bool better = slot == nullptr || checkpoint.fact != CheckpointFact::found || checkpoint.problem.empty();
        slot = better ? &checkpoint : slot;
        if (checkpoint.fact == CheckpointFact::saved) {
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
    if (known.found != nullptr && known.found->problem.empty()) {
        return false;
    }
    if (known.found != nullptr) {
        set(advice, CheckpointStatus::missing, known.found->problem, {lineOf(*known.found)});
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

void judge(CheckpointAdvice& advice, const Trouble& trouble)
{
    const auto step = advice.step;
    if (reaches(trouble.poisonedFrom, step)) {
        set(advice, CheckpointStatus::poisoned, "it holds weights of which NaN came", {trouble.poisonedFrom->line});
    } else if (reaches(trouble.tornFrom, step)) {
        set(advice, CheckpointStatus::suspect,
            "half-stepped: the step was broken off after some of its updates were done", {trouble.tornFrom->line});
    } else if (reaches(trouble.doubtFrom, step)) {
        set(advice, CheckpointStatus::suspect, "the last loss is not finite: these weights, or that batch",
            {trouble.doubtFrom->line});
    } else if (reaches(trouble.climbingFrom, step)) {
        set(advice, CheckpointStatus::suspect, "written while the run was already climbing",
            {trouble.climbingFrom->line});
    } else if (const auto* proof = trouble.proofOf(step)) {
        set(advice, CheckpointStatus::safe,
            proof->weights == step ? "its weights gave a finite loss" : "weights made from it gave a finite loss",
            {proof->line});
    } else {
        set(advice, CheckpointStatus::unverified, "no loss was logged between it and the fault", {});
    }
}

bool sparesTheNewest(const std::vector<CaptureVerdict>& verdicts)
{
    return std::any_of(verdicts.begin(), verdicts.end(), [](const CaptureVerdict& verdict) {
        return verdict.blame == Blame::implementation || verdict.blame == Blame::machine
            || verdict.blame == Blame::nondeterministic;
    });
}

bool hasFiniteCorruption(const std::vector<CaptureVerdict>& verdicts)
{
    return std::any_of(verdicts.begin(), verdicts.end(),
        [](const CaptureVerdict& verdict) { return verdict.kind == "finite corruption"; });
}

CheckpointAdvice* newestSafe(std::vector<CheckpointAdvice>& all)
{
    const auto found = std::find_if(
        all.begin(), all.end(), [](const CheckpointAdvice& advice) { return advice.status == CheckpointStatus::safe; });
    return found == all.end() ? nullptr : &*found;
}

/// What caused the fault may be in the newest one already, unless that was a kernel or a machine.
void doubtTheNewest(std::vector<CheckpointAdvice>& all, const Trouble& trouble)
{
    auto* newest = newestSafe(all);
    if (newest == nullptr || trouble.first() - newest->step >= wellBefore) {
        return;
    }
    const bool another = std::any_of(all.begin(), all.end(), [&](const CheckpointAdvice& other) {
        return other.status == CheckpointStatus::safe && other.step < newest->step;
    });
    if (another) {
        newest->status = CheckpointStatus::suspect;
        newest->reason = fmt::format(
            "finite, but written {} steps before the fault: what caused it may be in there already (PaLM went back "
            "about {})",
            trouble.first() - newest->step, wellBefore);
    }
}

std::string lostText(std::int64_t lost)
{
    return fmt::format("{} step{} before the fault", lost, lost == 1 ? "" : "s");
}

std::string reasonOf(const Rollback& rollback, const Trouble& trouble, bool corrupted)
{
    if (!rollback.recommended) {
        return rollback.checkpoints.empty() ? "no checkpoint was found, in the folder or in a log"
                                            : "none of the known checkpoints is left and clean";
    }
    const auto chosen = std::find_if(rollback.checkpoints.begin(), rollback.checkpoints.end(),
        [&](const CheckpointAdvice& advice) { return advice.step == *rollback.recommended; });
    auto text = chosen->status == CheckpointStatus::safe
        ? fmt::format("the newest that nothing speaks against, {}", lostText(trouble.first() - chosen->step))
        : fmt::format("nothing better is left, {}: {}", lostText(trouble.first() - chosen->step), chosen->reason);
    if (corrupted) {
        text += "; a capture shows finite corruption, so a finite loss is no proof that the weights are right";
    }
    return text;
}

/// Where nothing is safe, the newest that may be clean; never one that is poisoned or gone.
std::optional<std::int64_t> choose(std::vector<CheckpointAdvice>& all)
{
    if (const auto* safe = newestSafe(all)) {
        return safe->step;
    }
    for (const auto status : {CheckpointStatus::unverified, CheckpointStatus::suspect}) {
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const CheckpointAdvice& advice) { return advice.status == status; });
        if (found != all.end()) {
            return found->step;
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Rollback> adviseRollback(const RunData& run, const std::vector<CaptureVerdict>& verdicts)
{
    const auto trouble = troubleOf(run, verdicts);
    if (trouble.none()) {
        return std::nullopt;
    }
    Rollback rollback;
    for (const auto& [step, known] : checkpointsOf(run)) {
        auto& advice = rollback.checkpoints.emplace_back();
        advice.step = step;
        advice.path = known.path();
        if (!isMissing(advice, known)) {
            judge(advice, trouble);
        }
    }
    if (!sparesTheNewest(verdicts)) {
        doubtTheNewest(rollback.checkpoints, trouble);
    }
    rollback.recommended = choose(rollback.checkpoints);
    rollback.reason = reasonOf(rollback, trouble, hasFiniteCorruption(verdicts));
    rollback.tonight = tonightLine(run, verdicts, rollback, trouble);
    return rollback;
}

} // namespace nanscope
