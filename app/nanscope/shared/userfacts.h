// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/nanscope/shared/options.h"
#include "app/nanscope/shared/source.h"
#include "core/diagnose/diagnose.h"
#include "core/model/model.h"
#include "core/workflow/userfiles.h"

namespace nanscope {

/// What the user says they saw, as given: --failed, --tried and --called.
struct ObservedWords
{
    std::string failed;
    std::vector<std::string> tried;
    std::vector<std::string> called;
};

void addObservedOptions(Options& options, ObservedWords& words);

/// Checked. "3/4.2": failures and the hours they came in. "kernels-off=gone:6": clean hours; "swap-gpus=moves:2": how
/// often.
Result<Observations> parseObserved(const ObservedWords& words);

/// To the session that a command is given: what was said, and variants of the user's own, are kept in it.
workflow::Access accessFor(const ObservedWords& words, const std::vector<std::string>& variantFiles);

/// What the session remembers with `said` over it. Remembered for the next time where the session can be written.
Result<Observations> observedOf(Source& source, const Observations& said);

/// --env, --advisories and --params.
void addUserFileOptions(Options& options, workflow::UserFiles& files);

/// --spike-rule, and --silence with cards one by one or as lists.
void addCardOptions(Options& options, diagnose::FindingChoices& given);

/// Lists taken apart and names checked, so that a wrong one is refused before anything is read.
Result<diagnose::FindingChoices> chosen(const diagnose::FindingChoices& given);

} // namespace nanscope
