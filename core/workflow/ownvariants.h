// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/replay/variants/variant.h"
#include "core/rpc/requests.h"
#include "core/session/session.h"
#include "core/workflow/userfiles.h"

namespace nanscope::workflow {

/// Makes the variants of these files known; what this made known before and is in none of them is forgotten, unless the
/// open run's session keeps it. In the order of the files.
std::vector<UserFile> useVariantFiles(const std::vector<std::string>& paths);

/// Makes known what the session of the open run keeps, before the files of that run are used: what neither holds is
/// forgotten. One sentence for each variant that cannot be had.
std::vector<std::string> useKeptVariants(
    const std::vector<replay::Variant>& kept, const std::vector<std::string>& paths);

/// useKeptVariants() with what the session of the open run keeps, if it has one, then the user's files. What is wrong
/// with a variant that the session keeps stands with the files of the run that could not be read.
std::vector<UserFile> useVariantsOf(const session::Session* session, const UserFiles& files, RunData& run);

/// readUserFiles(), where variants that the session there keeps by now go first: a file cannot give such a name to
/// another.
UserFacts readUserFilesBeside(const rpc::KeptIn& place, const UserFiles& files);

/// What useKeptVariants() was called with last, by name.
std::vector<std::string> keptVariantNames();

} // namespace nanscope::workflow
