// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/logscanner.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/base/try.h"
#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t headSize = 64 * 1024;
constexpr std::string_view program = "\x7f"
                                     "ELF"; ///< a.out

bool looksLikeUtf16(std::string_view head)
{
    if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
        return true;
    }
    std::size_t zeros[2] {};
    for (std::size_t i = 0; i < head.size(); ++i) {
        zeros[i % 2] += head[i] == '\0' ? 1 : 0;
    }
    const auto many = head.size() / 3;
    const auto few = head.size() / 50;
    return head.size() >= 8 && ((zeros[0] > many && zeros[1] <= few) || (zeros[1] > many && zeros[0] <= few));
}

bool looksBinary(std::string_view head)
{
    const auto odd = std::count_if(head.begin(), head.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != 0 && std::strchr("\t\n\v\f\r\b\a\x1b", byte) == nullptr) || byte == 0x7f;
    });
    return static_cast<std::size_t>(odd) * 50 > head.size();
}

Result<std::string> readHead(const std::filesystem::path& path)
{
    auto text = TRY(openText(path));
    std::string head(headSize, '\0');
    head.resize(text->read(head));
    return head;
}

Result<void> requireReadable(std::string_view head, const std::filesystem::path& path)
{
    if (looksLikeUtf16(head)) {
        return failure(
            ErrorKind::unsupported, "the log is UTF-16; convert it to UTF-8, with iconv for example", path.string());
    }
    return refuseLfsPointer(head, path);
}

std::vector<std::string_view> linesOf(std::string_view head)
{
    takePrefix(head, byteOrderMark);
    constexpr std::size_t most = 50;
    std::vector<std::string_view> lines;
    while (!head.empty() && lines.size() < most) {
        const auto end = head.find_first_of("\r\n");
        if (end == std::string_view::npos && head.size() >= headSize / 2) {
            break;
        }
        const auto line = head.substr(0, end);
        if (!line.empty()) {
            lines.push_back(line);
        }
        head.remove_prefix(std::min(line.size() + 1, head.size()));
    }
    return lines;
}

} // namespace

LogScanner::LogScanner(LineReader reader, LogBuilder builder)
    : m_reader(std::move(reader))
    , m_builder(std::move(builder))
{ }

Result<LogScanner> LogScanner::open(const std::filesystem::path& path, const std::string& relative, std::int64_t offset,
    std::int64_t firstLine, const std::vector<Series>& stored, const ColumnMap& columns)
{
    auto text = TRY(openText(path, offset));
    const auto head = TRY(readHead(path));
    const bool binary = looksBinary(head);
    TRY(requireReadable(head, path));
    if (binary && isNamedLikeALog(relative) && !head.starts_with(program)) {
        return failure(ErrorKind::unsupported, "named like a log, and not text; it was not read", path.string());
    }
    const auto place = placeOf(relative);
    LogScanner scanner(LineReader(std::move(text), firstLine), LogBuilder(relative, place.rank, place.attempt));
    scanner.m_finished = binary;
    const auto lines = linesOf(head);
    scanner.useColumns(columns, lines);
    scanner.chooseFormats(lines);
    scanner.m_baseKnown = !stored.empty();
    for (const auto& series : stored) {
        scanner.m_builder.resume(series);
    }
    return scanner;
}

void LogScanner::useColumns(const ColumnMap& columns, std::span<const std::string_view> head)
{
    m_columns = columns;
    const auto table = columns.empty() ? std::nullopt : guessTable(head);
    for (auto& entry : m_columns.entries) {
        entry.here = table && std::any_of(table->columns.begin(), table->columns.end(), [&](const auto& column) {
            return column.name == entry.column;
        });
    }
    m_builder.useColumns(m_columns);
}

void LogScanner::chooseFormats(std::span<const std::string_view> head)
{
    std::vector<std::pair<int, std::unique_ptr<LogFormat>>> scored;
    for (auto& format : allFormats()) {
        format->useColumns(m_columns);
        const int score = format->sniff(head);
        scored.emplace_back(score, std::move(format));
    }
    std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    m_raw = scored.front().first == onlyThisFormat;
    for (auto& [score, format] : scored) {
        if (score > 0 && (!m_raw || score == onlyThisFormat)) {
            m_formats.push_back(std::move(format));
        }
    }
    m_taken.assign(m_formats.size(), 0);
    m_hosts = HostLabels(head);
}

bool LogScanner::resumable() const
{
    return m_reader.source().seekable()
        && std::all_of(m_formats.begin(), m_formats.end(), [](const auto& format) { return format->resumable(); });
}

void LogScanner::peel(LogLine& line)
{
    LineOrigin origin;
    line.text = peelPrefixes(m_hosts.peel(stripTerminal(line.text, m_scratch), origin), origin);
    line.rank = origin.rank;
    line.lane = origin.host.empty() ? 0 : m_builder.laneOf(m_hosts.processOf(origin));
    m_builder.setLane(line.lane);
}

