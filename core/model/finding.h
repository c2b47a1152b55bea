// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the logs and the packages of a run give besides the verdicts on its captures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/facts.h"

namespace nanscope {

enum class FindingState {
    fired,
    clear, ///< looked for, with data that would show it, and not there
    notCheckable, ///< this data cannot show it
    silenced, ///< fired, and the user does not want to hear of it
};

std::string_view name(FindingState state);

/// A card and what became of it on the evidence of the run.
struct Finding
{
    std::string id;
    FindingState state = FindingState::fired;
    std::string title;
    std::string severity; ///< "info", "warning", "error"
    std::optional<std::int64_t> step;
    std::optional<int> rank;
    struct Evidence
    {
        std::string file;
        std::int64_t line = 0;
        std::string text;
    };
    std::vector<Evidence> evidence;
    std::vector<std::string> advice;
    std::string reason {}; ///< one sentence: what was seen, or what is missing to see it
    std::string threshold {}; ///< the rule with its number and where that comes from
    std::string confidence {}; ///< "low", "medium", "high"; empty where it did not fire
};

enum class CheckpointStatus {
    safe, ///< written before the first sign of trouble, and nothing speaks against it
    suspect,
    poisoned, ///< written with values that were already bad
    missing, ///< removed, or not complete
    unverified, ///< nothing was logged between it and the fault that would show
};

std::string_view name(CheckpointStatus status);

struct CheckpointAdvice
{
    std::int64_t step = 0;
    CheckpointStatus status = CheckpointStatus::unverified;
    std::string reason;
    std::string path;
    std::vector<EvidenceLine> proof;
    bool weightsAlone = false; ///< the state of its optimizer is not to be loaded
    std::int64_t places = 1; ///< complete checkpoints of this step in the folder
};

/// Where to go back to, and what that costs.
struct Rollback
{
    std::optional<std::int64_t> recommended; ///< step of the checkpoint
    std::int64_t fault = 0; ///< step from which on the run was in trouble; a checkpoint of it is too late
    std::string reason;
    std::string tonight; ///< one line: the setting, the checkpoint, the cost
    std::string resume {}; ///< how trainers that name their checkpoints so are made to go on from it; empty: not known
    std::vector<CheckpointAdvice> checkpoints; ///< newest first
};

enum class AdvisoryStatus { confirmed, suspected, fixed };

std::string_view name(AdvisoryStatus status);
std::optional<AdvisoryStatus> parseAdvisoryStatus(std::string_view name);

/// A published problem of a package that may concern this run. Never evidence: a line of its own.
struct AdvisoryMatch
{
    std::string id;
    AdvisoryStatus status = AdvisoryStatus::suspected;
    bool certain = false; ///< every fact it asks for is known and matches; false: `missing` says which are not known
    std::string title;
    std::string text;
    std::string link;
    std::string matched; ///< the facts that match: "quack 0.4.1, compute capability 12.0"
    std::string missing; ///< the facts that would tell
    std::string dated; ///< day it was looked up, ISO 8601
};

} // namespace nanscope
