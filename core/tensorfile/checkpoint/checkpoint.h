// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the tensors of a checkpoint hold: a file of torch.save or safetensors, a folder of them (Hugging Face,
// DeepSpeed, Megatron-LM), or one that torch.distributed.checkpoint saved. Values are streamed, so a checkpoint may be
// larger than memory, and nothing of it is executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/model/capture.h"
#include "core/model/dtype.h"
#include "core/model/run.h"
#include "core/model/scan.h"

namespace nanscope::tensorfile {

enum class ParameterState {
    finite,
    nonFinite,
    sentinel, ///< infinities that may be meant: 0 and -Inf as in a mask, or nothing else as in an extreme not yet taken
    notRead,
};

/// One tensor of a checkpoint.
struct Parameter
{
    std::string name; ///< keys joined by dots: "model.layers.0.weight"
    std::string file; ///< relative to the checkpoint, that of the first piece; empty where the checkpoint is one file
    std::optional<DType> dtype;
    Shape shape;
    bool optimizerState = false; ///< by its name or that of its file
    Scan scan; ///< of the whole; the trace is 0
    std::string problem; ///< why it was not read, or not all of it; empty where it was

    ParameterState state() const;
    /// Where the first NaN or infinity lies, a number per dimension; empty where there is none.
    Shape firstNonFinite() const;
};

struct CheckpointScan
{
    std::vector<Parameter> parameters; ///< floating-point tensors with elements, in the order of their files
    std::int64_t others = 0; ///< integer, boolean, complex and empty tensors, which are not read
    std::int64_t files = 0;
    std::vector<Rejection> rejected; ///< files that cannot be used or are missing
    std::int64_t damaged = 0; ///< places where it is cut off, contradicts itself, or a file of it is missing
    std::vector<std::string> opaque; ///< names of Python objects that were not rebuilt, each once
};

/// Reads every floating-point tensor of the checkpoint at `path`. Fails where there is no tensor at all.
Result<CheckpointScan> scanCheckpoint(const std::filesystem::path& path, const JobContext& job);

/// Of the files of the checkpoint at `path`: another text once one of them was written again, came or went. Empty where
/// nothing can be listed there.
std::string checkpointStamp(const std::filesystem::path& path);

} // namespace nanscope::tensorfile
