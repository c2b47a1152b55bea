// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Opens arbitrary bytes as a tensor file, and reads, scans and tiles every tensor in it. Checksums of zip entries
// are made right first: otherwise nearly every mutation would end there and never reach the pickle.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "core/tensorfile/capturefile.h"
#include "core/tensorfile/checksum.h"
#include "core/tensorfile/scantensor.h"

namespace {

using namespace nanscope;

constexpr std::int64_t mostElements = 1 << 16;

void useTensor(const Tensor& tensor)
{
    if (tensor.elements() > mostElements || tensor.matrices().batch > 64) {
        return;
    }
    (void)scanTensor(tensor);
    for (std::int64_t batch = 0; batch < tensor.matrices().batch; ++batch) {
        std::vector<float> values(static_cast<std::size_t>(tensor.matrices().elements()));
        (void)tensor.read(batch, std::span<float>(values));
        (void)tensor.readBits(batch);
        (void)tileTensor(tensor, batch);
    }
    (void)tensor.checksumMatches();
    (void)tensor.map();
}

void useValue(const PickleValue& value, int& budget)
{
    if (--budget < 0) {
        return;
    }
    if (const auto* tensor = value.tensor()) {
        useTensor(*tensor);
    } else if (const auto* list = std::get_if<PickleList>(&value.value)) {
        for (const auto& item : *list) {
            useValue(item, budget);
        }
    } else if (const auto* dict = std::get_if<PickleDict>(&value.value)) {
        for (const auto& entry : *dict) {
            useValue(entry.second, budget);
        }
    }
}

std::uint32_t little32(const std::string& bytes, std::size_t at)
{
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) {
        value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
}

void putLittle32(std::string& bytes, std::size_t at, std::uint32_t value)
{
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[at + i] = static_cast<char>(value >> (8 * i));
    }
}

/// For each directory record whose local header is in place: the checksum of what lies there.
void mendChecksums(std::string& bytes)
{
    for (auto at = bytes.find("PK\x01\x02"); at != std::string::npos && at + 46 <= bytes.size();
         at = bytes.find("PK\x01\x02", at + 4)) {
        const std::uint64_t size = little32(bytes, at + 24);
        const std::uint64_t header = little32(bytes, at + 42);
        if (header + 30 > bytes.size()) {
            continue;
        }
        const auto names = little32(bytes, header + 26);
        const auto begin = header + 30 + (names & 0xffff) + (names >> 16);
        if (begin > bytes.size() || size > bytes.size() - begin) {
            continue;
        }
        const auto part = std::as_bytes(std::span(bytes)).subspan(begin, size);
        putLittle32(bytes, at + 16, updateCrc32(0, part));
        putLittle32(bytes, header + 14, little32(bytes, at + 16));
    }
}

std::filesystem::path scratchFile()
{
    static const auto path =
        std::filesystem::temp_directory_path() / ("nanscope-fuzz-" + std::to_string(::getpid()) + ".pt");
    return path;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string bytes(reinterpret_cast<const char*>(data), size);
    mendChecksums(bytes);
    std::ofstream(scratchFile(), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (const auto file = openTensorFile(scratchFile())) {
        int budget = 200;
        useValue(file->root, budget);
    }
    if (auto capture = openCapture(scratchFile())) {
        (void)scanCapture(*capture);
    }
    return 0;
}
