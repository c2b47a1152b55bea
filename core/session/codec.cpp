// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/codec.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <zstd.h>

#include "core/session/database.h"

namespace nanscope::session {

static_assert(std::endian::native == std::endian::little, "blobs are written in the machine's own byte order");

namespace {

constexpr std::size_t longestVarint = 10;
constexpr int compressionLevel = 1;

[[noreturn]] void throwDamaged()
{
    throw DatabaseFailure {
        {ErrorKind::corrupt, "a block of the session is damaged; import the run into a new session", {}}};
}

struct ZstdCloser
{
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

std::vector<std::byte> compress(std::span<const std::byte> bytes)
{
    // Making one anew costs more than packing a small block.
    thread_local const std::unique_ptr<ZSTD_CCtx, ZstdCloser> context(ZSTD_createCCtx());
    std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
    const auto size =
        ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size(), compressionLevel);
    if (ZSTD_isError(size) != 0) {
        throw DatabaseFailure {{ErrorKind::internal, "a block could not be compressed", {}}};
    }
    packed.resize(size);
    return packed;
}

std::vector<std::byte> decompress(std::span<const std::byte> packed, std::size_t most)
{
    const auto stated = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (stated == ZSTD_CONTENTSIZE_ERROR || stated == ZSTD_CONTENTSIZE_UNKNOWN || stated > most) {
        throwDamaged();
    }
    std::vector<std::byte> bytes(stated);
    const auto size = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
    if (ZSTD_isError(size) != 0 || size != bytes.size()) {
        throwDamaged();
    }
    return bytes;
}

std::uint64_t zigzag(std::uint64_t difference)
{
    return (difference << 1U) ^ (0 - (difference >> 63U));
}

std::uint64_t unzigzag(std::uint64_t code)
{
    return (code >> 1U) ^ (0 - (code & 1U));
}

std::uint64_t takeVarint(std::span<const std::byte>& rest)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (rest.empty()) {
            throwDamaged();
        }
        const auto byte = std::to_integer<std::uint64_t>(rest.front());
        rest = rest.subspan(1);
        value |= (byte & 0x7fU) << shift;
        if (byte < 0x80U) {
            return value;
        }
    }
    throwDamaged();
}

void append(std::vector<std::byte>& bytes, const void* data, std::size_t size)
{
    const auto at = bytes.size();
    bytes.resize(at + size);
    if (size != 0) {
        std::memcpy(bytes.data() + at, data, size);
    }
}

template <class T>
void takeInto(std::span<const std::byte>& rest, std::vector<T>& values, std::size_t count)
{
    if (rest.size() < count * sizeof(T)) {
        throwDamaged();
    }
    values.resize(count);
    if (count != 0) {
        std::memcpy(values.data(), rest.data(), count * sizeof(T));
    }
    rest = rest.subspan(count * sizeof(T));
}

constexpr std::size_t mostTiles = std::size_t {maxTiles} * maxTiles;
constexpr std::size_t tileHeader = 6 * sizeof(std::int64_t);

std::vector<std::uint32_t> bitsOf(const std::vector<float>& values)
{
    std::vector<std::uint32_t> bits(values.size());
    std::ranges::transform(values, bits.begin(), [](float value) { return std::bit_cast<std::uint32_t>(value); });
    return bits;
}

// All first bytes, then all second ones: the low bytes of emulated 16-bit values are zero, and zstd sees it.
void appendPlanes(std::vector<std::byte>& bytes, const std::vector<std::uint32_t>& words)
{
    for (int shift = 0; shift < 32; shift += 8) {
        const auto begin = bytes.size();
        bytes.resize(begin + words.size());
        std::ranges::transform(words, bytes.begin() + static_cast<std::ptrdiff_t>(begin),
            [shift](std::uint32_t word) { return static_cast<std::byte>((word >> shift) & 0xffU); });
    }
}

std::vector<std::uint32_t> takePlanes(std::span<const std::byte>& rest, std::size_t count)
{
    std::vector<std::uint32_t> words(count);
    for (int shift = 0; shift < 32; shift += 8) {
        std::vector<std::byte> plane;
        takeInto(rest, plane, count);
        for (std::size_t i = 0; i < count; ++i) {
            words[i] |= std::to_integer<std::uint32_t>(plane[i]) << shift;
        }
    }
    return words;
}

} // namespace

