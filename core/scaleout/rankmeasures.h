// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// One measurement that every rank of a job makes on its own device: which of the devices is another than the rest?
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/scaleout/job.h"

namespace nanscope::scaleout {

/// What one rank has measured: what of it is compared, and its whole answer.
struct RankMeasure
{
    int rank = 0;
    int processes = 1; ///< that were started with it
    std::string node;
    std::string device;
    std::string engine;
    std::string hardware;
    std::string uuid; ///< of its GPU; empty where it is not known
    std::int64_t calls = 0; ///< that gave an output
    std::int64_t failed = 0; ///< that gave none
    std::int64_t differ = 0; ///< from the rank's own first
    std::int64_t nonFinite = 0;
    std::optional<std::int64_t> firstBad; ///< the first call whose output differs, else the first that is not finite
    std::string leg; ///< of a storm, in which that call was
    std::string output; ///< of the first call, as 128 bits in hex
    std::string sentence;
    std::string answer; ///< a nanscope.measure/1
};

/// A rank that most of the others speak against, or whose calls alone went wrong.
struct OddRank
{
    int rank = 0;
    std::vector<std::string> why;
};

struct RankComparison
{
    std::vector<OddRank> odd; ///< ascending
    std::string text; ///< one sentence
};

/// Of two that differ none is accused, and what happens on half of the ranks or more is no one machine's.
RankComparison compared(const std::vector<RankMeasure>& ranks);

struct GatheredMeasures
{
    std::vector<RankMeasure> ranks; ///< those that have their answer, ascending
    std::int64_t expected = 0;
    std::vector<int> missing;
    std::vector<Error> problems; ///< of ranks that are missing
    RankComparison comparison;
    bool begun = false; ///< a rank was there
};

/// `asked`: how many ranks there have to be; none where the ranks themselves know.
GatheredMeasures gatherMeasures(const Job& job, const std::filesystem::path& folder, std::optional<std::int64_t> asked);

/// What a part keeps of a rank: its answer, with where it was made.
std::string keptAnswer(const std::string& node, int processes, const std::string& answer);

} // namespace nanscope::scaleout
