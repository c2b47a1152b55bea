// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/tensorfile/recordfields.h"
#include "core/tensorfile/sharding.h"

namespace nanscope {

/// A pickled DeviceMesh, checked for what it says of itself. Returns what is wrong with it as a clause, or nothing.
std::string readMesh(const RecordFields& fields, DeviceMesh& mesh);

} // namespace nanscope
