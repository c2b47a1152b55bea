// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace nanscope::ingest {

/// A decompressor that is fed piece by piece. Files may hold several streams one after the other, as logs do that are
/// appended to or written by parallel compressors.
class Unpacker
{
public:
    virtual ~Unpacker() = default;

    struct Progress
    {
        std::size_t taken = 0; ///< of the input
        std::size_t given = 0; ///< into the output
        bool betweenStreams = false; ///< the input may end here
        bool damaged = false;
    };
    virtual Progress step(std::span<const char> in, std::span<char> out) = 0;
};

/// By the first bytes of a file: "\x1f\x8b" gzip, "\x28\xb5\x2f\xfd" Zstandard, "\xfd7zXZ" xz. Null for anything else.
std::unique_ptr<Unpacker> unpackerFor(std::string_view head);

} // namespace nanscope::ingest
