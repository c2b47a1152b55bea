// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/sweepjob.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/words.h"
#include "core/base/text.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

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

} // namespace

Result<SweepJob> openSweepJob(const JobOptions& options, const replay::SweepRequest& request,
    const std::vector<const Capture*>& captures, Source& source, Terminal& terminal)
{
    const auto device = options.check().and_then([&] { return jobDevice(request.devices); });
    auto each = device ? jobCaptures(request, captures, terminal.cancelToken()) : tl::make_unexpected(device.error());
    if (!each) {
        return tl::make_unexpected(each.error());
    }
    const auto perBlock = scaleout::variantsPerBlock(*each, options.processesOn(*device));
    auto job = scaleout::makeJob(options.folder, {{}, std::move(*each), *device, perBlock}, source.run);
    if (!job) {
        return tl::make_unexpected(job.error());
    }
    auto* into = source.session && source.writable ? &*source.session : nullptr;
    auto gathered = scaleout::gather(*job, options.folder, into, terminal.job());
    if (!gathered) {
        return tl::make_unexpected(gathered.error());
    }
    auto commands = commandsOf(options, *job);
    return SweepJob {std::move(*job), std::move(*gathered), std::move(commands)};
}

std::string jobText(const SweepJob& job)
{
    const auto all = scaleout::cellCount(job.job);
    const auto& gathered = job.gathered;
    return fmt::format("{} of {} of the job\n", countText(all - gathered.missing), counted(all, "cell"))
        + partsText("cells", gathered.parts, gathered.unread, gathered.missing > 0, job.commands);
}

nlohmann::ordered_json jobJson(const SweepJob& job)
{
    const auto& gathered = job.gathered;
    return jobJson(job.job, "cells", gathered.missing, gathered.parts, gathered.unread, job.commands);
}

} // namespace nanscope
