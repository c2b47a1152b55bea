// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/base/bytes.h"
#include "core/base/guarded.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/tensorfile/tensorsource.h"

namespace nanscope::tensorfile {

namespace {

using namespace std::string_view_literals;

constexpr auto zipMagic = "PK\x03\x04"sv;
constexpr auto npyMagic = "\x93NUMPY"sv;
// torch.save before 1.6: a pickle of the number 0x1950a86a20f9469cfc6c comes first.
constexpr auto oldTorchMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
constexpr std::size_t tarMagicOffset = 257;

bool isOldTorch(std::string_view start)
{
    return (start.starts_with('\x80')
               && start.substr(std::min<std::size_t>(2, start.size())).starts_with(oldTorchMagic))
        || start.substr(std::min(start.size(), tarMagicOffset)).starts_with("ustar");
}

bool isSafetensors(const std::filesystem::path& path, std::string_view start)
{
    return start.size() > 8 && (lowered(path.extension().string()) == ".safetensors" || start[8] == '{')
        && start.substr(6, 2) == "\0\0"sv;
}

auto notTensors(std::string_view start)
{
    if (zipMagic.starts_with(start) || npyMagic.starts_with(start)) {
        return failure(ErrorKind::truncated, "The file is cut off after its first bytes; copy it again");
    }
    if (std::all_of(start.begin(), start.end(), [](char byte) { return byte == 0; })) {
        return failure(ErrorKind::truncated,
            "The file begins with zeros only, as if it was never written out; check whether the disk was full");
    }
    return failure(ErrorKind::format, "This is no file of torch.save (1.6 or newer), safetensors or numpy.save");
}

Result<TensorFile> dispatch(const std::filesystem::path& path, const platform::FileReader& file)
{
    if (file.size() == 0) {
        return failure(ErrorKind::truncated, "The file is empty; check whether the disk was full when it was written");
    }
    std::array<std::byte, 512> bytes;
    const auto part = std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), file.size()));
    TRY(file.readAt(0, part));
    const auto start = asText(part);
    if (start.starts_with(zipMagic)) {
        return openTorchZip(path, file);
    }
    if (start.starts_with(npyMagic) && start.size() > npyMagic.size()) {
        return openNpy(path, file);
    }
    if (isOldTorch(start)) {
        return failure(ErrorKind::unsupported,
            "This is torch's old format from before 1.6; load it in torch and write it again with torch.save");
    }
    return isSafetensors(path, start) ? openSafetensors(path, file) : notTensors(start);
}

} // namespace

Result<TensorFile> openTensorFile(const std::filesystem::path& path,
    std::shared_ptr<const platform::FileReader>& opened, const platform::FilePart& part)
{
    constexpr std::uint64_t edges = 4096; // holds all headers of a dump
    return platform::FileReader::open(path)
        .and_then([&](platform::FileReader file) {
            return file.narrowTo(part).and_then([&] { return file.keepEdges(edges); }).map([&] {
                return std::move(file);
            });
        })
        .and_then([&](platform::FileReader file) {
            opened = std::make_shared<const platform::FileReader>(std::move(file));
            return guarded([&] { return dispatch(path, *opened); });
        })
        .map_error([&](Error error) { return withPath(std::move(error), path); });
}

Result<TensorFile> openTensorFile(const std::filesystem::path& path)
{
    std::shared_ptr<const platform::FileReader> opened;
    return openTensorFile(path, opened);
}

bool looksLikeTensorFile(const std::filesystem::path& path)
{
    constexpr std::array known {".pt"sv, ".pth"sv, ".bin"sv, ".safetensors"sv, ".npy"sv};
    return std::find(known.begin(), known.end(), lowered(path.extension().string())) != known.end();
}

} // namespace nanscope::tensorfile
