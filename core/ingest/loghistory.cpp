// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/loghistory.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/ingest/log/logsource.h"
#include "core/ingest/stores/mlflow.h"
#include "core/ingest/text/textsource.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t headBytes = 4096;
constexpr std::int64_t tailBytes = 256;

std::string bytesOf(const platform::FileReader& reader, std::int64_t from, std::int64_t to)
{
    std::string bytes(static_cast<std::size_t>(to - from), '\0');
    const auto read = reader.readAt(static_cast<std::uint64_t>(from), std::as_writable_bytes(std::span(bytes)));
    return read ? bytes : std::string();
}

std::int64_t tailOf(std::int64_t offset)
{
    return std::max<std::int64_t>(0, offset - tailBytes);
}

/// "device:inode:hash" of a file, "hash:state" of a folder, each with ":columns" behind it where there are some.
struct Identity
{
    std::string_view file;
    std::string_view contents;
    std::string_view columns;
};

Identity partsOf(std::string_view text)
{
    const auto next = [&text] {
        const auto end = std::min(text.find(':'), text.size());
        const auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        return part;
    };
    const auto whole = text;
    const auto first = next();
    const auto second = next();
    if (second == "whole" || second == "growing") {
        return {first, first, text};
    }
    const auto file = whole.substr(0, std::min(whole.size(), first.size() + 1 + second.size()));
    const auto contents = next();
    return {file, contents, text};
}

/// How a file begins, read once for all the logs it may be.
class Beginning
{
public:
    explicit Beginning(const FoundFile& file)
        : m_path(file.path)
    {
        if (std::error_code error; fs::is_directory(file.path, error)) {
            m_folder = mlflowState(file.path).identity;
        } else if (auto reader = platform::FileReader::open(file.path)) {
            m_reader = std::move(*reader);
            m_size = static_cast<std::int64_t>(m_reader->size());
            m_head = bytesOf(*m_reader, 0, std::min(m_size, headBytes));
            m_headHash = session::hashText(m_head);
            m_file = fmt::format("{}:{}", m_reader->stamp().device, m_reader->stamp().inode);
        }
    }

    /// What was taken of this log.
    bool holds(const session::LogMark& mark) const
    {
        const auto own = partsOf(mark.identity);
        if (!m_folder.empty()) {
            return partsOf(m_folder).contents == own.contents;
        }
        if (!m_reader || mark.offset == 0) {
            return false;
        }
        const bool plain = mark.offset <= m_size && headHash(mark) == own.contents
            && session::hashText(bytesOf(*m_reader, tailOf(mark.offset), mark.offset)) == mark.lastLineHash;
        return plain || holdsPacked(mark, own.contents);
    }

    bool isFile(const session::LogMark& mark) const { return !m_file.empty() && partsOf(mark.identity).file == m_file; }

private:
    std::string headHash(const session::LogMark& mark) const
    {
        const auto size = static_cast<std::size_t>(std::min(mark.offset, headBytes));
        return size == m_head.size() ? m_headHash : session::hashText(std::string_view(m_head).substr(0, size));
    }

    /// Rotated logs are often packed.
    bool holdsPacked(const session::LogMark& mark, std::string_view contents) const
    {
        auto text = openText(m_path);
        if (!text || (*text)->seekable()) {
            return false;
        }
        std::string taken(static_cast<std::size_t>(std::min(mark.offset, headBytes)), '\0');
        if ((*text)->read(taken) < taken.size() || session::hashText(taken) != contents) {
            return false;
        }
        for (auto at = static_cast<std::int64_t>(taken.size()); at < mark.offset;) {
            std::string more(static_cast<std::size_t>(std::min(mark.offset - at, std::int64_t {1} << 16)), '\0');
            if ((*text)->read(more) < more.size()) {
                return false;
            }
            at += static_cast<std::int64_t>(more.size());
            taken.erase(0, taken.size() - std::min<std::size_t>(taken.size(), tailBytes));
            taken += more;
        }
        const auto tail = taken.size() - std::min<std::size_t>(taken.size(), tailBytes);
        return session::hashText(std::string_view(taken).substr(tail)) == mark.lastLineHash;
    }

    fs::path m_path;
    std::optional<platform::FileReader> m_reader;
    std::int64_t m_size = 0;
    std::string m_head;
    std::string m_headHash;
    std::string m_file;
    std::string m_folder; ///< identity of the log that a folder is
};

std::string folderOf(const std::string& relative)
{
    return relative.substr(0, relative.rfind('/') + 1);
}

const std::string& nameOf(const session::StoredLog& log)
{
    return log.replaced.empty() ? log.source : log.replaced;
}

/// A place that names no rank contradicts none.
bool mayBe(const FoundFile& file, const session::StoredLog& log)
{
    const auto place = placeOf(file.relative);
    return !place.rank || place == placeOf(nameOf(log));
}

