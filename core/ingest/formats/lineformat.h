// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// For console formats whose lines each stand for themselves: a function that reads one line is the whole format.
#pragma once

#include "core/ingest/formats/logformat.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

class LineFormat : public LogFormat
{
public:
    /// True if the line was taken. A line that the file's end may have cut is only given to it where it ends in one of
    /// the characters of `ends`, with which this format closes every line.
    using Parse = bool (*)(const LogLine& line, LogBuilder& builder);

    LineFormat(std::string_view name, std::string_view ends, Parse parse, std::optional<int> base = {})
        : m_name(name)
        , m_ends(ends)
        , m_parse(parse)
        , m_base(base)
    { }

    std::string_view name() const override { return m_name; }
    int sniff(std::span<const std::string_view>) override { return 1; }
    std::optional<int> stepBase(const LogLine&) const override { return m_base; }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        const bool cut = !line.whole && (line.text.empty() || m_ends.find(line.text.back()) == std::string_view::npos);
        return !cut && m_parse(line, builder);
    }

private:
    std::string_view m_name;
    std::string_view m_ends;
    Parse m_parse;
    std::optional<int> m_base;
};

} // namespace nanscope::ingest
