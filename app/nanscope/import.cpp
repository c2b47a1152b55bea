// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/words.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/ingest/ingest.h"
#include "core/platform/folderwatch.h"
#include "core/report/report.h"
#include "core/session/session.h"

namespace nanscope {

namespace {

/// What was taken of a folder, in the words in which people ask for it.
struct ImportSummary
{
    ImportSummary(const RunData& run, std::vector<std::string> silentLogs);

    std::set<std::string> logs; ///< that told something
    std::set<int> captureRanks;
    std::set<int> logRanks;
    std::optional<std::pair<std::int64_t, std::int64_t>> steps; ///< the first and the last of any series
    std::vector<std::string> silent; ///< logs that told nothing
};

ImportSummary::ImportSummary(const RunData& run, std::vector<std::string> silentLogs)
    : silent(std::move(silentLogs))
{
    for (const auto& capture : run.captures) {
        if (capture.rank) {
            captureRanks.insert(*capture.rank);
        }
    }
    for (const auto& series : run.series) {
        logs.insert(series.source);
        if (series.rank) {
            logRanks.insert(*series.rank);
        }
        if (series.pointCount + series.missing > 0) {
            steps = steps
                ? std::pair(std::min(steps->first, series.firstStep), std::max(steps->second, series.lastStep))
                : std::pair(series.firstStep, series.lastStep);
        }
    }
    for (const auto& event : run.events) {
        logs.insert(event.source);
        if (event.rank) {
            logRanks.insert(*event.rank);
        }
    }
}

std::string ofRanks(const std::set<int>& ranks)
{
    if (ranks.empty()) {
        return {};
    }
    return ranks.size() == 1 ? fmt::format(" of rank {}", *ranks.begin()) : fmt::format(" of {} ranks", ranks.size());
}

std::string logsText(const RunData& run, const ImportSummary& summary)
{
    auto text = fmt::format("{}{}: {}, {}", summary.logs.size(), ofRanks(summary.logRanks),
        counted(std::ssize(run.series), "series"), counted(std::ssize(run.events), "event"));
    if (summary.steps) {
        const auto [first, last] = *summary.steps;
        text += first == last ? fmt::format(", step {}", first) : fmt::format(", steps {} to {}", first, last);
    }
    return text;
}

/// Each by its name where they are few.
std::string silentText(const std::vector<std::string>& logs)
{
    constexpr std::size_t few = 3;
    const auto named = std::span(logs).first(std::min(logs.size(), few));
    const auto more = logs.size() - named.size();
    return fmt::format("{} without a number or an event that is known: {}{}", counted(std::ssize(logs), "log"),
        fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// A few lines; what could not be used was said before.
std::string importText(const RunData& run, const ImportSummary& summary, const std::string& session)
{
    std::string text;
    if (!run.captures.empty()) {
        text += fact("Captures", fmt::format("{}{}", run.captures.size(), ofRanks(summary.captureRanks)));
    }
    if (!summary.logs.empty()) {
        text += fact("Logs", logsText(run, summary));
    }
    if (!summary.silent.empty()) {
        text += fact("Passed over", silentText(summary.silent));
    }
    if (!run.rejected.empty()) {
        text += fact("Left out", counted(std::ssize(run.rejected), "file") + "; the warnings say why");
    }
    // A path is not broken into lines: it is there to be copied.
    return text + fmt::format("  {:<14}{}\n", "Session", printable(session));
}

/// The same as keys that are added to `json`.
void addSummary(Json& json, const ImportSummary& summary)
{
    json["logs"] = summary.logs.size();
    json["capture_ranks"] = summary.captureRanks;
    json["log_ranks"] = summary.logRanks;
    json["steps"] = summary.steps ? Json {summary.steps->first, summary.steps->second} : Json();
    json["silent"] = summary.silent;
}

class Import : public Command
{
public:
    explicit Import(CLI::App& root)
        : Command(root, "import", "Read folders into sessions; again adds only what is new")
    {
        options().add("path", m_paths, "Folders or files").required();
        options().add(
            "--session", m_session, "Session file, of one folder; default: one per path in the user's data folder");
        options().addFlag("--watch", m_watch, "Go on importing what is added, until Ctrl-C");
        addColumnOption(options(), m_columns);
        options().addFlag("--no-map", m_noColumns, "Forget what --map said before");
    }

    Result<int> run(Terminal& terminal) override;

private:
    struct Imported
    {
        std::string path;
        std::filesystem::path session;
        RunData run;
        ingest::ColumnMap columns;
    };
    Result<void> requireOneFolder() const;
    Result<std::optional<ingest::ColumnMap>> columns(Terminal& terminal) const;
    Result<Imported> importOne(const std::string& path, Terminal& terminal,
        const std::optional<ingest::ColumnMap>& columns = std::nullopt, const RunData& before = {}) const;
    Result<int> watch(Terminal& terminal, RunData before) const;
    void printColumns(const Imported& done, Terminal& terminal) const;

    std::vector<std::string> m_paths;
    std::string m_session;
    ColumnWords m_columns;
    bool m_watch = false;
    bool m_noColumns = false;
};

std::vector<Rejection> newOf(const std::vector<Rejection>& now, const std::vector<Rejection>& before)
{
    std::vector<Rejection> fresh;
    std::copy_if(now.begin(), now.end(), std::back_inserter(fresh), [&](const Rejection& one) {
        return std::none_of(before.begin(), before.end(),
            [&](const Rejection& old) { return old.path == one.path && old.reason == one.reason; });
    });
    return fresh;
}

/// What was not said before.
RunData newlySaid(const RunData& run, const RunData& before)
{
    RunData fresh;
    fresh.root = run.root;
    fresh.rejected = newOf(run.rejected, before.rejected);
    fresh.notes = newOf(run.notes, before.notes);
    return fresh;
}

/// Columns that are not there yet may come while a folder is watched.
Result<std::optional<ingest::ColumnMap>> Import::columns(Terminal& terminal) const
{
    if (m_noColumns) {
        return m_columns.empty() ? Result<std::optional<ingest::ColumnMap>>(ingest::ColumnMap {})
                                 : failure(ErrorKind::usage, "--map and --no-map contradict each other");
    }
    auto given = parseColumns(m_columns);
    if (!given || !*given) {
        return given;
    }
    const auto there = requireColumns({m_paths.begin(), m_paths.end()}, **given, terminal);
    if (!there && !m_watch) {
        return tl::make_unexpected(there.error());
    }
    if (!there) {
        terminal.say(LogLevel::warning, sentence(there.error()));
    }
    return given;
}

Result<Import::Imported> Import::importOne(const std::string& path, Terminal& terminal,
    const std::optional<ingest::ColumnMap>& columns, const RunData& before) const
{
    std::error_code missing;
    if (!std::filesystem::exists(path, missing)) {
        return failure(ErrorKind::io, "there is no such file or folder", path);
    }
    const auto place = m_session.empty() ? session::Session::defaultPath(path) : std::filesystem::path(m_session);
    auto session = TRY(ingest::openSessionFor(path, place));
    auto run = TRY(ingest::importRun(path, session, terminal.job(), columns));
    auto kept = TRY(ingest::columnsOf(session));
    terminal.rejected(newlySaid(run, before));
    return Imported {path, place, std::move(run), std::move(kept)};
}

/// How much there is, with what logs gave before they were begun anew: that is not lost, nor is it counted off.
struct Amount
{
    explicit Amount(const RunData& run)
        : captures(std::ssize(run.captures))
        , points(pointsOf(run))
        , events(std::ssize(run.events))
    {
        for (const auto& log : run.replaced) {
            points += pointsOf(log.records);
            events += std::ssize(log.records.events);
        }
    }

    std::int64_t captures;
    std::int64_t points;
    std::int64_t events;
};

/// What a later import brought that an earlier one had not: "2 captures, 5 points and 1 event".
std::string additionText(const RunData& before, const RunData& now)
{
    const Amount had(before);
    const Amount has(now);
    const std::pair<std::int64_t, const char*> parts[] = {{has.captures - had.captures, "capture"},
        {has.points - had.points, "point"}, {has.events - had.events, "event"}};
    std::vector<std::string> words;
    for (const auto& [count, noun] : parts) {
        if (count > 0) {
            words.push_back(counted(count, noun));
        }
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

/// One line per import that brought something, flushed so that a program reading the pipe sees it. False if it brought
/// nothing.
bool say(Terminal& terminal, const RunData& before, const RunData& now)
{
    const auto text = additionText(before, now);
    if (text.empty()) {
        return false;
    }
    if (terminal.json()) {
        const Json line {{"schema", "nanscope.addition/1"}, {"added", text}, {"captures", now.captures.size()},
            {"series", now.series.size()}, {"events", now.events.size()}};
        terminal.print(jsonText(line) + '\n');
    } else {
        terminal.print("+ " + text + '\n');
    }
    terminal.flushed();
    return true;
}

Result<int> Import::watch(Terminal& terminal, RunData before) const
{
    auto changed = TRY(platform::FolderWatch::open(m_paths.front()));
    const auto stopped = [&] { return terminal.cancelToken().cancelled(); };
    // The watch does not report what came between the first import and its start: one more import picks that up. So
    // does one after a change, for a last line without its end, which is taken once its file rests.
    constexpr std::chrono::seconds afterwards {6};
    bool more = false;
    do {
        auto done = importOne(m_paths.front(), terminal, std::nullopt, before);
        if (!done) {
            return stopped() ? Result<int>(exitDone) : tl::make_unexpected(done.error());
        }
        more = say(terminal, before, done->run);
        before = std::move(done->run);
    } while (changed.wait(stopped, more ? std::optional<std::chrono::milliseconds>(afterwards) : std::nullopt));
    return exitDone;
}

Json columnsJson(const ingest::ColumnMap& columns)
{
    auto json = Json::object();
    for (const auto& entry : columns.entries) {
        json[entry.name] = entry.column;
    }
    return json;
}

/// What the columns are taken for, and what may be missing.
void Import::printColumns(const Imported& done, Terminal& terminal) const
{
    if (!done.columns.empty()) {
        terminal.print(fmt::format("Columns: {}{}\n", printable(columnsText(done.columns)),
            m_columns.empty() ? ", as said before (--no-map forgets it)" : ""));
    } else if (const auto hint = lossHint(done.run, done.path); !hint.empty()) {
        terminal.print(printable(hint) + '\n');
    }
}

/// Before anything is stored: a session belongs to one folder, several files may lie in it.
Result<void> Import::requireOneFolder() const
{
    std::error_code error;
    const auto folderOf = [&](const std::string& path) {
        const std::filesystem::path place(path);
        return std::filesystem::is_directory(place, error) ? place
                                                           : std::filesystem::absolute(place, error).parent_path();
    };
    for (const auto& path : m_paths) {
        if (!m_session.empty() && path != m_paths.front()
            && !std::filesystem::equivalent(folderOf(path), folderOf(m_paths.front()), error) && !error) {
            return failure(ErrorKind::usage,
                "a session holds one folder; import this one with another --session, or without it", path);
        }
    }
    return {};
}

Result<int> Import::run(Terminal& terminal)
{
    if (m_watch && m_paths.size() != 1) {
        return failure(ErrorKind::usage, "--watch takes one folder");
    }
    TRY(requireOneFolder());
    const auto columns = TRY(this->columns(terminal));
    int status = exitDone;
    auto imports = Json::array();
    for (const auto& path : m_paths) {
        const auto done = TRY(importOne(path, terminal, columns));
        const auto& run = done.run;
        imports.push_back({{"path", path}, {"session", done.session.string()}, {"captures", run.captures.size()},
            {"series", run.series.size()}, {"events", run.events.size()}, {"columns", columnsJson(done.columns)},
            {"rejected", report::rejectedJson(run.rejected)}, {"notes", report::rejectedJson(run.notes)},
            {"replaced", report::replacedJson(run.replaced)}});
        auto silent = TRY(ingest::silentLogs(path, run, terminal.job()));
        const ImportSummary summary(run, std::move(silent));
        addSummary(imports.back(), summary);
        if (!terminal.json()) {
            terminal.print(printable(path) + '\n' + importText(run, summary, done.session.string()));
            printColumns(done, terminal);
        }
        status = run.rejected.empty() ? status : exitRejected;
        if (m_watch) {
            return watch(terminal, terminal.json() ? RunData {} : run);
        }
        if (run.captures.empty() && run.series.empty() && run.events.empty() && run.replaced.empty()) {
            // The only file there is has had its sentence.
            std::error_code ignored;
            if (!run.rejected.empty() && std::filesystem::is_regular_file(path, ignored)) {
                return exitNothing;
            }
            return failure(ErrorKind::format, "no capture and no log was found", path);
        }
    }
    if (terminal.json()) {
        terminal.printJson({{"schema", "nanscope.import/1"}, {"imports", std::move(imports)}});
    }
    return status;
}

} // namespace

std::unique_ptr<Command> makeImport(CLI::App& root)
{
    return std::make_unique<Import>(root);
}

} // namespace nanscope
