// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "core/base/guarded.h"
#include "core/base/try.h"
#include "core/ingest/ingest.h"
#include "core/ingest/log/logsource.h"
#include "core/ingest/log/tableguess.h"
#include "core/ingest/loghistory.h"
#include "core/ingest/logimport.h"
#include "core/ingest/logscanner.h"
#include "core/ingest/progressmeter.h"
#include "core/ingest/readahead.h"
#include "core/ingest/settings/configfile.h"
#include "core/ingest/stores/tensorboard.h"
#include "core/ingest/text/consoletext.h"
#include "core/model/capturenames.h"
#include "core/platform/platform.h"
#include "core/session/session.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::ingest {

namespace fs = std::filesystem;

namespace {

/// A log that lies in a folder twice is one log: read twice, every step would have happened twice.
class SeenLogs
{
public:
    /// Which of the logs seen before this one repeats byte for byte, if any; else it is one of them now. Files whose
    /// places name different ranks or attempts never repeat each other, nor do files that are not named like logs.
    /// Where the comparison is cancelled it repeats none.
    std::optional<std::string> repeats(const FoundFile& file, const CancelToken& cancel);

private:
    std::unordered_map<std::string, std::vector<FoundFile>> m_alike; ///< by size, place and both ends
};

constexpr std::size_t blockSize = 256 * 1024;
constexpr std::uint64_t endBytes = 4096;
constexpr std::size_t mostAlike = 64; ///< that differ between their ends only

bool sameBytes(const std::filesystem::path& a, const std::filesystem::path& b, const CancelToken& cancel)
{
    const auto first = platform::FileReader::open(a);
    const auto second = platform::FileReader::open(b);
    if (!first || !second || first->size() != second->size()) {
        return false;
    }
    std::vector<std::byte> left(blockSize);
    std::vector<std::byte> right(blockSize);
    const auto written = [&](std::uint64_t at) { return std::min(first->dataFrom(at), second->dataFrom(at)); };
    for (auto at = written(0); at < first->size(); at = written(at + blockSize)) {
        if (cancel.cancelled()) {
            return false;
        }
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(blockSize, first->size() - at));
        if (!first->readAt(at, std::span(left).first(size)) || !second->readAt(at, std::span(right).first(size))
            || !std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size), right.begin())) {
            return false;
        }
    }
    return true;
}

/// What two files must share before they are compared: thousands of ranks write logs of one size.
std::string keyOf(const FoundFile& file)
{
    const auto place = placeOf(file.relative);
    auto key = fmt::format("{} {} {} ", file.size, place.rank.value_or(-1), place.attempt);
    const auto reader = platform::FileReader::open(file.path);
    for (const auto at : {std::uint64_t {0}, file.size - std::min(file.size, endBytes)}) {
        std::string end(static_cast<std::size_t>(std::min(file.size, endBytes)), '\0');
        if (reader && reader->readAt(at, std::as_writable_bytes(std::span(end)))) {
            key += session::hashText(end);
        }
    }
    return key;
}

std::optional<std::string> SeenLogs::repeats(const FoundFile& file, const CancelToken& cancel)
{
    // Checkpoints hold the same vocabulary many times; only what is named like a log is held against others.
    if (file.size == 0 || !(isNamedLikeALog(file.relative) || isEventFileName(file.relative))) {
        return std::nullopt;
    }
    auto& others = m_alike[keyOf(file)];
    const auto same = std::find_if(others.begin(), others.end(),
        [&](const FoundFile& other) { return other.path != file.path && sameBytes(other.path, file.path, cancel); });
    if (same != others.end()) {
        return same->relative;
    }
    if (others.size() < mostAlike) {
        others.push_back(file);
    }
    return std::nullopt;
}

/// Few enough that storing them is one short transaction, many enough that it is one at all.
constexpr std::size_t capturesPerPiece = 256;
/// How many files may be read before the first of them is stored.
constexpr std::size_t filesAhead = 512;

