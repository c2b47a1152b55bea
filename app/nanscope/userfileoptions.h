// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/nanscope/options.h"
#include "core/workflow/userfiles.h"

namespace nanscope {

/// --env, --advisories and --params.
void addUserFileOptions(Options& options, workflow::UserFiles& files);

} // namespace nanscope
