// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/terminal.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/json/records.h"
#include "core/platform/platform.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

constexpr auto refresh = std::chrono::milliseconds(100);
constexpr auto tooEarly = std::chrono::seconds(1); ///< to tell by what was done how long the rest takes

void writeTo(std::FILE* stream, std::string_view text)
{
    std::fwrite(text.data(), 1, text.size(), stream);
}

} // namespace

ExitStatus exitStatusOf(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::usage:
        return exitUsage;
    case ErrorKind::cancelled:
        return exitCancelled;
    case ErrorKind::internal:
        return exitInternal;
    default:
        return exitNothing;
    }
}

Terminal::Terminal(TerminalOptions options, CancelToken cancel)
    : m_options(options)
    , m_cancel(std::move(cancel))
    , m_watched(options.progressLine && options.level != LogLevel::error && platform::errorsAreWatched())
{ }

Terminal::~Terminal()
{
    clearLine();
}

void Terminal::print(std::string_view text)
{
    clearLine();
    writeTo(stdout, printableLines(text));
}

void Terminal::printJson(const Json& answer)
{
    print(jsonText(answer, 2) + "\n");
}

void Terminal::printAnswer(const JsonAnswer& answer)
{
    clearLine();
    answer.write([](std::string_view part) { writeTo(stdout, part); }, true);
    writeTo(stdout, "\n");
}

void Terminal::news(const std::string& text)
{
    if (m_watched && !m_options.progressJsonl) {
        clearLine();
        writeTo(stderr, printable(text) + "\n");
    }
}

void Terminal::say(LogLevel level, const std::string& text)
{
    if (level > m_options.level) {
        return;
    }
    clearLine();
    writeTo(stderr, printable(text) + "\n");
}

void Terminal::error(const Error& error)
{
    say(LogLevel::error, sentence(error));
}

void Terminal::rejected(const RunData& run)
{
    for (const auto& rejection : run.rejected) {
        const auto path = (std::filesystem::path(run.root) / rejection.path).string();
        say(LogLevel::warning, sentence({ErrorKind::format, rejection.reason, path}));
    }
    for (const auto& note : run.notes) {
        say(LogLevel::warning,
            sentence({ErrorKind::format, note.reason, (std::filesystem::path(run.root) / note.path).string()}));
    }
}

JobContext Terminal::job()
{
    return {[this](const Progress& update) { progress(update); }, m_cancel};
}

void Terminal::cellDone(const Progress& progress, const Cell& cell)
{
    if (m_options.progressJsonl) {
        cellDone(progress, toJson(cell));
    }
}

void Terminal::cellDone(const Progress& progress, const Json& cell)
{
    if (m_options.progressJsonl) {
        showJson(progress, &cell);
    }
}

void Terminal::progress(const Progress& progress)
{
    const auto now = Clock::now();
    if (progress.phase != m_phase) {
        m_phase = progress.phase;
        m_phaseStart = now;
        m_lastShown = {};
    }
    const bool last = progress.total > 0 && progress.done >= progress.total;
    if (now - m_lastShown < refresh && !last) {
        return;
    }
    m_lastShown = now;
    if (m_options.progressJsonl) {
        showJson(progress, nullptr);
    } else if (m_watched) {
        showLine(progress);
    }
}

std::optional<double> Terminal::secondsLeft(const Progress& progress) const
{
    if (progress.uneven || progress.done <= 0 || progress.total < progress.done) {
        return std::nullopt;
    }
    const std::chrono::duration<double> spent = Clock::now() - m_phaseStart;
    if (spent < tooEarly) {
        return std::nullopt; // a phase may begin in the middle of its work
    }
    const auto left = static_cast<double>(progress.total - progress.done) / static_cast<double>(progress.done);
    return std::round(spent.count() * left * 10) / 10;
}

void Terminal::showJson(const Progress& progress, const Json* cell)
{
    auto line = toJson(progress);
    if (const auto left = secondsLeft(progress)) {
        line["eta_s"] = *left;
    }
    if (cell != nullptr) {
        line["cell"] = *cell;
    }
    writeTo(stderr, jsonText(line) + "\n");
    std::fflush(stderr);
}

void Terminal::showLine(const Progress& progress)
{
    if (progress.phase == "planned") {
        return; // in words for a reader, by news()
    }
    auto text = progress.phase.empty() ? progress.job : progress.phase;
    if (progress.total > 0) {
        text += fmt::format(": {} of {} {}", countText(progress.done), countText(progress.total), progress.unit);
    } else if (!progress.unit.empty()) {
        text += fmt::format(": {} {}", countText(progress.done), progress.unit);
    }
    if (const auto left = secondsLeft(progress); left && *left >= 1) {
        text += fmt::format(", {:.0f} s left", *left);
    }
    if (!progress.message.empty()) {
        text += "  " + progress.message;
    }
    writeTo(stderr, "\r\x1b[K" + clipped(printable(text), 78));
    std::fflush(stderr);
    m_lineShown = true;
}

void Terminal::clearLine()
{
    if (m_lineShown) {
        writeTo(stderr, "\r\x1b[K");
        std::fflush(stderr);
        m_lineShown = false;
    }
}

bool Terminal::flushed()
{
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

} // namespace nanscope
