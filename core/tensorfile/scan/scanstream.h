// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/platform/platform.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::tensorfile {

struct ScannedTensor
{
    std::vector<Scan> batches;
    std::optional<bool> checksumMatches; ///< where the scan read the whole storage and the file states a checksum
};

/// Scans every matrix and, in the same pass, verifies the checksum where the tensor is its whole storage. `file` is
/// the tensor's own, if it is open already.
Result<ScannedTensor> scanVerifying(const Tensor& tensor, std::shared_ptr<const platform::FileReader> file = nullptr);

} // namespace nanscope::tensorfile
