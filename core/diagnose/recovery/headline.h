// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/model.h"

namespace nanscope::diagnose {

/// Counts the roles and writes the headline, "25 captures, 1 birth: rank 0, after the line of step 5, before that of
/// step 6".
void summarize(Diagnosis& diagnosis);

} // namespace nanscope::diagnose