/// The one that the most was taken of, more than `atLeast`; of several the one that had the inode, else one of the same
/// folder.
std::vector<session::StoredLog>::iterator bestFor(
    const FoundFile& file, std::vector<session::StoredLog>& homeless, std::int64_t atLeast)
{
    auto best = homeless.end();
    if (homeless.empty() || file.size == 0) {
        return best;
    }
    Beginning beginning(file);
    const auto rank = [&](const session::StoredLog& log) {
        return std::tuple(log.mark.offset, beginning.isFile(log.mark), folderOf(file.relative) == folderOf(nameOf(log)),
            log.replaced.empty());
    };
    for (auto log = homeless.begin(); log != homeless.end(); ++log) {
        const bool better = log->mark.offset > atLeast && (best == homeless.end() || rank(*log) > rank(*best));
        if (better && mayBe(file, *log) && beginning.holds(log->mark)) {
            best = log;
        }
    }
    return best;
}

/// Takes those whose files hold what was taken of them out of `logs`, whether they are imported now or not; how much
/// that was.
std::map<std::string, std::int64_t> takeHeld(const FoundFiles& found, std::vector<session::StoredLog>& logs)
{
    std::map<std::string, const FoundFile*> files;
    for (const auto& file : found.files) {
        files.emplace(file.relative, &file);
    }
    std::map<std::string, std::int64_t> held;
    std::erase_if(logs, [&](const session::StoredLog& log) {
        if (!log.replaced.empty()) {
            return false;
        }
        const auto file = files.find(log.source);
        const bool holds = file != files.end() ? stillHolds(*file->second, log.mark)
                                               : stillHolds({fs::path(found.root) / log.source, log.source}, log.mark);
        return holds && held.emplace(log.source, log.mark.offset).second;
    });
    return held;
}

using Values = std::map<std::pair<std::string, std::optional<int>>, std::vector<const Series*>>;

Values byName(const LogRecords& records)
{
    Values values;
    for (const auto& series : records.series) {
        values[{series.name, series.rank}].push_back(&series);
    }
    return values;
}

std::int64_t countOf(const std::vector<const Series*>& list)
{
    std::int64_t sum = 0;
    for (const auto* series : list) {
        sum += series->pointCount + series->missing;
    }
    return sum;
}

/// What is told as often or oftener in `now` than in `before`.
template <class Key, class T, class KeyOf>
bool holdsAll(const std::vector<T>& now, const std::vector<T>& before, const KeyOf& keyOf)
{
    std::map<Key, std::int64_t> counts;
    for (const auto& one : now) {
        const auto [key, count] = keyOf(one);
        counts[key] += count;
    }
    return std::all_of(before.begin(), before.end(), [&](const T& one) {
        const auto [key, count] = keyOf(one);
        return (counts[key] -= count) >= 0;
    });
}

/// But for what was damaged then, which is of the file as it was.
bool holdsWords(const LogRecords& now, LogRecords before)
{
    std::erase_if(before.events, [](const Event& event) { return event.kind == EventKind::damaged; });
    using EventKey = std::tuple<EventKind, std::optional<int>, std::optional<std::int64_t>, std::string, std::string>;
    using CheckpointKey = std::tuple<std::int64_t, CheckpointFact, std::string, std::string>;
    using SettingKey = std::tuple<std::string, std::string, std::optional<int>>;
    return holdsAll<EventKey>(now.events, before.events, [](const Event& e) {
        return std::pair(EventKey {e.kind, e.rank, e.step, e.text, e.detail}, e.copies);
    }) && holdsAll<CheckpointKey>(now.checkpoints, before.checkpoints, [](const Checkpoint& c) {
        return std::pair(CheckpointKey {c.step, c.fact, c.path, c.problem}, std::int64_t {1});
    }) && holdsAll<SettingKey>(now.settings, before.settings, [](const Setting& s) {
        return std::pair(SettingKey {s.name, s.value, s.rank}, std::int64_t {1});
    });
}

bool mayHold(const LogRecords& now, const LogRecords& before)
{
    const auto values = byName(now);
    const auto old = byName(before);
    return std::all_of(old.begin(), old.end(), [&](const auto& one) {
        const auto found = values.find(one.first);
        return found != values.end() && countOf(found->second) >= countOf(one.second);
    });
}

using Told = std::tuple<std::int64_t, PointState, std::uint64_t>;

Result<std::vector<Told>> toldBy(const session::Session& session, const std::vector<const Series*>& list)
{
    std::vector<Told> told;
    for (const auto* series : list) {
        const auto points = TRY(session.points(series->id));
        std::transform(points.begin(), points.end(), std::back_inserter(told), [](const Point& point) {
            const bool number = point.state == PointState::finite;
            return Told {point.step, point.state, number ? std::bit_cast<std::uint64_t>(point.value) : 0};
        });
    }
    std::sort(told.begin(), told.end());
    return told;
}

