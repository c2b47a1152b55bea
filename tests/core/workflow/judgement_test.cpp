// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/recovery/rollback.h"
#include "core/replay/engine/capturecells.h"
#include "core/report/input/reportinput.h"
#include "core/workflow/judgement.h"
#include "core/workflow/openrun.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

class Judgement : public testing::Test
{
protected:
    void SetUp() override
    {
        folder = fs::temp_directory_path() / ("nanscope-judgement-" + std::to_string(::getpid()));
        fs::remove_all(folder);
        fs::create_directories(folder);
        fs::copy(NANSCOPE_SAMPLE, folder / "run", fs::copy_options::recursive);
        fs::remove(folder / "run" / "sample.nanscope");
        ::setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
    }
    void TearDown() override { fs::remove_all(folder); }

    workflow::OpenedRun opened(workflow::Points points = workflow::Points::judging) const
    {
        auto run = workflow::openRun(
            folder / "run", {folder / "kept.nanscope", workflow::Access::store, points, std::nullopt});
        EXPECT_TRUE(run) << run.error().what;
        return run ? std::move(*run) : workflow::OpenedRun {};
    }

    std::string write(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder / name) << text;
        return (folder / name).string();
    }

    /// A loss of 2 with five of 5, a spike to most rules.
    void writeSpikes() const
    {
        std::ofstream csv(folder / "run" / "spikes.csv");
        csv << "step,loss\n";
        for (int step = 1; step <= 150; ++step) {
            csv << step << (step > 120 && step <= 125 ? ",5\n" : ",2\n");
        }
    }

    static std::optional<FindingState> stateOf(const Diagnosis& diagnosis, const std::string& id)
    {
        const auto found = std::ranges::find(diagnosis.findings, id, &Finding::id);
        return found == diagnosis.findings.end() ? std::nullopt : std::optional(found->state);
    }

    fs::path folder;
};

TEST_F(Judgement, AStoredDiagnosisIsFoundWithWhatItWasDrawnFrom)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    EXPECT_FALSE(workflow::storedDiagnosis(*run.session));
    const auto from = workflow::judgedFrom(run.run, {}, {}, &*run.session);
    const auto triaged = diagnose::triageRun(run.run);
    ASSERT_TRUE(workflow::storeDiagnosis(*run.session, triaged, from));
    const auto stored = workflow::storedDiagnosis(*run.session);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->from, from);
    EXPECT_EQ(stored->from.rules, diagnosisRules);
    EXPECT_EQ(stored->diagnosis.captures.size(), triaged.captures.size());
}

TEST_F(Judgement, HoldsNoLongerWhenTheRunHasGrownOrAnotherFileIsNamed)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    const auto from = workflow::judgedFrom(run.run, {}, {}, &*run.session);
    workflow::UserFiles files;
    files.parameters = write("params.txt", "w [512, 1408]\n");
    EXPECT_NE(workflow::judgedFrom(run.run, files, {}, &*run.session), from);
    EXPECT_EQ(workflow::judgedFrom(opened(workflow::Points::none).run, {}, {}, &*run.session), from)
        << "read again, with or without points";

    ASSERT_TRUE(run.session->setColumns("loss=total"));
    EXPECT_NE(workflow::judgedFrom(run.run, {}, {}, &*run.session), from) << "as many points, of something else";
    ASSERT_TRUE(run.session->setColumns(""));
    EXPECT_EQ(workflow::judgedFrom(run.run, {}, {}, &*run.session), from);

    std::ofstream(folder / "run" / "more.csv") << "step,loss\n1,2.5\n2,2.25\n";
    EXPECT_NE(workflow::judgedFrom(opened().run, {}, {}, &*run.session), from);
}

TEST_F(Judgement, AnotherSpikeRuleOrSilenceReplaysNothing)
{
    writeSpikes();
    auto run = opened();
    ASSERT_TRUE(run.session);
    const diagnose::FindingChoices megatron {{"P18"}, "megatron"};
    const auto diagnosis = workflow::findAgain(diagnose::triageRun(run.run), run.run, {});
    EXPECT_EQ(stateOf(diagnosis, "P12"), FindingState::fired);
    ASSERT_TRUE(
        workflow::storeDiagnosis(*run.session, diagnosis, workflow::judgedFrom(run.run, {}, {}, &*run.session)));
    const auto wanted = workflow::judgedFrom(run.run, {}, megatron, &*run.session);
    EXPECT_NE(workflow::storedDiagnosis(*run.session)->from, wanted);
    EXPECT_TRUE(workflow::storedDiagnosis(*run.session)->from.sameVerdicts(wanted));

    const auto again = workflow::findAgain(diagnosis, run.run, megatron);
    EXPECT_EQ(stateOf(again, "P12"), FindingState::clear);
    EXPECT_EQ(again.headline, diagnosis.headline);
    EXPECT_EQ(again.captures.size(), diagnosis.captures.size());
    ASSERT_TRUE(workflow::storeFindings(*run.session, again.findings, megatron));
    const auto stored = workflow::storedDiagnosis(*run.session);
    EXPECT_EQ(stored->from, wanted);
    EXPECT_EQ(stateOf(stored->diagnosis, "P12"), FindingState::clear);
}

