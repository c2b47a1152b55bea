// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What commands to copy repeat of the command that suggested them.
#pragma once

#include <span>
#include <string>

namespace nanscope::report {

/// " --variant-file mine.json" for each file: without it a command does not know the variants of the user's own. With
/// `nameOnly` the folders stay private.
std::string variantFileWords(std::span<const std::string> files, bool nameOnly);

/// " --ran mine:fp16" for each, and " --nothing-else".
std::string ranWords(std::span<const std::string> ran, bool nothingElse, bool otherCode);

/// " --capture FILE.pt"; nothing for an empty name.
std::string captureWords(const std::string& capture);

} // namespace nanscope::report
