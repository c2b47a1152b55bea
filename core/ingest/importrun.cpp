// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ingest/configfile.h"
#include "core/ingest/duplicates.h"
#include "core/ingest/ingest.h"
#include "core/ingest/logimport.h"
#include "core/ingest/logscanner.h"
#include "core/ingest/logsource.h"
#include "core/ingest/progressmeter.h"
#include "core/ingest/readahead.h"
#include "core/ingest/tableguess.h"
#include "core/model/capturenames.h"
#include "core/session/session.h"
#include "core/tensorfile/capturefile.h"

namespace nanscope {

namespace {

/// Few enough that storing them is one short transaction, many enough that it is one at all.
constexpr std::size_t capturesPerPiece = 256;
/// How many files may be read before the first of them is stored.
constexpr std::size_t filesAhead = 512;

/// Where an import leaves what it reads.
struct Destination
{
    std::unordered_set<std::string> known; ///< identities that need no second scan
    std::function<Result<void>(const Capture&)> seenAgain;
    std::function<Result<void>(std::vector<Capture>&)> addCaptures;
    std::function<Result<bool>(const FoundFile&, ProgressMeter&)> readLog; ///< true: it has series
    std::function<Result<std::vector<std::string>>()>
        storeLogs; ///< what still waits; returns the logs that were refused
    ColumnMap columns;
};

Result<void> cancelled()
{
    return failure(ErrorKind::cancelled, "cancelled; what was imported so far is kept");
}

Rejection rejectionOf(const FoundFile& file, const Error& error)
{
    return {file.relative, error.what};
}

bool holdsTensor(const PickleValue& value)
{
    if (const auto* list = std::get_if<PickleList>(&value.value)) {
        return std::any_of(list->begin(), list->end(), holdsTensor);
    }
    if (const auto* dict = std::get_if<PickleDict>(&value.value)) {
        return std::any_of(dict->begin(), dict->end(), [](const auto& entry) { return holdsTensor(entry.second); });
    }
    return value.tensor() != nullptr;
}

/// A file of tensors that is no capture, a checkpoint for example, is nothing to complain about. One that holds
/// nothing but objects we refuse to rebuild is.
bool isOtherTensorFile(const FoundFile& file)
{
    const auto opened = openTensorFile(file.path);
    return opened && (opened->opaque.empty() || holdsTensor(opened->root));
}

/// What a thread found in one file.
struct ReadFile
{
    Result<CaptureFile> capture;
    bool known = false;
    bool reject = false;
};

class CaptureImport
{
public:
    CaptureImport(const FoundFiles& found, const Destination& destination, std::vector<Rejection>& rejected)
        : m_found(found)
        , m_destination(destination)
        , m_rejected(rejected)
    {
        for (const auto& file : found.files) {
            if (file.kind == FoundFile::Kind::tensor) {
                m_files.push_back(&file);
            }
        }
    }

    Result<void> run(const JobContext& job)
    {
        ProgressMeter meter(job, "captures", "files");
        const auto threads = std::max(1U, std::thread::hardware_concurrency());
        ReadAhead<ReadFile> reader(m_files.size(), threads, filesAhead, [this](std::size_t i) { return read(i); });
        for (std::size_t i = 0; i < m_files.size(); ++i) {
            if (meter.cancelled()) {
                auto kept = flush();
                return kept ? cancelled() : kept;
            }
            if (auto added = add(*m_files[i], reader.next()); !added) {
                return added;
            }
            meter.advance(
                static_cast<std::int64_t>(i) + 1, static_cast<std::int64_t>(m_files.size()), m_files[i]->relative);
        }
        return flush();
    }

private:
    // Runs on several threads at once: touches nothing that changes.
    ReadFile read(std::size_t index) const
    {
        const auto& file = *m_files[index];
        bool isCapture = false;
        bool known = false;
        auto capture = readCapture(file.path, [&](const Capture& headers) {
            isCapture = true;
            known = m_destination.known.contains(headers.identity);
            return known;
        });
        const bool reject = !capture && (isCapture || m_found.files.size() == 1 || !isOtherTensorFile(file));
        return {std::move(capture), known, reject};
    }

    Result<void> add(const FoundFile& file, ReadFile read)
    {
        if (!read.capture) {
            if (read.reject) {
                m_rejected.push_back(rejectionOf(file, read.capture.error()));
            }
            return {};
        }
        if (read.known) {
            return m_destination.seenAgain(read.capture->capture);
        }
        m_waiting.push_back(std::move(read.capture->capture));
        return m_waiting.size() < capturesPerPiece ? Result<void>() : flush();
    }

