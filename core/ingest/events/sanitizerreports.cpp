// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/sanitizerreports.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/ingest/text/consoletext.h"
#include "core/model/run.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t mostProcesses = 4096;
constexpr std::size_t mostKinds = 4096;
constexpr std::size_t longestKernelName = 300; ///< of a kernel: those of templates take thousands of characters

/// What stands behind the sanitizer's mark, with the blanks before it; none for a line of anybody else.
std::optional<std::string_view> behindMark(std::string_view text)
{
    constexpr std::size_t shortest = 8;
    const auto end = std::min(text.find_first_not_of('='), text.size());
    const bool marked = end >= shortest && (end == text.size() || text[end] == ' ');
    return marked ? std::optional(text.substr(end)) : std::nullopt;
}

struct Place
{
    std::string function;
    std::string place; ///< "kernels.cu:41"; empty where the program was compiled without lines
};

std::string withoutFolders(const std::string& path)
{
    return path.substr(path.find_last_of("/\\") + 1);
}

/// Of newer versions "kernel(float *)+0x70 in /src/kernels.cu:41", of older ones "0x70 in /src/kernels.cu:41:kernel".
Place placeIn(std::string_view text)
{
    static const RE2 older(R"(0x[0-9a-fA-F]+ in (?:(.+?:\d+):)?(.+?)(?: \[\w+\])?)", RE2::Latin1);
    static const RE2 newer(R"((.+?)(?:[+:]0x[0-9a-fA-F]+)?(?: in (.+:\d+))?(?: \[\d+ hazards?\])?)", RE2::Latin1);
    std::string function;
    std::string place;
    if (!RE2::FullMatch(text, older, &place, &function)) {
        RE2::FullMatch(text, newer, &function, &place);
    }
    return {readable(function, longestKernelName), readable(withoutFolders(place), longestKernelName)};
}

bool endsReport(std::string_view text)
{
    return text.empty() || text.starts_with("Saved host backtrace") || text.starts_with("Host Frame")
        || text.starts_with("Program hit");
}

Event eventOf(std::string text, std::optional<int> rank, std::int64_t line, const LogBuilder& builder)
{
    Event event;
    event.rank = rank ? rank : builder.fileRank();
    event.text = std::move(text);
    event.line = line;
    return event;
}

} // namespace

std::optional<SanitizerReports::Report> SanitizerReports::reportBegunBy(std::string_view text)
{
    static const RE2 access(
        R"(((?:Invalid|Potential invalid|Uninitialized) __\w+__ (?:memory )?\w+)( of size \d+(?: bytes)?)?.*)",
        RE2::Latin1);
    static const RE2 race(R"((?:(\w+): ?)?(Race reported between \w+ access) at (.+))", RE2::Latin1);
    static const RE2 hazard(
        R"((?:(\w+): ?)?(?:\([\w ]+\) ?)?(Potential (?:RAW|WAR|WAW) hazard detected) at (.+?)[ :]*)", RE2::Latin1);
    static const RE2 barrier(R"(((?:Barrier|Warpgroup MMA sequence) error detected\..*?)\.? *)", RE2::Latin1);
    static const RE2 copy(R"((Host API memory access error) at host access to \w+( of size \d+ bytes).*)", RE2::Latin1);
    static const RE2 lessThanError("(?i:warn|warning|info)", RE2::Latin1);
    Report report;
    std::string severity;
    std::string where;
    if (RE2::FullMatch(text, access, &report.kind, &report.size) || RE2::FullMatch(text, barrier, &report.kind)
        || RE2::FullMatch(text, copy, &report.kind, &report.size)) {
        return report;
    }
    if (RE2::FullMatch(text, race, &severity, &report.kind, &where)) {
        report.warning = RE2::FullMatch(severity, lessThanError);
        auto first = placeIn(where);
        report.function = std::move(first.function);
        report.place = std::move(first.place);
        return report;
    }
    if (RE2::FullMatch(text, hazard, &severity, &report.kind, &where)) {
        report.warning = RE2::FullMatch(severity, lessThanError);
        report.address = readable(where, longestKernelName);
        return report;
    }
    return std::nullopt;
}

