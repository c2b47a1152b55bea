// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace nanscope {

/// Little-endian integer at the start of `bytes`, which must be long enough.
template <class T>
T loadLittle(const std::byte* bytes)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return static_cast<T>(value);
}

inline std::string_view asText(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::span<const std::byte> asBytes(std::string_view text)
{
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// a * b, or false when it does not fit.
inline bool multiplies(std::int64_t a, std::int64_t b, std::int64_t& product)
{
    return !__builtin_mul_overflow(a, b, &product);
}

inline bool adds(std::int64_t a, std::int64_t b, std::int64_t& sum)
{
    return !__builtin_add_overflow(a, b, &sum);
}

} // namespace nanscope
