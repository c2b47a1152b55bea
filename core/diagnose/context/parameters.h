// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a model, by name and shape, from whatever the user has at hand.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

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

} // namespace nanscope::diagnose
