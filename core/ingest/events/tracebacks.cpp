// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/tracebacks.h"

#include <re2/re2.h>

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

constexpr int longestTraceback = 10'000;
constexpr std::size_t mostTracebacks = 4096;
constexpr std::size_t longestDetail = 4000;
constexpr std::size_t longestException = 500;
constexpr std::string_view firstLine = "Traceback (most recent call last):";

int keyOf(const LogLine& line)
{
    return line.process();
}

bool isIndented(std::string_view text)
{
    return text.front() == ' ' || text.front() == '\t';
}

bool isException(std::string_view text)
{
    static const RE2 pattern(R"([A-Za-z_][\w.]*(?::.*)?)", RE2::Latin1);
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool isChain(std::string_view text)
{
    return text.starts_with("During handling of the above exception, another exception occurred:")
        || text.starts_with("The above exception was the direct cause of the following exception:");
}

/// "    ^^^^^^" and "    ~~^^^^^", with which newer Pythons underline.
bool isUnderline(std::string_view text)
{
    return text.find_first_not_of(" ~^") == std::string_view::npos;
}

/// The end stays: the innermost frames are there.
void append(std::string& text, std::string_view line)
{
    text += line;
    text += '\n';
    if (text.size() > 4 * longestDetail) {
        text.erase(0, text.find('\n', text.size() - 2 * longestDetail) + 1);
    }
}

} // namespace

Tracebacks::Part Tracebacks::take(const LogLine& line)
{
    if (line.text.starts_with(firstLine)) {
        return start(line) ? Part::inside : Part::none;
    }
    const auto open = m_states.empty() ? m_states.end() : m_states.find(keyOf(line));
    if (open == m_states.end()) {
        return Part::none;
    }
    switch (open->second.phase) {
    case State::Phase::frames:
        return takeFrame(open, line);
    case State::Phase::forward:
        return takeForward(open->second, line);
    default:
        return takeBehind(open, line);
    }
}

bool Tracebacks::start(const LogLine& line)
{
    if (m_states.size() >= mostTracebacks && !m_states.contains(keyOf(line))) {
        return false;
    }
    auto& state = m_states[keyOf(line)];
    state.phase = State::Phase::frames;
    state.lines = 0;
    state.frames.clear();
    if (!state.chained) {
        state.exception.clear();
    }
    return true;
}

void Tracebacks::startForward(const LogLine& line)
{
    if (m_states.size() < mostTracebacks) {
        m_states[keyOf(line)] = State {State::Phase::forward, 0, false, {}, {}, {}};
    }
}

Tracebacks::Part Tracebacks::takeFrame(States::iterator open, const LogLine& line)
{
    auto& state = open->second;
    if (++state.lines > longestTraceback) {
        m_states.erase(open);
        return Part::none;
    }
    if (isIndented(line.text)) {
        if (!isUnderline(line.text)) {
            append(state.frames, line.text);
        }
        return Part::inside;
    }
    if (!isException(line.text)) {
        return Part::none;
    }
    finish(state, line.text);
    return Part::exception;
}

void Tracebacks::finish(State& state, std::string_view exception)
{
    m_frames.clear();
    if (state.chained) {
        append(m_frames, "after " + state.exception);
    }
    m_frames += state.frames;
    if (!state.forward.empty()) {
        append(m_frames, "the forward call:");
        m_frames += state.forward;
    }
    m_frames = readableEnd(m_frames, longestDetail);
    state = State {State::Phase::ended, 0, false, {}, {}, readable(exception, longestException)};
}

/// Behind the frames of a forward call stands the line of Python that warned, indented, too.
Tracebacks::Part Tracebacks::takeForward(State& state, const LogLine& line) const
{
    if (++state.lines > longestTraceback || !isIndented(line.text)) {
        state.phase = State::Phase::ended;
        return Part::none;
    }
    if (line.text.starts_with("  File ") || line.text.starts_with("    ")) {
        append(state.forward, line.text);
    }
    return Part::inside;
}

Tracebacks::Part Tracebacks::takeBehind(States::iterator open, const LogLine& line)
{
    auto& state = open->second;
    if (!state.exception.empty() && isChain(line.text)) {
        state.chained = true;
        return Part::inside;
    }
    // Other threads may warn between the frames of a forward call and the exception of its backward pass.
    if (state.forward.empty() || ++state.lines > longestTraceback) {
        m_states.erase(open);
    }
    return Part::none;
}

} // namespace nanscope::ingest
