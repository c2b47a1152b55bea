// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The central directory of a zip file, checked against itself and the file's size. libzip is not used because it
// does not say where the bytes of a stored entry lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/platform/platform.h"

namespace nanscope::tensorfile {

struct ZipEntry
{
    std::string name;
    std::uint64_t headerOffset = 0;
    std::uint64_t size = 0;
    std::uint64_t limit = 0; ///< where the next entry, or the directory, begins
    std::uint32_t crc = 0;
    std::uint16_t flags = 0;
};

struct ZipDirectory
{
    std::vector<ZipEntry> entries; ///< in the directory's order
    bool statesChecksums = true; ///< false where a writer left all of them 0, as torch does on request

    const ZipEntry* find(const std::string& name) const;
};

/// Refuses names that repeat or lead out of the archive, entries that overlap, and compressed or encrypted ones.
Result<ZipDirectory> readZipDirectory(const platform::FileReader& file);

/// Offset of an entry's first byte, after its local header was found to agree with the directory.
Result<std::uint64_t> locateZipEntry(const platform::FileReader& file, const ZipEntry& entry);

/// Contents of a small entry, its checksum verified where the directory states any.
Result<std::vector<std::byte>> readZipEntry(
    const platform::FileReader& file, const ZipDirectory& directory, const ZipEntry& entry);

} // namespace nanscope::tensorfile
