// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Every field of what is written as JSON comes back, one by one.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/json/records.h"
#include "core/model/diagnosisrules.h"
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "handmade.h"

using namespace nanscope;
using Json = nlohmann::ordered_json;

namespace {

Cell returned(const Cell& cell)
{
    const auto back = cellFromJson(Json::parse(jsonText(toJson(cell))));
    EXPECT_TRUE(back) << (back ? "" : back.error().what);
    return back.value_or(Cell {});
}

Diagnosis returned(const Diagnosis& diagnosis)
{
    const auto back = diagnosisFromJson(diagnosisAnswer(diagnosis).text());
    EXPECT_TRUE(back) << (back ? "" : back.error().what);
    return back.value_or(Diagnosis {});
}

CaptureVerdict returned(const CaptureVerdict& verdict)
{
    Diagnosis diagnosis;
    diagnosis.captures = {verdict};
    return returned(diagnosis).captures.at(0);
}

void expectSame(const std::vector<EvidenceLine>& a, const std::vector<EvidenceLine>& b)
{
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].text, b[i].text);
        EXPECT_EQ(a[i].source, b[i].source);
    }
}

/// Equal bits, so that NaN equals NaN.
void expectSame(const std::optional<double>& a, const std::optional<double>& b)
{
    ASSERT_EQ(a.has_value(), b.has_value());
    if (a) {
        EXPECT_TRUE(*a == *b || (std::isnan(*a) && std::isnan(*b))) << *a << " " << *b;
    }
}

} // namespace

TEST(Fields, OfACell)
{
    auto cell = handmade::failingCell();
    cell.native = true;
    cell.steps = 8;
    cell.birth = NonFinite {0, OpName::cast, {1, 2, 3}, ValueClass::negInf, 9};
    cell.batches.push_back({1, Outcome::zero, std::nullopt});
    cell.error = "out of memory";
    const auto back = returned(cell);
    EXPECT_EQ(back.id, 12);
    EXPECT_EQ(back.capture, cell.capture);
    EXPECT_EQ(back.variant, cell.variant);
    EXPECT_EQ(back.device, "cpu");
    EXPECT_FALSE(back.native) << "what failed was computed in no arithmetic";
    EXPECT_EQ(back.epsilon, 1e-7);
    EXPECT_EQ(back.steps, 8);
    EXPECT_EQ(back.birth, cell.birth);
    EXPECT_EQ(back.seconds, 0.25);
    EXPECT_EQ(back.error, "out of memory");
    ASSERT_EQ(back.batches.size(), 2U);
    EXPECT_EQ(back.batches[1].batch, 1);
    EXPECT_EQ(back.batches[1].outcome, Outcome::zero);
    EXPECT_FALSE(back.batches[1].firstNonFinite);
    EXPECT_EQ(back.batches[0].firstNonFinite, cell.batches[0].firstNonFinite);
    cell.error.clear();
    EXPECT_TRUE(returned(cell).native);
}

TEST(Fields, OfAGauge)
{
    Cell cell;
    cell.variant = "x";
    cell.gauges = {{1, INFINITY, 1.05, 2.5, 0.3, 4.5, 1e-300}, {2, {}, {}, {}, {}, 0, {}},
        {3, std::nan(""), -INFINITY, 1e308, -0.0, INFINITY, 0.1}};
    const auto back = returned(cell).gauges;
    ASSERT_EQ(back.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& a = cell.gauges[i];
        EXPECT_EQ(back[i].iteration, a.iteration);
        expectSame(a.spectralBound, back[i].spectralBound);
        expectSame(a.spectralLimit, back[i].spectralLimit);
        expectSame(a.absmaxQ, back[i].absmaxQ);
        expectSame(a.orthogonality, back[i].orthogonality);
        expectSame(a.distanceToFp64, back[i].distanceToFp64);
        EXPECT_EQ(back[i].absmaxX, a.absmaxX);
    }
}

TEST(Fields, OfEveryNameThatACellMayCarry)
{
    Cell cell;
    cell.variant = "x";
    for (int i = 0; i <= static_cast<int>(lastPrecision); ++i) {
        cell.precision = static_cast<Precision>(i);
        EXPECT_EQ(returned(cell).precision, cell.precision);
    }
    for (int i = 0; i <= static_cast<int>(Outcome::nan); ++i) {
        cell.outcome = static_cast<Outcome>(i);
        EXPECT_EQ(returned(cell).outcome, cell.outcome);
    }
    for (int i = 0; i <= static_cast<int>(OpName::rescale); ++i) {
        cell.firstNonFinite = NonFinite {1, static_cast<OpName>(i), {0, 0}, ValueClass::posInf, 1};
        EXPECT_EQ(returned(cell).firstNonFinite, cell.firstNonFinite);
    }
    for (const auto kind : {ValueClass::nan, ValueClass::posInf, ValueClass::negInf}) {
        cell.firstNonFinite->kind = kind;
        EXPECT_EQ(returned(cell).firstNonFinite->kind, kind);
    }
    for (const auto lowering : {Lowering::eager, Lowering::fused}) {
        cell.lowering = lowering;
        EXPECT_EQ(returned(cell).lowering, lowering);
    }
}

