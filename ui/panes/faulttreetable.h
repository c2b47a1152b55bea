// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/panes/faulttreelayout.h"

namespace nanscope {

/// One line per capture, tab-separated, a heading first: what the fault tree is to who does not see it. By rank, update
/// and time; "call" counts the captured calls of a rank within one update.
QString faultTable(const RunData& run, std::vector<FaultCapture> captures);

} // namespace nanscope
