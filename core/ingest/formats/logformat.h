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

#include "core/ingest/formats/columnmap.h"
#include "core/ingest/logbuilder.h"
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

/// A log format: one file that implements this, one line in allFormats(), one test.
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

std::unique_ptr<LogFormat> makeBareColumns();
std::unique_ptr<LogFormat> makeComposer();
std::unique_ptr<LogFormat> makeCsvLog();
std::unique_ptr<LogFormat> makeDeepSpeed();
std::unique_ptr<LogFormat> makeDionConsole();
std::unique_ptr<LogFormat> makeHfConsole();
std::unique_ptr<LogFormat> makeHfTrainerState();
std::unique_ptr<LogFormat> makeJsonlLog();
std::unique_ptr<LogFormat> makeKempnerForge();
std::unique_ptr<LogFormat> makeKeyValue();
std::unique_ptr<LogFormat> makeLlmC();
std::unique_ptr<LogFormat> makeMaxText();
std::unique_ptr<LogFormat> makeMegatron();
std::unique_ptr<LogFormat> makeMllog();
std::unique_ptr<LogFormat> makeNanochat();
std::unique_ptr<LogFormat> makeNanoGpt();
std::unique_ptr<LogFormat> makeOlmo();
std::unique_ptr<LogFormat> makeTorchtitan();

inline std::vector<std::unique_ptr<LogFormat>> allFormats()
{
    std::vector<std::unique_ptr<LogFormat>> formats;
    for (const auto make : {makeHfTrainerState, makeJsonlLog, makeCsvLog, makeDionConsole, makeKempnerForge,
             makeTorchtitan, makeMegatron, makeDeepSpeed, makeMaxText, makeNanoGpt, makeNanochat, makeLlmC, makeOlmo,
             makeComposer, makeMllog, makeHfConsole, makeKeyValue, makeBareColumns}) {
        formats.push_back(make());
    }
    return formats;
}

} // namespace nanscope::ingest
