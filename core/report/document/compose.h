// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/report/document/document.h"
#include "core/report/input/reportinput.h"

namespace nanscope::report {

/// Every foreign word in it is redacted as the options say, without control characters and valid UTF-8.
/// `beside`: the reproducer that lies in the same folder, or null.
Document documentOf(const ReportInput& input, const ReportOptions& options, const Reproducer* beside = nullptr);

} // namespace nanscope::report
