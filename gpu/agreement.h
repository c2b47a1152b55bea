// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/replay/engine/agreement.h"
#include "gpu/hashrange.h"

namespace nanscope {

/// The GPUs' own agreement, and what NCCL made of it.
struct GpuAgreement
{
    replay::Agreement agreement;
    std::optional<HashRange> range; ///< over NCCL; none where that was not possible, which a note says
    std::vector<std::string> notes; ///< one sentence each
};

/// One replay, repeated, on every GPU of this machine. Fails with ErrorKind::unsupported where there is none. A
/// reduction that contradicts the hashes as the host sees them is a failure of the communication, and said to be one.
Result<GpuAgreement> agreeOnGpus(const replay::AgreementRequest& request, const CancelToken& cancel = {});

} // namespace nanscope