/// Where an import leaves what it reads.
struct Destination
{
    std::unordered_set<std::string> known; ///< identities that need no second scan
    std::set<std::string> held; ///< logs that still begin with what was taken of them
    std::function<std::optional<std::string>(const Capture&)> elsewhere; ///< another file that holds the same capture
    std::function<Result<void>(const Capture&)> seenAgain;
    std::function<Result<void>(std::vector<Capture>&)> addCaptures;
    std::function<void()> capturesStored; ///< all of them
    std::function<Result<LogRead>(const FoundFile&, ProgressMeter&)> readLog;
    std::function<Result<void>(const FoundFile&)> isCopy; ///< what was taken of it before is taken of another log, too
    std::function<Result<std::vector<std::string>>()>
        storeLogs; ///< what still waits; returns the logs that were refused
    ColumnMap columns;
};

Result<void> cancelled()
{
    return failure(ErrorKind::cancelled, "cancelled; what was imported so far is kept");
}

/// What reading has to say of files.
struct Said
{
    std::vector<Rejection> rejected;
    std::vector<Rejection> notes;
    std::vector<Rejection> forNow; ///< rejected at this moment, and no fact of the run that a session may keep
    std::vector<Rejection>
        damaged {}; ///< of the rejected ones, files of tensors that are cut off or contradict themselves
    std::set<std::string> captures {}; ///< files that are captures, or parts of one
    std::vector<Checkpoint> checkpoints {}; ///< files whose names do not say that they are some
};

Rejection rejectionOf(const FoundFile& file, const Error& error)
{
    return {file.relative, error.what};
}

bool holdsTensor(const tensorfile::PickleValue& value)
{
    if (const auto* list = std::get_if<tensorfile::PickleList>(&value.value)) {
        return std::any_of(list->begin(), list->end(), holdsTensor);
    }
    if (const auto* dict = std::get_if<tensorfile::PickleDict>(&value.value)) {
        return std::any_of(dict->begin(), dict->end(), [](const auto& entry) { return holdsTensor(entry.second); });
    }
    return value.tensor() != nullptr;
}

bool liesInCheckpoint(const FoundFile& file, const std::vector<Checkpoint>& found)
{
    return std::ranges::any_of(
        found, [&](const Checkpoint& checkpoint) { return file.relative.starts_with(checkpoint.path + '/'); });
}

/// The step of a checkpoint that a script of one's own saved: a number beside a dict of tensors. That of a file named
/// "checkpoint_15.pt" may be an epoch.
std::optional<std::int64_t> stepOfCheckpoint(const tensorfile::PickleValue& root)
{
    const auto* dict = std::get_if<tensorfile::PickleDict>(&root.value);
    const auto holdsWeights = [](const tensorfile::PickleEntry& entry) {
        return std::holds_alternative<tensorfile::PickleDict>(entry.second.value) && holdsTensor(entry.second);
    };
    if (dict == nullptr || std::ranges::none_of(*dict, holdsWeights)) {
        return std::nullopt;
    }
    for (const auto* key : {"step", "global_step", "iteration", "iter_num"}) {
        const auto* value = root.find(key);
        const auto* step = value != nullptr ? std::get_if<std::int64_t>(&value->value) : nullptr;
        if (step != nullptr && *step >= 0) {
            return *step;
        }
    }
    return std::nullopt;
}

/// A file of tensors that is no capture.
struct OtherTensors
{
    std::optional<std::int64_t> step {}; ///< of a checkpoint
};

