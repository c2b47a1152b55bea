// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/report/report.h"

namespace nanscope::report {

/// Its number in the report, 0 in the appendix.
int sectionNumber(ReportSection section);

} // namespace nanscope::report
