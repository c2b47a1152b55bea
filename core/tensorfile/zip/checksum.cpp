// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/zip/checksum.h"

#include <algorithm>
#include <array>
#include <vector>

#define XXH_STATIC_LINKING_ONLY // for the size of its state
#include <xxhash.h>

#if defined(NANSCOPE_HAVE_ISAL)
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

#include "core/base/bytes.h"
#include "core/base/try.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::uint64_t hashedWhole = std::uint64_t {64} << 20;
constexpr std::uint64_t edge = std::uint64_t {1} << 20;
constexpr std::uint64_t sample = std::uint64_t {64} << 10;
constexpr std::uint64_t samples = 64;

Result<void> addRange(ContentHash& hash, const platform::FileReader& file, std::uint64_t begin, std::uint64_t end)
{
    std::vector<std::byte> buffer(std::min<std::uint64_t>(end - begin, 128 << 10));
    for (auto at = begin; at < end; at += buffer.size()) {
        const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), end - at));
        TRY(file.readAt(at, part));
        hash.add(std::span<const std::byte>(part));
    }
    return {};
}

} // namespace

#if defined(NANSCOPE_HAVE_ISAL)
std::uint32_t updateCrc32(std::uint32_t crc, std::span<const std::byte> bytes)
{
    return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::optional<std::uint32_t> crc32c(std::span<const std::byte> bytes)
{
    // The function takes no const, and writes nothing.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~0U);
}
#else
std::uint32_t updateCrc32(std::uint32_t crc, std::span<const std::byte> bytes)
{
    return static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::optional<std::uint32_t> crc32c(std::span<const std::byte>)
{
    return std::nullopt;
}
#endif

struct ContentHash::State
{
    XXH3_state_t state;
};

ContentHash::ContentHash()
    : m_state(std::make_unique<State>())
{
    XXH3_128bits_reset(&m_state->state);
}

ContentHash::~ContentHash() = default;

void ContentHash::add(std::span<const std::byte> bytes)
{
    XXH3_128bits_update(&m_state->state, bytes.data(), bytes.size());
}

void ContentHash::add(std::string_view text)
{
    add(static_cast<std::uint64_t>(text.size()));
    add(asBytes(text));
}

void ContentHash::add(std::uint64_t number)
{
    std::array<std::byte, 8> little;
    for (std::size_t i = 0; i < little.size(); ++i) {
        little[i] = static_cast<std::byte>(number >> (8 * i));
    }
    add(std::span<const std::byte>(little));
}

std::string ContentHash::hex() const
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&m_state->state));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto byte : canonical.digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

Result<void> addContents(ContentHash& hash, const platform::FileReader& file)
{
    const auto size = file.size();
    hash.add(size);
    if (size <= hashedWhole) {
        return addRange(hash, file, 0, size);
    }
    for (std::uint64_t i = 0; i < samples; ++i) {
        const auto at = edge + (size - 2 * edge - sample) / samples * i;
        TRY(addRange(hash, file, at, at + sample));
    }
    TRY(addRange(hash, file, 0, edge));
    return addRange(hash, file, size - edge, size);
}

} // namespace nanscope::tensorfile
