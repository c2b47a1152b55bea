// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/diagnosisjob.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/capturejudge.h"
#include "core/json/records.h"
#include "core/replay/analysis/rate.h"
#include "core/rpc/remotedevice.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

std::string realPath(const std::string& path)
{
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored).string();
}

std::vector<scaleout::JobCapture> jobCaptures(const RunData& run)
{
    std::vector<scaleout::JobCapture> result;
    for (const auto& [capture, replayed] : diagnose::capturesToJudge(run)) {
        const auto shape = matrixShape(capture->input.shape);
        scaleout::JobCapture one {capture->file, replayed ? shape.batch * shape.elements() : 0, {}};
        one.request.captures = {CaptureRef(realPath(capture->path), capture->identity)};
        result.push_back(std::move(one));
    }
    return result;
}

/// A job is of the run as it was when it was made; another one is refused, and not taken for it.
Result<void> requireSameRun(const std::string& given, const std::string& session, const RunData& run)
{
    std::error_code ignored;
    const auto path = realPath(given);
    const auto isGiven = [&](const Capture& capture) { return realPath(capture.path) == path; };
    const bool folder = fs::is_directory(given, ignored);
    const bool same =
        folder ? path == realPath(run.root) : path == session || std::ranges::any_of(run.captures, isGiven);
    return same ? Result<void>()
                : failure(ErrorKind::usage, "the folder holds a job of another run; name another folder", given);
}

nlohmann::ordered_json planJson(const diagnose::JudgingPlan& plan, const std::string& measuredOn)
{
    const auto known = [&](double value) { return plan.rate > 0 ? Json(value) : Json(nullptr); };
    return {{"captures", plan.captures}, {"operations", plan.usualOperations}, {"most_operations", plan.mostOperations},
        {"devices", plan.devices}, {"rate", known(plan.rate)},
        {"measured_on", plan.rate > 0 ? Json(measuredOn) : Json(nullptr)}, {"seconds", known(plan.usualSeconds())},
        {"most_seconds", known(plan.mostSeconds())}};
}

} // namespace

void DiagnosisJob::putInto(diagnose::DiagnoseOptions& options) const
{
    options.judgedElsewhere = [this](const CaptureVerdict& triaged) {
        const auto found = gathered.verdicts.find(triaged.capture);
        return found == gathered.verdicts.end() ? std::optional<CaptureVerdict>() : std::optional(found->second);
    };
    std::set<std::string> places;
    for (const auto& part : gathered.parts) {
        places.insert(fmt::format("{} ({})", part.start.engine, part.start.hardware));
    }
    // A diagnosis says so of devices other than its own.
    if (job.device != "cpu" && begun()) {
        options.elsewhere = fmt::format("{}, in {} process{}", fmt::join(places, "; "), gathered.parts.size(),
            gathered.parts.size() == 1 ? "" : "es");
    }
}

Result<std::optional<std::string>> sessionOfJob(const JobOptions& options)
{
    std::error_code ignored;
    if (!fs::exists(fs::path(options.folder) / "job.jsonl", ignored)) {
        return std::nullopt;
    }
    const auto job = TRY(scaleout::readJob(options.folder));
    if (!job.judges()) {
        return failure(ErrorKind::usage,
            fmt::format(
                "the folder holds the job of a {}; name another folder", job.measures() ? "measurement" : "sweep"),
            options.folder);
    }
    return job.judging.front();
}

std::string newSessionOfJob(const JobOptions& options)
{
    return (fs::path(options.folder) / "run.nanscope").string();
}

Result<DiagnosisJob> openDiagnosisJob(const JobOptions& options, const std::string& device,
    const std::vector<std::string>& words, const std::string& run, const Source& source)
{
    if (!source.session) {
        return failure(ErrorKind::internal, "the run of a job has no session");
    }
    const auto session = realPath(source.session->path().string());
    TRY(requireSameRun(run, session, source.run));
    scaleout::Job job {{}, jobCaptures(source.run), device};
    job.judging = {session};
    job.judging.insert(job.judging.end(), words.begin(), words.end());
    auto made = TRY(scaleout::makeJob(options.folder, std::move(job), source.run));
    auto gathered = scaleout::gatherVerdicts(made, options.folder);
    auto commands = commandsOf(options, made);
    return DiagnosisJob {std::move(made), std::move(gathered), std::move(commands)};
}

void planRest(DiagnosisJob& job, const JobOptions& options, const RunData& run, bool named,
    const replay::Catalogue& catalogue, const CancelToken& cancel)
{
    std::vector<diagnose::CaptureToReplay> rest;
    for (const auto& [capture, replayed] : diagnose::capturesToJudge(run)) {
        if (replayed && !job.gathered.verdicts.contains(capture->file)) {
            rest.push_back({capture, named || capture->variant.has_value()});
        }
    }
    job.plan = diagnose::judgingPlan(rest, catalogue);
    const bool gpus = job.job.device == "cuda";
    // Each process has a GPU of its own; those on the CPU share that of their machine.
    job.plan.devices = gpus ? options.processesOn(job.job.device) : options.nodes.value_or(1);
    if (!job.plan.isLong()) {
        return;
    }
    if (const auto device = rpc::openDevice(gpus ? "cuda:0" : "cpu", cancel)) {
        const auto measured =
            replay::measuredRate(**device, cancel).value_or(replay::Rate {0, (*device)->environment().device});
        job.plan.rate = measured.operations;
        job.measuredOn = measured.device;
    }
}

std::string jobText(const DiagnosisJob& job)
{
    const auto all = scaleout::cellCount(job.job);
    const auto& gathered = job.gathered;
    const auto plan = job.plan.isLong() ? diagnose::textOf(job.plan, job.measuredOn) + "\n" : std::string();
    return fmt::format("{} of {} of the job judged\n", countText(all - gathered.missing), counted(all, "capture"))
        + plan + partsText("captures", gathered.parts, gathered.unread, gathered.missing > 0, job.commands);
}

Json jobJson(const DiagnosisJob& job)
{
    const auto& gathered = job.gathered;
    auto json = jobJson(job.job, "captures", gathered.missing, gathered.parts, gathered.unread, job.commands);
    json["plan"] = planJson(job.plan, job.measuredOn);
    return json;
}

Result<int> judgeAsTold(const RunData& run, const diagnose::DiagnoseOptions& options, const CancelToken& cancel)
{
    auto judge = TRY(diagnose::CaptureJudge::make(run, options, cancel));
    const auto say = [](const Json& json) { std::cout << jsonText(json) << '\n' << std::flush; };
    const auto environment = judge.environment();
    say({{"engine", environment.engine}, {"hardware", environment.hardware}});
    for (std::string name; std::cout && std::getline(std::cin, name);) {
        auto verdict = judge.judge(name);
        if (!verdict) {
            say({{"error", verdict.error().what}, {"path", verdict.error().path}});
            continue;
        }
        Diagnosis one;
        one.captures.push_back(std::move(*verdict));
        say({{"verdict", diagnosisAnswer(one).text()}});
    }
    return exitDone;
}

} // namespace nanscope
