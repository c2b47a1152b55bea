// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What captures are called in answers: every name belongs to one capture of the run, or a replay of one could be taken
// for the other's (docs/decisions/0009).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/run.h"

namespace nanscope {

struct CaptureName
{
    std::string name;
    std::string path; ///< with '/'
};

/// Of captures whose files are named alike: gives those whose name could mean another one the shortest end of their
/// path that means them alone, and a number where there is no such end. A name that means its own capture stays, and
/// none is handed on. The result does not depend on the order in which captures came.
void tellApart(std::vector<CaptureName>& sameFile);

/// For captures that were just read and are called by their file names.
void nameCaptures(std::vector<Capture>& captures);

/// Lets each line that names a dump name the capture it means: of several whose files are named alike the one whose
/// folders it writes, else the one of its rank. A line that does not tell goes on naming none of them.
void nameEvents(RunData& run);

/// The captures that `wanted` can stand for: a name, a path, or the end of one from a folder on.
std::vector<const Capture*> capturesCalled(const RunData& run, std::string_view wanted);

} // namespace nanscope
