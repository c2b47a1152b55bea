// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/log/columnmap.h"
#include "core/ingest/log/logbuilder.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

/// One line without colour codes and rank prefixes.
struct LogLine
{
    std::string_view text; ///< at least linePadding more bytes may be read behind it
    std::optional<int> rank; ///< from a prefix of the line
    std::int64_t number = 0;
    bool whole = true; ///< false: the file ends here without a line break, so the last value may be cut off
    int lane = 0; ///< other than 0 for a process that its rank does not name alone: that of another host

    /// A number of its own for every process whose lines are in this log.
    int process() const { return rank.value_or(-1) + lane * (largestRank + 2); }
};

/// A log format: one file in core/ingest/formats that implements this, and one test (formats/formats.h).
class LogFormat
{
public:
    virtual ~LogFormat() = default;
    virtual std::string_view name() const = 0;

    /// For formats with columns: what the user says they hold, before anything is read.
    virtual void useColumns(const ColumnMap&) { }
    /// Columns met so far that may be no series, a step's for example.
    virtual std::vector<std::string> columns() const { return {}; }

    /// How well the first lines of a file fit: 0 it is not this format, 100 it is nothing else. A console format
    /// that may begin anywhere says 1.
    virtual int sniff(std::span<const std::string_view> head) = 0;

    /// True if the line was taken. Must cost next to nothing for lines of other formats.
    virtual bool parse(const LogLine& line, LogBuilder& builder) = 0;

    /// Of a line it took that has a loss: the loss printed as step s is that of the weights that checkpoint s minus
    /// this holds. None where the trainer's source does not say.
    virtual std::optional<int> stepBase(const LogLine&) const { return std::nullopt; }

    /// False: an import that was broken off cannot go on in the middle, the file has to be read again.
    virtual bool resumable() const { return true; }

    /// The first line of what is given out later, where an import that is broken off now goes on; 0 for none.
    virtual std::int64_t heldSince() const { return 0; }

    /// The end of the file: what is still held back is given out.
    virtual void finish(LogBuilder&) { }
};

constexpr int onlyThisFormat = 100;

/// A setting of logs that do not begin where their trainer begins to count: its LogFormat::stepBase(). Other logs show
/// it: 0 where the first step is 0, else 1.
constexpr std::string_view stepBaseSetting = "log.step_base";

/// For console formats whose lines each stand for themselves: a function that reads one line is the whole format.
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