/// A checkpoint, for example, is nothing to complain about. What holds nothing but objects we refuse to rebuild is,
/// unless trainers write such files: "training_args.bin".
std::optional<OtherTensors> otherTensorsIn(const FoundFile& file, const std::vector<Checkpoint>& checkpoints)
{
    // Its dump was left behind, or is being written: the sidecar has its name first.
    if (tensorfile::looksLikeSidecar(file.path)) {
        return OtherTensors {};
    }
    const auto opened = tensorfile::openTensorFile(file.path);
    const bool inCheckpoint = liesInCheckpoint(file, checkpoints);
    if (!opened || !(opened->opaque.empty() || holdsTensor(opened->root) || inCheckpoint)) {
        return std::nullopt;
    }
    const bool found =
        inCheckpoint || std::ranges::find(checkpoints, file.relative, &Checkpoint::path) != checkpoints.end();
    return OtherTensors {found ? std::nullopt : stepOfCheckpoint(opened->root)};
}

/// What a thread found in one file.
struct ReadFile
{
    Result<tensorfile::CaptureFile> capture;
    bool known = false;
    bool reject = false;
    bool isCapture = false; ///< also one that could not be read to its end
    std::optional<std::int64_t> checkpointStep {};
};

class CaptureImport
{
public:
    CaptureImport(const FoundFiles& found, const Destination& destination, Said& said)
        : m_found(found)
        , m_destination(destination)
        , m_said(said)
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
        ReadAhead<ReadFile> reader(
            m_files.size(), threads, filesAhead, [&](std::size_t i) { return read(i, job.cancel); });
        for (std::size_t i = 0; i < m_files.size(); ++i) {
            auto next = reader.next();
            // What is cancelled while it is read is no fact of its file.
            if (meter.cancelled()) {
                auto kept = flush();
                return kept ? cancelled() : kept;
            }
            TRY(add(*m_files[i], std::move(next)));
            meter.advance(
                static_cast<std::int64_t>(i) + 1, static_cast<std::int64_t>(m_files.size()), m_files[i]->relative);
        }
        return flush();
    }

