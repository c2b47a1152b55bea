// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>
#include <nccl.h>

namespace nanscope {

inline void check(ncclResult_t result)
{
    TORCH_CHECK(result == ncclSuccess, "NCCL: ", ncclGetErrorString(result));
}

} // namespace nanscope
