// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "gpu/probe/c10dranks.h"

namespace nanscope {

/// One byte of shape [] on the tensor's device: 1 where a value is NaN or infinite. Any shape and dtype, complex,
/// float8 and sparse ones included; integers and tensors without elements are finite. Waits for no device. Throws what
/// torch throws.
at::Tensor nonFiniteFlag(const at::Tensor& tensor);

/// How one dimension of a mesh of ranks holds a logical tensor, as torch's DTensor has it.
enum class Placement : std::uint8_t {
    shard, ///< each rank a piece
    replicate, ///< each rank all of it
    partialSum, ///< each rank a summand of all of it
    partialAverage,
    partialMinimum,
    partialMaximum,
    partialProduct,
};

struct MeshDimension
{
    C10dRanks* ranks = nullptr; ///< this rank's row along the dimension; outlives the call
    Placement placement = Placement::replicate;
};

/// Whether the logical tensor of which `local` is this rank's part holds a value that is NaN or infinite: in any shard,
/// in any replica (they may have drifted apart), or in the whole that partial parts are reduced to, as finite parts may
/// add up to infinity and an infinite one need be no minimum. Partial parts take the memory of one more local tensor.
/// A collective: all ranks of the mesh call with the same placements, and all get the same answer. `local` is not
/// changed. Without dimensions it asks this rank alone.
Result<bool> anyNonFinite(const at::Tensor& local, std::span<const MeshDimension> mesh = {});

} // namespace nanscope