private:
    // Runs on several threads at once: touches nothing that changes.
    ReadFile read(std::size_t index, const CancelToken& cancel) const
    {
        const JobContext quiet {[](const Progress&) {}, cancel};
        const auto& file = *m_files[index];
        bool isCapture = false;
        bool known = false;
        const auto isKnown = [&](const Capture& headers) {
            isCapture = true;
            known = m_destination.known.contains(headers.identity);
            return known;
        };
        auto capture =
            guarded([&] { return tensorfile::readCaptureOrCounts(file.path, isKnown, quiet); }, file.path.string());
        const bool maybeOther =
            !capture && !isCapture && capture.error().kind == ErrorKind::unsupported && m_found.files.size() > 1;
        const auto other = maybeOther ? otherTensorsIn(file, m_found.checkpoints) : std::nullopt;
        const bool reject = !capture && !other;
        isCapture = isCapture || capture;
        return {std::move(capture), known, reject, isCapture, other ? other->step : std::nullopt};
    }

    Result<void> add(const FoundFile& file, ReadFile read)
    {
        if (read.isCapture) {
            m_said.captures.insert(file.relative);
        }
        if (read.checkpointStep) {
            m_said.checkpoints.push_back(
                {*read.checkpointStep, CheckpointFact::found, file.relative, "", {}, 0, {}, file.path.string()});
        }
        if (!read.capture) {
            if (read.reject) {
                const auto kind = read.capture.error().kind;
                m_said.rejected.push_back(rejectionOf(file, read.capture.error()));
                if (kind == ErrorKind::truncated || kind == ErrorKind::corrupt) {
                    m_said.damaged.push_back(m_said.rejected.back());
                }
            }
            return {};
        }
        const auto& capture = read.capture->capture;
        if (capture.path != file.path.string() && m_files.size() > 1) {
            m_said.notes.push_back({file.relative, "read as the output of " + capture.file});
            return {};
        }
        if (const auto first = m_destination.elsewhere(capture)) {
            m_said.notes.push_back({file.relative, "the same capture as " + *first});
            return {};
        }
        if (read.known) {
            return m_destination.seenAgain(capture);
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
    Said& m_said;
    std::vector<const FoundFile*> m_files;
    std::vector<Capture> m_waiting;
};

/// Errors of the session end the import; errors of one log are the log's own, and so is a log that another program
/// imports into the same session at this moment.
bool concernsOneLog(const Error& error, const FoundFile& file)
{
    return error.kind == ErrorKind::busy || (error.kind != ErrorKind::cancelled && error.path == file.path.string());
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

/// Each by itself where they are few: hundreds of ranks may print nothing but greetings.
void noteUnknown(const std::vector<std::string>& logs, Said& said)
{
    constexpr std::size_t few = 3;
    constexpr auto remedy = "lines of name=value pairs and tables are read with --map, whatever their names";
    if (logs.size() > few) {
        said.notes.push_back({logs.front(),
            fmt::format(
                "this log and {} more hold no number and no event that is known; {}", logs.size() - 1, remedy)});
        return;
    }
    for (const auto& log : logs) {
        said.notes.push_back(
            {log, fmt::format("no line of this log holds a number or an event that is known; {}", remedy)});
    }
}

Result<void> storeLogs(const Destination& destination, Said& said)
{
    auto refused = TRY(destination.storeLogs());
    for (auto& source : refused) {
        const auto isAbout = [&](const Rejection& one) { return one.path == source; };
        if (std::none_of(said.rejected.begin(), said.rejected.end(), isAbout)
            && std::none_of(said.forNow.begin(), said.forNow.end(), isAbout)) {
            said.forNow.push_back({std::move(source), "another program is importing this log; run the import again"});
        }
    }
    return {};
}

/// Those that were read before come first: of a log and a copy of it, the copy is the second.
std::vector<const FoundFile*> logsOf(const FoundFiles& found, const std::set<std::string>& held)
{
    std::vector<const FoundFile*> logs;
    for (const auto& file : found.files) {
        if (file.kind == FoundFile::Kind::log) {
            logs.push_back(&file);
        }
    }
    std::stable_partition(
        logs.begin(), logs.end(), [&](const FoundFile* file) { return held.contains(file->relative); });
    return logs;
}

/// Logs in their order, but for those that hold so much text that the others would wait for them.
class LogsImport
{
public:
    LogsImport(const FoundFiles& found, const Destination& destination, Said& said, const JobContext& job)
        : m_found(found)
        , m_destination(destination)
        , m_said(said)
        , m_job(job)
        , m_meter(job, "logs", "bytes")
    { }

    Result<void> run()
    {
        for (const auto* file : logsOf(m_found, m_destination.held)) {
            TRY(read(*file));
        }
        std::ranges::stable_sort(m_putOff, {}, &FoundFile::size);
        for (auto& file : m_putOff) {
            file.last = true;
            TRY(read(file));
        }
        // Where another log tells the run, one that says nothing is as it should be: a launcher's stream of warnings.
        if (!m_gaveSeries) {
            noteUnknown(m_unknown, m_said);
        }
        return storeLogs(m_destination, m_said);
    }

private:
    Result<void> read(const FoundFile& file)
    {
        if (const auto same = m_seen.repeats(file, m_job.cancel)) {
            m_said.notes.push_back({file.relative, "the same, byte for byte, as " + *same + ", which was read"});
            return m_destination.isCopy(file);
        }
        auto read = guarded([&] { return m_destination.readLog(file, m_meter); }, file.path.string());
        if (!read && concernsOneLog(read.error(), file)) {
            auto& list = read.error().kind == ErrorKind::busy ? m_said.forNow : m_said.rejected;
            list.push_back(rejectionOf(file, read.error()));
        } else if (!read) {
            return tl::make_unexpected(read.error());
        } else if (*read == LogRead::putOff) {
            m_putOff.push_back(file);
        } else if (*read == LogRead::series) {
            m_gaveSeries = true;
        } else {
            noteNothing(file, *read);
        }
        if (m_meter.cancelled()) {
            auto kept = storeLogs(m_destination, m_said);
            return kept ? cancelled() : kept;
        }
        return {};
    }

    void noteNothing(const FoundFile& file, LogRead read)
    {
        if (auto table = unknownTable(file, m_found, m_destination.columns)) {
            m_said.rejected.push_back(std::move(*table));
        } else if (read == LogRead::unknown && isNamedLikeAConsole(file.relative)) {
            m_unknown.push_back(file.relative);
        }
    }

    const FoundFiles& m_found;
    const Destination& m_destination;
    Said& m_said;
    const JobContext& m_job;
    ProgressMeter m_meter;
    std::vector<std::string> m_unknown; ///< logs of which no line is known
    bool m_gaveSeries = false; ///< a log of the run did, now or at an earlier import
    SeenLogs m_seen;
    std::vector<FoundFile> m_putOff;
};

Result<Said> importFiles(FoundFiles& found, const Destination& destination, const JobContext& job)
{
    Said said {std::move(found.rejected), {}, {}};
    TRY(CaptureImport(found, destination, said).run(job));
    if (destination.capturesStored) {
        destination.capturesStored();
    }
    TRY(LogsImport(found, destination, said, job).run());
    return said;
}

/// What the logs are read with from now on. What was judged of them as they were read before no longer holds.
Result<ColumnMap> keepColumns(session::Session& session, const std::optional<ColumnMap>& given)
{
    auto kept = columnsOf(session);
    if (!kept || !given || textOf(*given) == textOf(*kept)) {
        return kept;
    }
    return session.setColumns(textOf(*given)).and_then([&] { return session.setDiagnosis({}); }).map([&] {
        return *given;
    });
}

/// Where captures lie. Of files that hold the same one, the first keeps its name and place as long as it is there: a
/// copy is no second capture, and does not become the first.
class CapturePlaces
{
public:
    CapturePlaces(fs::path root, const std::vector<Capture>& captures)
        : m_root(std::move(root))
    {
        for (const auto& capture : captures) {
            m_paths.emplace(capture.identity, realPlace(capture.path));
        }
    }

    /// Unless another file holds it, a capture lies where it is from now on.
    std::optional<std::string> elsewhere(const Capture& capture)
    {
        const auto path = realPlace(capture.path);
        const auto [place, isNew] = m_paths.try_emplace(capture.identity, path);
        if (isNew || place->second == path) {
            return std::nullopt;
        }
        if (!tensorfile::isThere({place->second.string(), capture.identity})) {
            place->second = path;
            return std::nullopt;
        }
        const auto relative = place->second.lexically_relative(realPlace(m_root / "x").parent_path());
        const bool outside = relative.empty() || *relative.begin() == "..";
        return readable((outside ? place->second : relative).string(), mostName);
    }

private:
    static constexpr std::size_t mostName = 4096;

    /// A file may be reached by several paths through linked folders.
    fs::path realPlace(const fs::path& path)
    {
        const auto folder = path.parent_path();
        if (folder != m_folder || m_realFolder.empty()) {
            std::error_code error;
            m_folder = folder;
            m_realFolder = fs::weakly_canonical(fs::absolute(folder, error), error);
        }
        return m_realFolder / path.filename();
    }

    fs::path m_root;
    fs::path m_folder; ///< asked for last
    fs::path m_realFolder;
    std::unordered_map<std::string, fs::path> m_paths; ///< by identity
};

bool isOneFolder(const fs::path& a, const fs::path& b)
{
    std::error_code error;
    return fs::equivalent(a, b, error)
        || fs::absolute(a, error).lexically_normal() == fs::absolute(b, error).lexically_normal();
}

/// Whether anything that was imported from `root` lies in `folder` at the same place.
bool holdsSomeOf(
    const RunData& run, const std::vector<session::StoredLog>& logs, const fs::path& root, const fs::path& folder)
{
    const bool log = std::any_of(logs.begin(), logs.end(), [&](const session::StoredLog& one) {
        return one.replaced.empty() && stillHolds({folder / one.source, one.source}, one.mark);
    });
    return log || std::any_of(run.captures.begin(), run.captures.end(), [&](const Capture& capture) {
        const auto relative = fs::path(capture.path).lexically_relative(root);
        return tensorfile::isThere({(folder / relative).string(), capture.identity});
    });
}

/// A session belongs to one folder. One that was moved is known by what it holds and the old place no longer does.
Result<void> requireOwnFolder(const session::Session& session, const fs::path& folder)
{
    const auto root = session.root();
    if (!root || root->empty() || isOneFolder(*root, folder)) {
        return root.map([](const std::string&) {});
    }
    const auto run = TRY(session.summary());
    const auto logs = TRY(session.logs());
    const bool empty = run.captures.empty() && logs.empty();
    if (empty || (!holdsSomeOf(run, logs, *root, *root) && holdsSomeOf(run, logs, *root, folder))) {
        return {};
    }
    std::error_code ignored;
    return failure(ErrorKind::refused,
        "the session holds what was imported from " + fs::absolute(*root, ignored).string()
            + "; import this folder into another session",
        folder.string());
}

std::int64_t logBytes(const FoundFiles& found)
{
    std::int64_t sum = 0;
    for (const auto& file : found.files) {
        sum += file.kind == FoundFile::Kind::log ? static_cast<std::int64_t>(file.size) : 0;
    }
    return sum;
}

} // namespace

/// Points of 32 bytes each, before those that the size of a file justifies: packed, a value may take no room at all.
constexpr std::size_t alwaysInMemory = 2'000'000;

Event tooMuch(const std::string& source, std::int64_t line)
{
    Event event;
    event.kind = EventKind::damaged;
    event.text =
        "the log holds more than is kept in memory of a file of its size; import the folder (nanscope import) to "
        "have all of it";
    event.source = source;
    event.line = line;
    return event;
}

/// What of the logs that are there could not be read, each log once.
void rejectDamaged(const LogRecords& records, const FoundFiles& found, std::vector<Rejection>& rejected)
{
    std::set<std::string_view> there;
    for (const auto& file : found.files) {
        there.insert(file.relative);
    }
    for (const auto& event : records.events) {
        if (event.kind == EventKind::damaged && there.erase(event.source) > 0) {
            rejected.push_back({event.source, event.text});
        }
    }
}

/// Names alone do not tell a dump by hand from a checkpoint.
void forgetCaptures(std::vector<Checkpoint>& found, const std::set<std::string>& captures)
{
    std::erase_if(found, [&](const Checkpoint& one) { return captures.contains(one.path); });
}

/// A checkpoint of which a file is damaged is not complete.
void noteDamage(std::vector<Checkpoint>& found, const std::vector<Rejection>& damaged)
{
    constexpr std::array kinds {".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".distcp"};
    for (const auto& file : damaged) {
        if (std::ranges::none_of(kinds, [&](const char* kind) { return file.path.ends_with(kind); })) {
            continue;
        }
        for (auto& one : found) {
            const bool itself = file.path == one.path;
            if (one.problem.empty() && (itself || file.path.starts_with(one.path + '/'))) {
                one.problem = itself ? file.reason : file.path.substr(one.path.size() + 1) + ": " + file.reason;
            }
        }
    }
}

namespace {

/// Adds a piece of a log to what the pieces before it gave: `from` is where the series of this log begin.
void joinSeries(std::vector<Series>& all, std::size_t from, std::vector<Series>& piece)
{
    for (auto& series : piece) {
        const auto isSame = [&](const Series& one) {
            return one.segment == series.segment && one.rank == series.rank && one.name == series.name;
        };
        const auto known = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(from), all.end(), isSame);
        if (known == all.end()) {
            all.push_back(std::move(series));
            continue;
        }
        known->points.insert(known->points.end(), series.points.begin(), series.points.end());
        known->pointCount += series.pointCount;
        known->lastStep = series.lastStep;
        known->nan += series.nan;
        known->posInf += series.posInf;
        known->negInf += series.negInf;
        known->missing += series.missing;
    }
}

/// Into `run`, piece by piece where somebody keeps what is held of it small.
Result<LogRead> readWhole(const FoundFile& file, LogSource& log, RunData& run, const KeepSmall& keepSmall,
    const std::function<void(std::int64_t)>& advance, const CancelToken& cancel)
{
    const auto most = keepSmall ? alwaysInMemory : alwaysInMemory + file.size;
    const auto from = run.series.size();
    bool unknown = file.size > 0;
    do {
        auto contents = log.next(most, cancel);
        if (cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "cancelled while reading a log", file.path.string());
        }
        if (!keepSmall && !log.finished()) {
            contents.events.push_back(tooMuch(file.relative, contents.lines));
        }
        unknown = unknown && contents.format.empty() && isEmpty(contents);
        joinSeries(run.series, from, contents.series);
        moveTo(run.events, contents.events);
        moveTo(run.checkpoints, contents.checkpoints);
        moveTo(run.settings, contents.settings);
        if (keepSmall) {
            keepSmall(run);
        }
        advance(contents.bytes);
    } while (keepSmall && !log.finished());
    return run.series.size() > from ? LogRead::series : unknown ? LogRead::unknown : LogRead::nothing;
}

} // namespace

