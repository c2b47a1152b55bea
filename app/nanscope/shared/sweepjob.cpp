// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/sweepjob.h"

#include <filesystem>
#include <set>
#include <utility>

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

/// Each process has a GPU of its own, or the CPU; which GPU follows from its local rank.
Result<std::string> deviceOf(const replay::SweepRequest& request)
{
    if (request.devices.size() == 1 && (request.devices.front() == "cpu" || request.devices.front() == "cuda")) {
        return request.devices.front();
    }
    return failure(
        ErrorKind::usage, "a job runs on --device cpu, or on --device cuda: one GPU for each of its processes");
}

int processesOf(const SweepJobOptions& options, const std::string& device)
{
    return options.processes.value_or(device == "cuda" ? gpusOfANode : 1);
}

Result<std::vector<scaleout::JobCapture>> jobCaptures(
    const replay::SweepRequest& request, const std::vector<const Capture*>& captures, const CancelToken& cancel)
{
    std::vector<scaleout::JobCapture> result;
    for (const auto* capture : captures) {
        const auto shape = matrixShape(capture->input.shape);
        scaleout::JobCapture one {capture->file, shape.batch * shape.elements(), request};
        std::error_code ignored;
        one.request.captures = {CaptureRef(fs::absolute(capture->path, ignored).string(), capture->identity)};
        if (request.variants.empty()) {
            auto variants = plausibleVariants(*capture, request.catalogue, cancel);
            if (!variants) {
                return tl::make_unexpected(variants.error());
            }
            one.request.variants = std::move(*variants);
        }
        result.push_back(std::move(one));
    }
    return result;
}

void writeCommands(SweepJob& job, const SweepJobOptions& options)
{
    const auto nodes = options.nodes.value_or(1);
    const bool gpus = job.job.device == "cuda";
    std::error_code ignored;
    const auto folder = platform::shellQuoted(fs::absolute(options.folder, ignored).string());
    const auto work = fmt::format("{} join {}", platform::shellQuoted(rpc::workerProgram().string()), folder);
    const auto each =
        gpus && !options.processes ? std::string("gpu") : std::to_string(processesOf(options, job.job.device));
    const auto meet = nodes == 1
        ? std::string("--standalone")
        : fmt::format("--nnodes {} --rdzv-backend c10d --rdzv-endpoint HOST:29400 --rdzv-id {}", nodes, job.job.id);
    job.torchrun = fmt::format("torchrun {} --nproc-per-node {} --max-restarts 3 --no-python {}", meet, each, work);
    job.srun = fmt::format("srun --nodes {} --ntasks-per-node {} {}--kill-on-bad-exit=0 {}", nodes,
        processesOf(options, job.job.device), gpus ? "--gpus-per-task 1 " : "", work);
}

std::string partsTable(const std::vector<scaleout::PartSummary>& parts)
{
    constexpr auto right = Table::Align::right;
    Table table({{"rank", right}, {"device"}, {"blocks", right}, {"cells", right}, {"busy", right}, {"hardware"}});
    for (const auto& part : parts) {
        table.add({std::to_string(part.start.rank), printable(part.start.device),
            countText(static_cast<std::int64_t>(part.blocks.size())), countText(part.cells), durationText(part.seconds),
            printable(part.start.hardware)});
    }
    return table.text(0);
}

/// Each reason once: a thousand processes may have the same.
std::set<std::string> problemsOf(const scaleout::Gathered& gathered)
{
    std::set<std::string> problems;
    for (const auto& part : gathered.parts) {
        if (!part.problem.empty()) {
            problems.insert(part.problem);
        }
    }
    for (const auto& error : gathered.unread) {
        problems.insert(sentence(error));
    }
    return problems;
}

nlohmann::ordered_json partJson(const scaleout::PartSummary& part)
{
    return {{"rank", part.start.rank}, {"device", part.start.device}, {"engine", part.start.engine},
        {"hardware", part.start.hardware}, {"blocks", part.blocks.size()}, {"cells", part.cells},
        {"seconds", part.seconds}};
}

} // namespace

void SweepJobOptions::add(Options& options)
{
    options.add("--job", folder, "Share the sweep among processes that meet in this folder; run again to gather it");
    options.add("--nodes", nodes, "Machines of the job; default: 1").within(1, 100000).shownAs("N");
    options.add("--processes", processes, "Processes on each of them; default: one for each GPU, else 1")
        .within(1, 1024)
        .shownAs("N");
}

Result<SweepJob> openSweepJob(const SweepJobOptions& options, const replay::SweepRequest& request,
    const std::vector<const Capture*>& captures, Source& source, Terminal& terminal)
{
    if (options.folder.empty()) {
        return failure(ErrorKind::usage, "--nodes and --processes need --job FOLDER, which all of them can write to");
    }
    auto device = deviceOf(request);
    auto each = device ? jobCaptures(request, captures, terminal.cancelToken()) : tl::make_unexpected(device.error());
    if (!each) {
        return tl::make_unexpected(each.error());
    }
    const auto processes = std::int64_t {options.nodes.value_or(1)} * processesOf(options, *device);
    const auto perBlock = scaleout::variantsPerBlock(*each, processes);
    auto job = scaleout::makeJob(options.folder, {{}, std::move(*each), *device, perBlock}, source.run);
    if (!job) {
        return tl::make_unexpected(job.error());
    }
    auto* into = source.session && source.writable ? &*source.session : nullptr;
    auto gathered = scaleout::gather(*job, options.folder, into, terminal.job());
    if (!gathered) {
        return tl::make_unexpected(gathered.error());
    }
    SweepJob result {std::move(*job), std::move(*gathered), {}, {}};
    writeCommands(result, options);
    return result;
}

std::string jobText(const SweepJob& job)
{
    const auto all = scaleout::cellCount(job.job);
    const auto& gathered = job.gathered;
    auto text = fmt::format("{} of {} of the job\n", countText(all - gathered.missing), counted(all, "cell"));
    if (!gathered.parts.empty()) {
        text += "\n" + partsTable(gathered.parts);
    }
    for (const auto& problem : problemsOf(gathered)) {
        text += printable(asSentence(problem)) + "\n";
    }
    if (gathered.missing > 0) {
        text += fmt::format("\nStart its processes with torchrun, on each node, or with Slurm; the nodes need the same "
                            "folders. Then run this command again.\n  {}\n  {}\n",
            printable(job.torchrun), printable(job.srun));
    }
    return text;
}

nlohmann::ordered_json jobJson(const SweepJob& job)
{
    return {{"id", job.job.id}, {"cells", scaleout::cellCount(job.job)}, {"missing", job.gathered.missing},
        {"torchrun", job.torchrun}, {"srun", job.srun}, {"parts", jsonArray(job.gathered.parts, partJson)},
        {"problems", problemsOf(job.gathered)}};
}

} // namespace nanscope
