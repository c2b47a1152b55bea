// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Takes arbitrary bytes as a file of one kind through everything behind its reader: import, diagnosis, reports.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace nanscope::fuzz {

/// A kind of file.
struct Kind
{
    std::string_view name;
    std::string_view file; ///< what the bytes are called in the folder that is read
    void (*mend)(std::string& bytes) = nullptr; ///< makes checksums right, where every mutation would end at them
};

std::span<const Kind> kinds();

/// None of this name: nullptr.
const Kind* findKind(std::string_view name);

/// Writes the mended bytes into `folder` and reads that as a run, or opens them as the session they are meant to be.
/// `judge`: with the verdicts that take replays.
void readAsKind(const Kind& kind, std::string bytes, const std::filesystem::path& folder, bool judge);

} // namespace nanscope::fuzz