TEST(Fields, OfObservations)
{
    const Observations observed {FailureRate {3, 4.2},
        {{"kernels-off", Seen::gone, 6.5, 1}, {"swap-gpus", Seen::moves, 0, 2}},
        {{"a.pt", 3, 200, false, "kernels-off"}}, {{"b.pt", {"gns-gram", "nothing-else"}}}};
    const auto back = observationsFromJson(jsonText(toJson(observed)));
    ASSERT_TRUE(back.rate);
    EXPECT_EQ(back.rate->failures, 3);
    EXPECT_EQ(back.rate->hours, 4.2);
    ASSERT_EQ(back.tried.size(), 2U);
    EXPECT_EQ(back.tried[0].id, "kernels-off");
    EXPECT_EQ(back.tried[0].seen, Seen::gone);
    EXPECT_EQ(back.tried[0].hours, 6.5);
    EXPECT_EQ(back.tried[1].seen, Seen::moves);
    EXPECT_EQ(back.tried[1].times, 2);
    ASSERT_EQ(back.called.size(), 1U);
    EXPECT_EQ(back.called[0].capture, "a.pt");
    EXPECT_EQ(back.called[0].failed, 3);
    EXPECT_EQ(back.called[0].calls, 200);
    EXPECT_FALSE(back.called[0].sameGpu);
    EXPECT_EQ(back.called[0].experiment, "kernels-off");
    EXPECT_EQ(back.answers, observed.answers);
    EXPECT_TRUE(observationsFromJson("").tried.empty());
    EXPECT_TRUE(observationsFromJson("[1, {").tried.empty());
}

TEST(Fields, OfAVerdict)
{
    auto verdict = handmade::birthVerdict();
    verdict.marginal = true;
    verdict.question = "which function ran?";
    verdict.causedBy = "first.pt";
    verdict.stepSource = StepSource::capture;
    const auto back = returned(verdict);
    EXPECT_EQ(back.captureId, 3);
    EXPECT_EQ(back.capture, verdict.capture);
    EXPECT_EQ(back.rank, 0);
    EXPECT_EQ(back.step, verdict.step);
    EXPECT_EQ(back.stepSource, StepSource::capture);
    EXPECT_EQ(back.kind, verdict.kind);
    EXPECT_EQ(back.summary, verdict.summary);
    EXPECT_TRUE(back.marginal);
    EXPECT_EQ(back.question, verdict.question);
    EXPECT_EQ(back.causedBy, "first.pt");
    ASSERT_EQ(back.next.size(), verdict.next.size());
    EXPECT_EQ(back.next[0].id, "kernels-off");
    EXPECT_EQ(back.next[0].what, verdict.next[0].what);
    EXPECT_EQ(back.next[0].outcomes, verdict.next[0].outcomes);
    EXPECT_FALSE(back.next[0].cleanHours);
    expectSame(back.speaksFor, verdict.speaksFor);
    expectSame(back.speaksAgainst, verdict.speaksAgainst);
    expectSame(back.notTestable, verdict.notTestable);
}

TEST(Fields, OfTheIdentificationAndItsMembers)
{
    auto verdict = handmade::birthVerdict();
    verdict.variant.matchesNone = true;
    const auto back = returned(verdict);
    EXPECT_EQ(back.variant.names, verdict.variant.names);
    EXPECT_EQ(back.variant.fit, 0.005);
    EXPECT_EQ(back.variant.runnerUp, 0.093);
    EXPECT_EQ(back.variant.runnerUpName, "dion-ns5");
    EXPECT_TRUE(back.variant.matchesNone);
    ASSERT_EQ(back.variant.all.size(), 3U);
    EXPECT_EQ(back.variant.all[1].variant, "dion-ns5");
    EXPECT_EQ(back.variant.all[1].fit, 0.093);
    ASSERT_EQ(back.members.size(), 2U);
    EXPECT_EQ(back.members[0].variant, "gns-gram");
    EXPECT_EQ(back.members[0].precision, "bf16");
    EXPECT_EQ(back.members[0].roundings, 8);
    EXPECT_EQ(back.members[1].finite, 2);
    EXPECT_EQ(back.members[1].reproducing, 1);
    EXPECT_EQ(back.members[0].slackPercent, 5.1);
    EXPECT_FALSE(back.members[1].slackPercent);
    EXPECT_EQ(back.members[0].absmaxQ, 0.8);
    EXPECT_EQ(back.members[1].firstBad, "step 3 gram");
}

