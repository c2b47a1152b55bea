// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/platform/platform.h"

namespace nanscope::tensorfile {

/// CRC-32 as zip files use it, continued from `crc` (0 to begin with).
std::uint32_t updateCrc32(std::uint32_t crc, std::span<const std::byte> bytes);

/// CRC-32C (Castagnoli), as TensorFlow's record files use it. Unknown where the build has no ISA-L: zlib has none.
std::optional<std::uint32_t> crc32c(std::span<const std::byte> bytes);

/// XXH3, 128 bits: distinguishes captures and is fast; it is not meant to withstand forgery.
class ContentHash
{
public:
    ContentHash();
    ~ContentHash();
    void add(std::span<const std::byte> bytes);
    void add(std::string_view text); ///< with its length, so that "ab","c" differs from "a","bc"
    void add(std::uint64_t number);
    std::string hex() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// Hashes contents where no directory states checksums: all of a file up to 64 MiB, beyond that its first and
/// last MiB and 64 samples of 64 KiB evenly spread.
Result<void> addContents(ContentHash& hash, const platform::FileReader& file);

} // namespace nanscope::tensorfile
