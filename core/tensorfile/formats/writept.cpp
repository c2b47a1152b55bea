// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "core/tensorfile/bytes.h"
#include "core/tensorfile/pickle/picklewriter.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/zipwriter.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::uint64_t largestFile = 0xffffffff;

struct Part
{
    std::string name;
    std::span<const std::byte> bytes;
};

Result<void> checkTensor(const TensorToWrite& tensor)
{
    std::int64_t bytes = static_cast<std::int64_t>(sizeOf(tensor.dtype));
    const bool fits = std::all_of(tensor.shape.begin(), tensor.shape.end(),
        [&](std::int64_t extent) { return extent >= 0 && multiplies(bytes, extent, bytes); });
    if (!fits || static_cast<std::uint64_t>(bytes) != tensor.bytes.size()) {
        return failure(ErrorKind::internal, "The tensor " + tensor.name + " does not have the bytes its shape needs");
    }
    return {};
}

std::vector<Part> partsOf(const std::vector<std::pair<std::string, ValueToWrite>>& entries,
    std::span<const std::byte> pickle, const std::string& folder)
{
    const std::string_view order = std::endian::native == std::endian::big ? "big" : "little";
    std::vector<Part> parts {{folder + "data.pkl", pickle}, {folder + "byteorder", asBytes(order)}};
    std::size_t storage = 0;
    for (const auto& entry : entries) {
        if (const auto* tensor = std::get_if<TensorToWrite>(&entry.second)) {
            parts.push_back({folder + "data/" + std::to_string(storage++), tensor->bytes});
        }
    }
    parts.push_back({folder + "version", asBytes("3\n")});
    return parts;
}

Result<void> checkSizes(const std::vector<Part>& parts)
{
    constexpr std::uint64_t overhead = 512;
    std::uint64_t total = 0;
    for (const auto& part : parts) {
        total += part.bytes.size() + overhead;
    }
    if (total > largestFile || parts.size() > 0xffff) {
        return failure(
            ErrorKind::unsupported, "More than 4 GiB, or 65,535 tensors, cannot be written into one .pt file");
    }
    return {};
}

Result<void> writeParts(const std::filesystem::path& path, const std::vector<Part>& parts)
{
    auto file = platform::AtomicFile::create(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    ZipWriter writer(std::move(*file));
    for (const auto& part : parts) {
        if (auto added = writer.add(part.name, part.bytes); !added) {
            return added;
        }
    }
    return writer.finish();
}

} // namespace

Result<void> writePt(
    const std::filesystem::path& path, const std::vector<std::pair<std::string, ValueToWrite>>& entries)
{
    for (const auto& entry : entries) {
        if (const auto* tensor = std::get_if<TensorToWrite>(&entry.second)) {
            if (auto good = checkTensor(*tensor); !good) {
                return good;
            }
        }
    }
    const auto pickle = writePickle(entries);
    const auto parts = partsOf(entries, pickle, "archive/");
    return checkSizes(parts).and_then([&] { return writeParts(path, parts); }).map_error([&](Error error) {
        return withPath(std::move(error), path);
    });
}

} // namespace nanscope::tensorfile
