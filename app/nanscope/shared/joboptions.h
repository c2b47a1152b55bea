// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/nanscope/shared/options.h"
#include "core/scaleout/job.h"
#include "core/scaleout/partlog.h"

namespace nanscope {

/// Work that many processes share, on one machine or on many (core/scaleout).
struct JobOptions
{
    std::optional<int> nodes;
    std::optional<int> processes; ///< on each node
    std::string folder;

    void add(Options& options);
    bool wanted() const { return nodes || processes || !folder.empty(); }
    /// Fails where no folder is named.
    Result<void> check() const;
    std::int64_t processesOn(const std::string& device) const; ///< of all nodes
};

/// "cpu", or "cuda" where each process has a GPU of its own; which one follows from its local rank.
Result<std::string> jobDevice(const std::vector<std::string>& devices);

/// What starts the processes of a job.
struct JobCommands
{
    std::string torchrun; ///< to be run on each node
    std::string srun;
    std::string onCpu {}; ///< does on one machine's CPU what a GPU of the job fails at; empty where it has none
};

/// Each process runs `work`, a line for a shell.
JobCommands commandsOf(const JobOptions& options, const scaleout::Job& job, const std::string& work);

/// Each process is `nanscope-worker join`.
JobCommands commandsOf(const JobOptions& options, const scaleout::Job& job);

/// Who did it, what went wrong, and while something is missing the commands that go on with it. `counted` is what the
/// job counts: "cells" or "captures".
std::string partsText(const char* counted, const std::vector<scaleout::PartSummary>& parts,
    const std::vector<Error>& unread, bool missing, const JobCommands& commands);

nlohmann::ordered_json jobJson(const scaleout::Job& job, const char* counted, std::int64_t missing,
    const std::vector<scaleout::PartSummary>& parts, const std::vector<Error>& unread, const JobCommands& commands);

} // namespace nanscope
