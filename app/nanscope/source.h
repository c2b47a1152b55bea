// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/nanscope/terminal.h"
#include "core/ingest/columnmap.h"
#include "core/session/session.h"

namespace nanscope {

/// What a PATH on the command line stands for: a session, or a folder or file read afresh.
struct Source
{
    RunData run;
    std::optional<Session> session;
    bool writable = false; ///< results may be stored in the session

    int status() const { return run.rejected.empty() ? exitDone : exitRejected; }
};

bool isSessionFile(const std::filesystem::path& path);

/// Reads `path`; with a session named, the folder is imported into it and the session is what is returned.
/// `columns` are for logs that are read now. Says every rejection. Fails where nothing is left to look at.
Result<Source> openSource(const std::filesystem::path& path, const std::string& session, Terminal& terminal,
    const std::optional<ColumnMap>& columns = std::nullopt);

} // namespace nanscope
