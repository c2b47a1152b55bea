// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/stores/wandbconsole.h"

#include <algorithm>
#include <iterator>

#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/launchlabels.h"
#include "core/ingest/text/linereader.h"

namespace nanscope::ingest {

WandbConsole::WandbConsole(LogBuilder builder)
    : m_builder(std::move(builder))
{
    for (auto& format : allFormats()) {
        if (const int score = format->sniff({}); score > 0 && score < onlyThisFormat) {
            m_formats.push_back(std::move(format));
        }
    }
}

void WandbConsole::take(WandbMessage::Stream stream, std::string_view text, std::int64_t record)
{
    auto& open = m_open[stream == WandbMessage::Stream::output ? 1 : 0];
    while (!text.empty()) {
        const auto end = text.find_first_of("\r\n");
        const auto piece = text.substr(0, end);
        open += piece.substr(0, longestLine - std::min(longestLine, open.size()));
        text.remove_prefix(std::min(piece.size() + 1, text.size()));
        if (end != std::string_view::npos) {
            line(open, record);
            open.clear();
        }
    }
}

void WandbConsole::line(std::string_view text, std::int64_t record)
{
    LogLine line {{}, {}, record, true};
    LineOrigin origin;
    text = peelPrefixes(stripTerminal(text, m_scratch), origin);
    line.rank = origin.rank;
    if (text.empty()) {
        return;
    }
    m_line.assign(text);
    m_line.resize(text.size() + linePadding);
    line.text = std::string_view(m_line).substr(0, text.size());
    const auto takes = [&](const auto& format) { return format->parse(line, m_builder); };
    if (std::any_of(m_formats.begin(), m_formats.end(), takes)) {
        m_events.trainingWentOn(line, m_builder);
    } else {
        m_events.parse(line, m_builder);
    }
}

void WandbConsole::finish(std::int64_t record)
{
    for (auto& open : m_open) {
        line(open, record);
        open.clear();
    }
    for (auto& format : m_formats) {
        format->finish(m_builder);
    }
    m_builder.finish();
}

void WandbConsole::take(LogContents& contents)
{
    LogContents read;
    m_builder.take(read);
    for (auto& series : read.series) {
        series.name += " (console)";
    }
    const auto move = [](auto& from, auto& to) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
    move(read.series, contents.series);
    move(read.events, contents.events);
    move(read.checkpoints, contents.checkpoints);
    move(read.settings, contents.settings);
}

} // namespace nanscope::ingest
