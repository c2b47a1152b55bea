// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// What the user chose of findings: on the command line --silence and --spike-rule.
struct FindingChoices
{
    std::vector<std::string> silenced {}; ///< ids of cards they do not want to hear of
    std::string spikeRule {}; ///< whose rule calls a loss a spike (cards/spikerules.h); empty for the default one

    bool operator==(const FindingChoices&) const = default;
};

/// Names as a user gives them. An unknown one is refused; of known ones the same choices come out equal, however they
/// were written.
Result<FindingChoices> checked(FindingChoices choices);

/// What a user chose long ago, without the cards and the rule that are no longer known.
FindingChoices withoutUnknown(const FindingChoices& choices);

/// Every card with what became of it: those that fired first, the worst of them first, then the others as they are
/// listed. A cancel leaves out those that were not asked yet.
std::vector<Finding> findingsOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts,
    const FindingChoices& choices = {}, const CancelToken& cancel = {});

/// The same findings where the user silenced these cards and no others: as findingsOf() gives them, but no card is
/// asked for it.
void silence(std::vector<Finding>& findings, const std::vector<std::string>& silenced);

/// The cards that need neither points nor verdicts: hardware, infrastructure, a diagnostic that itself failed.
std::vector<Finding> earlyFindings(const RunData& run);

} // namespace nanscope::diagnose
