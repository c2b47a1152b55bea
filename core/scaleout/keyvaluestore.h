// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace nanscope::scaleout {

/// Text by key, shared by the processes of a job: what a c10d::Store of torch.distributed is. Each call is atomic and
/// may come from any thread. A failure means that the store does not answer, and is final.
class KeyValueStore
{
public:
    virtual ~KeyValueStore() = default;

    /// The number under this key once `amount` is added; a missing one counts as 0.
    virtual Result<std::int64_t> add(const std::string& key, std::int64_t amount) = 0;

    virtual Result<void> append(const std::string& key, const std::string& text) = 0;
    virtual Result<bool> has(const std::string& key) = 0;

    /// In the order of the keys, all of which have to be there.
    virtual Result<std::vector<std::string>> get(const std::vector<std::string>& keys) = 0;
};

} // namespace nanscope::scaleout
