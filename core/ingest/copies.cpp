// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/copies.h"

#include <algorithm>
#include <functional>

namespace nanscope::ingest {

namespace {

/// So many different lines between two rows of metrics are told apart, then counting begins anew.
constexpr std::size_t mostKnown = 4096;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Every one of these is a fact of its own: which step, which loss scale, which dump.
bool standsForItself(const Event& event)
{
    return event.step || event.kind == EventKind::captureDumped || event.kind == EventKind::skippedStep
        || event.kind == EventKind::resumed || event.text.find("loss scale") != std::string::npos;
}

bool isTuple(std::string_view inside)
{
    const auto belongs = [](char c) {
        return isDigit(c) || std::string_view(" ,:/-").find(c) != std::string_view::npos;
    };
    const auto end = inside.find_first_not_of("0123456789");
    return end != 0 && end != std::string_view::npos && isDigit(inside.back())
        && std::all_of(inside.begin(), inside.end(), belongs);
}

std::size_t hashOf(const Event& event)
{
    const std::hash<std::string> hash;
    return hash(withoutTuples(event.text)) ^ (hash(event.detail) << 1U)
        ^ (static_cast<std::size_t>(event.rank.value_or(-1)) << 8U) ^ static_cast<std::size_t>(event.kind);
}

bool saysTheSame(const Event& a, const Event& b)
{
    return a.kind == b.kind && a.rank == b.rank && a.detail == b.detail
        && (a.text == b.text || withoutTuples(a.text) == withoutTuples(b.text));
}

} // namespace

std::string withoutTuples(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        out += text[at];
        const auto end = text[at] == '[' ? text.find(']', at) : std::string_view::npos;
        if (end == std::string_view::npos || end == at + 1 || !isTuple(text.substr(at + 1, end - at - 1))) {
            continue;
        }
        const auto inside = text.substr(at + 1, end - at - 1);
        std::copy_if(inside.begin(), inside.end(), std::back_inserter(out), [](char c) { return !isDigit(c); });
        at = end - 1;
    }
    return out;
}

bool Copies::count(const Event& event, std::int64_t rows, std::vector<Event>& events)
{
    if (standsForItself(event)) {
        return false;
    }
    if (rows != m_rows || m_known.size() >= mostKnown) {
        m_known.clear();
        m_rows = rows;
    }
    const auto [place, isNew] = m_known.try_emplace(hashOf(event), events.size());
    if (isNew) {
        return false;
    }
    if (place->second >= events.size() || !saysTheSame(events[place->second], event)) {
        place->second = events.size();
        return false;
    }
    ++events[place->second].copies;
    return true;
}

} // namespace nanscope::ingest
