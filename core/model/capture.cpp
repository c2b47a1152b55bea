// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/capture.h"

namespace nanscope {

BadBefore Scene::badBefore() const
{
    if (weightsBefore && weightsBefore->bad > 0) {
        return BadBefore::weights;
    }
    const auto* coverage = parameters && parameters->coverage ? &*parameters->coverage : nullptr;
    if (coverage == nullptr || !coverage->transposes || coverage->shards) {
        return BadBefore::notKnown;
    }
    const auto& known = *parameters;
    const bool gradientsFinite = known.badGradients == 0 && known.gradients == coverage->all;
    if (gradientsFinite && known.badMomenta > 0 && known.momentaBefore == known.momenta) {
        return BadBefore::states;
    }
    const bool othersFinite = weightsBefore && known.badMomenta == 0 && known.momentaBefore == coverage->all;
    if (!othersFinite) {
        return BadBefore::notKnown;
    }
    return gradientsFinite ? BadBefore::nothing : known.badGradients > 0 ? BadBefore::gradients : BadBefore::notKnown;
}

} // namespace nanscope
