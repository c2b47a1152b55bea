// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/platform/platform.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope {

/// One reader per format; each gets a file whose first bytes are of its kind.
Result<TensorFile> openTorchZip(const std::filesystem::path& path, const FileReader& file);
Result<TensorFile> openSafetensors(const std::filesystem::path& path, const FileReader& file);
Result<TensorFile> openNpy(const std::filesystem::path& path, const FileReader& file);

} // namespace nanscope
