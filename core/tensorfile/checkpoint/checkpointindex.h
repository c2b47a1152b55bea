// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The table of contents of a checkpoint that torch.distributed.checkpoint (DCP) saved: its file ".metadata".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/dtype.h"
#include "core/platform/platform.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

/// A rectangle of a tensor, as one rank saved it: by itself a file of torch.save or safetensors.
struct CheckpointPiece
{
    Shape offset; ///< of its first element in the tensor; empty where the tensor has no dimensions
    std::string file; ///< relative to the checkpoint's folder, "__0_0.distcp"
    platform::FilePart part;
    bool transformed = false; ///< compressed or encrypted by an extension
};

struct CheckpointTensor
{
    std::string name; ///< "model.layers.0.weight"
    std::optional<DType> dtype; ///< none where the format is not one that is read
    Shape shape;
    std::vector<CheckpointPiece> pieces;
};

struct CheckpointIndex
{
    std::vector<CheckpointTensor> tensors; ///< in the order in which they were saved
};

/// Reads `.metadata`, a pickle of torch.distributed.checkpoint.metadata.Metadata, without executing any of it. Names of
/// files that lead out of the folder are refused.
Result<CheckpointIndex> readCheckpointIndex(const std::filesystem::path& metadata);

} // namespace nanscope::tensorfile
