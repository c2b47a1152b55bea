// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/command.h"
#include "app/nanscope/words.h"
#include "core/ingest/ingest.h"
#include "core/report/report.h"
#include "core/session/session.h"

namespace nanscope {

namespace {

class Import : public Command
{
public:
    explicit Import(CLI::App& root)
        : Command(root, "import", "Read folders into sessions; again adds only what is new")
    {
        options().add_option("path", m_paths, "Folders or files")->required();
        options().add_option("--session", m_session, "Session file; default: one per path in the user's data folder");
    }

    Result<int> run(Terminal& terminal) override;

private:
    struct Imported
    {
        std::string path;
        std::filesystem::path session;
        RunData run;
    };
    Result<Imported> importOne(const std::string& path, Terminal& terminal) const;

    std::vector<std::string> m_paths;
    std::string m_session;
};

Result<Import::Imported> Import::importOne(const std::string& path, Terminal& terminal) const
{
    std::error_code missing;
    if (!std::filesystem::exists(path, missing)) {
        return failure(ErrorKind::io, "there is no such file or folder", path);
    }
    const auto place = m_session.empty() ? Session::defaultPath(path) : std::filesystem::path(m_session);
    auto session = Session::open(place, OpenMode::create);
    if (!session) {
        return tl::make_unexpected(session.error());
    }
    auto run = importRun(path, *session, terminal.job());
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    terminal.rejected(*run);
    return Imported {path, place, std::move(*run)};
}

template <class Range>
std::int64_t sizeOf(const Range& range)
{
    return static_cast<std::int64_t>(range.size());
}

Result<int> Import::run(Terminal& terminal)
{
    int status = exitDone;
    auto imports = nlohmann::ordered_json::array();
    for (const auto& path : m_paths) {
        const auto done = importOne(path, terminal);
        if (!done) {
            return tl::make_unexpected(done.error());
        }
        const auto& run = done->run;
        imports.push_back({{"path", path}, {"session", done->session.string()}, {"captures", run.captures.size()},
            {"series", run.series.size()}, {"events", run.events.size()}, {"rejected", rejectedJson(run.rejected)}});
        if (!terminal.json()) {
            terminal.print(fmt::format("{}, {} and {} in {}\n", counted(sizeOf(run.captures), "capture"),
                counted(sizeOf(run.series), "series"), counted(sizeOf(run.events), "event"), done->session.string()));
        }
        status = run.rejected.empty() ? status : exitRejected;
        if (run.captures.empty() && run.series.empty() && run.events.empty()) {
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