TEST_F(Judgement, AKeptDiagnosisIsShownAsItsReaderChose)
{
    writeSpikes();
    auto run = opened();
    ASSERT_TRUE(run.session);
    const auto silenced = workflow::findAgain(diagnose::triageRun(run.run), run.run, {{"P12"}, {}});
    const auto from = workflow::judgedFrom(run.run, {}, {{"P12"}, {}}, &*run.session);
    EXPECT_EQ(stateOf(silenced, "P12"), FindingState::silenced);
    EXPECT_EQ(from, workflow::judgedFrom(run.run, {}, {}, &*run.session)) << "a silence is undone without the points";
    EXPECT_EQ(stateOf(workflow::asChosen({silenced, from}, run.run, {}), "P12"), FindingState::fired);
    EXPECT_EQ(stateOf(workflow::asChosen({silenced, from}, run.run, {{"P12"}, {}}), "P12"), FindingState::silenced);
    const auto otherRule = workflow::asChosen({silenced, from}, run.run, {{}, "megatron"});
    EXPECT_FALSE(otherRule.findings.empty());
    EXPECT_FALSE(stateOf(otherRule, "P12")) << "nobody asked by this rule yet";
}

TEST_F(Judgement, FindingsDoNotMakeAnOldDiagnosisPassForANewOne)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    const auto triaged = diagnose::triageRun(run.run);
    EXPECT_TRUE(workflow::storeFindings(*run.session, {}, {{}, "olmo"}));
    EXPECT_FALSE(workflow::storedDiagnosis(*run.session)) << "there was none";
    ASSERT_TRUE(workflow::storeDiagnosis(*run.session, triaged, workflow::judgedFrom(run.run, {}, {}, &*run.session)));
    auto text = *run.session->diagnosis();
    const auto rules = "\"rules\":" + std::to_string(diagnosisRules);
    ASSERT_NE(text.find(rules), std::string::npos) << text.substr(0, 200);
    ASSERT_TRUE(run.session->setDiagnosis(text.replace(text.find(rules), rules.size(), "\"rules\":1")));
    EXPECT_TRUE(workflow::storeFindings(*run.session, {}, {{}, "olmo"}));
    EXPECT_EQ(workflow::storedDiagnosis(*run.session)->from.rules, 1);
}

TEST_F(Judgement, ADiagnosisThatDoesNotSayWhatItWasDrawnFromIsDrawnAgain)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    const auto triaged = diagnose::triageRun(run.run);
    ASSERT_TRUE(workflow::storeDiagnosis(*run.session, triaged, {}));
    EXPECT_NE(workflow::storedDiagnosis(*run.session)->from, workflow::judgedFrom(run.run, {}, {}, &*run.session));
    ASSERT_TRUE(run.session->setDiagnosis("[1, 2"));
    EXPECT_FALSE(workflow::storedDiagnosis(*run.session));
}

TEST_F(Judgement, ObservationsThatCannotBeArguedWithAreLeftOut)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    Observations seen;
    seen.rate = FailureRate {3, 4.5};
    ASSERT_TRUE(workflow::storeObservations(*run.session, seen));
    EXPECT_EQ(workflow::storedObservations(*run.session)->rate->hours, 4.5);
    seen.rate = FailureRate {3, -1};
    ASSERT_TRUE(workflow::storeObservations(*run.session, seen));
    EXPECT_FALSE(workflow::storedObservations(*run.session)->rate);
}

TEST_F(Judgement, AReportLeavesOutCellsOfAVariantThatIsDefinedOtherwiseNow)
{
    auto run = opened();
    ASSERT_TRUE(run.session);
    Cell cell;
    cell.capture = run.run.captures.front().file;
    cell.variant = "keller-jordan";
    ASSERT_TRUE(run.session->addCell(cell));
    cell.variant = "mine";
    ASSERT_TRUE(run.session->addCell(cell));
    workflow::UserFiles files;
    files.variants = {write("mine.json", R"({"base": "keller-jordan", "name": "mine", "precision": "fp16"})")};
    workflow::ReportSource source {run.run, diagnose::triageRun(run.run)};
    source.catalogue = workflow::readUserFiles(files, {}).catalogue;
    ASSERT_TRUE(source.catalogue.find("mine"));
    const auto input = workflow::reportInput(std::move(source), &*run.session);
    ASSERT_TRUE(input);
    ASSERT_EQ(input->cells.size(), 1U);
    EXPECT_EQ(input->cells.front().variant, "keller-jordan");
}