TEST(Fields, OfADamagePattern)
{
    auto verdict = handmade::birthVerdict();
    verdict.facts.damage.batch = 2;
    verdict.facts.damage.nanBits = {{0xfff8'0000'0000'0001ULL, 3}, {0x7fc0, 1}};
    const auto back = returned(verdict).facts.damage;
    EXPECT_EQ(back.shape, DamageShape::rectangle);
    EXPECT_EQ(back.text, verdict.facts.damage.text);
    EXPECT_EQ(back.batch, 2);
    EXPECT_EQ(back.rowBegin, 32);
    EXPECT_EQ(back.rowEnd, 64);
    EXPECT_EQ(back.colBegin, 64);
    EXPECT_EQ(back.colEnd, 96);
    EXPECT_EQ(back.count, 1024);
    EXPECT_EQ(back.nanBits, verdict.facts.damage.nanBits) << "all 64 bits of a double's NaN";
}

TEST(Fields, OfThePlacesADumpCanHaveBegunIn)
{
    auto verdict = handmade::birthVerdict();
    EXPECT_EQ(returned(verdict).originsTried, 0);
    verdict.origins = {{"gns-gram", 5, OpName::update, false}, {"gns-gram", 3, OpName::rescale, true}};
    verdict.originsTried = 17;
    const auto back = returned(verdict);
    EXPECT_EQ(back.origins, verdict.origins);
    EXPECT_EQ(back.originsTried, 17);
}

TEST(Fields, OfEveryRoleAndBlame)
{
    CaptureVerdict verdict;
    for (int i = 0; i <= static_cast<int>(Role::healthy); ++i) {
        verdict.role = static_cast<Role>(i);
        EXPECT_EQ(returned(verdict).role, verdict.role);
    }
    for (int i = 0; i <= static_cast<int>(Blame::machine); ++i) {
        verdict.blame = static_cast<Blame>(i);
        EXPECT_EQ(returned(verdict).blame, verdict.blame);
    }
    for (int i = 0; i <= static_cast<int>(IdentifiedBy::unknown); ++i) {
        verdict.variant.how = static_cast<IdentifiedBy>(i);
        EXPECT_EQ(returned(verdict).variant.how, verdict.variant.how);
    }
}

TEST(Fields, OfAFindingAndTheRun)
{
    const auto diagnosis = handmade::diagnosis();
    const auto back = returned(diagnosis);
    EXPECT_EQ(back.run, "tile");
    EXPECT_EQ(back.headline, diagnosis.headline);
    EXPECT_EQ(back.triage.captures, 25);
    EXPECT_EQ(back.triage.births, 1);
    EXPECT_EQ(back.triage.downstream, 24);
    ASSERT_EQ(back.findings.size(), 1U);
    EXPECT_EQ(back.findings[0].id, "P1");
    EXPECT_EQ(back.findings[0].state, FindingState::fired);
    EXPECT_EQ(back.findings[0].title, "Loss is NaN");
    EXPECT_EQ(back.findings[0].severity, "error");
    EXPECT_EQ(back.findings[0].step, 6);
    EXPECT_EQ(back.findings[0].rank, 0);
    EXPECT_EQ(back.findings[0].evidence[0].file, "console.log");
    EXPECT_EQ(back.findings[0].evidence[0].text, "loss=nan");
    EXPECT_EQ(back.findings[0].advice, std::vector<std::string> {"stop"});
    EXPECT_EQ(back.rollback.has_value(), false);
}

TEST(Fields, OfAFindingThatCannotBeChecked)
{
    auto diagnosis = handmade::diagnosis();
    auto& finding = diagnosis.findings[0];
    finding.state = FindingState::notCheckable;
    finding.reason = "no loss scale is logged";
    finding.threshold = "5 skips in a row";
    finding.confidence = "low";
    const auto back = returned(diagnosis).findings.at(0);
    EXPECT_EQ(back.state, FindingState::notCheckable);
    EXPECT_EQ(back.reason, "no loss scale is logged");
    EXPECT_EQ(back.threshold, "5 skips in a row");
    EXPECT_EQ(back.confidence, "low");
}

TEST(Fields, OlderRulesAreKnownByTheirNumber)
{
    EXPECT_EQ(rulesOf(diagnosisAnswer(handmade::diagnosis()).text()), diagnosisRules);
    EXPECT_EQ(rulesOf(R"({"schema":"nanscope.diagnosis/1"})"), 0);
    EXPECT_EQ(rulesOf(R"({"schema":"nanscope.diagnosis/1","rules":1})"), 1);
    EXPECT_EQ(rulesOf("no JSON"), 0);
}

TEST(Fields, OfARollback)
{
    auto diagnosis = handmade::diagnosis();
    auto& rollback = diagnosis.rollback.emplace();
    rollback.recommended = 4000;
    rollback.reason = "newest before the spike";
    rollback.tonight = "resume from step 4000";
    rollback.checkpoints = {{5000, CheckpointStatus::poisoned, "grad_norm is NaN", "out/step_5000",
                                {{"[step 4990] grad_norm=nan", "train.log:77"}}},
        {4000, CheckpointStatus::safe, "clean", "", {}}};
    const auto back = returned(diagnosis).rollback;
    ASSERT_TRUE(back);
    EXPECT_EQ(back->recommended, 4000);
    EXPECT_EQ(back->reason, "newest before the spike");
    EXPECT_EQ(back->tonight, "resume from step 4000");
    ASSERT_EQ(back->checkpoints.size(), 2U);
    EXPECT_EQ(back->checkpoints[0].step, 5000);
    EXPECT_EQ(back->checkpoints[0].status, CheckpointStatus::poisoned);
    EXPECT_EQ(back->checkpoints[0].path, "out/step_5000");
    EXPECT_EQ(back->checkpoints[0].proof.at(0).source, "train.log:77");
    EXPECT_EQ(back->checkpoints[1].status, CheckpointStatus::safe);
}

TEST(Fields, OfListsNameWhatWasRejected)
{
    auto run = handmade::run();
    run.rejected = {{"b.pt", "the file is cut off"}};
    for (const auto& json : {report::capturesAnswer(run).whole(), report::seriesAnswer(run).whole(),
             report::eventsAnswer(run).whole(), report::runsAnswer(run).whole()}) {
        EXPECT_EQ(json["rejected"].dump(), R"([{"path":"b.pt","reason":"the file is cut off"}])");
    }
    EXPECT_EQ(report::rejectedJson(run.rejected).size(), 1U);
    const auto counts = report::runsAnswer(run).whole()["runs"][0];
    EXPECT_EQ(counts["captures"], 1);
    EXPECT_EQ(counts["series"], 1);
    EXPECT_EQ(counts["events"], 1);
    EXPECT_EQ(counts["rejected"], 1);
    EXPECT_EQ(counts["root"], run.root);
}

TEST(Fields, OfAnEvent)
{
    const auto event = report::eventsAnswer(handmade::run()).whole()["events"][0];
    EXPECT_EQ(event["kind"], "capture_dumped");
    EXPECT_EQ(event["rank"], 0);
    EXPECT_TRUE(event["step"].is_null());
    EXPECT_EQ(event["capture"], handmade::birthCapture().file);
    EXPECT_EQ(event["source"], "console.log");
    EXPECT_EQ(event["line"], 22);
}

TEST(Fields, OfEachMatrixOfABatchHaveTheirOwnIndex)
{
    auto capture = handmade::birthCapture();
    capture.output->shape = {2, 160, 96};
    capture.output->batches.insert(capture.output->batches.begin(), handmade::finiteScan(15360, 1, 1));
    const auto output = toJson(capture)["output"];
    EXPECT_EQ(output["first_nonfinite"].dump(), "[1,32,64]");
    ASSERT_EQ(output["batches"].size(), 2U);
    EXPECT_TRUE(output["batches"][0]["first_nonfinite"].is_null());
    EXPECT_EQ(output["batches"][1]["first_nonfinite"].dump(), "[32,64]");
    EXPECT_EQ(output["nan"], 1024);
    EXPECT_EQ(output["count"], 30720);
}

TEST(Fields, OfATensorThatWasNotScannedAreAbsentNotZero)
{
    auto capture = handmade::birthCapture();
    capture.input.batches.clear();
    const auto input = toJson(capture)["input"];
    EXPECT_FALSE(input.contains("nan"));
    EXPECT_FALSE(input.contains("absmax"));
    EXPECT_EQ(input["shape"].dump(), "[1,160,96]");
}
