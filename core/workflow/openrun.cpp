// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/openrun.h"

#include "core/ingest/ingest.h"
#include "core/workflow/judgingpoints.h"

namespace nanscope::workflow {

namespace fs = std::filesystem;

namespace {

Result<RunData> readSession(const session::Session& session, Points points)
{
    if (points == Points::all) {
        return session.load();
    }
    auto run = session.summary();
    if (!run || points == Points::none) {
        return run;
    }
    return readJudgingPoints(*run, session).map([&] { return std::move(*run); });
}

Result<OpenedRun> opened(session::Session session, bool writable, Points points)
{
    auto run = readSession(session, points);
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    return OpenedRun {std::move(*run), std::move(session), writable};
}

Result<OpenedRun> openSession(const fs::path& path, const OpenOptions& options)
{
    std::error_code error;
    const bool named = !options.session.empty() && fs::equivalent(path, options.session, error);
    if (!options.session.empty() && !named) {
        return failure(ErrorKind::usage,
            "--session keeps what is read of a folder, and this is a session itself; leave it out", path.string());
    }
    if (named || options.access == Access::store) {
        if (auto session = session::Session::open(path, session::OpenMode::readWrite)) {
            return opened(std::move(*session), true, options.points);
        }
    }
    auto session = session::Session::open(path, session::OpenMode::readOnly);
    if (!session) {
        return tl::make_unexpected(session.error());
    }
    return opened(std::move(*session), false, options.points);
}

Result<OpenedRun> importInto(const fs::path& path, const OpenOptions& options, const JobContext& job)
{
    auto session = session::Session::open(options.session, session::OpenMode::create);
    if (!session) {
        return tl::make_unexpected(session.error());
    }
    auto imported = ingest::importRun(path, *session, job, options.columns);
    if (!imported) {
        return tl::make_unexpected(imported.error());
    }
    if (options.points == Points::none) {
        return OpenedRun {std::move(*imported), std::move(*session), true};
    }
    return opened(std::move(*session), true, options.points).map([&](OpenedRun run) {
        run.run.rejected = std::move(imported->rejected);
        run.run.notes = std::move(imported->notes);
        return run;
    });
}

Result<OpenedRun> readWithoutSession(const fs::path& path, const OpenOptions& options, const JobContext& job)
{
    auto run = ingest::readRun(path, job, options.columns.value_or(ingest::ColumnMap {}));
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    if (options.points == Points::judging) {
        keepJudgingPoints(*run);
    }
    return OpenedRun {std::move(*run)};
}

} // namespace

Result<OpenedRun> openRun(const fs::path& path, const OpenOptions& options, const JobContext& job)
{
    return session::isSessionFile(path) ? openSession(path, options)
        : options.session.empty()       ? readWithoutSession(path, options, job)
                                        : importInto(path, options, job);
}

} // namespace nanscope::workflow