Result<RunData> readRun(
    const std::filesystem::path& path, const JobContext& job, const ColumnMap& columns, const KeepSmall& keepSmall)
{
    auto found = TRY(findFiles(path, job));
    RunData run;
    run.name = found.name;
    run.root = found.root;
    run.checkpoints = found.checkpoints;
    const auto total = logBytes(found);
    std::int64_t done = 0;
    Destination destination;
    destination.columns = columns;
    CapturePlaces places(found.root, {});
    destination.elsewhere = [&](const Capture& capture) { return places.elsewhere(capture); };
    destination.seenAgain = [](const Capture&) { return Result<void>(); };
    destination.addCaptures = [&](std::vector<Capture>& captures) -> Result<void> {
        moveTo(run.captures, captures);
        return {};
    };
    destination.readLog = [&](const FoundFile& file, ProgressMeter& meter) -> Result<LogRead> {
        if (!file.last && holdsMoreThan(file.path, muchText, job.cancel)) {
            return LogRead::putOff;
        }
        auto log = TRY(openLog(file.path, file.relative, 0, 0, {}, columns));
        const auto advance = [&](std::int64_t offset) { meter.advance(done + offset, total, file.relative); };
        auto read = readWhole(file, *log, run, keepSmall, advance, job.cancel);
        done += static_cast<std::int64_t>(file.size);
        return read;
    };
    destination.isCopy = [](const FoundFile&) { return Result<void>(); };
    destination.storeLogs = [] { return Result<std::vector<std::string>>(std::vector<std::string>()); };
    auto said = TRY(importFiles(found, destination, job));
    rejectDamaged(run, found, said.rejected);
    moveTo(run.checkpoints, said.checkpoints);
    forgetCaptures(run.checkpoints, said.captures);
    noteDamage(run.checkpoints, said.damaged);
    run.rejected = std::move(said.rejected);
    run.notes = std::move(said.notes);
    nameCaptures(run.captures);
    nameEvents(run);
    return run;
}

