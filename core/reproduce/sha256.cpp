// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/sha256.h"

#include <array>

#include <fmt/format.h>
#include <openssl/sha.h>

namespace nanscope::reproduce {

std::string sha256(std::span<const std::byte> bytes)
{
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest {};
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
    std::string text;
    for (const auto byte : digest) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

} // namespace nanscope::reproduce
