// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rpc/servequeue.h"

namespace nanscope::rpc {

/// Measures, and keeps the gauges in the session that is named; the cell with them.
Result<Cell> deepCell(const DeepOrder& order, const replay::DeviceFactory& devices, const JobContext& job);

} // namespace nanscope::rpc
