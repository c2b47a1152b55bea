// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/findings/spikerules.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

struct FindingOptions
{
    std::vector<std::string> silenced {}; ///< ids of cards the user does not want to hear of
    const cards::SpikeRule* spikeRule = nullptr; ///< none: the default one
};

/// Names as a user gives them, checked; no rule's name is the default one.
Result<FindingOptions> findingOptions(const std::vector<std::string>& silence, const std::string& spikeRule);

/// Every card with what became of it: those that fired first, the worst of them first, then the others as they are
/// listed. A cancel leaves out those that were not asked yet.
std::vector<Finding> findingsOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts,
    const FindingOptions& options = {}, const CancelToken& cancel = {});

/// The cards that need neither points nor verdicts: hardware, infrastructure, a diagnostic that itself failed.
std::vector<Finding> earlyFindings(const RunData& run);

} // namespace nanscope::diagnose
