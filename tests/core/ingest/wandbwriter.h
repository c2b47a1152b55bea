// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Writes W&B's file byte by byte, with a checksum computed bit by bit: nothing of the reader is used to write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <protozero/pbf_writer.hpp>

namespace nanscope::wandb {

inline std::uint32_t slowCrc32(std::string_view bytes)
{
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
        }
    }
    return ~crc;
}

using Items = std::vector<std::pair<std::string, std::string>>;

inline void addItems(protozero::pbf_writer& to, const Items& items)
{
    for (const auto& [key, json] : items) {
        protozero::pbf_writer item(to, 1);
        item.add_string(1, key);
        item.add_string(16, json);
    }
}

/// A record with one message in the given field.
template <class Fill>
std::string record(std::uint32_t field, const Fill& fill)
{
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_int64(1, 7);
    {
        protozero::pbf_writer message(writer, field);
        fill(message);
    }
    return bytes;
}

inline std::string row(const Items& items)
{
    return record(2, [&](auto& history) { addItems(history, items); });
}

inline std::string config(const Items& items)
{
    return record(5, [&](auto& message) { addItems(message, items); });
}

inline std::string printed(const std::string& text, bool error = false)
{
    return record(13, [&](auto& output) {
        if (!error) {
            output.add_enum(1, 1);
        }
        output.add_string(3, text);
    });
}

/// The file, as its writers lay it out: no chunk crosses a block, and what is too small for a header is zeros.
class File
{
public:
    File& add(const std::string& bytes)
    {
        if (left() < header) {
            m_bytes.append(left(), '\0');
        }
        std::string_view rest = bytes;
        bool begun = false;
        while (rest.size() + header > left()) {
            const auto room = left() - header;
            chunk(begun ? 3 : 2, rest.substr(0, room));
            rest.remove_prefix(room);
            begun = true;
        }
        chunk(begun ? 4 : 1, rest);
        return *this;
    }

    /// One chunk of any type, wherever it falls.
    File& chunk(char type, std::string_view data)
    {
        const auto crc = slowCrc32(type + std::string(data));
        number(crc, 4);
        number(static_cast<std::uint32_t>(data.size()), 2);
        m_bytes += type;
        m_bytes += data;
        return *this;
    }

    std::size_t size() const { return m_bytes.size(); }
    std::size_t left() const { return block - m_bytes.size() % block; }
    const std::string& bytes() const { return m_bytes; }

    static constexpr std::size_t block = 32 * 1024;
    static constexpr std::size_t header = 7;

private:
    void number(std::uint32_t value, int bytes)
    {
        for (int i = 0; i < bytes; ++i) {
            m_bytes += static_cast<char>((value >> (8 * i)) & 0xff);
        }
    }

    std::string m_bytes {":W&B\xe1\xbe\0", 7};
};

} // namespace nanscope::wandb
