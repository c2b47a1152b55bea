// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/document/commandwords.h"

#include <filesystem>

#include "core/platform/platform.h"

namespace nanscope::report {

std::string variantFileWords(std::span<const std::string> files, bool nameOnly)
{
    std::string words;
    for (const auto& file : files) {
        words += " --variant-file "
            + platform::shellQuoted(nameOnly ? std::filesystem::path(file).filename().string() : file);
    }
    return words;
}

std::string ranWords(std::span<const std::string> ran, bool nothingElse, bool otherCode)
{
    std::string words;
    for (const auto& one : ran) {
        words += " --ran " + platform::shellQuoted(one);
    }
    return words + (nothingElse ? " --nothing-else" : otherCode ? " --other-code" : "");
}

std::string captureWords(const std::string& capture)
{
    return capture.empty() ? std::string() : " --capture " + platform::shellQuoted(capture);
}

} // namespace nanscope::report
