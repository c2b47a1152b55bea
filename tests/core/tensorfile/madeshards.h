// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Dumps of DTensors, written by hand as torch 2.11 does, with whatever is to be wrong about them.
#pragma once

#include <optional>

#include "fixtures.h"

namespace nanscope::fixtures {

using Numbers = std::vector<std::int64_t>;

/// An object of this class with this state, as NEWOBJ and BUILD make it.
std::string object(const std::string& module, const std::string& name, const std::string& state);
/// What calling it without arguments makes.
std::string called(const std::string& module, const std::string& name);

std::string shardOn(std::int64_t dim);
std::string stridedShardOn(std::int64_t dim, std::int64_t splitFactor);
std::string replicated();
std::string partialOf(const std::string& reduction);

struct MadeMesh
{
    Numbers shape {2};
    std::optional<Numbers> strides {}; ///< into the ranks; row-major where it is not said
    std::vector<std::int32_t> ranks {0, 1};
    std::optional<std::int64_t> rank {};
    std::optional<Numbers> coordinate {};
    std::string layout {}; ///< instead of that of torch 2.11
    std::string more {}; ///< further fields, in front
};

struct MadeShard
{
    Numbers whole {4, 3};
    Numbers local {2, 3};
    std::vector<std::string> placements {shardOn(0)};
    MadeMesh mesh {};
    std::vector<float> values {1, 2, 3, 4, 5, 6};
    std::optional<std::int64_t> dumpRank {};
    std::string spec {}; ///< further fields of DTensorSpec, in front
};

/// The DTensor: its part is storage "0", the table of ranks storage "1".
std::string dtensor(const MadeShard& made);
std::string deviceMesh(const MadeMesh& mesh);

/// A capture whose input it is.
std::string shardFile(const MadeShard& made);

} // namespace nanscope::fixtures
