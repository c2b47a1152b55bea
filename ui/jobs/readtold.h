// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the user says of a run in files, beside the variants of their own that its session keeps.
#pragma once

#include <string>
#include <vector>

#include "core/session/session.h"
#include "ui/jobs/runloader.h"

namespace nanscope {

/// Variants of the user's own are known to the whole program: from here on those of this run, not of the one before.
/// What is wrong with one that the session keeps stands with the files of the run that could not be read.
std::vector<KnownFile> useOwn(const Session* session, const KnownFiles& told, RunData& run);

/// knownOf(), where variants that the session there keeps by now go first: a file cannot give such a name to another.
KnownFacts knownBeside(const KeptIn& place, const KnownFiles& told);

/// Another one where a verdict may be another for what was told or is kept; empty where there is nothing of either. A
/// hash, because a session may be mailed.
std::string toldStamp(const KnownFiles& told, const Session& session);
/// By now; empty without a session.
std::string toldStamp(const LoadedRun& run);

} // namespace nanscope
