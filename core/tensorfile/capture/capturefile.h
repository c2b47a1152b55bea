// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/model/capture.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

/// A capture with its tensors within reach. Formats: the dion wrapper's dict (input, output, rank, shape, dtype,
/// epsilon), any dict with a tensor `input` (also X, x, update, grad) and perhaps `output` (also Y, y), a bare
/// tensor, or two files with a bare tensor each (splitcall.h), of which either opens the call.
struct CaptureFile
{
    Capture capture;
    Tensor input;
    std::optional<Tensor> output;

    /// As dion's wrapper writes it: the input was cloned before the call, and what was called takes nothing besides it
    /// and epsilon.
    bool wrapped = false;

    /// Who wrote its sidecar says that other code touched the input or the result.
    bool otherCode = false;
};

/// What dion's wrapper, and our helper, write into the name of a dump.
struct DumpName
{
    std::optional<int> rank;
    std::optional<int> pid;
    std::optional<std::int64_t> timestampMs;
};

/// dion_nan_capture_rank{r}_shape{d0xd1x..}_pid{p}_{ms}, and nanscope_control_rank... of the healthy call beside one;
/// none for another name.
std::optional<DumpName> parseDumpName(std::string_view stem);

/// A sidecar by its name. One that says why its helper wrote no tensors is a capture of its own.
bool looksLikeSidecar(const std::filesystem::path& path);

/// Headers only: nothing of the tensors is read. rank, pid and time come from the file name where it is the
/// wrapper's (dion_nan_capture_rank{r}_shape{d0xd1x..}_pid{p}_{ms}.pt), rank and step also from the dict; a JSON file
/// of the same name beside it (x.pt -> x.json) may give "variant", "step" and, where the dump has none, "epsilon".
/// Where neither gives the step, a name such as layer3_step120.pt does. Refused where the file is not the capture that
/// `wanted` names, where its tensors hold no elements and are no part of a DTensor, and where it is the sidecar of a
/// capture without tensors: nothing can be replayed then.
Result<CaptureFile> openCapture(const CaptureRef& wanted);

/// Fills the scans of `file.capture` from the contents and verifies checksums in the same pass; nothing is filled
/// in where one does not match. Large captures are scanned by two threads. Reports bytes, and stops soon after it is
/// cancelled.
Result<void> scanCapture(CaptureFile& file, const JobContext& job = {});

/// Every byte of the file of a capture, with the checksums of its tensors verified on the same descriptor, or of one
/// .pt with the tensors of two files; none where there are more than `limit`.
Result<std::optional<std::vector<std::byte>>> captureBytes(const CaptureRef& wanted, std::uint64_t limit);

/// Whether the capture still lies there, with or without tensors.
bool isThere(const CaptureRef& wanted);

/// Both with one opening of the file; only the headers are read where `known` recognises the capture by them.
Result<CaptureFile> readCapture(const std::filesystem::path& path,
    const std::function<bool(const Capture&)>& known = {}, const JobContext& job = {});

/// The same, or the capture of a sidecar without tensors: what that counted takes the place of the scans, and both
/// tensors are empty.
Result<CaptureFile> readCaptureOrCounts(const std::filesystem::path& path,
    const std::function<bool(const Capture&)>& known = {}, const JobContext& job = {});

} // namespace nanscope::tensorfile
