// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which parameter a matrix of a capture belongs to. dion stacks parameters of one shape, [per_rank, m, n], with their
// number filled up to a multiple of the ranks by zero matrices: rank r has those from r * per_rank on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

// The parameters of a model, by name and shape, from whatever the user has at hand.

struct Parameter
{
    std::string name;
    Shape shape; ///< of no use where ParameterList::shapes is false
};

struct ParameterList
{
    std::vector<Parameter> parameters;
    bool shapes = true; ///< false: an index that has names only
    bool ordered = true; ///< as the user gave them; false: sorted by name, because the file keeps no order
};

/// A tensor file (its header only), an index of safetensors, a JSON object of names and shapes, or lines such as
/// "blocks.0.mlp.fc2.weight torch.Size([512, 1408])", "... [512, 1408]", "... (512, 1408)" and "... 512x1408". Fails
/// with one sentence where nothing of this is in it.
Result<ParameterList> readParameters(const std::filesystem::path& path);

/// The same for a text.
Result<ParameterList> parseParameters(std::string_view text);

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
