// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/shards/shards.h"

namespace nanscope::shards {

/// One capture that holds shards: where it belongs and what it may be matched by.
struct Candidate
{
    std::size_t capture = 0;
    Shape coordinate;
    std::string folder;
    std::string key; ///< equal for captures that could be parts of the same input and output
    std::string family; ///< the same without the shapes of the wholes
    std::string shape; ///< of the whole
    std::string problem; ///< why it is matched with nothing
};

using Candidates = std::vector<Candidate>;

/// `tensor` is the side of `file` that tells its place, `index` its number.
Candidate candidateOf(const tensorfile::CaptureFile& file, const tensorfile::Tensor& tensor, std::size_t index);

std::optional<std::int64_t> rankOf(const tensorfile::CaptureFile& file);

} // namespace nanscope::shards
