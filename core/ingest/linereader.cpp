// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/linereader.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace nanscope {

namespace {

constexpr std::size_t readSize = 256 * 1024;

/// A small file gets a small buffer: there may be a million of them.
std::size_t bufferSize(std::int64_t left)
{
    return std::min(longestLine + readSize, static_cast<std::size_t>(std::max<std::int64_t>(left, 0))) + linePadding;
}

bool endsLine(char c)
{
    return c == '\n' || c == '\r';
}

} // namespace

LineReader::LineReader(FileReader file, std::int64_t offset, std::int64_t firstLine)
    : m_file(std::move(file))
    , m_buffer(bufferSize(static_cast<std::int64_t>(m_file.size()) - offset))
    , m_base(offset)
    , m_size(static_cast<std::int64_t>(m_file.size()))
    , m_complete(offset)
    , m_lines(firstLine)
{
    char before = '\n';
    if (offset > 0 && offset <= m_size) {
        const auto read =
            m_file.readAt(static_cast<std::uint64_t>(offset - 1), std::as_writable_bytes(std::span(&before, 1)));
        m_dropping = read && !endsLine(before);
    }
}

std::size_t LineReader::find(char c, std::size_t from) const
{
    const void* hit = std::memchr(m_buffer.data() + from, c, m_end - from);
    return hit != nullptr ? static_cast<std::size_t>(static_cast<const char*>(hit) - m_buffer.data()) : m_end;
}

std::size_t LineReader::nextBreak()
{
    if (m_lf < m_begin || m_lf == 0) {
        m_lf = find('\n', m_begin);
    }
    if (m_cr < m_begin || m_cr == 0) {
        m_cr = find('\r', m_begin);
    }
    return std::min(m_lf, m_cr);
}

bool LineReader::refill()
{
    const auto left = m_size - (m_base + static_cast<std::int64_t>(m_end));
    if (left <= 0) {
        return false;
    }
    std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
    m_base += static_cast<std::int64_t>(m_begin);
    m_end -= m_begin;
    m_begin = 0;
    const auto size = std::min(readSize, static_cast<std::size_t>(left));
    const auto target = std::span(m_buffer).subspan(m_end, size);
    if (!m_file.readAt(static_cast<std::uint64_t>(m_base) + m_end, std::as_writable_bytes(target))) {
        m_size = m_base + static_cast<std::int64_t>(m_end);
        return false;
    }
    m_end += size;
    m_lf = 0;
    m_cr = 0;
    return true;
}

// A log cut off in place while its writer lives on begins with a hole of zeros.
void LineReader::skipZeros()
{
    while (m_begin < m_end && m_buffer[m_begin] == '\0') {
        ++m_begin;
    }
}

std::optional<RawLine> LineReader::endAt(std::size_t end)
{
    const RawLine line {std::string_view(m_buffer.data() + m_begin, end - m_begin), m_lines + 1, true, false};
    m_lines += m_buffer[end] == '\n' ? 1 : 0;
    m_begin = end + 1;
    m_complete = position();
    const bool dropped = std::exchange(m_dropping, false);
    return dropped || line.text.empty() ? std::nullopt : std::optional(line);
}

std::optional<RawLine> LineReader::cutLong()
{
    const RawLine line {std::string_view(m_buffer.data() + m_begin, longestLine), m_lines + 1, true, true};
    m_begin = m_end;
    return std::exchange(m_dropping, true) ? std::nullopt : std::optional(line);
}

std::optional<RawLine> LineReader::tail()
{
    const RawLine line {std::string_view(m_buffer.data() + m_begin, m_end - m_begin), m_lines + 1, false, false};
    m_begin = m_end;
    return m_dropping || line.text.empty() ? std::nullopt : std::optional(line);
}

std::optional<RawLine> LineReader::next()
{
    for (;;) {
        skipZeros();
        const auto end = nextBreak();
        if (end < m_end) {
            if (auto line = endAt(end)) {
                return line;
            }
        } else if (m_end - m_begin >= longestLine) {
            if (auto line = cutLong()) {
                return line;
            }
        } else if (!refill()) {
            return tail();
        }
    }
}

} // namespace nanscope
