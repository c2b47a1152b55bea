// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which parameter a matrix of a capture belongs to. dion stacks parameters of one shape, [per_rank, m, n], with their
// number filled up to a multiple of the ranks by zero matrices: rank r has those from r * per_rank on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/context/parameters.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

struct LayerPlace
{
    MatrixShape shape; ///< of the captured tensor
    bool stacked = true; ///< it has a batch dimension
    std::optional<int> rank;
    int element = 0; ///< of the batch
    std::optional<int> world; ///< ranks of the run, where that is known
};

struct Layer
{
    std::string text; ///< "rank 3, element 0: one of 6 blocks.*.mlp.fc2 [512,1408]; ..."
    std::vector<std::string> candidates; ///< the likeliest first
};

Layer layerAt(const LayerPlace& place, const ParameterList& list);

/// As the run's settings say it; none where they do not, or do not agree.
std::optional<int> worldSizeOf(const RunData& run);

/// Fills `layer` and `layerCandidates` of every verdict.
void nameLayers(Diagnosis& diagnosis, const RunData& run, const ParameterList& list);

} // namespace nanscope::diagnose
