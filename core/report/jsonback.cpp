// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/factsjson.h"
#include "core/report/jsonread.h"
#include "core/report/report.h"

namespace nanscope {

using namespace jsonread;

// In no unnamed namespace: jsonread's template for vectors finds them by their argument.
static void read(const Json& json, VariantFit& out)
{
    read(at(json, "variant"), out.variant);
    read(at(json, "fit"), out.fit);
}

static void read(const Json& json, Identification& out)
{
    read(at(json, "names"), out.names);
    readName(at(json, "how"), out.how, IdentifiedBy::unknown);
    read(at(json, "fit"), out.fit);
    read(at(json, "runner_up"), out.runnerUp);
    read(at(json, "runner_up_name"), out.runnerUpName);
    read(at(json, "matches_none"), out.matchesNone);
    read(at(json, "all"), out.all);
}

static void read(const Json& json, EvidenceLine& out)
{
    read(at(json, "text"), out.text);
    read(at(json, "source"), out.source);
}

static void read(const Json& json, MemberResult& out)
{
    read(at(json, "variant"), out.variant);
    read(at(json, "precision"), out.precision);
    read(at(json, "roundings"), out.roundings);
    read(at(json, "finite"), out.finite);
    read(at(json, "reproducing"), out.reproducing);
    read(at(json, "slack_percent"), out.slackPercent);
    read(at(json, "absmax_q"), out.absmaxQ);
    read(at(json, "headroom_binades"), out.headroomBinades);
    read(at(json, "first_bad"), out.firstBad);
    read(at(json, "forecast_by"), out.forecastBy);
}

static void read(const Json& json, Seen& out)
{
    readName(json, out, Seen::oftener);
}

static void read(const Json& json, Experiment& out)
{
    read(at(json, "id"), out.id);
    read(at(json, "what"), out.what);
    read(at(json, "meaning"), out.meaning);
    read(at(json, "outcomes"), out.outcomes);
    read(at(json, "clean_hours"), out.cleanHours);
}

/// Older diagnoses hold the lines alone.
static void readExperiments(const Json& json, std::vector<Experiment>& out)
{
    read(at(json, "experiments"), out);
    if (!out.empty()) {
        return;
    }
    std::vector<std::string> lines;
    read(at(json, "next"), lines);
    for (auto& line : lines) {
        out.push_back({{}, std::move(line), {}, {}, {}});
    }
}

static void read(const Json& json, TriedExperiment& out)
{
    read(at(json, "id"), out.id);
    read(at(json, "seen"), out.seen);
    read(at(json, "hours"), out.hours);
    read(at(json, "times"), out.times);
}

static void read(const Json& json, CallsAgain& out)
{
    read(at(json, "capture"), out.capture);
    read(at(json, "failed"), out.failed);
    read(at(json, "calls"), out.calls);
    read(at(json, "same_gpu"), out.sameGpu);
    read(at(json, "experiment"), out.experiment);
}

static void read(const Json& json, Observations& out)
{
    if (const auto& rate = at(json, "rate"); rate.is_object()) {
        auto& given = out.rate.emplace();
        read(at(rate, "failures"), given.failures);
        read(at(rate, "hours"), given.hours);
    }
    read(at(json, "tried"), out.tried);
    read(at(json, "called"), out.called);
}

static void read(const Json& json, SpreadPlace& out)
{
    read(at(json, "variant"), out.variant);
    read(at(json, "iteration"), out.iteration);
    readName(at(json, "op"), out.op, OpName::rescale);
    read(at(json, "mirrored"), out.mirrored);
}

static void readStep(const Json& json, CaptureVerdict& out)
{
    if (json.is_array() && json.size() == 2) {
        auto& step = out.step.emplace();
        readRange(json, step.first, step.second);
    }
}

static void read(const Json& json, CaptureVerdict& out)
{
    read(at(json, "id"), out.captureId);
    read(at(json, "capture"), out.capture);
    readName(at(json, "role"), out.role, Role::healthy);
    read(at(json, "rank"), out.rank);
    readStep(at(json, "step"), out);
    readName(at(json, "step_source"), out.stepSource, StepSource::unknown);
    readName(at(json, "verdict"), out.blame, Blame::machine);
    read(at(json, "marginal"), out.marginal);
    read(at(json, "kind"), out.kind);
    read(at(json, "summary"), out.summary);
    read(at(json, "question"), out.question);
    read(at(json, "variant"), out.variant);
    read(at(json, "members"), out.members);
    out.facts = factsFromJson(at(json, "facts"));
    readName(at(json, "rule"), out.rule, lastRule);
    read(at(json, "for"), out.speaksFor);
    read(at(json, "against"), out.speaksAgainst);
    read(at(json, "not_testable"), out.notTestable);
    readExperiments(json, out.next);
    read(at(json, "caused_by"), out.causedBy);
    read(at(at(json, "ends_like"), "tried"), out.endsLikeTried);
    read(at(at(json, "ends_like"), "places"), out.endsLike);
    read(at(json, "layer"), out.layer);
    read(at(json, "layer_candidates"), out.layerCandidates);
    read(at(json, "unread"), out.unread);
}

static void read(const Json& json, Cluster& out)
{
    read(at(json, "text"), out.text);
    read(at(json, "captures"), out.captures);
}

static void read(const Json& json, AdvisoryMatch& out)
{
    read(at(json, "id"), out.id);
    readName(at(json, "status"), out.status, AdvisoryStatus::fixed);
    read(at(json, "certain"), out.certain);
    read(at(json, "title"), out.title);
    read(at(json, "text"), out.text);
    read(at(json, "link"), out.link);
    read(at(json, "matched"), out.matched);
    read(at(json, "missing"), out.missing);
    read(at(json, "dated"), out.dated);
}

static void read(const Json& json, Finding::Evidence& out)
{
    read(at(json, "file"), out.file);
    read(at(json, "line"), out.line);
    read(at(json, "text"), out.text);
}

static void read(const Json& json, Finding& out)
{
    read(at(json, "id"), out.id);
    readName(at(json, "state"), out.state, FindingState::silenced);
    read(at(json, "title"), out.title);
    read(at(json, "severity"), out.severity);
    read(at(json, "step"), out.step);
    read(at(json, "rank"), out.rank);
    read(at(json, "evidence"), out.evidence);
    read(at(json, "advice"), out.advice);
    read(at(json, "reason"), out.reason);
    read(at(json, "threshold"), out.threshold);
    read(at(json, "confidence"), out.confidence);
}

static void read(const Json& json, CheckpointAdvice& out)
{
    read(at(json, "step"), out.step);
    readName(at(json, "status"), out.status, CheckpointStatus::unverified);
    read(at(json, "reason"), out.reason);
    read(at(json, "path"), out.path);
    read(at(json, "proof"), out.proof);
}

static void read(const Json& json, Rollback& out)
{
    read(at(json, "recommended"), out.recommended);
    read(at(json, "reason"), out.reason);
    read(at(json, "tonight"), out.tonight);
    read(at(json, "checkpoints"), out.checkpoints);
}

static void read(const Json& json, Triage& out)
{
    read(at(json, "captures"), out.captures);
    read(at(json, "births"), out.births);
    read(at(json, "upstream"), out.upstream);
    read(at(json, "downstream"), out.downstream);
    read(at(json, "padding"), out.padding);
}

Observations observationsFromJson(const std::string& text)
{
    Observations observed;
    read(Json::parse(text, nullptr, false), observed);
    return observed;
}

int rulesOf(const std::string& text)
{
    const auto json = Json::parse(text, nullptr, false);
    int rules = 0;
    if (json.is_object()) {
        read(at(json, "rules"), rules);
    }
    return rules;
}

Result<Diagnosis> diagnosisFromJson(const std::string& text)
{
    const auto json = Json::parse(text, nullptr, false);
    if (!json.is_object()) {
        return failure(ErrorKind::format, "the stored diagnosis is not JSON; run `nanscope diagnose` again");
    }
    if (!at(json, "schema").is_string() || at(json, "schema") != "nanscope.diagnosis/1") {
        return failure(ErrorKind::unsupported,
            "the stored diagnosis is not of nanscope.diagnosis/1; run `nanscope diagnose` of this version again");
    }
    Diagnosis diagnosis;
    read(at(json, "run"), diagnosis.run);
    read(at(json, "triage"), diagnosis.triage);
    read(at(json, "headline"), diagnosis.headline);
    read(at(json, "stopped"), diagnosis.stopped);
    read(at(json, "captures"), diagnosis.captures);
    read(at(json, "clusters"), diagnosis.clusters);
    read(at(json, "findings"), diagnosis.findings);
    read(at(json, "advisories"), diagnosis.advisories);
    if (at(json, "rollback").is_object()) {
        read(at(json, "rollback"), diagnosis.rollback.emplace());
    }
    read(at(json, "observed"), diagnosis.observed);
    return diagnosis;
}

} // namespace nanscope
