// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/platform/platform.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

/// One reader per format; each gets a file whose first bytes are of its kind.
Result<TensorFile> openTorchZip(const std::filesystem::path& path, const platform::FileReader& file);
Result<TensorFile> openSafetensors(const std::filesystem::path& path, const platform::FileReader& file);
Result<TensorFile> openNpy(const std::filesystem::path& path, const platform::FileReader& file);

/// openTensorFile() for who will read contents at once: `opened` is left holding the file.
Result<TensorFile> openTensorFile(
    const std::filesystem::path& path, std::shared_ptr<const platform::FileReader>& opened);

} // namespace nanscope::tensorfile