Result<ColumnMap> columnsOf(const session::Session& session)
{
    return session.columns().and_then([](const std::string& text) { return columnMapFromText(text); });
}

Result<std::vector<std::string>> silentLogs(const fs::path& path, const RunData& run, const JobContext& job)
{
    std::set<std::string_view> told;
    const auto addTo = [&](const auto& list, auto place) {
        std::ranges::transform(list, std::inserter(told, told.end()), place);
    };
    addTo(run.series, &Series::source);
    addTo(run.events, &Event::source);
    addTo(run.checkpoints, &Checkpoint::source);
    addTo(run.settings, &Setting::source);
    addTo(run.rejected, &Rejection::path);
    addTo(run.notes, &Rejection::path);
    return findFiles(path, job).map([&](const FoundFiles& found) {
        std::vector<std::string> silent;
        for (const auto& file : found.files) {
            if (file.kind == FoundFile::Kind::log && isNamedLikeALog(file.relative) && !told.contains(file.relative)) {
                silent.push_back(file.relative);
            }
        }
        return silent;
    });
}

Result<session::Session> openSessionFor(const fs::path& path, const fs::path& session)
{
    if (auto kept = session::Session::open(session, session::OpenMode::readOnly)) {
        TRY(requireOwnFolder(*kept, runFolderOf(path)));
    }
    // What is wrong with one that cannot even be read is said here, too.
    return session::Session::open(session, session::OpenMode::create);
}

