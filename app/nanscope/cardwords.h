// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/nanscope/shared/options.h"
#include "core/diagnose/diagnose.h"

namespace nanscope {

/// --spike-rule, and --silence with cards one by one or as lists.
void addCardOptions(Options& options, diagnose::FindingChoices& given);

/// Lists taken apart and names checked, so that a wrong one is refused before anything is read.
Result<diagnose::FindingChoices> chosen(const diagnose::FindingChoices& given);

} // namespace nanscope