/// False, too, where it is cancelled.
Result<bool> holdsPoints(
    const session::Session& session, const LogRecords& now, const LogRecords& before, const CancelToken& cancel)
{
    const auto values = byName(now);
    for (const auto& [name, list] : byName(before)) {
        if (cancel.cancelled()) {
            return false;
        }
        const auto had = TRY(toldBy(session, list));
        const auto has = TRY(toldBy(session, values.at(name)));
        if (!std::includes(has.begin(), has.end(), had.begin(), had.end())) {
            return false;
        }
    }
    return true;
}

template <class T>
void addOf(const std::vector<T>& from, const std::string& source, std::vector<T>& to)
{
    std::copy_if(from.begin(), from.end(), std::back_inserter(to), [&](const T& one) { return one.source == source; });
}

LogRecords recordsOf(const RunData& run, const std::string& source)
{
    LogRecords records;
    addOf(run.series, source, records.series);
    addOf(run.events, source, records.events);
    addOf(run.checkpoints, source, records.checkpoints);
    addOf(run.settings, source, records.settings);
    return records;
}

/// Whether the log that took this one's place has every record of it. The points are compared once, when it can hold as
/// many: those of a long log were read at every import else, and what is appended later changes none of them.
Result<bool> isToldAgain(
    const session::Session& session, ReplacedLog& log, const RunData& now, const CancelToken& cancel)
{
    const auto successor = recordsOf(now, log.path);
    if (log.compared || !mayHold(successor, log.records) || !holdsWords(successor, log.records)) {
        return false;
    }
    auto holds = holdsPoints(session, successor, log.records, cancel);
    log.compared = holds && !cancel.cancelled();
    return holds;
}

std::string countText(std::int64_t count, const char* noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Rejection begunAnew(const ReplacedLog& log)
{
    const auto points = pointsOf(log.records);
    const auto text =
        points > 0 ? countText(points, "point") : countText(std::int64_t(log.records.events.size()), "event");
    return {log.path,
        fmt::format("the log was begun anew; what was imported of it before is kept as {} ({})", log.source, text)};
}

} // namespace

std::string readWith(const ColumnMap& columns)
{
    return columns.empty() ? std::string() : ':' + session::hashText(textOf(columns));
}

session::LogMark markAt(const platform::FileReader& reader, std::int64_t offset, const ColumnMap& columns)
{
    const auto hash = [&](std::int64_t from, std::int64_t to) {
        const auto bytes = bytesOf(reader, from, to);
        return bytes.empty() && to > from ? std::string() : session::hashText(bytes);
    };
    const auto& stamp = reader.stamp();
    session::LogMark mark;
    mark.offset = offset;
    mark.identity =
        fmt::format("{}:{}:{}{}", stamp.device, stamp.inode, hash(0, std::min(offset, headBytes)), readWith(columns));
    mark.lastLineHash = hash(tailOf(offset), offset);
    return mark;
}

bool sameContents(const session::LogMark& a, const session::LogMark& b)
{
    return a.offset == b.offset && partsOf(a.identity).contents == partsOf(b.identity).contents
        && a.lastLineHash == b.lastLineHash;
}

bool sameColumns(const session::LogMark& mark, const ColumnMap& columns)
{
    const auto with = readWith(columns);
    return partsOf(mark.identity).columns == std::string_view(with).substr(with.empty() ? 0 : 1);
}

bool stillHolds(const FoundFile& file, const session::LogMark& mark)
{
    return Beginning(file).holds(mark);
}

Result<FollowedLogs> followRenamed(const FoundFiles& found, session::Session& session, const CancelToken& cancel)
{
    auto logs = TRY(session.logs());
    const auto held = takeHeld(found, logs);
    FollowedLogs followed;
    std::transform(held.begin(), held.end(), std::inserter(followed.held, followed.held.end()),
        [](const auto& log) { return log.first; });
    std::vector<session::LogMove> moves;
    for (const auto& file : found.files) {
        if (cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "cancelled while looking for renamed logs", found.root);
        }
        const auto own = held.find(file.relative);
        const auto log =
            file.kind == FoundFile::Kind::log ? bestFor(file, logs, own == held.end() ? 0 : own->second) : logs.end();
        if (log != logs.end()) {
            moves.push_back({log->source, file.relative});
            followed.held.insert(file.relative);
            logs.erase(log);
        }
    }
    followed.moved = !moves.empty();
    auto moved = followed.moved ? session.moveLogs(moves) : Result<void>();
    return moved.map([&] { return std::move(followed); });
}

Result<void> settleReplaced(session::Session& session, RunData& now, const CancelToken& cancel)
{
    std::vector<ReplacedLog> kept;
    for (auto& log : now.replaced) {
        const auto before = std::pair(log.said, log.compared);
        const auto covered = TRY(isToldAgain(session, log, now, cancel));
        if (covered) {
            TRY(session.dropLog(log.source));
            continue;
        }
        if (!std::exchange(log.said, true)) {
            now.notes.push_back(begunAnew(log));
        }
        if (before != std::pair(log.said, log.compared)) {
            TRY(session.settleReplaced(log));
        }
        kept.push_back(std::move(log));
    }
    now.replaced = std::move(kept);
    return {};
}

} // namespace nanscope::ingest
