// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/base/job.h"
#include "core/base/result.h"

namespace nanscope::ingest {

/// The text of a log from its beginning or from a place in it, whatever the file packs it in.
class TextSource
{
public:
    virtual ~TextSource() = default;

    /// Fills `out` as far as there is text; less than its size only at the end, or before a problem.
    virtual std::size_t read(std::span<char> out) = 0;
    /// The place in the file that an import goes on from when it has taken the text up to `position`.
    virtual std::int64_t placeOf(std::int64_t position) const = 0;
    /// The text began in the middle of a line.
    virtual bool beganInsideLine() const { return false; }
    /// An import can go on at placeOf(); else the file is read again from its start.
    virtual bool seekable() const { return true; }
    /// Upper bound of what is left to read, where the file knows it.
    virtual std::int64_t left() const = 0;
    /// Why the text ended before it was whole; empty where it did not.
    virtual std::string problem() const { return {}; }
    /// What is odd about a text that is whole; empty where nothing is.
    virtual std::string remark() const { return {}; }
};

/// Plain text from `offset` on; gzip, Zstandard and xz by their first bytes, always from the start.
Result<std::unique_ptr<TextSource>> openText(const std::filesystem::path& path, std::int64_t offset = 0);

/// Whether a file holds more text than this. Plain text is what it is; packed text is unpacked to see.
bool holdsMoreThan(const std::filesystem::path& path, std::int64_t bytes, const CancelToken& cancel);

} // namespace nanscope::ingest
