// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/tensorfile/scantensor.h"

namespace nanscope {

struct ScannedTensor
{
    std::vector<Scan> batches;
    std::optional<bool> checksumMatches; ///< where the scan read the whole storage and the file states a checksum
};

/// Scans every matrix and, in the same pass, verifies the checksum where the tensor is its whole storage.
Result<ScannedTensor> scanVerifying(const Tensor& tensor);

} // namespace nanscope
