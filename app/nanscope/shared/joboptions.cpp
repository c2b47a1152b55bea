// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/joboptions.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/words.h"
#include "core/base/jsonanswer.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/platform/platform.h"
#include "core/rpc/client.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

constexpr int gpusOfANode = 8;

int processesOfNode(const JobOptions& options, const std::string& device)
{
    return options.processes.value_or(device == "cuda" ? gpusOfANode : 1);
}

std::string partsTable(const char* counted, const std::vector<scaleout::PartSummary>& parts)
{
    constexpr auto right = Table::Align::right;
    Table table({{"rank", right}, {"device"}, {"blocks", right}, {counted, right}, {"busy", right}, {"hardware"}});
    for (const auto& part : parts) {
        table.add({std::to_string(part.start.rank), printable(part.start.device),
            countText(static_cast<std::int64_t>(part.blocks.size())), countText(part.cells), durationText(part.seconds),
            printable(part.start.hardware)});
    }
    return table.text(0);
}

/// Each reason once: a thousand processes may have the same.
std::set<std::string> problemsOf(const std::vector<scaleout::PartSummary>& parts, const std::vector<Error>& unread)
{
    std::set<std::string> problems;
    for (const auto& part : parts) {
        if (!part.problem.empty()) {
            problems.insert(part.problem);
        }
    }
    for (const auto& error : unread) {
        problems.insert(sentence(error));
    }
    return problems;
}

nlohmann::ordered_json partJson(const char* counted, const scaleout::PartSummary& part)
{
    return {{"rank", part.start.rank}, {"device", part.start.device}, {"engine", part.start.engine},
        {"hardware", part.start.hardware}, {"blocks", part.blocks.size()}, {counted, part.cells},
        {"seconds", part.seconds}};
}

} // namespace

void JobOptions::add(Options& options)
{
    options.add("--job", folder, "Share the work among processes that meet in this folder; run again to gather it");
    options.add("--nodes", nodes, "Machines of the job; default: 1").within(1, 100000).shownAs("N");
    options.add("--processes", processes, "Processes on each of them; default: one for each GPU, else 1")
        .within(1, 1024)
        .shownAs("N");
}

Result<void> JobOptions::check() const
{
    return folder.empty()
        ? failure(ErrorKind::usage, "--nodes and --processes need --job FOLDER, which all of them can write to")
        : Result<void>();
}

std::int64_t JobOptions::processesOn(const std::string& device) const
{
    return std::int64_t {nodes.value_or(1)} * processesOfNode(*this, device);
}

Result<std::string> jobDevice(const std::vector<std::string>& devices)
{
    if (devices.size() == 1 && (devices.front() == "cpu" || devices.front() == "cuda")) {
        return devices.front();
    }
    return failure(
        ErrorKind::usage, "a job runs on --device cpu, or on --device cuda: one GPU for each of its processes");
}

JobCommands commandsOf(const JobOptions& options, const scaleout::Job& job)
{
    std::error_code ignored;
    const auto folder = platform::shellQuoted(fs::absolute(options.folder, ignored).string());
    const auto join = fmt::format("{} join {}", platform::shellQuoted(rpc::workerProgram().string()), folder);
    auto commands = commandsOf(options, job, join);
    commands.onCpu = job.device == "cuda" ? join + " --device cpu" : std::string();
    return commands;
}

JobCommands commandsOf(const JobOptions& options, const scaleout::Job& job, const std::string& work)
{
    const auto nodes = options.nodes.value_or(1);
    const bool gpus = job.device == "cuda";
    const auto each =
        gpus && !options.processes ? std::string("gpu") : std::to_string(processesOfNode(options, job.device));
    const auto meet = nodes == 1
        ? std::string("--standalone")
        : fmt::format("--nnodes {} --rdzv-backend c10d --rdzv-endpoint HOST:29400 --rdzv-id {}", nodes, job.id);
    return {fmt::format("torchrun {} --nproc-per-node {} --max-restarts 3 --no-python {}", meet, each, work),
        fmt::format("srun --nodes {} --ntasks-per-node {} {}--kill-on-bad-exit=0 {}", nodes,
            processesOfNode(options, job.device), gpus ? "--gpus-per-task 1 " : "", work)};
}

std::string partsText(const char* counted, const std::vector<scaleout::PartSummary>& parts,
    const std::vector<Error>& unread, bool missing, const JobCommands& commands)
{
    auto text = parts.empty() ? std::string() : "\n" + partsTable(counted, parts);
    const auto problems = problemsOf(parts, unread);
    for (const auto& problem : problems) {
        text += printable(asSentence(problem)) + "\n";
    }
    if (missing && !problems.empty() && !commands.onCpu.empty()) {
        text += fmt::format("What a GPU fails at, the CPU of one machine does:\n  {}\n", printable(commands.onCpu));
    }
    if (missing && parts.empty()) {
        text += "No process has begun yet; once one has, the status is 3 until nothing is missing.\n";
    }
    if (missing) {
        text += fmt::format("\nStart its processes with torchrun, on each node, or with Slurm; the nodes need the same "
                            "folders. Then run this command again.\n  {}\n  {}\n",
            printable(commands.torchrun), printable(commands.srun));
    }
    return text;
}

nlohmann::ordered_json jobJson(const scaleout::Job& job, const char* counted, std::int64_t missing,
    const std::vector<scaleout::PartSummary>& parts, const std::vector<Error>& unread, const JobCommands& commands)
{
    return {{"id", job.id}, {counted, scaleout::cellCount(job)}, {"missing", missing}, {"torchrun", commands.torchrun},
        {"srun", commands.srun},
        {"parts", jsonArray(parts, [counted](const auto& part) { return partJson(counted, part); })},
        {"problems", problemsOf(parts, unread)}};
}

} // namespace nanscope
