// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/eventreader.h"

#include <re2/re2.h>

#include "core/ingest/consoletext.h"
#include "core/ingest/linepatterns.h"
#include "core/ingest/signatures.h"

namespace nanscope {

namespace {

constexpr std::string_view forwardFrames = "Traceback of forward call that caused the error:";

const LinePatterns& patterns()
{
    static const LinePatterns instance = [] {
        std::vector<const char*> all;
        for (const auto& signature : signatures()) {
            all.push_back(signature.pattern);
        }
        return LinePatterns(all);
    }();
    return instance;
}

re2::StringPiece piece(std::string_view text)
{
    return {text.data(), text.size()};
}

std::optional<std::int64_t> numberIn(std::string_view text, std::size_t signature, const char* group)
{
    const auto digits = patterns().group(signature, group, text);
    return digits ? parseInteger(*digits) : std::nullopt;
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
        return parseSignature(line, builder);
    }
}

// A dump and the exception that reports it are two facts; every other signature says it all.
bool EventReader::parseException(const LogLine& line, LogBuilder& builder)
{
    const auto& frames = m_tracebacks.frames();
    const bool dump = line.text.find("[dion NaN capture]") != std::string_view::npos;
    if (!parseSignature(line, builder, dump ? std::string() : frames) || dump) {
        auto event = eventOf(EventKind::traceback, line, builder);
        event.detail = frames;
        builder.event(std::move(event));
    }
    return true;
}

bool EventReader::parseSignature(const LogLine& line, LogBuilder& builder, const std::string& detail)
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
    const auto best = static_cast<std::size_t>(m_hits.front());
    auto event = eventOf(signatures()[best].kind, line, builder);
    event.step = numberIn(line.text, best, "step");
    if (const auto rank = numberIn(line.text, best, "rank"); rank && *rank <= largestRank) {
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
    if (line.text.find(forwardFrames) != std::string_view::npos) {
        m_tracebacks.startForward(line);
    }
    event.detail = detail;
    builder.event(std::move(event));
    return true;
}

} // namespace nanscope
