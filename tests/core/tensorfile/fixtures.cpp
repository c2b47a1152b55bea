// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "fixtures.h"

#include <bit>
#include <limits>

#include <zlib.h>

namespace nanscope::fixtures {

std::string little(std::uint64_t value, int width)
{
    std::string bytes;
    for (int i = 0; i < width; ++i) {
        bytes += static_cast<char>(value >> (8 * i));
    }
    return bytes;
}

namespace {

std::uint32_t crcOf(const std::string& data)
{
    return static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
}

std::string local(const Entry& entry, std::uint32_t crc, const ZipOptions& options)
{
    const auto name = entry.localName.value_or(entry.name);
    const auto flags = static_cast<std::uint64_t>(entry.flags | (options.descriptors ? 8 : 0));
    const auto size = options.descriptors ? 0 : options.zip64 ? 0xffffffff : entry.data.size();
    std::string extra;
    if (options.zip64 && !options.descriptors) {
        extra = little(1, 2) + little(16, 2) + little(entry.data.size(), 8) + little(entry.data.size(), 8);
    }
    return "PK\x03\x04" + little(45, 2) + little(flags, 2) + little(static_cast<std::uint64_t>(entry.method), 2)
        + little(0, 4) + little(options.descriptors ? 0 : crc, 4) + little(size, 4) + little(size, 4)
        + little(name.size(), 2) + little(extra.size(), 2) + name + extra + entry.data
        + (options.descriptors
                ? "PK\x07\x08" + little(crc, 4) + little(entry.data.size(), 4) + little(entry.data.size(), 4)
                : "");
}

std::string central(const Entry& entry, std::uint32_t crc, std::uint64_t offset, const ZipOptions& options)
{
    const auto size = entry.statedSize.value_or(entry.data.size());
    const auto flags = static_cast<std::uint64_t>(entry.flags | (options.descriptors ? 8 : 0));
    std::string extra;
    if (options.zip64) {
        extra = little(1, 2) + little(24, 2) + little(size, 8) + little(size, 8) + little(offset, 8);
    }
    const auto stated = options.zip64 ? 0xffffffff : size;
    return "PK\x01\x02" + little(45, 2) + little(45, 2) + little(flags, 2)
        + little(static_cast<std::uint64_t>(entry.method), 2) + little(0, 4) + little(crc, 4) + little(stated, 4)
        + little(stated, 4) + little(entry.name.size(), 2) + little(extra.size(), 2) + little(0, 2) + little(0, 2)
        + little(0, 2) + little(0, 4) + little(options.zip64 ? 0xffffffff : offset, 4) + entry.name + extra;
}

} // namespace

std::string zip(const std::vector<Entry>& entries, const ZipOptions& options)
{
    std::string file;
    std::string directory;
    for (const auto& entry : entries) {
        const auto crc = entry.crc.value_or(crcOf(entry.data));
        directory += central(entry, crc, entry.statedOffset.value_or(file.size()), options);
        file += local(entry, crc, options);
    }
    const auto begin = file.size();
    file += directory;
    if (options.zip64) {
        const auto end64 = file.size();
        file += "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 4) + little(0, 4)
            + little(entries.size(), 8) + little(entries.size(), 8) + little(directory.size(), 8) + little(begin, 8);
        file += "PK\x06\x07" + little(0, 4) + little(end64, 8) + little(1, 4);
    }
    const auto count = options.zip64 ? 0xffff : entries.size();
    return file + "PK\x05\x06" + little(0, 4) + little(count, 2) + little(count, 2)
        + little(options.zip64 ? 0xffffffff : directory.size(), 4) + little(options.zip64 ? 0xffffffff : begin, 4)
        + little(options.comment.size(), 2) + options.comment;
}

std::string text(const std::string& value)
{
    return "X" + little(value.size(), 4) + value;
}

std::string integer(std::int64_t value)
{
    if (value == static_cast<std::int32_t>(value)) {
        return "J" + little(static_cast<std::uint64_t>(value), 4);
    }
    return "\x8a\x08" + little(static_cast<std::uint64_t>(value), 8);
}

std::string real(double value)
{
    const auto bytes = little(std::bit_cast<std::uint64_t>(value), 8);
    return "G" + std::string(bytes.rbegin(), bytes.rend());
}

std::string tuple(const std::vector<std::int64_t>& values)
{
    std::string body = "(";
    for (const auto value : values) {
        body += integer(value);
    }
    return body + "t";
}

std::string global(const std::string& module, const std::string& name)
{
    return "c" + module + "\n" + name + "\n";
}

std::string storage(const std::string& type, const std::string& key, std::int64_t elements, const std::string& location)
{
    return "(" + text("storage") + global("torch", type) + text(key) + text(location) + integer(elements) + "tQ";
}

std::string tensor(const std::string& type, const std::string& key, std::int64_t elements,
    const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides, std::int64_t offset)
{
    return global("torch._utils", "_rebuild_tensor_v2") + "(" + storage(type, key, elements) + integer(offset)
        + tuple(shape) + tuple(strides) + "\x89" + global("collections", "OrderedDict") + ")RtR";
}

std::string dict(const std::vector<std::pair<std::string, std::string>>& entries)
{
    std::string body = "}(";
    for (const auto& [key, value] : entries) {
        body += text(key) + value;
    }
    return body + "u";
}

std::string pickle(const std::string& body)
{
    return "\x80\x02" + body + ".";
}

std::string torchFile(const std::string& pickle, const std::vector<std::string>& storages, const ZipOptions& options)
{
    std::vector<Entry> entries {{"a/data.pkl", pickle}, {"a/byteorder", "little"}};
    for (std::size_t i = 0; i < storages.size(); ++i) {
        entries.push_back({"a/data/" + std::to_string(i), storages[i]});
    }
    entries.push_back({"a/version", "3\n"});
    return zip(entries, options);
}

std::vector<float> smallInput()
{
    std::vector<float> values(24);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.25F * static_cast<float>(i) - 1;
    }
    return values;
}

std::string smallCapture(const ZipOptions& options)
{
    auto output = smallInput();
    output[7] = std::bit_cast<float>(0x7fc12345U);
    output[13] = -std::numeric_limits<float>::infinity();
    const auto body = dict({{"input", tensor("FloatStorage", "0", 24, {6, 4}, {4, 1})},
        {"output", tensor("FloatStorage", "1", 24, {6, 4}, {4, 1})}, {"rank", integer(2)}, {"shape", tuple({6, 4})},
        {"dtype", text("torch.float32")}, {"epsilon", real(1e-8)}});
    return torchFile(pickle(body), {bytesOf(smallInput()), bytesOf(output)}, options);
}

std::string hex(const std::vector<std::byte>& bytes)
{
    std::string text;
    for (const auto byte : bytes) {
        text += "0123456789abcdef"[static_cast<int>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<int>(byte) & 15];
    }
    return text;
}

} // namespace nanscope::fixtures
