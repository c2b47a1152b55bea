// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/linereader.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace nanscope::ingest {

namespace {

constexpr std::size_t readSize = 256 * 1024;

/// A small file gets a small buffer: there may be a million of them.
std::size_t bufferSize(std::int64_t left)
{
    return std::min(longestLine + readSize, static_cast<std::size_t>(std::max<std::int64_t>(left, 0))) + linePadding;
}

} // namespace

LineReader::LineReader(std::unique_ptr<TextSource> source, std::int64_t firstLine)
    : m_source(std::move(source))
    , m_buffer(bufferSize(m_source->left()))
    , m_lines(firstLine)
    , m_dropping(m_source->beganInsideLine())
{ }

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
    std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
    m_base += static_cast<std::int64_t>(m_begin);
    m_end -= m_begin;
    m_begin = 0;
    m_lf = 0;
    m_cr = 0;
    const auto room = m_buffer.size() - linePadding - m_end;
    const auto size = m_source->read(std::span(m_buffer).subspan(m_end, std::min(readSize, room)));
    m_end += size;
    return size > 0;
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

std::optional<RawLine> LineReader::next(const std::function<bool()>& mustStop)
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
        } else if (mustStop()) {
            return std::nullopt;
        } else if (!refill()) {
            return tail();
        }
    }
}

} // namespace nanscope::ingest
