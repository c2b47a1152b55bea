// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Calls that were saved by hand as two files of one bare tensor each, whose names differ in one word: "layer3_in.pt"
// and "layer3_out.pt", "X_5.npy" and "Y_5.npy".
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

/// The output of the call whose input `file`, at `path`, is: of the same shape. None where no such file lies beside it,
/// or one of the two holds more than a tensor.
std::optional<TensorFile> outputBeside(const std::filesystem::path& path, const TensorFile& file);

/// The file of the input, where `path` is an output by its name and outputBeside() finds it.
std::optional<std::filesystem::path> inputBeside(const std::filesystem::path& path);

/// Whether a word of the name says what goes into a call: an input, a gradient, a momentum, an update.
bool namesAnInput(std::string_view stem);

} // namespace nanscope::tensorfile
