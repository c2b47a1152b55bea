// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/eventreader.h"

#include <algorithm>

#include <re2/re2.h>

#include "core/ingest/events/checkpointlines.h"
#include "core/ingest/events/settinglines.h"
#include "core/ingest/events/signatures.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/linepatterns.h"

namespace nanscope::ingest {

namespace {

constexpr std::string_view forwardFrames = "Traceback of forward call that caused the error:";

/// Where the patterns of each table begin in the one automaton.
struct Tables
{
    std::size_t checkpoints = signatures().size();
    std::size_t settings = checkpoints + checkpointLines().size();
    std::size_t headings = settings + settingLines().size();
    std::size_t end = headings + configHeadings().size();
};

const Tables& tables()
{
    static const Tables instance;
    return instance;
}

const LinePatterns& patterns()
{
    static const LinePatterns instance = [] {
        std::vector<const char*> all;
        const auto add = [&](const auto& table) {
            for (const auto& entry : table) {
                all.push_back(entry.pattern);
            }
        };
        add(signatures());
        add(checkpointLines());
        add(settingLines());
        add(configHeadings());
        return LinePatterns(all);
    }();
    return instance;
}

/// The first hit among the patterns from `first` to before `end`.
std::optional<std::size_t> hitIn(const std::vector<int>& hits, std::size_t first, std::size_t end)
{
    const auto hit = std::lower_bound(hits.begin(), hits.end(), static_cast<int>(first));
    return hit != hits.end() && static_cast<std::size_t>(*hit) < end ? std::optional(static_cast<std::size_t>(*hit))
                                                                     : std::nullopt;
}

re2::StringPiece piece(std::string_view text)
{
    return {text.data(), text.size()};
}

/// None for digits that the file's end may have cut off.
std::optional<std::int64_t> numberIn(const LogLine& line, std::size_t pattern, const char* group)
{
    const auto digits = patterns().group(pattern, group, line.text);
    const bool cut = digits && !line.whole && digits->data() + digits->size() == line.text.data() + line.text.size();
    return digits && !cut ? parseInteger(*digits) : std::nullopt;
}

/// The wrapper names the dump by a path of the machine it ran on; the file's own name is what is found again.
void readCapture(std::string_view text, Event& event)
{
    static const RE2 pattern(R"(output on rank (\d+), .*dumped to (.+)$)", RE2::Latin1);
    re2::StringPiece rank;
    re2::StringPiece path;
    if (!RE2::PartialMatch(piece(text), pattern, &rank, &path)) {
        return;
    }
    const auto file = trimmed({path.data(), path.size()});
    event.capture = readable(file.substr(file.find_last_of("/\\") + 1), 1000);
    if (const auto number = parseInteger({rank.data(), rank.size()}); number && *number <= largestRank) {
        event.rank = static_cast<int>(*number);
    }
}

Event eventOf(EventKind kind, const LogLine& line, const LogBuilder& builder)
{
    Event event;
    event.kind = kind;
    event.rank = line.rank ? line.rank : builder.fileRank();
    event.text = line.text.substr(0, 4000);
    event.line = line.number;
    return event;
}

} // namespace

bool EventReader::parse(const LogLine& line, LogBuilder& builder)
{
    switch (m_tracebacks.take(line)) {
    case Tracebacks::Part::inside:
        return true;
    case Tracebacks::Part::exception:
        return parseException(line, builder);
    default:
        return m_settings.takeBlock(line, builder) || parseWords(line, builder);
    }
}

// A dump and the exception that reports it are two facts; every other signature says it all.
bool EventReader::parseException(const LogLine& line, LogBuilder& builder)
{
    m_checkpoints.processFailed(line, builder);
    const auto& frames = m_tracebacks.frames();
    const bool dump = line.text.find("[dion NaN capture]") != std::string_view::npos;
    if (!parseWords(line, builder, dump ? std::string() : frames) || dump) {
        auto event = eventOf(EventKind::traceback, line, builder);
        event.detail = frames;
        builder.event(std::move(event));
    }
    return true;
}

bool EventReader::parseWords(const LogLine& line, LogBuilder& builder, const std::string& detail)
{
    auto block = line.text;
    if (takePrefix(block, "  rank      : ")) {
        const auto rank = takeInteger(block);
        m_failedRank = rank && *rank <= largestRank ? std::optional(static_cast<int>(*rank)) : std::nullopt;
        return true;
    }
    if (line.text.starts_with("  traceback : ") || !patterns().match(line.text, m_hits)) {
        return false;
    }
    const auto before = builder.size();
    const auto signature = hitIn(m_hits, 0, tables().checkpoints);
    const bool named = signature && giveEvent(*signature, line, builder, detail);
    if (line.whole) {
        takeCheckpoint(line, builder);
        takeSettings(line, builder);
    }
    return named || builder.size() != before;
}

void EventReader::takeCheckpoint(const LogLine& line, LogBuilder& builder)
{
    if (const auto hit = hitIn(m_hits, tables().checkpoints, tables().settings)) {
        m_checkpoints.take(checkpointLines()[*hit - tables().checkpoints],
            {numberIn(line, *hit, "step"), patterns().group(*hit, "path", line.text).value_or("")}, line, builder);
    }
}

/// One line of nvidia-smi's table tells of the driver and of its CUDA.
void EventReader::takeSettings(const LogLine& line, LogBuilder& builder)
{
    for (const int pattern : m_hits) {
        const auto hit = static_cast<std::size_t>(pattern);
        if (hit < tables().settings || hit >= tables().headings) {
            continue;
        }
        const auto& setting = settingLines()[hit - tables().settings];
        const auto value = patterns().group(hit, "value", line.text).value_or("");
        const std::string name(setting.name ? setting.name : patterns().group(hit, "name", line.text).value_or(""));
        m_settings.take(name + setting.suffix, value, line, builder);
    }
    if (const auto hit = hitIn(m_hits, tables().headings, tables().end)) {
        m_settings.start(configHeadings()[*hit - tables().headings].block,
            patterns().group(*hit, "rest", line.text).value_or(""), line, builder);
    }
}

bool EventReader::giveEvent(std::size_t signature, const LogLine& line, LogBuilder& builder, const std::string& detail)
{
    auto event = eventOf(signatures()[signature].kind, line, builder);
    event.step = numberIn(line, signature, "step");
    if (const auto rank = numberIn(line, signature, "rank"); rank && *rank <= largestRank) {
        event.rank = static_cast<int>(*rank);
    }
    if (event.kind == EventKind::captureDumped) {
        if (!line.whole && !line.text.ends_with(".pt")) {
            return false;
        }
        readCapture(line.text, event);
    } else if (line.text.starts_with("  exitcode ")) {
        event.rank = m_failedRank;
    } else if (line.text.find("detected on another rank") != std::string_view::npos) {
        event.rank.reset();
    }
    if (event.kind == EventKind::resumed) {
        m_checkpoints.processBegan(builder);
    }
    if (line.text.find(forwardFrames) != std::string_view::npos) {
        m_tracebacks.startForward(line);
    }
    event.detail = detail;
    builder.event(std::move(event));
    return true;
}

} // namespace nanscope::ingest
