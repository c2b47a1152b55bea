// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/tensorfile/pickle/picklegraph.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::uint64_t largestPickle = std::uint64_t {256} << 20;
constexpr std::string_view pickleName = "data.pkl";

/// "archive/" of "archive/data.pkl"; torch puts everything into one folder.
Result<std::string> findPrefix(const ZipDirectory& directory)
{
    const std::string* found = nullptr;
    for (const auto& entry : directory.entries) {
        const auto slash = entry.name.find('/');
        const auto inner =
            slash == std::string::npos ? std::string_view(entry.name) : std::string_view(entry.name).substr(slash + 1);
        if (inner == pickleName) {
            if (found != nullptr) {
                return failure(ErrorKind::corrupt, "The file holds two of torch's archives in one; pack them apart");
            }
            found = &entry.name;
        }
    }
    if (found == nullptr) {
        return failure(ErrorKind::unsupported, "This zip file holds no data.pkl, so torch.save did not write it");
    }
    return found->substr(0, found->size() - pickleName.size());
}

Result<bool> readBigEndian(const platform::FileReader& file, const ZipDirectory& directory, const std::string& prefix)
{
    const auto* entry = directory.find(prefix + "byteorder");
    if (entry == nullptr) {
        return false; // torch before 2.0 wrote none, on little-endian machines
    }
    constexpr std::uint64_t longest = 16;
    if (entry->size > longest) {
        return failure(ErrorKind::corrupt, "The file's byte order is neither little nor big; the file is damaged");
    }
    return readZipEntry(file, directory, *entry).and_then([](const std::vector<std::byte>& bytes) -> Result<bool> {
        const auto order = asText(bytes);
        if (order != "little" && order != "big") {
            return failure(ErrorKind::corrupt, "The file's byte order is neither little nor big; the file is damaged");
        }
        return order == "big";
    });
}

void addStorages(Tensor::Source& source, const ZipDirectory& directory, const std::string& prefix)
{
    const auto folder = prefix + "data/";
    for (const auto& entry : directory.entries) {
        if (entry.name.starts_with(folder)) {
            StoredBytes stored;
            stored.size = entry.size;
            if (directory.statesChecksums) {
                stored.crc = entry.crc;
            }
            stored.entry = entry;
            source.storages.emplace(entry.name.substr(folder.size()), std::move(stored));
        }
    }
}

Result<std::string> identify(
    const platform::FileReader& file, const ZipDirectory& directory, std::span<const std::byte> pickle)
{
    ContentHash hash;
    hash.add(file.size());
    for (const auto& entry : directory.entries) {
        hash.add(entry.name);
        hash.add(entry.size);
        hash.add(std::uint64_t {entry.crc});
    }
    hash.add(pickle);
    if (!directory.statesChecksums) {
        TRY(addContents(hash, file));
    }
    return "zip-" + hash.hex();
}

Result<std::vector<std::byte>> readPickle(
    const platform::FileReader& file, const ZipDirectory& directory, const std::string& prefix)
{
    const auto* entry = directory.find(prefix + std::string(pickleName));
    if (entry->size > largestPickle) {
        return failure(ErrorKind::refused, "The pickle inside is larger than 256 MiB; it describes no tensors we know");
    }
    return readZipEntry(file, directory, *entry);
}

Result<TensorFile> assemble(const std::filesystem::path& path, const platform::FileReader& file,
    const ZipDirectory& directory, const std::string& prefix)
{
    const auto pickle = TRY(readPickle(file, directory, prefix));
    auto source = std::make_shared<Tensor::Source>(path, file);
    source->bigEndian = TRY(readBigEndian(file, directory, prefix));
    addStorages(*source, directory, prefix);
    auto graph = TRY(readPickleGraph(pickle, source));
    auto root = TRY(unfold(graph));
    auto identity = TRY(identify(file, directory, pickle));
    return TensorFile {FileKind::torchZip, std::move(root), std::move(identity), std::move(graph.opaque)};
}

} // namespace

Result<TensorFile> openTorchZip(const std::filesystem::path& path, const platform::FileReader& file)
{
    const auto directory = TRY(readZipDirectory(file));
    return findPrefix(directory).and_then(
        [&](const std::string& prefix) { return assemble(path, file, directory, prefix); });
}

} // namespace nanscope::tensorfile
