// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/judgeone.h"

#include <algorithm>
#include <utility>

#include "core/base/guarded.h"
#include "core/base/try.h"
#include "core/diagnose/damage/damage.h"
#include "core/diagnose/identify/captureindex.h"
#include "core/diagnose/identify/plausible.h"
#include "core/diagnose/triage/triage.h"
#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/decide.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/model/model.h"
#include "core/model/verdict.h"
#include "core/replay/analysis/decomposing.h"

namespace nanscope::diagnose {

Result<std::vector<Member>> parseAllRan(
    const std::vector<std::string>& ran, const RunData& run, replay::Catalogue& catalogue)
{
    std::vector<Member> members;
    for (const auto& text : ran) {
        members.push_back(TRY(parseRan(text, catalogue)));
        TRY(catalogue.include(members.back().variant->name));
    }
    for (const auto& capture : run.captures) {
        const auto named = capture.variant ? parseRan(*capture.variant, catalogue) : failure(ErrorKind::usage, {});
        if (named && !catalogue.include(named->variant->name)) {
            break; // of more names than a run has functions
        }
    }
    return members;
}

bool needsReplay(const CaptureVerdict& verdict, const Capture& capture)
{
    const bool judged = verdict.role == Role::birth || verdict.role == Role::padding || verdict.role == Role::healthy;
    const bool asked = verdict.rule == RuleId::inputMayBeResult; // of an input that no replay is given
    return judged && !asked && capture.holdsTheCall() && capture.part.empty() && capture.output
        && capture.output->scanned();
}

bool isRead(const Capture* capture)
{
    return capture != nullptr && capture->hasTensors() && !capture->overwritten;
}

bool leftUnjudged(const Diagnosis& diagnosis, const CaptureVerdict& verdict, const Capture& capture)
{
    return !diagnosis.stopped.empty() && !verdict.facts.replayed && verdict.unread.empty()
        && needsReplay(verdict, capture) && isRead(&capture);
}

Diagnosis judgedOn(Diagnosis stopped, const RunData& run)
{
    const CaptureIndex captures(run);
    for (auto& verdict : stopped.captures) {
        const auto* capture = captures.of(verdict);
        if (capture != nullptr && leftUnjudged(stopped, verdict, *capture)) {
            verdict.summary.clear();
        }
    }
    stopped.stopped.clear();
    return stopped;
}

namespace {

bool isBirth(const CaptureVerdict& verdict)
{
    return verdict.role == Role::birth;
}

Result<void> fillDamage(CaptureVerdict& verdict, const Capture& capture, const RunData& run)
{
    const auto file = TRY(tensorfile::openCapture(capture));
    doubtInput(verdict, file, capture, run);
    return damagePatterns(file).map([&](std::vector<DamagePattern> patterns) {
        const auto damaged = std::ranges::find_if(patterns, [](const DamagePattern& p) { return p.count > 0; });
        if (damaged != patterns.end()) {
            verdict.facts.damage = std::move(*damaged);
        }
    });
}

Result<void> replayOne(CaptureVerdict& verdict, const Capture& capture, const Bench& bench, std::size_t done)
{
    const replay::Following following(bench.device, replay::decomposing(bench.job, "diagnose", capture.file));
    const JudgeContext context {bench.run, bench.words, bench.captures, bench.options, bench.given, bench.device,
        bench.controls, bench.job, done};
    TRY(judgeCapture(verdict, bench.captures.asSaid(capture), context));
    const auto* clean = isBirth(verdict) ? cleanCallOf(verdict, capture, bench.captures) : nullptr;
    if (clean == nullptr) {
        return {};
    }
    const auto fits = bench.controls.variantsOf(*clean);
    const bool ends = !fits
        && (fits.error().kind == ErrorKind::cancelled
            || (bench.leftToCpu != nullptr && replay::isWorthTheCpu(fits.error())));
    if (ends) {
        return tl::make_unexpected(fits.error());
    }
    // A clean call that cannot be replayed acquits less; its own verdict says why it cannot.
    verdict.facts.duplicate = describeDuplicate(
        capture, *clean, fits.value_or(std::vector<std::string>()), verdict.facts.members, bench.options.catalogue);
    verdict::judgeAgain(verdict);
    return {};
}

Result<void> readAndJudge(CaptureVerdict& verdict, const Capture& capture, const Bench& bench, std::size_t done);

Result<void> judgeOnCpu(CaptureVerdict& verdict, const Capture& capture, const Bench& bench, std::size_t done)
{
    const auto cpu = replay::makeEigenDevice();
    Controls controls(bench.captures, bench.options.catalogue, *cpu, bench.job.cancel);
    const Bench there {bench.run, bench.options, bench.given, bench.captures, *cpu, controls, bench.words, bench.job};
    return readAndJudge(verdict, capture, there, done);
}

/// One barrier for each capture: whatever its file leads to costs this verdict alone. Of a verdict that fails half-way
/// nothing stays, least of all an accusation.
Result<void> readAndJudge(CaptureVerdict& verdict, const Capture& capture, const Bench& bench, std::size_t done)
{
    const bool replayed = needsReplay(verdict, capture);
    auto whole = verdict;
    const auto work = [&] {
        return replayed ? replayOne(whole, capture, bench, done) : fillDamage(whole, capture, bench.run);
    };
    const auto judged = guarded(work, capture.path);
    if (const auto lost = bench.device.lost(); lost && lost->kind != ErrorKind::cancelled) {
        // Also where it looks judged: a control that was not replayed any more would have acquitted less.
        return tl::make_unexpected(*lost);
    }
    if (!judged && replayed && replay::isWorthTheCpu(judged.error()) && bench.leftToCpu != nullptr) {
        auto onCpu = judgeOnCpu(verdict, capture, bench, done);
        if (onCpu && verdict.unread.empty()) {
            bench.leftToCpu->push_back(judged.error().what);
        }
        return onCpu;
    }
    if (judged) {
        verdict = std::move(whole);
    } else if (judged.error().kind == ErrorKind::cancelled) {
        verdict.facts.damage = std::move(whole.facts.damage);
        return tl::make_unexpected(judged.error());
    } else if (replayed || judged.error().kind != ErrorKind::io) {
        // Roles without a replay rest on the stored scans, and stand where the file is gone.
        verdict.unread = judged.error().what;
        verdict.summary = replayed ? "could not be judged: " + sentence(judged.error()) : verdict.summary;
    }
    return {};
}

} // namespace

void judgeUnread(CaptureVerdict& verdict, const Capture& capture)
{
    if (needsReplay(verdict, capture)) {
        verdict.summary = "could not be judged: its file was written over after its import";
    }
    if (verdict.role == Role::upstream) {
        verdict.next = nextExperiments(verdict);
    }
}

Result<void> judgeOne(CaptureVerdict& verdict, const Capture& capture, const Bench& bench, std::size_t done)
{
    if (!isRead(&capture)) {
        judgeUnread(verdict, capture);
        return {};
    }
    auto judged = readAndJudge(verdict, capture, bench, done);
    if (judged && verdict.role == Role::upstream) {
        verdict.next = nextExperiments(verdict);
    }
    return judged;
}

} // namespace nanscope::diagnose