void LogScanner::take(const RawLine& raw)
{
    if (m_leaveTail && !raw.whole) {
        return;
    }
    auto text = raw.text;
    if (raw.number == 1) {
        takePrefix(text, byteOrderMark);
    }
    LogLine line {text, {}, raw.number, raw.whole};
    if (!m_raw) {
        peel(line);
    }
    if (raw.cut) {
        m_builder.event({0, EventKind::other, line.rank, {}, {},
            fmt::format("a line longer than {} bytes; its rest was dropped", longestLine), {}, raw.number});
    }
    if (line.text.empty()) {
        return;
    }
    bool taken = false;
    for (std::size_t i = 0; i < m_formats.size() && !taken; ++i) {
        taken = m_formats[i]->parse(line, m_builder);
        if (taken) {
            ++m_taken[i];
            noteBase(*m_formats[i], line);
        }
    }
    if (taken) {
        m_events.trainingWentOn(line, m_builder);
    } else {
        taken = m_events.parse(line, m_builder);
        m_gaveEvents = m_gaveEvents || taken;
    }
    if (taken && !raw.whole) {
        m_reader.takeTail();
    }
}

// A log that begins in mid-run does not show whether its trainer counts from 0; its source does.
void LogScanner::noteBase(const LogFormat& format, const LogLine& line)
{
    const auto base = m_baseKnown ? std::nullopt : format.stepBase(line);
    const auto row = base ? m_builder.lastRow(line.rank) : std::nullopt;
    if (!row || row->inferred) {
        return;
    }
    m_baseKnown = true;
    if (*base != (row->step == 0 ? 0 : 1)) {
        m_builder.setting({std::string(stepBaseSetting), std::to_string(*base), line.rank, {}, line.number});
    }
}

void LogScanner::sayProblem()
{
    const auto problem = m_reader.source().problem();
    if (!problem.empty()) {
        Event event;
        event.kind = EventKind::damaged;
        event.text = problem + "; what came before was read";
        event.line = m_reader.lines();
        m_builder.event(std::move(event));
    }
}

void LogScanner::finish()
{
    // While somebody still writes it, a compressed file has no end yet; at rest all of it was taken, line or not.
    if (!m_leaveTail && !m_reader.source().seekable()) {
        m_reader.takeTail();
        sayProblem();
    }
    if (auto remark = m_reader.source().remark(); !remark.empty()) {
        m_builder.event({0, EventKind::other, {}, {}, {}, std::move(remark), {}, m_reader.lines() + 1});
    }
    for (auto& format : m_formats) {
        if (!m_leaveTail || format->heldSince() == 0) {
            format->finish(m_builder);
        }
    }
    if (!m_leaveTail) {
        m_held.reset();
    }
    m_events.finish(m_builder);
    m_builder.finish();
    m_finished = true;
}

void LogScanner::noteHeld(std::int64_t number, std::int64_t offset, std::int64_t linesBefore)
{
    std::int64_t since = 0;
    for (const auto& format : m_formats) {
        since = std::max(since, format->heldSince());
    }
    if (since == 0) {
        m_held.reset();
    } else if (since == number) {
        m_held = {offset, linesBefore};
    }
}

std::string LogScanner::format() const
{
    const auto most = std::max_element(m_taken.begin(), m_taken.end());
    if (most == m_taken.end() || *most == 0) {
        return m_gaveEvents ? "console" : "";
    }
    return std::string(m_formats[static_cast<std::size_t>(most - m_taken.begin())]->name());
}

std::vector<std::string> LogScanner::columns() const
{
    auto names = m_builder.rawNames();
    for (const auto& format : m_formats) {
        auto more = format->columns();
        std::move(more.begin(), more.end(), std::back_inserter(names));
    }
    return names;
}

LogContents LogScanner::next(std::size_t most, const CancelToken& cancel)
{
    const std::function<bool()> mustStop = [&] { return cancel.cancelled(); };
    while (!m_finished && m_builder.size() < most && !mustStop()) {
        const auto offset = m_reader.offset();
        const auto before = m_reader.lines();
        const auto line = m_reader.next(mustStop);
        if (line) {
            take(*line);
            noteHeld(line->number, offset, before);
        } else if (!mustStop()) {
            finish();
        }
    }
    LogContents contents;
    m_builder.take(contents);
    contents.format = format();
    contents.bytes = m_held ? m_held->first : m_reader.offset();
    contents.lines = m_held ? m_held->second : m_reader.lines();
    if (!m_columns.empty()) {
        contents.columns = columns();
    }
    return contents;
}

std::optional<TableGuess> guessFile(const std::filesystem::path& path)
{
    const auto head = readHead(path);
    return head && !looksBinary(*head) && !looksLikeUtf16(*head) ? guessTable(linesOf(*head)) : std::nullopt;
}

} // namespace nanscope::ingest
