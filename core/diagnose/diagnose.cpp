// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/diagnose.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/advisorymatch.h"
#include "core/diagnose/captureindex.h"
#include "core/diagnose/clusters.h"
#include "core/diagnose/damage.h"
#include "core/diagnose/envelope.h"
#include "core/diagnose/experiments.h"
#include "core/diagnose/findings.h"
#include "core/diagnose/headline.h"
#include "core/diagnose/judge.h"
#include "core/diagnose/overwritten.h"
#include "core/diagnose/plausible.h"
#include "core/diagnose/rollback.h"
#include "core/diagnose/twins.h"

namespace nanscope {

namespace {

Result<std::vector<Member>> parseAllRan(const DiagnoseOptions& options)
{
    std::vector<Member> members;
    for (const auto& text : options.ran) {
        auto member = parseRan(text);
        if (!member) {
            return tl::make_unexpected(member.error());
        }
        members.push_back(*member);
    }
    return members;
}

bool needsReplay(const CaptureVerdict& verdict, const Capture& capture)
{
    const bool judged = verdict.role == Role::birth || verdict.role == Role::padding || verdict.role == Role::healthy;
    return judged && capture.part.empty() && capture.output && capture.output->scanned();
}

bool isBirth(const CaptureVerdict& verdict)
{
    return verdict.role == Role::birth;
}

void reportProgress(const JobContext& job, std::size_t done, std::size_t total, const std::string& capture)
{
    Progress progress;
    progress.job = "diagnose";
    progress.phase = "judge";
    progress.done = static_cast<std::int64_t>(done);
    progress.total = static_cast<std::int64_t>(total);
    progress.unit = "captures";
    progress.message = capture;
    job.progress(progress);
}

void fillDamage(CaptureVerdict& verdict, const Capture& capture, const RunData& run)
{
    if (auto file = openCapture(capture.path)) {
        if (verdict.role == Role::upstream && inputMayBeResult(*file, capture, run)) {
            askForInputBefore(verdict);
        }
        if (auto patterns = damagePatterns(*file)) {
            const auto damaged =
                std::find_if(patterns->begin(), patterns->end(), [](const DamagePattern& p) { return p.count > 0; });
            if (damaged != patterns->end()) {
                verdict.damage = std::move(*damaged);
            }
        }
    }
}

} // namespace

Diagnosis triageRun(const RunData& run)
{
    Diagnosis diagnosis;
    diagnosis.run = run.name;
    diagnosis.captures = triage(run);
    diagnosis.findings = earlyFindings(run);
    diagnosis.clusters = clustersOf(run, diagnosis.captures);
    summarize(diagnosis);
    return diagnosis;
}

Result<Diagnosis> diagnose(const RunData& run, const DiagnoseOptions& options, const JobContext& job)
{
    const auto given = parseAllRan(options);
    if (!given) {
        return tl::make_unexpected(given.error());
    }
    const auto cards = findingOptions(options.silence, options.spikeRule);
    if (!cards) {
        return tl::make_unexpected(cards.error());
    }
    auto diagnosis = triageRun(run);
    const auto device = makeEigenDevice();
    const CaptureIndex captures(run);
    Controls controls(captures, *device, job.cancel);
    const auto words = wordsOf(run);
    for (std::size_t i = 0; i < diagnosis.captures.size(); ++i) {
        auto& verdict = diagnosis.captures[i];
        reportProgress(job, i, diagnosis.captures.size(), verdict.capture);
        if (job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the diagnosis was cancelled");
        }
        const auto* capture = captures.of(verdict);
        if (capture == nullptr) {
            continue;
        }
        if (!needsReplay(verdict, *capture)) {
            fillDamage(verdict, *capture, run);
            verdict.next = verdict.role == Role::upstream ? nextExperiments(verdict) : verdict.next;
            continue;
        }
        if (auto done = judgeCapture(verdict, *capture, {run, words, captures, *given, *device, controls, job, i});
            !done) {
            if (done.error().kind == ErrorKind::cancelled) {
                return tl::make_unexpected(done.error());
            }
            verdict.summary = "could not be judged: " + sentence(done.error());
        }
        if (const auto twin = isBirth(verdict) ? twinOf(verdict, *capture, captures) : std::nullopt) {
            const auto ran = controls.variantsOf(*twin->clean);
            if (!ran) {
                return tl::make_unexpected(ran.error());
            }
            letTwinSpeak(verdict, *twin, *ran);
        }
    }
    blameRanks(diagnosis.captures, captures);
    diagnosis.clusters = clustersOf(run, diagnosis.captures);
    summarize(diagnosis);
    diagnosis.advisories =
        matchAdvisories(joinAdvisories(builtInAdvisories(), options.advisories), factsOf(run, diagnosis.captures));
    diagnosis.findings = findingsOf(run, diagnosis.captures, *cards);
    diagnosis.rollback = adviseRollback(run, diagnosis.captures);
    if (diagnosis.captures.empty() && !(run.series.empty() && run.events.empty())) {
        diagnosis.headline += "; " + troubleText(run, troubleOf(run, diagnosis.captures));
    }
    return diagnosis;
}

} // namespace nanscope
