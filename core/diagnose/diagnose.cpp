// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/diagnose.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/findings/advisories.h"
#include "core/diagnose/identify/captureindex.h"
#include "core/diagnose/identify/cost.h"
#include "core/diagnose/identify/envelope.h"
#include "core/diagnose/identify/othercalls.h"
#include "core/diagnose/identify/plausible.h"
#include "core/diagnose/judgeone.h"
#include "core/diagnose/judgingplan.h"
#include "core/diagnose/recovery/rollback.h"
#include "core/diagnose/recovery/runstory.h"
#include "core/diagnose/triage/steplink.h"
#include "core/diagnose/triage/triage.h"
#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/decide.h"
#include "core/model/model.h"
#include "core/replay/analysis/rate.h"

namespace nanscope::diagnose {

namespace {

Triage count(const std::vector<CaptureVerdict>& verdicts)
{
    Triage triage;
    triage.captures = static_cast<int>(verdicts.size());
    for (const auto& v : verdicts) {
        triage.births += v.role == Role::birth ? 1 : 0;
        triage.upstream += v.role == Role::upstream ? 1 : 0;
        triage.downstream += v.role == Role::downstream ? 1 : 0;
        triage.padding += v.role == Role::padding ? 1 : 0;
    }
    return triage;
}

std::string countText(int count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string place(const CaptureVerdict& v)
{
    return v.rank ? fmt::format("rank {}, {}", *v.rank, stepText(v.step)) : stepText(v.step);
}

/// A zero matrix that came out damaged and is taken for the cause of what came in damaged later.
const CaptureVerdict* zeroThatSpread(const std::vector<CaptureVerdict>& verdicts)
{
    const auto found = std::ranges::find_if(verdicts, [&](const CaptureVerdict& zero) {
        return zero.role == Role::padding
            && std::ranges::find(verdicts, zero.capture, &CaptureVerdict::causedBy) != verdicts.end();
    });
    return found == verdicts.end() ? nullptr : &*found;
}

/// Where it was stopped, also of one that was stopped only after all were judged, nothing need have been left.
bool leftSome(const Diagnosis& d, const CaptureIndex& captures)
{
    return !d.stopped.empty() && std::ranges::any_of(d.captures, [&](const CaptureVerdict& verdict) {
        const auto* capture = captures.of(verdict);
        return capture != nullptr && leftUnjudged(d, verdict, *capture);
    });
}

std::string headlineOf(const Diagnosis& d, const CaptureIndex& captures)
{
    const auto& t = d.triage;
    if (t.captures == 0) {
        return "no captures";
    }
    auto text = countText(t.captures, "capture") + ", " + countText(t.births, "birth");
    if (!d.clusters.empty() && std::ssize(d.clusters) < t.births) {
        text += " in " + countText(static_cast<int>(d.clusters.size()), "cluster");
    }
    const auto first = std::find_if(d.captures.begin(), d.captures.end(),
        [](const CaptureVerdict& v) { return v.role == Role::birth || v.role == Role::upstream; });
    if (t.births == 0 && t.upstream > 0) {
        text += fmt::format(", {} upstream", t.upstream);
    }
    if (first != d.captures.end()) {
        text += ": " + place(*first);
    } else if (const auto* zero = zeroThatSpread(d.captures)) {
        text += fmt::format("; a zero matrix came out damaged ({}), and {} followed from it", place(*zero),
            countText(t.downstream, "call"));
    }
    if (t.births > 1) {
        text += fmt::format(", and {} more", t.births - 1);
    }
    return leftSome(d, captures) ? fmt::format("{}; not all judged ({})", text, d.stopped) : text;
}

/// Counts the roles and writes the headline, "25 captures, 1 birth: rank 0, between the log lines of steps 5
/// and 6".
void summarize(Diagnosis& diagnosis, const CaptureIndex& captures)
{
    diagnosis.triage = count(diagnosis.captures);
    diagnosis.headline = headlineOf(diagnosis, captures);
}

void reportProgress(const JobContext& job, std::size_t done, std::size_t total, const std::string& capture)
{
    Progress progress;
    progress.job = "diagnose";
    progress.phase = "judging";
    progress.done = static_cast<std::int64_t>(done);
    progress.total = static_cast<std::int64_t>(total);
    progress.unit = "captures";
    progress.message = capture;
    progress.uneven = true;
    job.progress(progress);
}

/// What is not judged keeps what triage tells.
void leaveUnjudged(Diagnosis& diagnosis, const CaptureIndex& captures, const std::string& why)
{
    diagnosis.stopped = why;
    for (auto& verdict : diagnosis.captures) {
        const auto* capture = captures.of(verdict);
        const bool judged = verdict.facts.replayed || !verdict.summary.empty();
        if (!judged && capture != nullptr && needsReplay(verdict, *capture)) {
            const auto& damage = verdict.facts.damage.text;
            verdict.summary = fmt::format("{}{}not judged ({})", damage, damage.empty() ? "" : "; ", why);
        }
    }
}

/// The next one that is to be judged before the others, if there is one; their order stays.
void bringForward(
    std::vector<CaptureVerdict*>& order, std::size_t done, const std::function<bool(const CaptureVerdict&)>& first)
{
    if (!first) {
        return;
    }
    const auto next = order.begin() + static_cast<std::ptrdiff_t>(done);
    const auto wanted = std::find_if(next, order.end(), [&](const CaptureVerdict* verdict) { return first(*verdict); });
    if (wanted != order.end()) {
        std::rotate(next, wanted, wanted + 1);
    }
}

/// From `done` on, which moves on with each that is judged. Where the device is lost the one it was lost at is as
/// before.
Result<void> judgeAll(std::vector<CaptureVerdict*>& order, std::size_t& done, const Bench& bench,
    const JudgingTime& time, const JobContext& whole)
{
    for (; done < order.size() && !time.stopped(); ++done) {
        bringForward(order, done, bench.options.first);
        auto& verdict = *order[done];
        if (verdict.facts.replayed) {
            continue;
        }
        reportProgress(whole, done, order.size(), verdict.capture);
        const auto* capture = bench.captures.of(verdict);
        auto judged = capture != nullptr ? judgeOne(verdict, *capture, bench, done) : Result<void>();
        if (!judged && judged.error().kind != ErrorKind::cancelled) {
            return judged;
        }
        if (judged) {
            bench.options.arrived(verdict);
        }
    }
    return {};
}

std::string placeOf(const Environment& environment)
{
    return fmt::format("{}, {} ({})", environment.engine, environment.device, environment.hardware);
}

/// What the ranks of a run have in common is counted once all are judged.
void takeJudged(std::vector<CaptureVerdict>& verdicts, const std::vector<CaptureVerdict>& before)
{
    std::unordered_map<std::int64_t, const CaptureVerdict*> known;
    for (const auto& verdict : before) {
        // Of a run without a session two captures may have the same name.
        if (verdict.facts.replayed && verdict.captureId != 0) {
            known.emplace(verdict.captureId, &verdict);
        }
    }
    for (auto& verdict : verdicts) {
        const auto found = known.find(verdict.captureId);
        if (found != known.end() && found->second->role == verdict.role) {
            verdict = *found->second;
            if (std::exchange(verdict.facts.wrongBesideOtherRanks, 0) != 0) {
                verdict::judgeAgain(verdict);
            }
        }
    }
}

} // namespace

std::vector<Rejection> unreadCaptures(const RunData& run, const Diagnosis& diagnosis)
{
    std::vector<Rejection> unread;
    const auto isUnread = [](const CaptureVerdict& verdict) { return !verdict.unread.empty(); };
    if (std::ranges::none_of(diagnosis.captures, isUnread)) {
        return unread;
    }
    const CaptureIndex captures(run);
    for (const auto& verdict : diagnosis.captures) {
        if (!verdict.unread.empty()) {
            const auto* capture = captures.of(verdict);
            const auto path = capture == nullptr ? std::string() : capture->path;
            const auto relative = std::filesystem::path(path).lexically_relative(run.root).generic_string();
            unread.push_back({relative.empty() ? verdict.capture : relative, verdict.unread});
        }
    }
    return unread;
}

namespace {

/// Most captures are never replayed, and a sidecar says of those, too, what ran.
void nameBySidecars(std::vector<CaptureVerdict>& verdicts, const RunData& run, const replay::Catalogue& catalogue)
{
    const CaptureIndex captures(run);
    for (auto& verdict : verdicts) {
        const auto* capture = captures.of(verdict);
        if (capture == nullptr || !capture->variant) {
            continue;
        }
        if (const auto ran = parseRan(*capture->variant, catalogue)) {
            verdict::sayRan(verdict.facts.identified, {ran->variant->name}, IdentifiedBy::sidecar);
            verdict.variant = verdict.facts.identified;
        }
    }
}

} // namespace

bool needsReplays(const RunData& run)
{
    const CaptureIndex captures(run);
    return std::ranges::any_of(triage(run), [&](const CaptureVerdict& verdict) {
        const auto* capture = captures.of(verdict);
        return capture != nullptr && capture->hasTensors() && !capture->overwritten && needsReplay(verdict, *capture);
    });
}

Diagnosis triageRun(const RunData& run, const replay::Catalogue& catalogue)
{
    Diagnosis diagnosis;
    diagnosis.run = run.name;
    diagnosis.captures = triage(run);
    nameBySidecars(diagnosis.captures, run, catalogue);
    diagnosis.findings = earlyFindings(run);
    diagnosis.clusters = clustersOf(run, diagnosis.captures);
    summarize(diagnosis, CaptureIndex(run));
    return diagnosis;
}

void arrange(Diagnosis& diagnosis, const RunData& run)
{
    if (diagnosis.captures.empty()) {
        return; // the headline is about the logs
    }
    sortByRole(diagnosis.captures);
    diagnosis.clusters = clustersOf(run, diagnosis.captures);
    summarize(diagnosis, CaptureIndex(run));
}

namespace {

/// Why the diagnosis is not whole, where it is not.
std::optional<std::string> takeFromElsewhere(
    std::vector<CaptureVerdict>& verdicts, const CaptureIndex& captures, const DiagnoseOptions& options)
{
    std::int64_t missing = 0;
    for (auto& verdict : verdicts) {
        if (auto judged = options.judgedElsewhere(verdict)) {
            verdict = std::move(*judged);
        } else if (const auto* capture = captures.of(verdict); isRead(capture)) {
            ++missing;
        } else if (capture != nullptr) {
            judgeUnread(verdict, *capture);
        }
    }
    return missing > 0 ? std::optional(fmt::format("{} of {} captures are not judged yet", missing, verdicts.size()))
                       : std::nullopt;
}

std::vector<CaptureToReplay> stillToReplay(
    const std::vector<CaptureVerdict*>& order, const CaptureIndex& captures, const DiagnoseOptions& options)
{
    std::vector<CaptureToReplay> still;
    for (const auto* verdict : order) {
        const auto* capture = captures.of(*verdict);
        if (isRead(capture) && needsReplay(*verdict, *capture) && !verdict->facts.replayed) {
            still.push_back({capture, capture->variant.has_value() || !options.ran.empty()});
        }
    }
    return still;
}

/// What was measured of the device stands for it as it is now, so that it is measured anew for each judgement.
Result<void> tellPlan(const std::vector<CaptureToReplay>& still, const DiagnoseOptions& options, replay::Device& device,
    const CancelToken& cancel)
{
    auto plan = judgingPlan(still, options.catalogue);
    if (!options.planned || !plan.isLong()) {
        return {};
    }
    const auto rate = replay::measuredRate(device, cancel);
    if (!rate && device.lost() && device.lost()->kind != ErrorKind::cancelled) {
        return tl::make_unexpected(*device.lost());
    }
    const auto measured = rate.value_or(replay::Rate {0, device.environment().device});
    plan.rate = measured.operations;
    options.planned(plan, measured.device);
    return {};
}

} // namespace

Result<Diagnosis> diagnose(const RunData& run, DiagnoseOptions options, const JobContext& job)
{
    const auto given = TRY(parseAllRan(options.ran, run, options.catalogue));
    const auto choices = TRY(checked(options.findings));
    auto diagnosis = triageRun(run, options.catalogue);
    if (options.stopped) {
        takeJudged(diagnosis.captures, options.stopped->captures);
    }
    const CaptureIndex captures(run);
    const auto limit =
        options.timeLimit ? std::optional(std::chrono::duration<double>(*options.timeLimit)) : std::nullopt;
    const JudgingTime time(job, limit);
    std::vector<CaptureVerdict*> inOrder;
    std::ranges::transform(
        diagnosis.captures, std::back_inserter(inOrder), [](CaptureVerdict& verdict) { return &verdict; });
    std::size_t done = 0;
    std::vector<std::string> leftToCpu;
    const auto judgeOn = [&](replay::Device& device) {
        if (auto told = tellPlan(stillToReplay(inOrder, captures, options), options, device, time.job().cancel);
            !told) {
            return told;
        }
        Controls controls(captures, options.catalogue, device, time.job().cancel);
        const Bench bench {run, options, given, captures, device, controls, wordsOf(run), time.job(),
            &device == options.device.get() ? &leftToCpu : nullptr};
        return judgeAll(inOrder, done, bench, time, job);
    };
    const auto unjudged = options.judgedElsewhere ? takeFromElsewhere(diagnosis.captures, captures, options)
                                                  : std::optional<std::string>();
    diagnosis.replayedOn = options.elsewhere;
    Result<void> judged;
    if (!options.judgedElsewhere) {
        judged = judgeOn(options.device ? *options.device : *replay::makeEigenDevice());
        diagnosis.replayedOn = options.device ? placeOf(options.device->environment()) : std::string();
    }
    if (!leftToCpu.empty()) {
        diagnosis.replayedOn += fmt::format("; {} on the CPU instead ({})",
            countText(static_cast<int>(leftToCpu.size()), "capture"), leftToCpu.front());
    }
    if (!judged && options.device && options.device->lost()) {
        diagnosis.replayedOn += fmt::format(", which failed after {} of {} captures ({}); the others on the CPU", done,
            inOrder.size(), options.device->lost()->what);
        judged = judgeOn(*replay::makeEigenDevice());
    }
    if (!judged) {
        return tl::make_unexpected(judged.error());
    }
    if (const auto why = unjudged ? unjudged : time.stopped()) {
        leaveUnjudged(diagnosis, captures, *why);
    }
    if (job.cancel.cancelled()) {
        summarize(diagnosis, captures);
        return diagnosis;
    }
    countWrongRanks(diagnosis.captures, captures);
    arrange(diagnosis, run);
    diagnosis.advisories =
        matchAdvisories(joinAdvisories(builtInAdvisories(), options.advisories), factsOf(run, diagnosis.captures));
    diagnosis.findings = findingsOf(run, diagnosis.captures, choices, job.cancel);
    if (job.cancel.cancelled()) {
        diagnosis.stopped = "cancelled";
        return diagnosis;
    }
    diagnosis.rollback = adviseRollback(run, diagnosis.captures);
    if (diagnosis.captures.empty() && !(run.series.empty() && run.events.empty())) {
        const auto timeline = failureTimelineOf(run, diagnosis.captures);
        diagnosis.headline += "; " + failureText(run, timeline);
        diagnosis.logs = logStories(run, timeline);
    }
    return diagnosis;
}

} // namespace nanscope::diagnose
