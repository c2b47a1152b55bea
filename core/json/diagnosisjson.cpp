// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A diagnosis as JSON: the answer of a command, and what a session keeps. Its facts are stored whole: what is read back
// is judged as the facts themselves.
#include <algorithm>
#include <iterator>

#include "core/base/jsonanswer.h"
#include "core/json/jsonfields.h"
#include "core/json/records.h"
#include "core/json/scenefields.h"
#include "core/model/diagnosisrules.h"
#include "core/model/verdict.h"
#include "core/model/words.h"

namespace nanscope {

using jsonfields::Of;
using jsonread::Json;

template <>
inline constexpr std::optional jsonfields::lastOf<DamageShape> = lastDamageShape;
template <>
inline constexpr std::optional jsonfields::lastOf<Leftover> = lastLeftover;
template <>
inline constexpr std::optional jsonfields::lastOf<Role> = lastRole;
template <>
inline constexpr std::optional jsonfields::lastOf<OffAs> = lastOffAs;
template <>
inline constexpr std::optional jsonfields::lastOf<IdentifiedBy> = IdentifiedBy::unknown;
template <>
inline constexpr std::optional jsonfields::lastOf<Seen> = Seen::oftener;
template <>
inline constexpr std::optional jsonfields::lastOf<StepSource> = StepSource::unknown;
template <>
inline constexpr std::optional jsonfields::lastOf<Blame> = Blame::machine;
template <>
inline constexpr std::optional jsonfields::lastOf<RuleId> = lastRule;
template <>
inline constexpr std::optional jsonfields::lastOf<AdvisoryStatus> = AdvisoryStatus::fixed;
template <>
inline constexpr std::optional jsonfields::lastOf<FindingState> = FindingState::silenced;
template <>
inline constexpr std::optional jsonfields::lastOf<CheckpointStatus> = CheckpointStatus::unverified;

template <class Visit>
void fields(Visit& visit, Of<EvidenceLine> auto& line)
{
    visit("text", line.text);
    visit("source", line.source);
}

template <class Visit>
void fields(Visit& visit, Of<VariantFit> auto& fit)
{
    visit("variant", fit.variant);
    visit("fit", fit.fit);
}

template <class Visit>
void fields(Visit& visit, Of<Identification> auto& id)
{
    visit("names", id.names);
    visit("how", id.how);
    visit("fit", id.fit);
    visit("runner_up", id.runnerUp);
    visit.text("runner_up_name", id.runnerUpName);
    visit("matches_none", id.matchesNone);
    visit("all", id.all);
}

template <class Visit>
void fields(Visit& visit, Of<MemberResult> auto& member)
{
    visit("variant", member.variant);
    visit("precision", member.precision);
    visit("roundings", member.roundings);
    visit("finite", member.finite);
    visit("reproducing", member.reproducing);
    visit("slack_percent", member.slackPercent);
    visit("slack_needed", member.slackNeeded);
    visit("absmax_q", member.absmaxQ);
    visit("headroom_binades", member.headroomBinades);
    visit("first_bad", member.firstBad);
    visit("published", member.published);
    visit("casts_first", member.castsFirst);
    visit("recorded_epsilon", member.recordedEpsilon);
    visit("cast_loses", member.castLoses);
    visit("forecast_by", member.forecastBy);
}

constexpr auto nanBitsOf = [](auto& visit, auto& bits) {
    visit("bits", bits.first);
    visit("count", bits.second);
};

template <class Visit>
void fields(Visit& visit, Of<DamagePattern> auto& damage)
{
    visit("shape", damage.shape);
    visit("text", damage.text);
    visit("batch", damage.batch);
    visit("row_begin", damage.rowBegin);
    visit("row_end", damage.rowEnd);
    visit("col_begin", damage.colBegin);
    visit("col_end", damage.colEnd);
    visit("count", damage.count);
    visit("nan", damage.nan);
    visit.each("nan_bits", damage.nanBits, nanBitsOf);
}

template <class Visit>
void fields(Visit& visit, Of<LogTrend> auto& log)
{
    visit("climbing", log.climbing);
    visit("not_finite", log.notFinite);
    visit("line", log.line);
}

template <class Visit>
void fields(Visit& visit, Of<UnjudgedTiles> auto& tiles)
{
    visit("count", tiles.count);
    visit("of", tiles.of);
    visit("error", tiles.error);
    visit("spread", tiles.spread);
    visit("row", tiles.row);
    visit("col", tiles.col);
}

template <class Visit>
void fields(Visit& visit, Of<OutputFit> auto& fit)
{
    visit("compared", fit.compared);
    visit("local_damage", fit.localDamage);
    visit("measured", fit.measured);
    visit("worst_tile_error", fit.worstTileError);
    visit("worst_row", fit.worstRow);
    visit("worst_col", fit.worstCol);
    visit("unless_ran", fit.unlessRan);
    visit("unjudged", fit.unjudged);
    visit("leftover", fit.leftover);
    visit("leftover_row", fit.leftoverRow);
    visit("leftover_col", fit.leftoverCol);
}

template <class Visit>
void fields(Visit& visit, Of<OffOutput> auto& off)
{
    visit("as", off.as);
    visit("variants", off.variants);
    visit("factor", off.factor);
    visit("steps", off.steps);
    visit("own_steps", off.ownSteps);
    visit("fit", off.fit);
}

template <class Visit>
void fields(Visit& visit, Of<ControlCall> auto& control)
{
    visit("source", control.source);
    visit("same_call", control.sameCall);
    visit("input_norm", control.inputNorm);
    visit("other_size", control.otherSize);
    visit("other_process", control.otherProcess);
    visit("identified", control.identified);
    visit("exact", control.exact);
}

template <class Visit>
void fields(Visit& visit, Of<DuplicateInput> auto& duplicate)
{
    visit("capture", duplicate.capture);
    visit("same_process", duplicate.sameProcess);
    visit("rank", duplicate.rank);
    visit("fits", duplicate.fits);
    visit("same_schedule", duplicate.sameSchedule);
    visit("same_rest", duplicate.sameRest);
}

template <class Visit>
void fields(Visit& visit, Of<FailureRate> auto& rate)
{
    visit("failures", rate.failures);
    visit("hours", rate.hours);
}

template <class Visit>
void fields(Visit& visit, Of<TriedExperiment> auto& tried)
{
    visit("id", tried.id);
    visit("seen", tried.seen);
    visit("hours", tried.hours);
    visit("times", tried.times);
}

template <class Visit>
void fields(Visit& visit, Of<KeptAnswer> auto& answer)
{
    visit("capture", answer.capture);
    visit("ticks", answer.ticks);
}

template <class Visit>
void fields(Visit& visit, Of<CallsAgain> auto& called)
{
    visit("capture", called.capture);
    visit("failed", called.failed);
    visit("calls", called.calls);
    visit("same_gpu", called.sameGpu);
    visit("experiment", called.experiment);
    visit("at_the_scene", called.atTheScene);
}

template <class Visit>
void fields(Visit& visit, Of<Facts> auto& facts)
{
    visit("role", facts.role);
    visit("replayed", facts.replayed);
    visit("damage", facts.damage);
    if (!facts.replayed) {
        return;
    }
    visit("rows", facts.rows);
    visit("cols", facts.cols);
    visit("matrices", facts.matrices);
    visit("matrices_judged", facts.matricesJudged);
    visit("input_absmax", facts.inputAbsmax);
    visit("input_finite", facts.inputFinite);
    visit("input_zero", facts.inputZero);
    visit("output_finite", facts.outputFinite);
    visit("output_zero", facts.outputZero);
    visit("damage_on_zeros", facts.damageOnZeros);
    visit("damage_in_faint_lines", facts.damageInFaintLines);
    visit("damage_in_own_block", facts.damageInOwnBlock);
    visit("damage_among_largest", facts.damageAmongLargest);
    visit("dumped_by_wrapper", facts.dumpedByWrapper);
    visit("beside_bad_input", facts.besideBadInput);
    visit("taken_together", facts.takenTogether);
    visit("exact_bits", facts.exactBits);
    visit("norm_may_vanish", facts.normMayVanish);
    visit("epsilon_matters", facts.epsilonMatters);
    visit("epsilon_missing", facts.epsilonMissing);
    visit("identified", facts.identified);
    visit("fit", facts.fit);
    visit("off", facts.off);
    visit("control", facts.control);
    visit("output_of_earlier", facts.outputOfEarlier);
    visit("output_of_earlier_off", facts.outputOfEarlierOff);
    visit("output_of_element", facts.outputOfElement);
    visit("zero_in_places", facts.zeroInPlaces);
    visit("term_or_factor", facts.termOrFactor);
    visit("misplaced", facts.misplaced);
    visit("found", facts.found);
    visit("members", facts.members);
    visit("logs", facts.logs);
    visit("hardware_error", facts.hardwareError);
    visit("besides", facts.besides);
    visit("duplicate", facts.duplicate);
    visit("wrong_beside_other_ranks", facts.wrongBesideOtherRanks);
    visit("ran", facts.ran);
    visit("nothing_else", facts.nothingElse);
    visit("nothing_else_by_sidecar", facts.nothingElseBySidecar);
    visit("other_code", facts.otherCode);
    visit("failure_rate", facts.failureRate);
    visit("tried", facts.tried);
    visit("scene", facts.scene);
    visit("called_again", facts.calledAgain);
}

template <class Visit>
void fields(Visit& visit, Of<Observations> auto& observed)
{
    visit("rate", observed.rate);
    visit("tried", observed.tried);
    visit("called", observed.called);
    visit("answers", observed.answers);
}

template <class Visit>
void fields(Visit& visit, Of<Experiment> auto& experiment)
{
    visit.text("id", experiment.id);
    visit("what", experiment.what);
    visit("meaning", experiment.meaning);
    visit("outcomes", experiment.outcomes);
    visit("clean_hours", experiment.cleanHours);
}

template <class Visit>
void fields(Visit& visit, Of<SpreadPlace> auto& place)
{
    visit("variant", place.variant);
    visit("iteration", place.iteration);
    visit("op", place.op);
    visit("mirrored", place.mirrored);
}

namespace {

// Those of the facts hold what a rule asks for besides.
constexpr auto shownMember = [](auto& visit, auto& member) {
    visit("variant", member.variant);
    visit("precision", member.precision);
    visit("roundings", member.roundings);
    visit("finite", member.finite);
    visit("reproducing", member.reproducing);
    visit("slack_percent", member.slackPercent);
    visit("absmax_q", member.absmaxQ);
    visit("headroom_binades", member.headroomBinades);
    visit.text("first_bad", member.firstBad);
    visit.text("forecast_by", member.forecastBy);
};

Json shownDamage(const DamagePattern& damage)
{
    return jsonfields::Writer::object([&](auto& visit) {
        visit("name", damage.shape);
        visit("text", damage.text);
        visit("batch", damage.batch);
        visit("rows", jsonfields::Range(damage.rowBegin, damage.rowEnd));
        visit("cols", jsonfields::Range(damage.colBegin, damage.colEnd));
        visit("count", damage.count);
        visit.each("nan_bits", damage.nanBits, nanBitsOf);
    });
}

std::vector<std::string> linesOf(const std::vector<Experiment>& experiments)
{
    std::vector<std::string> lines;
    std::transform(experiments.begin(), experiments.end(), std::back_inserter(lines), lineOf);
    return lines;
}

} // namespace

template <class Visit>
void fields(Visit& visit, Of<CaptureVerdict> auto& verdict)
{
    visit("capture", verdict.capture);
    visit("role", verdict.role);
    visit("rank", verdict.rank);
    visit("step", verdict.step);
    visit("step_source", verdict.stepSource);
    visit("verdict", verdict.blame);
    visit("summary", verdict.summary);
    visit.text("question", verdict.question);
    visit("variant", verdict.variant);
    visit("for", verdict.speaksFor);
    visit("against", verdict.speaksAgainst);
    visit("not_testable", verdict.notTestable);
    visit.shown("next", [&] { return Json(linesOf(verdict.next)); });
    visit("experiments", verdict.next);
    visit("id", verdict.captureId);
    visit("kind", verdict.kind);
    visit("marginal", verdict.marginal);
    visit.text("caused_by", verdict.causedBy);
    visit.shown("damage", [&] { return shownDamage(verdict.facts.damage); });
    visit.each("members", verdict.members, shownMember);
    visit("rule", verdict.rule);
    visit("facts", verdict.facts);
    visit.group("ends_like", verdict.originsTried > 0, [&](auto& inner) {
        inner("tried", verdict.originsTried);
        inner("variants", verdict.originVariants);
        inner("places", verdict.origins);
        inner.shown("text", [&] { return Json(originsText(verdict)); });
    });
    visit.text("layer", verdict.layer);
    visit("layer_candidates", verdict.layerCandidates);
    visit.text("unread", verdict.unread);
}

template <class Visit>
void fields(Visit& visit, Of<Triage> auto& triage)
{
    visit("captures", triage.captures);
    visit("births", triage.births);
    visit("upstream", triage.upstream);
    visit("downstream", triage.downstream);
    visit("padding", triage.padding);
}

template <class Visit>
void fields(Visit& visit, Of<Cluster> auto& cluster)
{
    visit("text", cluster.text);
    visit("captures", cluster.captures);
}

template <class Visit>
void fields(Visit& visit, Of<AdvisoryMatch> auto& advisory)
{
    visit("id", advisory.id);
    visit("status", advisory.status);
    visit("certain", advisory.certain);
    visit("title", advisory.title);
    visit("text", advisory.text);
    visit("link", advisory.link);
    visit("matched", advisory.matched);
    visit.text("missing", advisory.missing);
    visit("dated", advisory.dated);
}

template <class Visit>
void fields(Visit& visit, Of<Finding::Evidence> auto& evidence)
{
    visit("file", evidence.file);
    visit("line", evidence.line);
    visit("text", evidence.text);
}

template <class Visit>
void fields(Visit& visit, Of<Finding> auto& finding)
{
    visit("id", finding.id);
    visit("state", finding.state);
    visit("title", finding.title);
    visit("severity", finding.severity);
    visit("step", finding.step);
    visit("rank", finding.rank);
    visit("evidence", finding.evidence);
    visit("advice", finding.advice);
    visit.text("reason", finding.reason);
    visit.text("threshold", finding.threshold);
    visit.text("confidence", finding.confidence);
}

template <class Visit>
void fields(Visit& visit, Of<CheckpointAdvice> auto& advice)
{
    visit("step", advice.step);
    visit("status", advice.status);
    visit("reason", advice.reason);
    visit.text("path", advice.path);
    visit("proof", advice.proof);
}

template <class Visit>
void fields(Visit& visit, Of<Rollback> auto& rollback)
{
    visit("recommended", rollback.recommended);
    visit("reason", rollback.reason);
    visit("checkpoints", rollback.checkpoints);
    visit.text("tonight", rollback.tonight);
    visit.text("resume", rollback.resume);
    visit("fault_step", rollback.fault);
}

JsonAnswer diagnosisAnswer(const Diagnosis& diagnosis)
{
    using jsonfields::Writer;
    JsonAnswer answer;
    answer.add("schema", "nanscope.diagnosis/1");
    answer.add("triage", Writer::written(diagnosis.triage));
    answer.addEach("captures", diagnosis.captures, [](const CaptureVerdict& one) { return Writer::written(one); });
    answer.addEach("findings", diagnosis.findings, [](const Finding& one) { return Writer::written(one); });
    answer.add("advisories", Writer::written(diagnosis.advisories));
    answer.add("rollback", Writer::written(diagnosis.rollback));
    answer.add("run", diagnosis.run);
    answer.add("headline", diagnosis.headline);
    answer.add("logs", Writer::written(diagnosis.logs));
    answer.add("stopped", diagnosis.stopped.empty() ? Json(nullptr) : Json(diagnosis.stopped));
    answer.add("replayed_on", diagnosis.replayedOn.empty() ? Json(nullptr) : Json(diagnosis.replayedOn));
    answer.add("observed", toJson(diagnosis.observed));
    answer.add("rules", diagnosisRules);
    answer.add("clusters", Writer::written(diagnosis.clusters));
    return answer;
}

Json toJson(const Finding& finding)
{
    return jsonfields::Writer::written(finding);
}

Json toJson(const Observations& observed)
{
    return jsonfields::Writer::written(observed);
}

Observations observationsFromJson(const std::string& text)
{
    Observations observed;
    jsonfields::Reader::read(Json::parse(text, nullptr, false), observed);
    return observed;
}

int rulesOf(const std::string& text)
{
    const auto json = Json::parse(text, nullptr, false);
    int rules = 0;
    jsonfields::Reader read(json);
    read("rules", rules);
    return rules;
}

Result<Diagnosis> diagnosisFromJson(const std::string& text)
{
    const auto json = Json::parse(text, nullptr, false);
    if (!json.is_object()) {
        return failure(ErrorKind::format, "the stored diagnosis is not JSON; run `nanscope diagnose` again");
    }
    const auto& schema = jsonread::at(json, "schema");
    if (!schema.is_string() || schema != "nanscope.diagnosis/1") {
        return failure(ErrorKind::unsupported,
            "the stored diagnosis is not of nanscope.diagnosis/1; run `nanscope diagnose` of this version again");
    }
    Diagnosis diagnosis;
    jsonfields::Reader read(json);
    read("run", diagnosis.run);
    read("triage", diagnosis.triage);
    read("headline", diagnosis.headline);
    read("logs", diagnosis.logs);
    read.text("stopped", diagnosis.stopped);
    read.text("replayed_on", diagnosis.replayedOn);
    read("captures", diagnosis.captures);
    read("clusters", diagnosis.clusters);
    read("findings", diagnosis.findings);
    read("advisories", diagnosis.advisories);
    read("rollback", diagnosis.rollback);
    read("observed", diagnosis.observed);
    return diagnosis;
}

} // namespace nanscope
