// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::probe {

/// The same call made again, right after it and on the same bits.
struct CallAgain
{
    bool finite = false;
    std::string checksum; ///< of its output
};

/// What is known of the function, and of what is around it (docs/verdicts.md, "What a sidecar may say").
struct WatchedFunction
{
    std::string module; ///< file or library
    std::string name;
    std::optional<std::string> variant {}; ///< of docs/variants.md, where it computes as one of those
    std::optional<std::string> precision {}; ///< "bf16"
    std::optional<double> epsilon {};
    bool nothingElse = false; ///< nothing besides the function touches what goes in and what comes out

    /// It takes nothing but its input: no other tensors, no random numbers, no values that it keeps from call to call.
    /// Only then is the call made again, and only then does a finite one prove anything.
    bool takesInputAlone = false;
};

/// A call whose output was not finite.
struct BadCall
{
    int rank = 0;
    std::optional<std::int64_t> step {};
    tensorfile::TensorToWrite input; ///< as it was before the call
    tensorfile::TensorToWrite output;
    std::string inputAfter {}; ///< checksum of the input after the call; empty where it was not looked at
    std::vector<CallAgain> again {};
};

struct CaptureLimits
{
    std::size_t perShape = 4;
    std::uint64_t bytes = std::uint64_t {8} << 30; ///< of all captures of the process
    std::uint64_t freeBytes = std::uint64_t {256} << 20; ///< what stays free on the disk
};

/// As sidecars state them: XXH3, 128 bits.
std::string checksumOf(std::span<const std::byte> bytes);

/// Writes captures as dion's wrapper does (pull request 78), with the sidecar of our own helper beside them:
/// `dion_nan_capture_rank{rank}_shape{d0xd1}_pid{pid}_{ms}.pt`, which torch.load(weights_only=True) reads, and a .json
/// of the same stem. Both are written and synced under hidden names first, and named the dump last: a process that is
/// killed leaves nothing torn under a name that is read. No file is ever overwritten. One thread.
class CaptureWriter
{
public:
    /// Makes the folder with the first capture.
    explicit CaptureWriter(std::filesystem::path folder, const CaptureLimits& limits = {})
        : m_folder(std::move(folder))
        , m_limits(limits)
    { }

    /// Gives the path of the dump. ErrorKind::refused where a limit is met: nothing is written then.
    Result<std::filesystem::path> write(const WatchedFunction& function, const BadCall& call);

private:
    Result<void> checkLimits(const BadCall& call);

    std::filesystem::path m_folder;
    CaptureLimits m_limits;
    std::map<Shape, std::size_t> m_written;
    std::uint64_t m_bytes = 0;
};

} // namespace nanscope::probe