std::vector<std::byte> packIntegers(std::span<const std::int64_t> values)
{
    std::vector<std::byte> bytes;
    bytes.reserve(values.size() * 2);
    std::uint64_t previous = 0;
    for (const auto value : values) {
        auto code = zigzag(static_cast<std::uint64_t>(value) - previous);
        previous = static_cast<std::uint64_t>(value);
        for (; code >= 0x80U; code >>= 7U) {
            bytes.push_back(static_cast<std::byte>(code | 0x80U));
        }
        bytes.push_back(static_cast<std::byte>(code));
    }
    return compress(bytes);
}

std::vector<std::int64_t> unpackIntegers(std::span<const std::byte> packed, std::size_t count)
{
    const auto bytes = decompress(packed, count * longestVarint);
    std::span<const std::byte> rest(bytes);
    if (rest.size() < count) {
        throwDamaged();
    }
    std::vector<std::int64_t> values(count);
    std::uint64_t previous = 0;
    for (auto& value : values) {
        previous += unzigzag(takeVarint(rest));
        value = static_cast<std::int64_t>(previous);
    }
    return values;
}

std::vector<std::byte> packDoubles(std::span<const double> values)
{
    const auto bytes = std::as_bytes(values);
    return {bytes.begin(), bytes.end()};
}

std::vector<double> unpackDoubles(std::span<const std::byte> packed, std::size_t count)
{
    std::vector<double> values;
    if (packed.size() / sizeof(double) != count) {
        throwDamaged();
    }
    takeInto(packed, values, count);
    return values;
}

std::vector<std::byte> packTiles(const TileMap& tiles)
{
    const std::int64_t header[] {tiles.rows, tiles.cols, tiles.tileRows, tiles.tileCols, tiles.height, tiles.width};
    std::vector<std::byte> bytes;
    append(bytes, header, sizeof(header));
    auto low = bitsOf(tiles.min);
    auto difference = bitsOf(tiles.max);
    for (std::size_t i = 0; i < low.size(); ++i) {
        difference[i] ^= low[i];
    }
    appendPlanes(bytes, low);
    appendPlanes(bytes, difference);
    append(bytes, tiles.classes.data(), tiles.classes.size());
    return compress(bytes);
}

TileMap unpackTiles(std::span<const std::byte> packed)
{
    const auto bytes = decompress(packed, tileHeader + mostTiles * (2 * sizeof(float) + 1));
    std::span<const std::byte> rest(bytes);
    std::vector<std::int64_t> header;
    takeInto(rest, header, 6);
    if (header[4] < 0 || header[5] < 0 || header[4] > maxTiles || header[5] > maxTiles) {
        throwDamaged();
    }
    TileMap tiles {header[0], header[1], header[2], header[3], static_cast<std::int32_t>(header[4]),
        static_cast<std::int32_t>(header[5]), {}, {}, {}, {}};
    const auto count = static_cast<std::size_t>(header[4] * header[5]);
    const auto low = takePlanes(rest, count);
    auto high = takePlanes(rest, count);
    for (std::size_t i = 0; i < count; ++i) {
        high[i] ^= low[i];
        tiles.min.push_back(std::bit_cast<float>(low[i]));
        tiles.max.push_back(std::bit_cast<float>(high[i]));
        tiles.absmax.push_back(std::max(std::abs(tiles.min.back()), std::abs(tiles.max.back())));
    }
    takeInto(rest, tiles.classes, count);
    return tiles;
}

Shape parseShape(std::string_view text)
{
    Shape shape;
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end && text != "scalar") {
        std::int64_t extent = 0;
        const auto [next, error] = std::from_chars(at, end, extent);
        if (error != std::errc {} || (next < end && *next != 'x')) {
            throwDamaged();
        }
        shape.push_back(extent);
        at = next + 1;
    }
    return shape;
}

} // namespace nanscope::session
