// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Captures in the session's database, and what each of them is called.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/session/database.h"

namespace nanscope::session {

/// Keeps the names of a session's captures apart (core/model/capturenames.h), inside a transaction of the caller's.
/// A capture that is renamed takes along what was stored under its old name.
class CaptureNaming
{
public:
    /// `folder`: real path of the one the session lies in, which kept paths are relative to.
    CaptureNaming(sqlite3* db, std::filesystem::path folder);

    struct Known
    {
        std::int64_t id = 0;
        std::string file;
        std::string name;
    };
    std::optional<Known> find(const std::string& identity);

    struct Place
    {
        std::string file;
        std::string path; ///< as it is kept
    };
    /// To be said after a capture was stored or moved. `before`: what was known of it until then. Another capture that
    /// lay at this place was written over: it is kept, but its path leads to no other's contents from then on.
    void stored(std::int64_t id, const Place& place, const std::optional<Known>& before);
    /// Names them, once all are said.
    void settle();

    /// For a session of before there were such names. What was stored under a name that several captures had belongs to
    /// none of them now: whose it was is not recorded.
    void settleOld();

private:
    using NamesBefore = std::map<std::int64_t, std::optional<std::string>>; ///< by id; none: it is new

    void settle(const std::string& file);
    void replaceOld();
    void setName(std::int64_t id, const std::string& file, const std::string& name);
    void rename(const std::string& from, const std::string& to);
    void renameObserved(const std::string& from, const std::string& to);
    void forgetDiagnosis();

    sqlite3* m_db;
    std::filesystem::path m_folder;
    Statement m_find;
    Statement m_alike;
    Statement m_replace;
    std::set<std::string> m_files; ///< names of files that captures got
    NamesBefore m_before; ///< of those captures
};

/// Each with its name, or that of its file where the session is older than names are.
std::vector<Capture> readCaptures(sqlite3* db);

struct PlacedCapture
{
    const Capture* capture = nullptr;
    std::string path; ///< as it is kept
};
/// Returns their ids. `folder` is as in CaptureNaming; in a transaction of the caller's, like all that follows.
std::vector<std::int64_t> storeCaptures(
    sqlite3* db, const std::filesystem::path& folder, const std::vector<PlacedCapture>& captures);

/// The file of a stored capture lies elsewhere now, maybe under another name.
void moveCapture(
    sqlite3* db, const std::filesystem::path& folder, const std::string& identity, const CaptureNaming::Place& to);

/// Such is the path of a capture whose file was written over: there is no file.
bool isReplacedPath(const std::string& path);

/// Session::takeSidecar() of a capture that need not be there.
void storeSidecar(sqlite3* db, const Capture& capture);

} // namespace nanscope::session
