// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/model/model.h"

namespace nanscope {

/// Cards that fire on log lines which explain a failure better than numbers would: infrastructure, hardware, a
/// diagnostic that itself failed.
std::vector<Finding> findingsOf(const RunData& run);

} // namespace nanscope