TEST_F(Judgement, ACommandNamesTheCaptureByItsPath)
{
    RunData run;
    run.captures.resize(1);
    run.captures[0].file = "dumps/a b.pt";
    run.captures[0].path = "/runs/one/dumps/a b.pt";
    Diagnosis diagnosis;
    diagnosis.captures.resize(1);
    diagnosis.captures[0].capture = "dumps/a b.pt";
    diagnosis.captures[0].next = {{{}, "nanscope measure repeat 'dumps/a b.pt' --impl python:m:f", {}, {}, {}},
        {{}, "look at 'dumps/a b.pt' by hand", {}, {}, {}}};
    const auto shown = [&](bool nameOnly) {
        return workflow::weighed(diagnosis, {}, run, {}, {}, nameOnly).captures[0].next;
    };
    EXPECT_EQ(shown(false)[0].what, "nanscope measure repeat '/runs/one/dumps/a b.pt' --impl python:m:f");
    EXPECT_EQ(shown(false)[1].what, diagnosis.captures[0].next[1].what) << "no command";
    EXPECT_EQ(shown(true)[0].what, diagnosis.captures[0].next[0].what) << "a report hides folders";
}

TEST_F(Judgement, ClustersSayTheVerdictAfterWhatWasTried)
{
    const auto run = opened();
    const auto judged = diagnose::diagnose(run.run);
    ASSERT_TRUE(judged);
    ASSERT_FALSE(judged->clusters.empty());
    const auto& birth = judged->clusters.front().captures.front();
    const auto after = workflow::weighed(*judged, {{}, {}, {{birth, 0, 5000}}}, run.run, {}, {}, true);
    EXPECT_TRUE(judged->clusters.front().text.ends_with(": implementation")) << judged->clusters.front().text;
    EXPECT_TRUE(after.clusters.front().text.ends_with(": nondeterministic")) << after.clusters.front().text;
}

TEST_F(Judgement, TheHeadlineCountsWhatIsTriedByNow)
{
    auto run = opened();
    auto judged = diagnose::diagnose(run.run);
    ASSERT_TRUE(judged);
    const auto birth = judged->captures.front();
    auto twin = *std::ranges::find(run.run.captures, birth.captureId, &Capture::id);
    auto verdict = birth;
    verdict.capture = twin.file = "twin.pt";
    verdict.captureId = twin.id = 1000;
    verdict.step = {birth.step->first + 1, birth.step->second + 1};
    run.run.captures.push_back(twin);
    judged->captures.push_back(verdict);
    const auto headlineAfter = [&](const Observations& observed) {
        return workflow::weighed(*judged, observed, run.run, {}, {}, true).headline;
    };
    EXPECT_THAT(headlineAfter({}), testing::HasSubstr("11 captures, 3 births in 2 clusters"));
    EXPECT_THAT(headlineAfter({{}, {}, {{"twin.pt", 0, 5000}}}), testing::HasSubstr("3 births: "));
    judged->stopped = "cancelled, while a checkpoint was read";
    EXPECT_THAT(headlineAfter({}), testing::Not(testing::HasSubstr("not all judged"))) << "nothing was left";
}

TEST_F(Judgement, AReportKnowsWhatToDoTonightWhereThereIsNothingToGoBackFrom)
{
    auto run = opened();
    Diagnosis diagnosis = diagnose::triageRun(run.run);
    const auto input = workflow::reportInput({run.run, diagnosis}, nullptr);
    ASSERT_TRUE(input);
    EXPECT_EQ(input->goOn, diagnose::goOnTonight(run.run, diagnosis.captures));
    EXPECT_NE(input->goOn, "");
}

TEST_F(Judgement, AReportSaysWhatIsNotUsualAboutACell)
{
    auto run = opened();
    workflow::ReportSource source {run.run, diagnose::triageRun(run.run)};
    replay::CellRequest request;
    request.variant = "keller-jordan";
    const auto usual = replay::emptyCell(run.run.captures.front(), request, **source.catalogue.find(request.variant));
    auto longer = usual;
    longer.steps = 8;
    auto otherEpsilon = usual;
    otherEpsilon.epsilon = 0.25;
    source.cells = {usual, longer, otherEpsilon};
    const auto input = workflow::reportInput(std::move(source), nullptr);
    ASSERT_TRUE(input);
    EXPECT_EQ(report::labelOf(*input, input->cells[0]), "keller-jordan");
    EXPECT_EQ(report::labelOf(*input, input->cells[1]), "keller-jordan (8 steps)");
    EXPECT_EQ(report::labelOf(*input, input->cells[2]), "keller-jordan (epsilon 0.25)");
}

} // namespace

} // namespace nanscope
