// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which advisories may concern a run, by what is known of it. A match is a line of its own and never evidence: that a
// version is affected says nothing about what happened in this call.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/advisories.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// A Newton-Schulz call that went wrong, or any where none did.
struct CallFacts
{
    MatrixShape shape;
    DType dtype = DType::float32;
    std::vector<std::string> variants; ///< what may have run; empty: anything
    bool zeroMatrix = false;
};

/// Who says that a version is installed: ranks, and files that say it for no rank.
struct Saying
{
    std::set<int> ranks;
    std::set<std::string> files;
};

using Versions = std::map<std::string, Saying>; ///< as written; ranks may differ

struct RunFacts
{
    std::map<std::string, Versions> packages; ///< by packageName()
    bool allPackages = false; ///< what is not listed is not installed
    std::vector<cards::Capability> gpus;
    std::vector<CallFacts> calls;
    bool damaged = false; ///< a call of the run went wrong
};

/// From the settings that logs, configurations and `nanscope env --json` hold, and from the captures.
RunFacts factsOf(const RunData& run, std::span<const CaptureVerdict> verdicts);

/// Those that match, then, where a call went wrong, those of which something matches and something is not known.
std::vector<AdvisoryMatch> matchAdvisories(std::span<const Advisory> advisories, const RunFacts& facts);

} // namespace nanscope::diagnose
