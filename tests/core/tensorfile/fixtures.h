// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Writes zip files and pickles by hand, good ones and bad ones, without any code of the room under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/core/session/temporaryfolder.h"

namespace nanscope::fixtures {

std::string little(std::uint64_t value, int width);

/// One entry; what is given overrides what would be true.
struct Entry
{
    std::string name;
    std::string data;
    int method = 0;
    int flags = 0;
    std::optional<std::uint32_t> crc {};
    std::optional<std::uint64_t> statedSize {}; ///< in the directory only
    std::optional<std::string> localName {};
    std::optional<std::uint64_t> statedOffset {};
};

struct ZipOptions
{
    bool zip64 = false; ///< sizes, offsets and the end record in their 64-bit form
    bool descriptors = false; ///< sizes and checksums after the data, as torch streams them
    std::string comment {};
};

std::string zip(const std::vector<Entry>& entries, const ZipOptions& options = {});

/// Protocol 2 text of parts of a pickle.
std::string text(const std::string& value);
std::string integer(std::int64_t value); ///< BININT, or LONG1 beyond 32 bits
std::string real(double value);
std::string tuple(const std::vector<std::int64_t>& values);
std::string global(const std::string& module, const std::string& name);
std::string storage(
    const std::string& type, const std::string& key, std::int64_t elements, const std::string& location = "cpu");
std::string tensor(const std::string& type, const std::string& key, std::int64_t elements,
    const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides, std::int64_t offset = 0);
std::string dict(const std::vector<std::pair<std::string, std::string>>& entries);
std::string pickle(const std::string& body);

/// A torch archive of one pickle and its storages "0", "1", ..
std::string torchFile(
    const std::string& pickle, const std::vector<std::string>& storages, const ZipOptions& options = {});

template <class T>
std::string bytesOf(const std::vector<T>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Like a dump of the dion wrapper: 6x4 float32 input and output, rank 2, epsilon 1e-8.
std::string smallCapture(const ZipOptions& options = {});
std::vector<float> smallInput();

/// Two lower-case digits a byte.
std::string hex(const std::vector<std::byte>& bytes);

} // namespace nanscope::fixtures
