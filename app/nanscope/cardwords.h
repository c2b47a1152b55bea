// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/nanscope/shared/options.h"
#include "core/diagnose/diagnose.h"

namespace nanscope {

/// What the user says of finding cards, as given: --spike-rule and --silence.
struct CardWords
{
    std::string spikeRule;
    std::vector<std::string> silence;
};

void addCardOptions(Options& options, CardWords& words);

/// Checked, so that a wrong name is refused before anything is read.
Result<diagnose::DiagnoseOptions> diagnoseOptions(const std::vector<std::string>& ran, const CardWords& words);

} // namespace nanscope
