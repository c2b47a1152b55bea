// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/platform/platform.h"
#include "core/tensorfile/readwatch.h"
#include "core/tensorfile/tensorfile.h"
#include "core/tensorfile/zip/zipdirectory.h"

namespace nanscope::tensorfile {

/// Where the bytes of one storage lie.
struct StoredBytes
{
    std::uint64_t offset = 0; ///< of the first byte; unknown, and 0, for a zip entry until it is located
    std::uint64_t size = 0;
    std::optional<std::uint32_t> crc;
    std::optional<ZipEntry> entry;
};

/// The file that tensors come from. It holds no descriptor: thousands of captures may be open at once, and each
/// access finds out whether the file is still the one whose headers were read.
class Tensor::Source
{
public:
    Source(std::filesystem::path path, const platform::FileReader& opened)
        : m_path(std::move(path))
        , m_stamp(opened.stamp())
        , m_part(opened.part())
    { }

    const std::filesystem::path& path() const { return m_path; }
    const platform::FileStamp& stamp() const { return m_stamp; }
    const platform::FilePart& part() const { return m_part; }
    const StoredBytes* find(const std::string& storageKey) const;

    Result<platform::FileReader> reopen() const;
    Result<std::uint64_t> locate(const platform::FileReader& file, const StoredBytes& stored) const;

    std::unordered_map<std::string, StoredBytes> storages;
    bool bigEndian = false;

private:
    std::filesystem::path m_path;
    platform::FileStamp m_stamp;
    platform::FilePart m_part; ///< offsets of storages are from its beginning
};

/// A tensor whose shape, strides and offset were found to lie inside its storage.
Result<Tensor> makeTensor(std::shared_ptr<const Tensor::Source> source, std::string storageKey, DType dtype,
    Shape shape, Shape strides, std::int64_t storageOffset);

/// Row-major strides.
Shape rowMajorStrides(const Shape& shape);

/// Compares the storage's CRC-32 with the one the file states; true where the format states none.
Result<bool> checksumMatches(const Tensor& tensor, const ReadWatch& watch);

/// The file a tensor comes from, for messages.
std::string pathOf(const Tensor& tensor);

/// One reader per format; each gets a file whose first bytes are of its kind.
Result<TensorFile> openTorchZip(const std::filesystem::path& path, const platform::FileReader& file);
Result<TensorFile> openSafetensors(const std::filesystem::path& path, const platform::FileReader& file);
Result<TensorFile> openNpy(const std::filesystem::path& path, const platform::FileReader& file);

/// openTensorFile() for a caller that reads contents at once: `opened` is left holding the file, or the part of it that
/// is a file of tensors.
Result<TensorFile> openTensorFile(const std::filesystem::path& path,
    std::shared_ptr<const platform::FileReader>& opened, const platform::FilePart& part = {});

} // namespace nanscope::tensorfile
