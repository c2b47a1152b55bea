// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The JSON file x.json beside a dump x.pt, and the one that a helper wrote alone. docs/capture.md has its keys.
#pragma once

#include <filesystem>
#include <memory>

#include "core/base/result.h"
#include "core/model/capture.h"
#include "core/tensorfile/sharding.h"

namespace nanscope::tensorfile {

/// What a sidecar says that has no place in its capture.
struct SaidBeside
{
    // How the tensors of a dump are spread, which has plain ones: a helper writes what its rank held of a DTensor.
    std::shared_ptr<const Sharding> input {};
    std::shared_ptr<const Sharding> output {};
    bool otherCode = false; ///< of one that was written by hand: other code touched the input or the result
};

/// Adds to a capture what the file beside its dump says and the dump does not. A bad one is noted in the scene and
/// left out.
SaidBeside readSidecar(const std::filesystem::path& dump, Capture& capture);

/// The capture of a sidecar that says why there are no tensors: shapes, formats and the counts of its fingerprint.
/// `unsupported` where it belongs to a dump, which then is the capture.
Result<Capture> readLoneSidecar(const std::filesystem::path& path);

} // namespace nanscope::tensorfile
