// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/log/blockformat.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t mostRanks = 4096;
constexpr std::size_t mostValues = 1000;

} // namespace

bool BlockFormat::parse(const LogLine& line, LogBuilder& builder)
{
    if (const auto head = headOf(line.text)) {
        giveOut(builder);
        builder.setLane(line.lane);
        if (line.whole) {
            open(*head, line);
        }
        return line.whole;
    }
    if (const auto value = line.whole ? valueOf(line.text) : std::nullopt) {
        return take(*value, line, builder);
    }
    giveOut(builder);
    builder.setLane(line.lane);
    if (!m_steps.empty() && endsBlock(line.text)) {
        if (const auto step = m_steps.find(line.process()); step != m_steps.end()) {
            step->second.ended = true;
        }
    }
    return false;
}

void BlockFormat::open(const Head& head, const LogLine& line)
{
    const int key = line.process();
    if (m_steps.size() < mostRanks || m_steps.contains(key)) {
        m_steps[key] = {head, false};
        m_open = line.number;
        m_rank = line.rank;
        m_lane = line.lane;
        m_process = key;
    }
}

bool BlockFormat::take(const Value& value, const LogLine& line, LogBuilder& builder)
{
    const auto step = m_steps.find(line.process());
    if (step == m_steps.end() || (step->second.ended && !isLate(value))) {
        return false;
    }
    if (m_open != 0 && m_process == line.process() && m_held.size() < mostValues) {
        m_held.push_back({std::string(value.name), value.number, line.number});
        return true;
    }
    giveOut(builder);
    builder.setLane(line.lane);
    builder.startRow(line.rank, step->second.head.step, line.number, step->second.head.inferred);
    builder.value(value.name, value.number);
    return true;
}

void BlockFormat::giveOut(LogBuilder& builder)
{
    if (m_open == 0) {
        return;
    }
    const auto& head = m_steps[m_process].head;
    builder.setLane(m_lane);
    for (const auto& held : m_held) {
        builder.startRow(m_rank, head.step, held.line, head.inferred);
        builder.value(held.name, held.number);
    }
    m_held.clear();
    m_open = 0;
}

} // namespace nanscope::ingest