    Result<void> flush()
    {
        auto captures = std::exchange(m_waiting, {});
        return captures.empty() ? Result<void>() : m_destination.addCaptures(captures);
    }

    const FoundFiles& m_found;
    const Destination& m_destination;
    std::vector<Rejection>& m_rejected;
    std::vector<const FoundFile*> m_files;
    std::vector<Capture> m_waiting;
};

/// Errors of the session end the import; errors of one log are the log's own, and so is a log that another program
/// imports into the same session at this moment.
bool concernsOneLog(const Error& error, const FoundFile& file)
{
    return error.kind == ErrorKind::refused || (error.kind != ErrorKind::cancelled && error.path == file.path.string());
}

template <class T>
void moveTo(std::vector<T>& to, std::vector<T>& from)
{
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// A table that nothing was read from is worth a word where it looks like a log, or where it is all there is.
std::optional<Rejection> unknownTable(const FoundFile& file, const FoundFiles& found, const ColumnMap& columns)
{
    if (hasConfigName(file.relative) || isEventFileName(file.path.filename().string())) {
        return std::nullopt;
    }
    const auto table = guessFile(file.path);
    const auto advice = table ? adviseColumns(*table, columns) : std::nullopt;
    const bool say = advice && (advice->likely || found.files.size() == 1);
    return say ? std::optional(Rejection {file.relative, advice->text}) : std::nullopt;
}

Result<void> storeLogs(const Destination& destination, std::vector<Rejection>& rejected)
{
    auto refused = destination.storeLogs();
    if (!refused) {
        return tl::make_unexpected(refused.error());
    }
    for (auto& source : *refused) {
        const bool said =
            std::any_of(rejected.begin(), rejected.end(), [&](const Rejection& one) { return one.path == source; });
        if (!said) {
            rejected.push_back({std::move(source), "another program is importing this log; run the import again"});
        }
    }
    return {};
}

Result<void> importLogs(
    const FoundFiles& found, const Destination& destination, std::vector<Rejection>& rejected, const JobContext& job)
{
    ProgressMeter meter(job, "logs", "bytes");
    SeenLogs seen;
    for (const auto& file : found.files) {
        if (file.kind != FoundFile::Kind::log) {
            continue;
        }
        if (const auto same = seen.repeats(file)) {
            rejected.push_back({file.relative, "the same, byte for byte, as " + *same + ", which was read"});
            continue;
        }
        auto read = destination.readLog(file, meter);
        if (!read && concernsOneLog(read.error(), file)) {
            rejected.push_back(rejectionOf(file, read.error()));
        } else if (!read) {
            return tl::make_unexpected(read.error());
        } else if (!*read) {
            if (auto unknown = unknownTable(file, found, destination.columns)) {
                rejected.push_back(std::move(*unknown));
            }
        }
        if (meter.cancelled()) {
            auto kept = storeLogs(destination, rejected);
            return kept ? cancelled() : kept;
        }
    }
    return storeLogs(destination, rejected);
}

Result<std::vector<Rejection>> importFiles(FoundFiles& found, const Destination& destination, const JobContext& job)
{
    auto rejected = std::move(found.rejected);
    if (auto done = CaptureImport(found, destination, rejected).run(job); !done) {
        return tl::make_unexpected(done.error());
    }
    if (auto done = importLogs(found, destination, rejected, job); !done) {
        return tl::make_unexpected(done.error());
    }
    return rejected;
}

/// What the logs are read with from now on. What was judged of them as they were read before no longer holds.
Result<ColumnMap> keepColumns(Session& session, const std::optional<ColumnMap>& given)
{
    auto kept = columnsOf(session);
    if (!kept || !given || textOf(*given) == textOf(*kept)) {
        return kept;
    }
    return session.setColumns(textOf(*given)).and_then([&] { return session.setDiagnosis({}); }).map([&] {
        return *given;
    });
}

/// Where captures were when their run was imported before. One that was copied within the folder stays the file that it
/// was, or it would be another one, of another name, after every import.
class OldPlaces
{
public:
    OldPlaces(const FoundFiles& found, const std::vector<Capture>& captures)
    {
        std::unordered_set<std::string> there;
        for (const auto& file : found.files) {
            there.insert(file.path.string());
        }
        for (const auto& capture : captures) {
            auto path = std::filesystem::absolute(capture.path).lexically_normal().string();
            if (there.contains(path)) {
                m_paths.emplace(capture.identity, std::move(path));
            }
        }
    }

    bool holdsStill(const Capture& capture) const
    {
        const auto old = m_paths.find(capture.identity);
        if (old == m_paths.end() || old->second == capture.path) {
            return false;
        }
        const auto file = openCapture(old->second);
        return file && file->capture.identity == capture.identity;
    }

private:
    std::unordered_map<std::string, std::string> m_paths; ///< by identity
};

std::int64_t logBytes(const FoundFiles& found)
{
    std::int64_t sum = 0;
    for (const auto& file : found.files) {
        sum += file.kind == FoundFile::Kind::log ? static_cast<std::int64_t>(file.size) : 0;
    }
    return sum;
}

} // namespace

Result<RunData> readRun(const std::filesystem::path& path, const JobContext& job, const ColumnMap& columns)
{
    auto found = findFiles(path, job);
    if (!found) {
        return tl::make_unexpected(found.error());
    }
    RunData run;
    run.name = found->name;
    run.root = found->root;
    run.checkpoints = found->checkpoints;
    const auto total = logBytes(*found);
    std::int64_t done = 0;
    Destination destination;
    destination.columns = columns;
    destination.seenAgain = [](const Capture&) { return Result<void>(); };
    destination.addCaptures = [&](std::vector<Capture>& captures) -> Result<void> {
        moveTo(run.captures, captures);
        return {};
    };
    destination.readLog = [&](const FoundFile& file, ProgressMeter& meter) -> Result<bool> {
        auto contents = readLog(file.path, file.relative, 0, 0, job, columns);
        if (!contents) {
            return tl::make_unexpected(contents.error());
        }
        const bool hasSeries = !contents->series.empty();
        moveTo(run.series, contents->series);
        moveTo(run.events, contents->events);
        moveTo(run.checkpoints, contents->checkpoints);
        moveTo(run.settings, contents->settings);
        meter.advance(done += static_cast<std::int64_t>(file.size), total, file.relative);
        return hasSeries;
    };
    destination.storeLogs = [] { return Result<std::vector<std::string>>(std::vector<std::string>()); };
    auto rejected = importFiles(*found, destination, job);
    if (!rejected) {
        return tl::make_unexpected(rejected.error());
    }
    run.rejected = std::move(*rejected);
    nameCaptures(run.captures);
    nameEvents(run);
    return run;
}

Result<ColumnMap> columnsOf(const Session& session)
{
    return session.columns().and_then([](const std::string& text) { return columnMapFromText(text); });
}

Result<RunData> importRun(
    const std::filesystem::path& path, Session& session, const JobContext& job, const std::optional<ColumnMap>& columns)
{
    auto found = findFiles(path, job);
    if (!found) {
        return tl::make_unexpected(found.error());
    }
    auto kept = keepColumns(session, columns);
    if (!kept) {
        return tl::make_unexpected(kept.error());
    }
    auto before = session.setRun(found->name, found->root).and_then([&] { return session.summary(); });
    auto known = session.knownCaptures();
    if (!before || !known) {
        return before ? tl::make_unexpected(known.error()) : before;
    }
    const auto total = logBytes(*found);
    std::int64_t done = 0;
    LogQueue queue(session);
    Destination destination;
    destination.storeLogs = [&] { return queue.flush().map([&] { return queue.takeRefused(); }); };
    destination.known = std::move(*known);
    destination.columns = std::move(*kept);
    const OldPlaces places(*found, before->captures);
    destination.seenAgain = [&](const Capture& capture) {
        return places.holdsStill(capture) ? Result<void>()
                                          : session.knowsCapture(capture.identity, capture.path).map([](bool) {});
    };
    destination.addCaptures = [&](std::vector<Capture>& captures) { return session.addCaptures(captures); };
    destination.readLog = [&](const FoundFile& file, ProgressMeter& meter) {
        const auto advance = [&](std::int64_t offset) { meter.advance(done + offset, total, file.relative); };
        auto read = importLog(file, session, queue, before->series, destination.columns, advance, job.cancel);
        done += static_cast<std::int64_t>(file.size);
        return read;
    };
    const auto rejected = importFiles(*found, destination, job);
    if (!rejected) {
        return tl::make_unexpected(rejected.error());
    }
    return session.setRejections(*rejected)
        .and_then([&] { return session.setFoundCheckpoints(found->checkpoints); })
        .and_then([&] { return session.summary(); });
}

} // namespace nanscope
