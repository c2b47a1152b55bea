// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/userfileoptions.h"

namespace nanscope {

void addUserFileOptions(Options& options, workflow::UserFiles& files)
{
    options.add("--env", files.environment,
        "What `nanscope env --json` wrote in the training environment, where it does not lie among the inputs");
    options
        .add("--advisories", files.advisories,
            "More published problems of packages to look for (docs/advisories.md); may be repeated")
        .oneEach();
    options.add("--params", files.parameters,
        "Names and shapes of the model's parameters: .safetensors, its index, JSON, or lines NAME [512, 1408]");
}

} // namespace nanscope
