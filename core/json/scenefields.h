// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A scene as JSON: of a capture, and among the facts of a verdict.
#pragma once

#include "core/json/jsonfields.h"
#include "core/model/capture.h"

namespace nanscope {

template <>
inline constexpr std::optional jsonfields::lastOf<OwnState> = lastOwnState;
template <>
inline constexpr std::optional jsonfields::lastOf<Withheld> = lastWithheld;
template <>
inline constexpr std::optional jsonfields::lastOf<SidecarProblem> = lastSidecarProblem;

template <class Visit>
void fields(Visit& visit, jsonfields::Of<StaleOutput> auto& stale)
{
    visit("matrix", stale.matrix);
    visit("call", stale.call);
}

template <class Visit>
void fields(Visit& visit, jsonfields::Of<ParameterCoverage> auto& coverage)
{
    visit("parameters", coverage.all);
    visit("listed", coverage.listed);
    visit("shards", coverage.shards);
    visit("transposes", coverage.transposes);
}

template <class Visit>
void fields(Visit& visit, jsonfields::Of<ParameterState> auto& state)
{
    visit("gradients", state.gradients);
    visit("bad_gradients", state.badGradients);
    visit("momenta", state.momenta);
    visit("bad_momenta", state.badMomenta);
    visit("weights", state.weights);
    visit("bad_weights", state.badWeights);
    visit("weights_before", state.weightsBefore);
    visit("bad_weights_before", state.badWeightsBefore);
    visit("momenta_before", state.momentaBefore);
    visit.text("first_bad", state.firstBad);
    visit("of", state.coverage);
}

template <class Visit>
void fields(Visit& visit, jsonfields::Of<WeightsBefore> auto& weights)
{
    visit("looked_at", weights.lookedAt);
    visit("bad", weights.bad);
    visit.text("first", weights.first);
    visit("shards", weights.shards);
}

template <class Visit>
void fields(Visit& visit, jsonfields::Of<SingularValues> auto& values)
{
    visit("least", values.least);
    visit("median", values.median);
    visit("largest", values.largest);
}

template <class Visit>
void fields(Visit& visit, jsonfields::Of<Scene> auto& scene)
{
    visit.text("function", scene.function);
    visit.text("arguments", scene.arguments);
    visit("called_again", scene.calledAgain);
    visit("failed_again", scene.failedAgain);
    visit("input_overwritten", scene.inputOverwritten);
    visit("output_bad", scene.outputBad);
    visit.text("source_hash", scene.sourceHash);
    visit("state", scene.state);
    visit.text("not_called_again", scene.notCalledAgain);
    visit.text("exception", scene.exception);
    visit("stale", scene.stale);
    visit("parameters", scene.parameters);
    visit("weights_before", scene.weightsBefore);
    visit.text("control", scene.control);
    visit("rotated", scene.rotated);
    visit("withheld", scene.withheld);
    visit.text("withheld_because", scene.withheldBecause);
    visit("singular_values", scene.singular);
    visit("sidecar_epsilon", scene.otherEpsilon);
    visit("sidecar_problem", scene.problem);
    visit("optimizer_step", scene.optimizerStep);
    visit("call_index", scene.callIndex);
    visit("bad_not_written", scene.badNotWritten);
    visit("not_looked_at", scene.notLookedAt);
    visit.text("named_like", scene.namedLike);
    visit("lone_tensor", scene.loneTensor);
    visit("on_cpu", scene.onCpu);
    visit("other_tensors", scene.otherTensors);
    visit("world", scene.world);
    visit.text("mesh", scene.mesh);
}

} // namespace nanscope
