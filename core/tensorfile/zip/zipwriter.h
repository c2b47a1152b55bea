// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/platform/platform.h"

namespace nanscope::tensorfile {

/// A file as a zip holds it once it is compressed.
struct DeflatedBytes
{
    std::vector<std::byte> bytes;
    std::uint64_t size = 0; ///< before
    std::uint32_t crc = 0; ///< of what it was before
};
DeflatedBytes deflated(std::span<const std::byte> bytes);

/// Writes a zip whose files and whole are below 4 GiB. Without finish() nothing is left behind.
class ZipWriter
{
public:
    explicit ZipWriter(platform::AtomicFile file)
        : m_file(std::move(file))
    { }

    /// As it is, at a multiple of 64 bytes, so that it can be mapped.
    Result<void> add(const std::string& name, std::span<const std::byte> bytes);
    Result<void> add(const std::string& name, const DeflatedBytes& file);
    Result<void> finish();

private:
    struct Part;
    Result<void> write(const Part& part, std::span<const std::byte> extra);
    void noteCentral(const Part& part);
    Result<void> write(std::span<const std::byte> bytes);

    platform::AtomicFile m_file;
    std::vector<std::byte> m_central;
    std::uint64_t m_offset = 0;
    std::uint64_t m_entries = 0;
};

} // namespace nanscope::tensorfile
