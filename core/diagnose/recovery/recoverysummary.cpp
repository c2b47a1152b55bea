// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/recoverysummary.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/recovery/trace.h"

namespace nanscope::diagnose {

namespace {

const CaptureVerdict* deciding(const std::vector<CaptureVerdict>& verdicts)
{
    const auto found = std::find_if(verdicts.begin(), verdicts.end(),
        [](const CaptureVerdict& v) { return v.role == Role::birth || v.role == Role::upstream; });
    return found == verdicts.end() ? nullptr : &*found;
}

std::string machineSetting(const CaptureVerdict& verdict)
{
    return verdict.rank ? fmt::format("leave the GPU of rank {} out", *verdict.rank) : "leave the bad GPU out";
}

std::string numericsSetting(const CaptureVerdict& verdict)
{
    return verdict.rule == RuleId::castOverflows ? "normalise in fp32 before any cast, or iterate in bf16"
                                                 : "iterate in bf16, with a variant that stays inside its limits";
}

/// What the cause asks for; where it is open, what covers most of what is open.
std::string settingFor(const CaptureVerdict* verdict, const Trouble& trouble)
{
    if (verdict == nullptr && trouble.life->climbingFrom) {
        return "take a lower learning rate or a longer warmup, and skip the batches of the fault";
    }
    if (verdict == nullptr) {
        return "turn on a guard that skips non-finite updates on all ranks, and captures on to learn the cause";
    }
    switch (verdict->blame) {
    case Blame::implementation:
    case Blame::nondeterministic:
        return "set use_triton=False and use_gram_newton_schulz=False (no custom kernels)";
    case Blame::machine:
        return machineSetting(*verdict);
    case Blame::numerics:
        return numericsSetting(*verdict);
    case Blame::upstream:
        return "skip the batches of the fault and check gradients before the optimizer";
    default:
        return "switch custom kernels off, take the norm in fp32, iterate in bf16, and turn on a guard that skips "
               "non-finite updates on all ranks";
    }
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
    const double hours = medianOf(std::move(seconds)) * static_cast<double>(steps) / 3600;
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

} // namespace

std::string tonightLine(
    const RunData& run, const std::vector<CaptureVerdict>& verdicts, const Rollback& rollback, const Trouble& trouble)
{
    const auto setting = settingFor(deciding(verdicts), trouble);
    const auto& life = *trouble.life;
    if (!rollback.recommended && life.first() <= life.firstWeights) {
        return fmt::format("{}; what was logged first is bad already, so no update that was logged did it: look at "
                           "the weights it began with and at its first batch",
            setting);
    }
    if (!rollback.recommended) {
        return rollback.checkpoints.empty() ? fmt::format(
                   "{}; resume from a checkpoint written before update {}, none is known here", setting, life.first())
                                            : fmt::format("{}; start anew, no clean checkpoint is left", setting);
    }
    return fmt::format("{}; resume from step {} ({}){}", setting, *rollback.recommended,
        costOf(run, life.first() - *rollback.recommended), pruningRisk(run));
}

} // namespace nanscope::diagnose
