// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

/// The data.pkl of a flat dict, protocol 2, in the form torch.load(weights_only=True) accepts. Tensors refer to
/// the storages "0", "1", .. in order.
std::vector<std::byte> writePickle(const std::vector<std::pair<std::string, ValueToWrite>>& entries);

} // namespace nanscope::tensorfile
