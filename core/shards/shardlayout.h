// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which indices of a logical tensor each place of a mesh holds. Arithmetic only: nothing here reads a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensorfile/sharding.h"

namespace nanscope::shards {

/// Neighbouring indices along one dimension.
struct IndexRun
{
    std::int64_t begin = 0; ///< in the logical tensor
    std::int64_t count = 0;
    std::int64_t at = 0; ///< in the part
    bool operator==(const IndexRun&) const = default;
};

/// What one place of a mesh holds: per dimension of the logical tensor its runs of indices, in the order in which the
/// part has them, which is ascending.
struct HeldPart
{
    std::vector<std::vector<IndexRun>> dims;

    Shape shape() const;
    /// The run along `dim` that has the part's index `at`, which must be one.
    const IndexRun& runAt(std::size_t dim, std::int64_t at) const;
    /// Index along `dim` of the logical tensor that stands at `at` in the part.
    std::int64_t globalIndex(std::size_t dim, std::int64_t at) const;
    bool operator==(const HeldPart&) const = default;
};

/// Index in the logical tensor of the element with this row-major index in the part.
std::vector<std::int64_t> globalIndex(const HeldPart& part, std::int64_t flat);

/// Row-major index of an element.
std::int64_t flatIndex(const Shape& shape, const std::vector<std::int64_t>& index);

/// Cuts the tensor as torch does: every dimension in the order of the sharding's cuts, uneven ones with torch.chunk's
/// rule. Fails where the cuts would be too many to keep.
Result<HeldPart> heldAt(const tensorfile::Sharding& sharding, const Shape& coordinate);

/// "rows 4 to 5, columns 0 to 2", "all of it", "nothing".
std::string heldText(const HeldPart& part, const Shape& logical);

/// "(1, 0)".
std::string coordinateText(const Shape& coordinate);

/// "2x4 (dp, tp)".
std::string meshText(const tensorfile::DeviceMesh& mesh);

} // namespace nanscope::shards
