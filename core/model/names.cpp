// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include "core/model/capture.h"
#include "core/model/cell.h"
#include "core/model/experiment.h"
#include "core/model/run.h"
#include "core/model/scan.h"
#include "core/model/verdict.h"

namespace nanscope {

namespace {

constexpr std::array<std::string_view, 6> classNames {"normal", "zero", "subnormal", "nan", "inf", "-inf"};
constexpr std::array<std::string_view, 5> outcomeNames {"finite", "degenerate", "zero", "inf", "nan"};
constexpr std::array<std::string_view, 2> loweringNames {"eager", "fused"};
constexpr std::array<std::string_view, 15> opNames {"input", "cast", "norm", "normalize", "gram", "polynomial",
    "update", "output", "z", "q", "r", "restart", "equalize", "aol_scale", "rescale"};
constexpr std::array<std::string_view, 14> eventNames {"capture_dumped", "nan_loss", "skipped_step", "loss_spike",
    "optimizer_stop", "traceback", "terminated", "collective", "infrastructure", "machine", "diagnostic_failed",
    "resumed", "damaged", "other"};
constexpr std::array<std::string_view, 4> checkpointFactNames {"found", "saved", "removed", "loaded"};
constexpr std::array<std::string_view, 4> findingStateNames {"fired", "clear", "not_checkable", "silenced"};
constexpr std::array<std::string_view, 5> checkpointNames {"safe", "suspect", "poisoned", "missing", "unverified"};
constexpr std::array<std::string_view, 3> advisoryNames {"confirmed", "suspected", "fixed"};
constexpr std::array<std::string_view, 6> roleNames {
    "birth", "upstream", "downstream", "padding", "healthy", "no-output"};
constexpr std::array<std::string_view, 7> blameNames {
    "undecided", "upstream", "downstream", "numerics", "implementation", "nondeterministic", "machine"};
constexpr std::array<std::string_view, 13> damageShapeNames {"none", "whole element", "single element", "rows",
    "columns", "rectangle", "strided rectangle", "blocks", "diagonal", "lower triangle", "upper triangle",
    "mirrored pair", "scattered"};
constexpr std::array<std::string_view, 4> ownStateNames {"none", "other values", "not known", "random"};
constexpr std::array<std::string_view, 4> withheldNames {"nothing", "privacy", "limit", "input lost"};
constexpr std::array<std::string_view, 3> sidecarProblemNames {"none", "too long", "not json"};
constexpr std::array<std::string_view, 4> leftoverNames {"none", "zeros", "input", "elsewhere"};
constexpr std::array<std::string_view, 5> offAsNames {"unknown", "input", "multiple", "other-steps", "not-of-input"};
constexpr std::array<std::string_view, 56> ruleNames {"unjudged", "no-output", "call-raised", "input-may-be-result",
    "damaged-input", "contaminated", "duplicate-may-have-other-state", "duplicate-of-the-process",
    "duplicate-on-another-rank", "called-again-finite", "nothing-to-compare", "damage-on-zeros", "name-contradicted",
    "depends-on-epsilon", "depends-on-function", "cast-overflows", "replays-end-alike", "zero-in-all-bad-out",
    "matrices-taken-together", "zero-in-something-out", "no-known-variant", "function-unknown", "lost-among-largest",
    "norm-may-vanish", "edge-in-one-place", "at-the-edge", "fails-without-kernels", "without-margin",
    "some-replays-fail", "input-may-be-late", "code-besides", "no-replay-ends-like-this", "something-for-nothing",
    "zero-in-finite-out", "zero-in-zero-out", "all-zero", "all-zero-of-some", "all-zero-of-all",
    "output-of-earlier-call", "stale-output", "unlike-its-control", "wrong-beside-its-control",
    "finite-of-no-known-variant", "not-what-was-said", "off-unless-another-form", "zero-in-places",
    "off-by-term-or-factor", "off-in-places", "finite-corruption", "fits-in-part", "fits", "too-little-to-compare",
    "hardware-error-logged", "rank-wrong-again", "came-again-without-the-cast", "moves-with-the-card"};
constexpr std::array<std::string_view, 4> seenNames {"gone", "stays", "moves", "oftener"};
constexpr std::array<std::string_view, 4> stepSourceNames {"capture", "console", "mtime", "unknown"};
constexpr std::array<std::string_view, 5> identifiedNames {"sidecar", "given", "console", "fit", "unknown"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name)
{
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) {
            return static_cast<Enum>(i);
        }
    }
    return std::nullopt;
}

template <class Enum, std::size_t N>
std::string_view at(const std::array<std::string_view, N>& names, Enum value)
{
    return names[static_cast<std::size_t>(value)];
}

} // namespace

std::string_view name(ValueClass value)
{
    return at(classNames, value);
}

std::string_view name(Outcome outcome)
{
    return at(outcomeNames, outcome);
}

std::optional<Outcome> parseOutcome(std::string_view name)
{
    return find<Outcome>(outcomeNames, name);
}

std::string_view name(Lowering lowering)
{
    return at(loweringNames, lowering);
}

std::optional<Lowering> parseLowering(std::string_view name)
{
    return find<Lowering>(loweringNames, name);
}

std::string_view name(OpName op)
{
    return at(opNames, op);
}

std::optional<OpName> parseOpName(std::string_view name)
{
    return find<OpName>(opNames, name);
}

std::string_view name(DamageShape shape)
{
    return at(damageShapeNames, shape);
}

std::string_view name(OwnState state)
{
    return at(ownStateNames, state);
}

std::string_view name(Withheld reason)
{
    return at(withheldNames, reason);
}

std::string_view name(SidecarProblem problem)
{
    return at(sidecarProblemNames, problem);
}

std::string_view name(Leftover leftover)
{
    return at(leftoverNames, leftover);
}

std::string_view name(OffAs as)
{
    return at(offAsNames, as);
}

std::string_view name(RuleId rule)
{
    return at(ruleNames, rule);
}

std::string_view name(CheckpointFact fact)
{
    return at(checkpointFactNames, fact);
}

std::optional<CheckpointFact> parseCheckpointFact(std::string_view name)
{
    return find<CheckpointFact>(checkpointFactNames, name);
}

std::optional<EventKind> parseEventKind(std::string_view name)
{
    return find<EventKind>(eventNames, name);
}

std::string_view name(FindingState state)
{
    return at(findingStateNames, state);
}

std::string_view name(CheckpointStatus status)
{
    return at(checkpointNames, status);
}

std::string_view name(EventKind kind)
{
    return at(eventNames, kind);
}

std::string_view name(Role role)
{
    return at(roleNames, role);
}

std::string_view name(Blame blame)
{
    return at(blameNames, blame);
}

std::optional<Blame> parseBlame(std::string_view name)
{
    return find<Blame>(blameNames, name);
}

std::string_view name(Seen seen)
{
    return at(seenNames, seen);
}

std::string_view name(StepSource source)
{
    return at(stepSourceNames, source);
}

std::string_view name(IdentifiedBy how)
{
    return at(identifiedNames, how);
}

std::string_view name(AdvisoryStatus status)
{
    return at(advisoryNames, status);
}

std::optional<AdvisoryStatus> parseAdvisoryStatus(std::string_view name)
{
    return find<AdvisoryStatus>(advisoryNames, name);
}

} // namespace nanscope
