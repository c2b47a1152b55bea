// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The session file: one SQLite database per run that holds what was imported, replayed and judged. The only room
// that speaks SQL. A session may be open in several processes at once; each write is one transaction of at most
// 50 ms, never held across a computation. One Session object belongs to one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/model/model.h"
#include "core/session/sessiontypes.h"

struct sqlite3;

namespace nanscope::session {

enum class OpenMode { create, readWrite, readOnly };

class Session
{
public:
    /// `create` makes the file where it is missing. Who may write migrates an older one, who may not reads it as it is;
    /// a newer one is refused with both versions named; a file that is not a session is refused.
    static Result<Session> open(const std::filesystem::path& path, OpenMode mode);

    /// Where the session of a folder lies by default: the user's data folder, keyed by the folder's real path.
    static std::filesystem::path defaultPath(const std::filesystem::path& source);

    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    ~Session();

    const std::filesystem::path& path() const;

    Result<void> setRun(const std::string& name, const std::string& root);
    /// The folder of its run, as summary() has it: another one means that another run's session took its place.
    Result<std::string> root() const;

    /// Identities of all captures that are stored.
    Result<std::unordered_set<std::string>> knownCaptures() const;
    /// True if a capture with this identity is stored already; its path is brought up to date then.
    Result<bool> knowsCapture(const std::string& identity, const std::string& path);
    /// Takes over what the sidecar of a known capture says by now; where it says something else than before, the stored
    /// diagnosis is forgotten.
    Result<void> takeSidecar(const Capture& capture);
    /// All or nothing, in one transaction. Ids are filled in. Captures come with the names of their files; what each is
    /// called from then on is what summary() says: where files are named alike, with as much of their folders as tells
    /// them apart. Those that were called by the file name alone are renamed, and what is stored of them with them.
    Result<void> addCaptures(std::vector<Capture>& captures);
    /// What the capture with this identity is called now. For a session that was opened to write.
    Result<std::optional<std::string>> captureName(const std::string& identity) const;
    /// Whether a capture is called so, or would be if no other had its file name.
    Result<bool> isCaptureName(const std::string& name) const;

    Result<std::optional<LogMark>> logMark(const std::string& source);
    /// Appends to what the source already has and moves its mark, in one transaction.
    Result<void> addLog(
        const std::string& source, const std::string& format, const LogMark& mark, const LogRecords& records);
    /// Many of them in one transaction, which is most of what a small one costs; all or none of them. Returns the
    /// sources that another program went on with meanwhile: nothing is stored of these.
    Result<std::vector<std::string>> addLogs(const std::vector<LogAddition>& additions);
    Result<std::vector<StoredLog>> logs() const;
    /// Keeps what a log gave before it was begun anew, under another name, which is returned: "(replaced) train.log" in
    /// the folder of the log, with a number where that is taken. Refused where another program went on since `seen`.
    Result<std::string> replaceLog(const std::string& source, const LogMark& seen);
    /// Keeps what is known of a replaced log, said and compared.
    Result<void> settleReplaced(const ReplacedLog& log);
    /// Logs whose files were renamed, all at once. A log that had a name which is taken now is kept as a replaced one.
    Result<void> moveLogs(const std::vector<LogMove>& moves);
    /// Forgets what a source gave: what is read again, with other columns, or what another source holds whole.
    Result<void> dropLog(const std::string& source);
    /// Which columns of logs hold what, in core/ingest's words; empty where none were named.
    Result<void> setColumns(const std::string& text);
    Result<std::string> columns() const;
    Result<void> setRejections(const std::vector<Rejection>& rejected);
    /// Those that lie in the folder, in place of the ones found before; what logs say of them came with addLog().
    Result<void> setFoundCheckpoints(const std::vector<Checkpoint>& found);
    /// What the found checkpoint of this path holds. Outlives imports; its stamp says
    /// whether it still holds.
    Result<void> setCheckpointContents(const std::string& path, const CheckpointContents& contents);

    /// A cell of the same capture, variant, precision, device, lowering, epsilon and environment is replaced. Its deep
    /// gauges are taken over where the new one has none and its other gauges are equal to the last bit.
    Result<void> addCell(Cell& cell);
    /// Keeps cell.deep with the stored cell that addCell() would replace, and returns that one with its gauges; nothing
    /// where there is none.
    Result<std::optional<Cell>> addDeepGauges(const Cell& cell);
    /// Without op traces.
    Result<std::vector<Cell>> cells() const;
    /// Id of the stored cell that addCell() would replace with this one.
    Result<std::optional<std::int64_t>> findCell(const Cell& cell) const;
    Result<std::vector<OpTrace>> opTraces(std::int64_t cellId) const;

    /// Definitions of the user's own variants, as core/replay writes them. None of them is known to be one.
    Result<std::vector<StoredVariant>> variants() const;
    /// In place of the one of this name. Unless that computed the same, cells that were swept under the name are
    /// dropped: their variant would not be known any more. Returns how many.
    Result<std::int64_t> setVariant(const StoredVariant& variant, bool computesTheSame);

    /// JSON of the last diagnosis, as core/report writes it; empty when there is none.
    Result<void> setDiagnosis(const std::string& json);
    Result<std::string> diagnosis() const;

    /// JSON of what the owner of the run saw, as core/report writes it; empty when there is none. Outlives judgements.
    Result<void> setObservations(const std::string& json);
    Result<std::string> observations() const;

    /// Everything but the points of the series. The path of a capture is where it may be opened; empty where the
    /// session names a place outside its own folder and the one it was imported from.
    Result<RunData> summary() const;
    Result<RunData> load() const;
    Result<std::vector<Point>> points(std::int64_t seriesId) const;

    /// Visits the pieces of a series that reach into a range of steps, in order, until `visit` says false. They come
    /// with their points where these are few; else only those at the ends of the range do and, as far as `mostPoints`
    /// goes, those with values that are not finite. Memory: one piece.
    Result<void> visitRange(const SeriesRange& range, const std::function<bool(SeriesPiece)>& visit) const;

    /// Runs one read-only statement of the user's.
    Result<QueryTable> query(const std::string& sql, const CancelToken& cancel = {}) const;

private:
    struct Impl;
    explicit Session(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// A file that is named like a session, or is an SQLite database.
bool isSessionFile(const std::filesystem::path& path);

/// 64-bit FNV-1a as 16 hexadecimal digits, equal on every machine: what marks and default file names are keyed by.
std::string hashText(std::string_view text);

/// The session a run was read from, opened again; an error where it is gone or another run's took its place. `run` is
/// hashText() of the root() it had.
Result<Session> openSessionOfRun(const std::filesystem::path& path, OpenMode mode, const std::string& run);

} // namespace nanscope::session
