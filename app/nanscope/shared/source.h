// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/nanscope/shared/terminal.h"
#include "core/model/fwd.h"
#include "core/replay/variants/catalogue.h"
#include "core/workflow/openrun.h"
#include "core/workflow/userfiles.h"

namespace nanscope {

/// What a PATH on the command line stands for: a session, or a folder or file read afresh.
using Source = workflow::OpenedRun;

ExitStatus statusOf(const Source& source);

/// Reads `path`; with a session named, the folder is imported into it and the session is what is returned. A path that
/// is a session is opened to write where the command was given something to keep in it, or names it as its session.
/// `columns` are for logs that are read now. Says every rejection. Fails where nothing is left to look at.
Result<Source> openSource(const std::filesystem::path& path, const std::string& session, Terminal& terminal,
    const std::optional<ingest::ColumnMap>& columns = std::nullopt, workflow::Access access = workflow::Access::read,
    workflow::Points points = workflow::Points::all);

/// Judges a run with what the user's files hold. Stores the diagnosis where results may be stored, lists the captures
/// that it could not read with the other files that were rejected, and says both, and which points were left out.
Result<Diagnosis> judge(Source& source, const workflow::UserFacts& facts, const workflow::UserFiles& files,
    diagnose::DiagnoseOptions& options, const JobContext& job, Terminal& terminal);

/// The one capture that `wanted` means: its name, its path, or the end of its path. Refused where that is more than
/// one.
Result<const Capture*> captureNamed(const RunData& run, const std::string& wanted);

/// Adds the variants that a session keeps; nothing where none is named. Says what is left out.
Result<void> takeVariantsFrom(const std::string& session, replay::Catalogue& catalogue, Terminal& terminal);

/// Adds the variants that these keep, where they are sessions that are there already: names of variants are among the
/// words of a command, which are looked at before anything is read.
Result<void> takeVariantsOf(const std::vector<std::string>& places, replay::Catalogue& catalogue, Terminal& terminal);

/// Keeps the user's own variants in the session of a source, where that may be written. Says what was dropped for it.
Result<void> keepVariantsIn(Source& source, const replay::Catalogue& catalogue, Terminal& terminal);

/// The captures a sweep replays: those named, "all", or those worth it.
Result<std::vector<const Capture*>> chosenCaptures(
    const RunData& run, const std::vector<std::string>& names, Terminal& terminal);

struct PlausibleVariants
{
    std::vector<std::string> names;
    std::vector<std::string> leftOut {}; ///< of them, as of diagnose::ElementFit
};

/// The variants that may have made this capture, else all. Replays for it take at most
/// diagnose::mostIdentifyingOperations: says before them how long that takes, and shows where they are.
Result<PlausibleVariants> plausibleVariants(
    const Capture& capture, const replay::Catalogue& catalogue, Terminal& terminal);

/// "a.pt: x, y and z may have run, too, and were not compared in full"; nothing is said where none was left out.
void sayLeftOut(const std::string& capture, const std::vector<std::string>& leftOut, Terminal& terminal);

} // namespace nanscope
