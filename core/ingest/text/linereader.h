// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ingest/text/textsource.h"

namespace nanscope::ingest {

struct RawLine
{
    std::string_view text; ///< valid until the next call; at least `linePadding` more bytes may be read behind it
    std::int64_t number = 0; ///< 1-based, as an editor counts: only \n starts a new number
    bool whole = true; ///< false for the end of a file that has no line break yet
    bool cut = false; ///< longer than longestLine, the rest was dropped
};

constexpr std::size_t longestLine = 1024 * 1024;
constexpr std::size_t linePadding = 64;

/// Streams a text as non-empty lines in constant memory. \n, \r\n and \r end a line.
class LineReader
{
public:
    /// Starting in the middle of a line drops the rest of that line.
    LineReader(std::unique_ptr<TextSource> source, std::int64_t firstLine);

    /// `mustStop` is asked before more of the text is read, however long a line or a hole of zeros is.
    std::optional<RawLine> next(const std::function<bool()>& mustStop = [] { return false; });

    /// The place in the file behind the last complete line.
    std::int64_t offset() const { return m_source->placeOf(m_complete); }
    const TextSource& source() const { return *m_source; }
    std::int64_t lines() const { return m_lines; }
    /// Counts an unfinished last line as taken.
    void takeTail() { m_complete = position(); }
    /// In the text, of what comes next.
    std::int64_t position() const { return m_base + static_cast<std::int64_t>(m_begin); }

private:
    std::size_t find(char c, std::size_t from) const;
    std::size_t nextBreak();
    bool refill();
    std::optional<RawLine> endAt(std::size_t end);
    std::optional<RawLine> cutLong();
    std::optional<RawLine> tail();
    void skipZeros();

    std::unique_ptr<TextSource> m_source;
    std::vector<char> m_buffer;
    std::int64_t m_base = 0; ///< place of m_buffer[0] in the text
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
    std::size_t m_lf = 0; ///< next \n at or behind m_begin, m_end if there is none, less if it must be sought
    std::size_t m_cr = 0;
    std::int64_t m_complete = 0;
    std::int64_t m_lines = 0;
    bool m_dropping = false;
};

} // namespace nanscope::ingest