Result<RunData> importRun(const std::filesystem::path& path, session::Session& session, const JobContext& job,
    const std::optional<ColumnMap>& columns, const std::function<void(std::int64_t)>& capturesStored)
{
    auto found = TRY(findFiles(path, job));
    auto kept = TRY(requireOwnFolder(session, found.root).and_then([&] { return keepColumns(session, columns); }));
    TRY(session.setRun(found.name, found.root));
    const auto before = TRY(session.summary());
    auto known = TRY(session.knownCaptures());
    auto followed = TRY(followRenamed(found, session, job.cancel));
    const auto stored = TRY(followed.moved ? session.summary() : Result<RunData>(before));
    const auto total = logBytes(found);
    std::int64_t done = 0;
    LogQueue queue(session);
    Destination destination;
    destination.capturesStored = [&] {
        if (capturesStored) {
            capturesStored(total);
        }
    };
    destination.storeLogs = [&] { return queue.flush().map([&] { return queue.takeRefused(); }); };
    destination.known = std::move(known);
    destination.columns = std::move(kept);
    destination.held = std::move(followed.held);
    CapturePlaces places(found.root, before.captures);
    destination.elsewhere = [&](const Capture& capture) { return places.elsewhere(capture); };
    destination.seenAgain = [&](const Capture& capture) {
        const auto known = session.knowsCapture(capture.identity, capture.path);
        return known ? session.takeSidecar(capture) : Result<void>(tl::make_unexpected(known.error()));
    };
    destination.addCaptures = [&](std::vector<Capture>& captures) { return session.addCaptures(captures); };
    // What it gave and no longer holds stays.
    destination.isCopy = [&](const FoundFile& file) {
        return destination.held.contains(file.relative) ? session.dropLog(file.relative) : Result<void>();
    };
    destination.readLog = [&](const FoundFile& file, ProgressMeter& meter) {
        const auto advance = [&](std::int64_t offset) { meter.advance(done + offset, total, file.relative); };
        auto read = importLog(file, session, queue, stored.series, destination.columns, advance, job.cancel);
        done += read && *read == LogRead::putOff ? 0 : static_cast<std::int64_t>(file.size);
        return read;
    };
    auto said = TRY(importFiles(found, destination, job));
    moveTo(found.checkpoints, said.checkpoints);
    forgetCaptures(found.checkpoints, said.captures);
    noteDamage(found.checkpoints, said.damaged);
    auto now = TRY(session.setFoundCheckpoints(found.checkpoints).and_then([&] { return session.summary(); }));
    rejectDamaged(now, found, said.rejected);
    std::ranges::stable_sort(said.rejected, {}, &Rejection::path);
    TRY(session.setRejections(said.rejected));
    now.rejected = std::move(said.rejected);
    now.notes = std::move(said.notes);
    moveTo(now.rejected, said.forNow);
    return settleReplaced(session, now, job.cancel).map([&] { return std::move(now); });
}

} // namespace nanscope::ingest
