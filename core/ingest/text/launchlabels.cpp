// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/launchlabels.h"

#include <algorithm>
#include <set>

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t longestHost = 63;

std::optional<int> takeRank(std::string_view& text)
{
    const auto number = takeInteger(text);
    return number && *number <= largestRank ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// "[default0]:" of torchrun's tee and "[rank1]: " of PyTorch.
bool peelTee(std::string_view& text, LineOrigin& origin)
{
    auto rest = text.substr(1);
    while (!rest.empty() && (isLetter(rest.front()) || rest.front() == '_' || rest.front() == '-')) {
        rest.remove_prefix(1);
    }
    const bool named = rest.size() + 1 < text.size();
    const auto found = takeRank(rest);
    if (!named || !found || !takePrefix(rest, "]:")) {
        return false;
    }
    const bool global = takePrefix(rest, " ") || text.starts_with("[rank");
    origin.rank = found;
    origin.local = !global;
    text = rest;
    return true;
}

void peelLevel(std::string_view& text)
{
    for (const std::string_view level : {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}) {
        auto rest = text;
        if (takePrefix(rest, level) && rest.starts_with(' ')) {
            text = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
            return;
        }
    }
}

/// "[rank 0] WARNING  " and "[Rank 0] ".
bool peelLogger(std::string_view& text, LineOrigin& origin)
{
    auto rest = text;
    if (!takePrefix(rest, "[rank ") && !takePrefix(rest, "[Rank ")) {
        return false;
    }
    const auto found = takeRank(rest);
    if (!found || !takePrefix(rest, "] ")) {
        return false;
    }
    peelLevel(rest);
    origin.rank = found;
    origin.local = false;
    text = rest;
    return true;
}

/// "[1,3]<stdout>:" of mpirun, "[prterun-host-77@1,3]<stdout>: " of Open MPI 5.
bool peelMpi(std::string_view& text, LineOrigin& origin)
{
    auto rest = text.substr(1);
    if (takePrefix(rest, "prterun-")) {
        takeUntil(rest, "@");
    }
    if (!takeInteger(rest) || !takePrefix(rest, ",")) {
        return false;
    }
    const auto found = takeRank(rest);
    if (!found || (!takePrefix(rest, "]<stdout>:") && !takePrefix(rest, "]<stderr>:"))) {
        return false;
    }
    takePrefix(rest, " ");
    origin.rank = found;
    origin.local = false;
    text = rest;
    return true;
}

/// "  3: " of srun --label.
bool peelLabel(std::string_view& text, LineOrigin& origin)
{
    const auto label = text.substr(std::min(text.find_first_not_of(' '), text.size()));
    auto rest = label;
    const auto found = takeRank(rest);
    if (!found || !rest.starts_with(": ")) {
        return false;
    }
    if (origin.host.empty()) {
        origin.host = label.substr(0, label.size() - rest.size());
    }
    rest.remove_prefix(2);
    origin.rank = found;
    origin.local = false;
    text = rest;
    return true;
}

} // namespace

std::string_view peelPrefixes(std::string_view text, LineOrigin& origin)
{
    constexpr int deepest = 5;
    for (int i = 0; i < deepest && !text.empty(); ++i) {
        const char first = text.front();
        const bool peeled = first == '[' ? peelTee(text, origin) || peelLogger(text, origin) || peelMpi(text, origin)
                                         : (isDigit(first) || first == ' ') && peelLabel(text, origin);
        if (!peeled) {
            break;
        }
    }
    return text;
}

namespace {

/// The name before ": ", if it may be a host's: a number, a hyphen or a dot is in it, so that "loss: " is none.
std::string_view hostBefore(std::string_view text)
{
    const auto end = text.substr(0, longestHost + 1).find(':');
    if (end == std::string_view::npos || end == 0 || !text.substr(end).starts_with(": ")) {
        return {};
    }
    const auto name = text.substr(0, end);
    const auto letters = std::count_if(name.begin(), name.end(), isLetter);
    const auto dots = std::count(name.begin(), name.end(), '.');
    const auto marks = dots + std::count(name.begin(), name.end(), '-');
    const auto digits = std::count_if(name.begin(), name.end(), isDigit);
    const bool plain = letters + marks + digits == static_cast<std::ptrdiff_t>(name.size());
    const bool named = letters > 0 && isLetter(name.front()) && (marks + digits > 0 || name == "localhost");
    constexpr std::ptrdiff_t dotsOfAnAddress = 3;
    return plain && (named || (letters == 0 && dots == dotsOfAnAddress)) ? name : std::string_view();
}

bool labelsARank(std::string_view text)
{
    LineOrigin origin;
    return text.starts_with('[') && peelPrefixes(text, origin) != text;
}

} // namespace

HostLabels::HostLabels(std::span<const std::string_view> head)
{
    std::set<std::string_view> names;
    std::size_t labelled = 0;
    for (const auto line : head) {
        const auto host = hostBefore(line);
        if (host.empty()) {
            continue;
        }
        if (names.empty()) {
            m_first = host;
        }
        names.insert(host);
        ++labelled;
    }
    // Hosts say more than one line each: "epoch-1: ", "epoch-2: " are none.
    constexpr std::size_t fewest = 3;
    m_everywhere = labelled >= fewest && labelled * 2 >= head.size() && labelled >= names.size() * 2;
}

std::string_view HostLabels::peel(std::string_view text, LineOrigin& origin) const
{
    const auto host = hostBefore(text);
    if (host.empty()) {
        return text;
    }
    const auto rest = text.substr(host.size() + 2);
    if (!m_everywhere && !labelsARank(rest)) {
        return text;
    }
    origin.host = host;
    return rest;
}

std::string HostLabels::processOf(const LineOrigin& origin) const
{
    if (origin.host.empty() || (origin.rank && !origin.local)) {
        return {};
    }
    if (isDigit(origin.host.front()) && parseInteger(origin.host)) {
        return origin.host == "0" ? std::string() : "task " + std::string(origin.host);
    }
    return origin.host == m_first ? std::string() : std::string(origin.host);
}

} // namespace nanscope::ingest
