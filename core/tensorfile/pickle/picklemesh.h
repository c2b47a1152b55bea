// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/tensorfile/capture/sharding.h"
#include "core/tensorfile/pickle/recordfields.h"

namespace nanscope::tensorfile {

/// A pickled DeviceMesh, checked for what it says of itself. Returns what is wrong with it as a clause, or nothing.
std::string readMesh(const RecordFields& fields, DeviceMesh& mesh);

} // namespace nanscope::tensorfile
