// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/job.h"

namespace nanscope::tensorfile {

/// Who waits while contents are read: they may stop it, and hear how many bytes came, on the thread that reads.
struct ReadWatch
{
    CancelToken cancel {};
    std::function<void(std::int64_t)> came = [](std::int64_t) {};
};

} // namespace nanscope::tensorfile
