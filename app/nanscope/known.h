// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/nanscope/options.h"
#include "core/known/known.h"

namespace nanscope {

/// --env, --advisories and --params, as given.
using KnownWords = KnownFiles;

void addKnownOptions(Options& options, KnownWords& words);

} // namespace nanscope
