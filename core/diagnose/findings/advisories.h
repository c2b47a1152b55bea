// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Published problems of packages, as data: resources/advisories.json, which is built in, and files of the user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/versions.h"
#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// ">=256"
struct NumberBound
{
    BoundSign sign;
    std::int64_t value = 0;

    bool holds(std::int64_t number) const { return sign.takes(number <=> value); }
};

struct AffectedPackage
{
    std::string name; ///< as packageName() has it
    std::vector<VersionRange> versions; ///< any of them; empty: which versions is not known
    bool everyVersion = false;
};

/// What a call must look like; what is not given is not asked.
struct CallRule
{
    std::vector<std::string> variants; ///< any of them
    std::vector<DType> dtypes; ///< of the input, any of them
    std::optional<NumberBound> smallerSide;
    std::optional<NumberBound> batch;
    std::optional<NumberBound> elements; ///< of the whole tensor
    std::optional<bool> square;
    bool zeroMatrix = false; ///< one matrix of the batch is all zero

    bool asksShape() const { return smallerSide || batch || elements || square; }
    bool empty() const { return variants.empty() && dtypes.empty() && !asksShape() && !zeroMatrix; }
};

struct Advisory
{
    std::string id;
    AdvisoryStatus status {};
    std::string title;
    std::string text;
    std::string link;
    std::string dated; ///< day it was looked up, ISO 8601
    std::vector<AffectedPackage> packages; ///< all of them
    std::vector<VersionRange> capabilities; ///< compute capability of a GPU of the run, any of them
    CallRule call;
};

/// Those that come with the program.
const std::vector<Advisory>& builtInAdvisories();

/// Refused with one sentence where anything is unknown, of the wrong kind or too long: a rule that is misread would
/// match what it should not.
Result<std::vector<Advisory>> parseAdvisories(std::string_view json, const replay::Catalogue& catalogue);
Result<std::vector<Advisory>> readAdvisories(const std::filesystem::path& file, const replay::Catalogue& catalogue);

/// `more` after `known`; what has an id of `known` takes its place.
std::vector<Advisory> joinAdvisories(std::vector<Advisory> known, std::vector<Advisory> more);

// Which advisories may concern a run, by what is known of it. A match is a line of its own and never evidence: that a
// version is affected says nothing about what happened in this call.

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