void SanitizerReports::addTo(Report& report, std::string_view text)
{
    static const RE2 second(R"(and (\w+ access) at (.+))", RE2::Latin1);
    static const RE2 byThread(R"((?:Read|Write) Thread \([\d, ]+\) at (.+))", RE2::Latin1);
    static const RE2 source(R"(Uninitialized access at \w+ on access by (.+?)\.?)", RE2::Latin1);
    std::string what;
    std::string where;
    if (takePrefix(text, "at ") && report.function.empty()) {
        auto place = placeIn(text);
        report.function = std::move(place.function);
        report.place = std::move(place.place);
    } else if (takePrefix(text, "by thread ")) {
        report.thread = "thread " + readable(text, longestKernelName);
    } else if (takePrefix(text, "Device Frame:")) {
        report.kernel = placeIn(trimmed(text)).function;
    } else if (text.starts_with("Address ") || text.starts_with("Access ")) {
        report.address = readable(text, longestKernelName);
    } else if (RE2::FullMatch(text, second, &what, &where) && report.address.empty()) {
        report.kind += " and " + what;
        report.address = "the other at " + placeIn(where).place;
    } else if (RE2::FullMatch(text, byThread, &where) && report.function.empty()) {
        auto place = placeIn(where);
        report.function = std::move(place.function);
        report.place = std::move(place.place);
    } else if (RE2::FullMatch(text, source, &what)) {
        report.kind += ", uninitialized access by " + readable(what, longestKernelName);
    }
}

std::string SanitizerReports::textOf(const Report& report)
{
    const auto& kernel = report.kernel.empty() ? report.function : report.kernel;
    auto text = fmt::format("compute-sanitizer{}: {}{}", report.warning ? ", a warning" : "", report.kind, report.size);
    if (!kernel.empty()) {
        text += " in kernel " + kernel;
    }
    if (kernel != report.function) {
        text += ", function " + report.function;
    }
    if (!report.place.empty()) {
        text += fmt::format(" ({})", report.place);
    }
    for (const auto& more : {report.thread, report.address}) {
        text += more.empty() ? std::string() : "; " + more;
    }
    return text;
}

void SanitizerReports::give(int process, LogBuilder& builder)
{
    const auto open = m_open.find(process);
    if (open == m_open.end() || !open->second) {
        return;
    }
    const auto report = *std::exchange(open->second, std::nullopt);
    auto text = textOf(report);
    const auto key =
        fmt::format("{}\n{}\n{}", report.warning, report.kind, report.kernel.empty() ? report.function : report.kernel);
    if (m_first.size() < mostKinds || m_first.contains(key)) {
        text = m_first.try_emplace(key, text).first->second;
    }
    builder.event(eventOf(std::move(text), report.rank, report.line, builder));
}

/// "ERROR SUMMARY: 2 errors", "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
void SanitizerReports::giveSummary(std::string_view text, const LogLine& line, LogBuilder& builder)
{
    builder.event(eventOf(
        fmt::format("compute-sanitizer: {}", readable(text, longestKernelName)), line.rank, line.number, builder));
}

bool SanitizerReports::take(const LogLine& line, LogBuilder& builder)
{
    const auto marked = behindMark(line.text);
    if (!marked) {
        return false;
    }
    const auto text = trimmed(*marked);
    const auto process = line.process();
    if (auto begun = reportBegunBy(text); begun && line.whole) {
        give(process, builder);
        if (m_open.size() >= mostProcesses && !m_open.contains(process)) {
            return false;
        }
        begun->rank = line.rank;
        begun->line = line.number;
        m_open[process] = std::move(begun);
        return true;
    }
    static const RE2 summary(R"((?:ERROR|RACECHECK) SUMMARY: \d+ (?:errors?|hazards? displayed.*))", RE2::Latin1);
    if (line.whole && RE2::FullMatch(text, summary)) {
        give(process, builder);
        giveSummary(text, line, builder);
        return true;
    }
    const auto open = m_open.find(process);
    if (open == m_open.end()) {
        return false;
    }
    if (open->second && !endsReport(text)) {
        addTo(*open->second, text);
        return true;
    }
    give(process, builder);
    return text.empty() || marked->starts_with("  ");
}

void SanitizerReports::finish(LogBuilder& builder)
{
    for (const auto& [process, report] : m_open) {
        give(process, builder);
    }
}

} // namespace nanscope::ingest
