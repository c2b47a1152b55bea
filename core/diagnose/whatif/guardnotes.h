// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope::diagnose {

/// Lines of the run's own guard: at least so many skips, since Python prints a warning of the same words once.
std::int64_t guardLinesIn(const RunData& run);

/// What a guard could not have helped, and what the captures cannot show.
std::vector<EvidenceLine> guardNotes(const RunData& run, const GuardQuestion& question, const GuardWhatIf& whatIf);

} // namespace nanscope::diagnose
