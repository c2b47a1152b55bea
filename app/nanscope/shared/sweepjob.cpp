// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/sweepjob.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/words.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/identify/identify.h"
#include "core/replay/engine/replay.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

/// What the job that is in the folder already has of a capture; null where it has none, or another file. What it was
/// made of is not compared again.
const scaleout::JobCapture* known(
    const Result<scaleout::Job>& there, const std::string& capture, const CaptureRef& file)
{
    if (!there || there->judges() || there->measures()) {
        return nullptr;
    }
    const auto found = std::ranges::find_if(there->captures,
        [&](const scaleout::JobCapture& one) { return one.name == capture && one.request.captures.front() == file; });
    return found == there->captures.end() ? nullptr : &*found;
}

Result<void> chooseVariants(scaleout::JobCapture& one, const Capture& capture, const Result<scaleout::Job>& there,
    diagnose::ReplayPlace place, Terminal& terminal)
{
    if (const auto* before = known(there, one.name, one.request.captures.front())) {
        one.request.variants = before->request.variants;
        one.leftOut = before->leftOut;
        sayLeftOut(one.name, one.leftOut, terminal);
        return {};
    }
    terminal.progress({"sweep", "identifying", static_cast<std::int64_t>(place.done),
        static_cast<std::int64_t>(place.all), "captures", capture.file});
    return plausibleVariants(capture, one.request.catalogue, terminal).map([&](PlausibleVariants found) {
        one.request.variants = std::move(found.names);
        one.leftOut = std::move(found.leftOut);
    });
}

Result<std::vector<scaleout::JobCapture>> jobCaptures(const replay::SweepRequest& request,
    const std::vector<const Capture*>& captures, const Result<scaleout::Job>& there, Terminal& terminal)
{
    std::vector<scaleout::JobCapture> result;
    for (const auto* capture : captures) {
        const auto shape = matrixShape(capture->input.shape);
        scaleout::JobCapture one {capture->file, shape.batch * shape.elements(), request};
        std::error_code ignored;
        one.request.captures = {CaptureRef(fs::absolute(capture->path, ignored).string(), capture->identity)};
        if (request.variants.empty()) {
            TRY(chooseVariants(one, *capture, there, {result.size(), captures.size()}, terminal));
        }
        result.push_back(std::move(one));
    }
    return result;
}

/// What all cells of the job will take. Most captures of a run have one of a few shapes.
std::int64_t storedBytes(
    const std::vector<scaleout::JobCapture>& jobCaptures, const std::vector<const Capture*>& captures)
{
    std::map<std::pair<std::string, Shape>, std::int64_t> known;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < captures.size(); ++i) {
        const auto& request = jobCaptures[i].request;
        const auto& shape = captures[i]->input.shape;
        const auto cells =
            static_cast<std::int64_t>(request.precisions.size() * std::max<std::size_t>(1, request.lowerings.size()));
        for (const auto& name : request.variants) {
            const auto [cell, isNew] = known.try_emplace({name, shape}, 0);
            if (const auto variant = request.catalogue.find(name); isNew && variant) {
                cell->second = replay::storedBytes(**variant, matrixShape(shape), request.steps);
            }
            bytes += cells * cell->second;
        }
    }
    return bytes;
}

std::optional<std::int64_t> freeBytes(const fs::path& folder)
{
    std::error_code error;
    const auto space = fs::space(folder, error);
    return error ? std::nullopt : std::optional(static_cast<std::int64_t>(space.available));
}

std::string roomText(const SweepJob& job)
{
    auto text = fmt::format("All of them take about {} in its folder", bytesText(job.bytes));
    if (job.free) {
        text += fmt::format(", where {} are free", bytesText(*job.free));
    }
    return text + ", and as much again in the session that gathers them\n";
}

} // namespace

Json leftOutJson(const LeftOutVariants& leftOut)
{
    auto json = Json::array();
    for (const auto& [capture, variants] : leftOut) {
        json.push_back({{"capture", capture}, {"variants", variants}});
    }
    return json;
}

Result<SweepJob> openSweepJob(const JobOptions& options, const replay::SweepRequest& request,
    const std::vector<const Capture*>& captures, Source& source, Terminal& terminal)
{
    TRY(options.check());
    const auto device = TRY(jobDevice(request.devices));
    const auto there = scaleout::readJob(options.folder);
    auto each = TRY(jobCaptures(request, captures, there, terminal));
    const auto bytes = storedBytes(each, captures);
    const auto perBlock = scaleout::variantsPerBlock(each, options.processesOn(device));
    auto job = TRY(scaleout::makeJob(options.folder, {{}, std::move(each), device, perBlock}, source.run));
    auto* into = source.session && source.writable ? &*source.session : nullptr;
    auto gathered = TRY(scaleout::gather(job, options.folder, into, terminal.job()));
    auto commands = commandsOf(options, job);
    return SweepJob {std::move(job), std::move(gathered), std::move(commands), bytes, freeBytes(options.folder)};
}

std::string jobText(const SweepJob& job)
{
    const auto all = scaleout::cellCount(job.job);
    const auto& gathered = job.gathered;
    return fmt::format("{} of {} of the job\n", countText(all - gathered.missing), counted(all, "cell"))
        + (gathered.missing > 0 ? roomText(job) : std::string())
        + partsText("cells", gathered.parts, gathered.unread, gathered.missing > 0, job.commands);
}

Json jobJson(const SweepJob& job)
{
    const auto& gathered = job.gathered;
    auto json = jobJson(job.job, "cells", gathered.missing, gathered.parts, gathered.unread, job.commands);
    LeftOutVariants leftOut;
    for (const auto& capture : job.job.captures) {
        if (!capture.leftOut.empty()) {
            leftOut.emplace_back(capture.name, capture.leftOut);
        }
    }
    json["left_out"] = leftOutJson(leftOut);
    json["bytes"] = job.bytes;
    json["bytes_free"] = job.free ? Json(*job.free) : Json(nullptr);
    return json;
}

} // namespace nanscope
