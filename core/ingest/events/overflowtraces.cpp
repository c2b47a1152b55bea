// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/overflowtraces.h"

#include <string_view>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

constexpr int mostTraceLines = 10'000;
constexpr std::size_t mostStates = 4096;
constexpr std::string_view overflowHead = "Detected inf/nan during batch_number=";

bool isHeading(std::string_view text)
{
    return text.starts_with("Last ") || text.starts_with("abs min ");
}

/// "encoder.block.2.layer_norm T5LayerNorm", behind the width of two numbers.
bool isModule(std::string_view text)
{
    return text.starts_with("          ") && !trimmed(text).empty();
}

struct OverflowRow
{
    std::string least;
    std::string most;
    std::string what;

    bool isBad() const { return isBad(least) || isBad(most); }
    static bool isBad(std::string_view number) { return number == "nan" || number == "inf"; }
};

bool readRow(std::string_view text, OverflowRow& row)
{
    static const RE2 pattern(R"( *([\d.]+e[+-]\d+|nan|inf) +([\d.]+e[+-]\d+|nan|inf) +(\S.*))", RE2::Latin1);
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern, &row.least, &row.most, &row.what);
}

} // namespace

OverflowTraces::Taken OverflowTraces::take(const LogLine& line)
{
    if (line.text.starts_with(overflowHead)) {
        if (m_states.size() < mostStates) {
            m_states[line.process()] = {};
        }
        return {};
    }
    const auto open = m_states.empty() ? m_states.end() : m_states.find(line.process());
    if (open == m_states.end()) {
        return {};
    }
    auto& state = open->second;
    OverflowRow row;
    if (isModule(line.text)) {
        state.module = readable(trimmed(line.text), 500);
    } else if (!readRow(line.text, row) && !isHeading(line.text)) {
        m_states.erase(open);
        return {};
    }
    if (row.isBad()) {
        Taken taken {true,
            fmt::format("first bad value of the forward frames: {}, {}", state.module.empty() ? "?" : state.module,
                readable(row.what, 200))};
        m_states.erase(open);
        return taken;
    }
    if (++state.lines > mostTraceLines) {
        m_states.erase(open);
    }
    return {true, {}};
}

} // namespace nanscope::ingest
