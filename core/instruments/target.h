// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/instruments/matrices.h"
#include "core/replay/engine/replay.h"

namespace nanscope::instruments {

/// What answers: a replay cell, or a function of the user's.
struct TargetFacts
{
    bool own = false; ///< a function of the user's: what is found is found in it
    std::string name; ///< a variant, or "python:module:function"
    std::string precision; ///< "bf16"; "own" for a function
    std::string lowering; ///< empty for a function
    std::string how; ///< of a function: "f(X, epsilon=epsilon)"
    std::string source; ///< of a function: its file, where Python names it
    int gpus = 0; ///< a function could be asked on so many
    std::string uuid {}; ///< of its GPU, where its torch names it
    std::optional<Precision> format; ///< of a cell
    std::array<double, 2> outputRange {}; ///< of what a singular value becomes, when all is well
    /// Scales rows one by one, or the result: no direction of the input is followed, and nothing is degenerate.
    bool turnsDirections = false;
    bool rangeAssumed = false; ///< that of all published variants, where it claims to be none
    Environment environment;
};

/// What a target is asked.
struct Question
{
    const Matrices& input;
    std::optional<double> epsilon; ///< none: the target uses its own
    bool forceEpsilon = false; ///< asked of a variant that ignores its caller's, too
};

/// What came back of one call.
struct Reply
{
    std::optional<Matrices> output; ///< none: see `complaint`
    std::string complaint; ///< one sentence
    double seconds = 0;
    std::int64_t inputChanged = 0; ///< elements whose bits are others than before the call
    std::optional<std::int64_t> firstChanged; ///< row-major in the whole batch
    bool sharesStorage = false; ///< the output lies in the memory of the input
};

/// One call of several that ran back to back.
struct BurstCall
{
    std::string hash; ///< 128 bits; empty: there was no output
    bool finite = true;
};

struct Burst
{
    std::vector<BurstCall> calls;
    std::vector<std::string> complaints; ///< some of them, one sentence each
};

/// What a function finds in memory that it asks for without initialising it.
enum class EmptyMemory { asFound, zeros, notANumber };

/// What is made hard for a function while it runs.
struct BurstOptions
{
    int calls = 100;
    bool poison = false; ///< blocks full of NaN are left to its allocator before each call
    EmptyMemory emptyMemory = EmptyMemory::asFound;
    bool producer = false; ///< the kernel that writes its input is launched directly before
    int streams = 0; ///< so many CUDA streams at once
    int threads = 0; ///< so many threads at once
    bool traffic = false; ///< NCCL reduces between all GPUs meanwhile
};

/// Something that takes a batch of matrices and an epsilon and gives a batch of the same shape. One thread at a time.
class Target
{
public:
    virtual ~Target() = default;
    Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    virtual TargetFacts facts() const = 0;

    /// One call. An error only where no further call makes sense, or when cancelled; what went wrong within this call
    /// is its complaint.
    virtual Result<Reply> call(const Question& question, const CancelToken& cancel) = 0;

    /// Calls one after the other, where that is possible without looking in between.
    virtual Result<Burst> burst(const Question& question, const BurstOptions& options, const JobContext& job) = 0;

    /// A fresh process for the calls from now on, where there is one.
    virtual Result<void> renew(const CancelToken&) { return {}; }
};

/// How large a batch a replay cell or a function is given: what does not fit into memory is refused with its size.
Result<void> allowSize(const tensorfile::Tensor& input, std::int64_t count);

} // namespace nanscope::instruments
