// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/capture.h"

namespace nanscope {

BroughtBy Scene::broughtBy() const
{
    if (weightsBefore && weightsBefore->bad > 0) {
        return BroughtBy::weights;
    }
    const auto* coverage = parameters && parameters->coverage ? &*parameters->coverage : nullptr;
    if (coverage == nullptr || !coverage->transposes || coverage->shards) {
        return BroughtBy::notKnown;
    }
    const auto& known = *parameters;
    const bool gradientsFinite = known.badGradients == 0 && known.gradients == coverage->all;
    if (gradientsFinite && known.badMomenta > 0 && known.momentaBefore == known.momenta) {
        return BroughtBy::momenta;
    }
    const bool othersFinite = weightsBefore && known.badMomenta == 0 && known.momentaBefore == coverage->all;
    if (!othersFinite) {
        return BroughtBy::notKnown;
    }
    return gradientsFinite ? BroughtBy::theStep : known.badGradients > 0 ? BroughtBy::gradients : BroughtBy::notKnown;
}

} // namespace nanscope
