// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/stores/mlflowmetric.h"

#include <algorithm>
#include <span>

#include "core/ingest/text/consoletext.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

namespace {

constexpr std::uint64_t pieceBytes = 16 * 1024;
constexpr std::size_t longestLine = 64 * 1024;

} // namespace

std::optional<MlflowLine> mlflowLine(std::string_view text)
{
    text = trimmed(text);
    const auto time = parseInteger(takeUntil(text, " "));
    const auto value = parseNumber(takeUntil(text, " "));
    if (!time || !value) {
        return std::nullopt;
    }
    MlflowLine line {*time, *value, {}};
    if (!text.empty()) {
        line.step = parseInteger(takeUntil(text, " "));
        if (!line.step) {
            return std::nullopt;
        }
    }
    return line;
}

MlflowMetric::MlflowMetric(std::filesystem::path path, std::string name)
    : m_path(std::move(path))
    , m_name(std::move(name))
{ }

bool MlflowMetric::refill()
{
    const auto file = platform::FileReader::open(m_path);
    if (!file || file->size() <= m_read) {
        return false;
    }
    m_buffer.erase(0, m_at);
    m_at = 0;
    const auto kept = m_buffer.size();
    const auto size = std::min(pieceBytes, file->size() - m_read);
    m_buffer.resize(kept + size);
    if (!file->readAt(m_read, std::as_writable_bytes(std::span(m_buffer).subspan(kept)))) {
        m_buffer.resize(kept);
        return false;
    }
    m_read += size;
    return true;
}

bool MlflowMetric::next()
{
    for (;;) {
        const auto end = m_buffer.find('\n', m_at);
        if (end == std::string::npos) {
            const bool tooLong = m_buffer.size() - m_at > longestLine;
            if (tooLong || !refill()) {
                m_torn = m_at < m_buffer.size();
                return false;
            }
            continue;
        }
        const auto text = std::string_view(m_buffer).substr(m_at, end - m_at);
        m_taken += static_cast<std::int64_t>(text.size()) + 1;
        m_at = end + 1;
        ++m_number;
        if (const auto line = mlflowLine(text)) {
            m_line = *line;
            return true;
        }
        m_badLine = m_badLine == 0 && !trimmed(text).empty() ? m_number : m_badLine;
    }
}

} // namespace nanscope::ingest
