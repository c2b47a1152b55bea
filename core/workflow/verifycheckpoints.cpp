// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/verifycheckpoints.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/recovery/rollback.h"
#include "core/model/words.h"
#include "core/tensorfile/checkpoint/checkpoint.h"

namespace nanscope::workflow {

namespace fs = std::filesystem;

using tensorfile::Parameter;
using tensorfile::ParameterState;

namespace {

std::int64_t* counterOf(CheckpointContents& contents, const Parameter& parameter)
{
    switch (parameter.state()) {
    case ParameterState::nonFinite:
        return parameter.optimizerState ? &contents.badState : &contents.badWeights;
    case ParameterState::sentinel:
        return &contents.open;
    case ParameterState::notRead:
        return &contents.unread;
    default:
        return nullptr;
    }
}

/// "layers.0.weight holds 96 NaN and 2 Inf, the first at [2,0]"
std::string sentenceOf(const Parameter& parameter)
{
    if (!parameter.problem.empty()) {
        return parameter.name + ": " + parameter.problem;
    }
    const auto& scan = parameter.scan;
    std::vector<std::string> kinds;
    for (const auto& [count, kind] : {std::pair(scan.nan, "NaN"), {scan.posInf, "Inf"}, {scan.negInf, "-Inf"}}) {
        if (count > 0) {
            kinds.push_back(countText(count) + ' ' + kind);
        }
    }
    return fmt::format("{} holds {}, the first at {}", parameter.name, fmt::join(kinds, " and "),
        indexText(parameter.firstNonFinite()));
}

/// Worst first, as the advice reads them.
int severity(const Parameter& parameter)
{
    switch (parameter.state()) {
    case ParameterState::nonFinite:
        return parameter.optimizerState ? 2 : 4;
    case ParameterState::notRead:
        return 3;
    case ParameterState::sentinel:
        return 1;
    default:
        return 0;
    }
}

CheckpointContents contentsOf(const tensorfile::CheckpointScan& scan)
{
    CheckpointContents contents;
    contents.tensors = std::ssize(scan.parameters);
    contents.unread = std::ssize(scan.rejected);
    contents.damaged = scan.damaged;
    contents.weights = std::ranges::count_if(scan.parameters, [](const Parameter& parameter) {
        return !parameter.optimizerState && parameter.state() != ParameterState::notRead;
    });
    const Parameter* worst = nullptr;
    for (const auto& parameter : scan.parameters) {
        if (auto* counter = counterOf(contents, parameter)) {
            ++*counter;
            worst = worst == nullptr || severity(parameter) > severity(*worst) ? &parameter : worst;
        }
    }
    if (worst != nullptr) {
        contents.first = sentenceOf(*worst);
    }
    if (!scan.rejected.empty() && contents.badWeights == 0) {
        contents.first = scan.rejected.front().path + ": " + scan.rejected.front().reason;
    }
    return contents;
}

/// Contents of the checkpoint at `place`; nothing where the user cancelled.
std::optional<CheckpointContents> readContents(const fs::path& place, const JobContext& job)
{
    const auto scan = tensorfile::scanCheckpoint(place, job);
    if (job.cancel.cancelled()) {
        return std::nullopt;
    }
    if (scan) {
        return contentsOf(*scan);
    }
    CheckpointContents unread;
    unread.unread = 1;
    unread.damaged = scan.error().kind == ErrorKind::truncated || scan.error().kind == ErrorKind::corrupt ? 1 : 0;
    // Of its own place the advice tells already.
    const auto name = fs::path(scan.error().path).lexically_relative(place);
    unread.first =
        name.empty() || name == "." ? scan.error().what : fmt::format("{}: {}", name.string(), scan.error().what);
    return unread;
}

/// Of several copies that were not read the last. One that is `torn` lacks something that is saved last.
Checkpoint* unreadAt(RunData& run, std::int64_t step, bool torn = false)
{
    const auto one = std::find_if(run.checkpoints.rbegin(), run.checkpoints.rend(), [&](const Checkpoint& checkpoint) {
        return checkpoint.step == step && !checkpoint.place.empty() && checkpoint.problem.empty() != torn
            && !checkpoint.contents;
    });
    return one == run.checkpoints.rend() ? nullptr : &*one;
}

/// Where nothing whole is left the weights of a torn one may be: the newest that was not read.
Checkpoint* nextTorn(RunData& run, const Rollback& advice)
{
    for (const auto& one : advice.checkpoints) {
        auto* found = one.step < advice.fault ? unreadAt(run, one.step, true) : nullptr;
        if (found != nullptr && one.status == CheckpointStatus::missing) {
            return found;
        }
    }
    return nullptr;
}

/// The newest that may turn out better than what is recommended by now, else what is recommended; nothing where these
/// were read.
Checkpoint* nextToRead(RunData& run, const Rollback& advice)
{
    for (const auto& one : advice.checkpoints) {
        const bool mayBeSafe = one.status == CheckpointStatus::safe || one.status == CheckpointStatus::unverified;
        auto* found = one.step < advice.fault && (mayBeSafe || one.step == advice.recommended) ? unreadAt(run, one.step)
                                                                                               : nullptr;
        if (found != nullptr) {
            return found;
        }
        if (one.step == advice.recommended && one.status == CheckpointStatus::safe) {
            return nullptr;
        }
    }
    return advice.recommended ? nullptr : nextTorn(run, advice);
}

Result<void> readOne(Checkpoint& checkpoint, session::Session* session, const JobContext& job)
{
    JobContext reading {[&](Progress progress) {
                            progress.phase = checkpoint.path;
                            job.progress(progress);
                        },
        job.cancel};
    auto stamp = tensorfile::checkpointStamp(checkpoint.place);
    auto contents = readContents(checkpoint.place, reading);
    if (!contents) {
        return failure(ErrorKind::cancelled, "cancelled while reading the checkpoint", checkpoint.path);
    }
    contents->stamp = std::move(stamp);
    checkpoint.contents = std::move(contents);
    return session != nullptr ? session->setCheckpointContents(checkpoint.path, *checkpoint.contents) : Result<void>();
}

} // namespace

void forgetRewrittenCheckpoints(RunData& run)
{
    for (auto& one : run.checkpoints) {
        const auto now = one.contents ? tensorfile::checkpointStamp(one.place) : std::string();
        // Where the folder is out of reach, what was read of it is the best that there is.
        if (!now.empty() && now != one.contents->stamp) {
            one.contents.reset();
        }
    }
}

Result<std::int64_t> verifyCheckpoints(
    RunData& run, const std::vector<CaptureVerdict>& verdicts, session::Session* session, const JobContext& job)
{
    forgetRewrittenCheckpoints(run);
    for (auto& one : run.checkpoints) {
        // What kept it from being read may be mended by now: a permission, a mount.
        if (one.contents && one.contents->unread > 0) {
            one.contents.reset();
        }
    }
    for (std::int64_t read = 0;; ++read) {
        const auto advice = diagnose::adviseRollback(run, verdicts);
        auto* next = advice ? nextToRead(run, *advice) : nullptr;
        if (next == nullptr) {
            return read;
        }
        TRY(readOne(*next, session, job));
    }
}

} // namespace nanscope::workflow
