// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What each section of the report says when something is missing, unusual or too much.
#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"
#include "handmade.h"

using namespace nanscope;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string sectionOf(const report::ReportInput& input, int number, const report::ReportOptions& options = {})
{
    const auto report = report::markdownReport(input, options);
    const auto begin = report.find("\n**" + std::to_string(number) + " ");
    EXPECT_NE(begin, std::string::npos) << number;
    const auto end = std::min(report.find("\n**" + std::to_string(number + 1) + " ", begin + 1), report.size());
    return report.substr(begin, end - begin);
}

std::string titleOf(const report::ReportInput& input)
{
    const auto report = report::markdownReport(input);
    return report.substr(0, report.find('\n'));
}

CaptureVerdict verdictOf(Role role, const std::string& capture)
{
    CaptureVerdict verdict;
    verdict.role = role;
    verdict.capture = capture;
    return verdict;
}

} // namespace

TEST(MainVerdict, PrefersBirthsThenWhatComesClosestToOne)
{
    Diagnosis diagnosis;
    EXPECT_EQ(report::mainVerdict(diagnosis), nullptr);
    for (const auto role : {Role::healthy, Role::downstream, Role::upstream, Role::padding, Role::birth}) {
        diagnosis.captures.push_back(verdictOf(role, std::string(name(role))));
        EXPECT_EQ(report::mainVerdict(diagnosis)->role, role);
    }
    diagnosis.captures.push_back(verdictOf(Role::birth, "a second birth"));
    EXPECT_EQ(report::mainVerdict(diagnosis)->capture, "birth");
}

TEST(Sections, TitleTellsSuspectFromNonFinite)
{
    auto input = handmade::reportInput();
    EXPECT_EQ(titleOf(input), "# [NaN] non-finite Newton-Schulz output, shape 1x160x96, bf16, rank 0");
    input.run.captures[0].output->batches = {handmade::finiteScan(15360, 1, 1)};
    EXPECT_THAT(titleOf(input), HasSubstr("suspect Newton-Schulz output"));
    input.diagnosis.captures[0].rank.reset();
    EXPECT_THAT(titleOf(input), Not(HasSubstr("rank")));
}

TEST(Sections, TitleOfAControlSaysThatItIsHealthy)
{
    auto input = handmade::reportInput();
    input.run.captures[0].output->batches = {handmade::finiteScan(15360, 1, 1)};
    input.diagnosis.captures.resize(1);
    auto& verdict = input.diagnosis.captures[0];
    verdict.role = Role::healthy;
    verdict.blame = Blame::undecided;
    verdict.rule = RuleId::finiteOfNoKnownVariant;
    EXPECT_THAT(titleOf(input), HasSubstr("[NaN] suspect"));
    verdict.rule = RuleId::fits;
    EXPECT_EQ(titleOf(input), "# [healthy] finite Newton-Schulz output, shape 1x160x96, bf16, rank 0");
}

TEST(Sections, RanksComeFromCapturesAndLogs)
{
    auto input = handmade::reportInput();
    input.run.series[0].rank = 3;
    EXPECT_THAT(sectionOf(input, 2), HasSubstr("ranks seen: 0, 3."));
    input.run.series.clear();
    input.run.captures[0].rank.reset();
    EXPECT_THAT(sectionOf(input, 2), HasSubstr("ranks seen: not recorded."));
}

TEST(Sections, CallAndTimeSayWhatIsNotRecorded)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, 3), HasSubstr("epsilon 1e-08; input 1x160x96 bf16, output 1x160x96 bf16."));
    EXPECT_THAT(sectionOf(input, 4), HasSubstr("rank 0, pid 7; dumped 2026-11-21 04:13:16 UTC; named in"));
    auto& capture = input.run.captures[0];
    capture.epsilon.reset();
    capture.output.reset();
    capture.pid.reset();
    capture.timestampMs.reset();
    input.run.events.clear();
    EXPECT_THAT(sectionOf(input, 3), HasSubstr("epsilon not recorded; input 1x160x96 bf16, output not recorded."));
    EXPECT_THAT(sectionOf(input, 4), HasSubstr("pid not recorded; dumped not recorded. Call number"));
    EXPECT_THAT(sectionOf(input, 6), HasSubstr("not recorded."));
}

TEST(Sections, InputStatesItsFactsAndItsFirstBadElement)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, 5), HasSubstr("15,360 elements, finite; absmax 0.25, Frobenius norm 3"));
    EXPECT_THAT(sectionOf(input, 5), Not(HasSubstr("first non-finite")));
    auto& scan = input.run.captures[0].input.batches[0];
    scan.posInf = 2;
    scan.firstNonFinite = 97;
    scan.firstClass = ValueClass::posInf;
    EXPECT_THAT(sectionOf(input, 5), HasSubstr("2 Inf"));
    EXPECT_THAT(sectionOf(input, 5), HasSubstr("first non-finite at [0,1,1]"));
    input.run.captures[0].input.batches.clear();
    EXPECT_THAT(sectionOf(input, 5), HasSubstr("not scanned"));
}

TEST(Sections, NanPatternsArePrintedInTheirOwnWidth)
{
    auto input = handmade::reportInput();
    auto& damage = input.diagnosis.captures[0].facts.damage;
    damage.nanBits = {{0x7f80, 5}, {0x1, 2}, {0x2, 1}, {0x3, 1}, {0x4, 1}, {0x5, 1}};
    EXPECT_THAT(sectionOf(input, 6), HasSubstr("0x7f80 × 5, 0x0001 × 2, 0x0002 × 1, 0x0003 × 1 and 2 more"));
    input.run.captures[0].output->dtype = DType::float32;
    EXPECT_THAT(sectionOf(input, 6), HasSubstr("0x00007f80 × 5"));
    damage = {};
    EXPECT_THAT(sectionOf(input, 6), HasSubstr("damage pattern: none"));
}

TEST(Sections, ReplaysOfOtherCapturesAreNotShown)
{
    auto input = handmade::reportInput();
    input.cells[0].capture = "other.pt";
    EXPECT_THAT(sectionOf(input, 7), Not(HasSubstr("keller-jordan")));
    EXPECT_THAT(sectionOf(input, 7), HasSubstr("gns-gram"));
    input.diagnosis.captures[0].members.clear();
    EXPECT_THAT(sectionOf(input, 7), HasSubstr("not replayed."));
}

TEST(Sections, ACellThatFailedSaysWhyInPlaceOfAnOutcome)
{
    auto input = handmade::reportInput();
    input.cells[0].error = "not enough memory";
    EXPECT_THAT(sectionOf(input, 7), HasSubstr("| not enough memory |"));
}

TEST(Sections, SixtyCellsAreEnough)
{
    auto input = handmade::reportInput();
    input.cells.assign(100, input.cells[0]);
    const auto section = sectionOf(input, 7);
    std::size_t rows = 0;
    for (auto at = section.find("keller-jordan"); at != std::string::npos; at = section.find("keller-jordan", at + 1)) {
        ++rows;
    }
    EXPECT_EQ(rows, 60U);
}

TEST(Sections, ExpectationFollowsTheReplays)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, 14), HasSubstr("# expected: not finite where section 7 says so"));
    input.diagnosis.captures[0].members.pop_back();
    EXPECT_THAT(sectionOf(input, 14), HasSubstr("# expected: finite in the formats of section 7"));
    input.diagnosis.captures[0].members.clear();
    EXPECT_THAT(sectionOf(input, 14), Not(HasSubstr("expected")));
}

TEST(Sections, CommandsToCopyAreQuotedForTheShell)
{
    auto input = handmade::reportInput();
    const std::string hostile = "a b$(rm -rf ~)'c.pt";
    input.run.captures[0].file = hostile;
    input.diagnosis.captures[0].capture = hostile;
    input.run.name = "my run";
    const auto section = sectionOf(input, 14);
    EXPECT_THAT(section, HasSubstr("nanscope diagnose 'my run'"));
    EXPECT_THAT(section, HasSubstr(R"(--capture 'a b$(rm -rf ~)'\''c.pt')"));
    EXPECT_THAT(section, HasSubstr("--variant gns-standard,gns-gram --precision fp64"));
}

TEST(Sections, TheFolderOnTheReportersDiskIsShownOnlyUnredacted)
{
    const auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, 14), HasSubstr("nanscope diagnose tile\n"));
    EXPECT_THAT(sectionOf(input, 14, {false}), HasSubstr("nanscope diagnose /home/alice/runs/tile\n"));
}

TEST(Sections, TheQuestionIsAskedBeforeTheExperiment)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, 15), HasSubstr("run 1 h with use"));
    input.diagnosis.captures[0].question = "which function ran?";
    EXPECT_THAT(sectionOf(input, 15), HasSubstr("which function ran?"));
    EXPECT_THAT(sectionOf(input, 15), Not(HasSubstr("run 1 h")));
    input.diagnosis.captures[0].question.clear();
    input.diagnosis.captures[0].next.clear();
    EXPECT_THAT(sectionOf(input, 15), HasSubstr("not recorded"));
}

TEST(Sections, ImpactCountsTheLossThatIsNotFinite)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, 13), HasSubstr("is not finite at 1 of 2 points"));
    input.run.series[0].nan = 0;
    EXPECT_THAT(sectionOf(input, 13), Not(HasSubstr("is not finite")));
    input.run.series[0].posInf = 2;
    EXPECT_THAT(sectionOf(input, 13), HasSubstr("is not finite at 2 of 2 points"));
    input.run.series[0].name = "val_loss";
    EXPECT_THAT(sectionOf(input, 13), Not(HasSubstr("is not finite")));
}

TEST(Sections, TwentyRejectedFilesAreEnough)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(report::markdownReport(input), Not(HasSubstr("could not be used")));
    input.run.rejected.assign(23, {"x.pt", "the file is cut off"});
    const auto report = report::markdownReport(input);
    EXPECT_THAT(report, HasSubstr("Files that could not be used: 23"));
    EXPECT_THAT(report, HasSubstr("- and 3 more\n"));
}

TEST(Sections, EvidenceWithoutLinesSaysSo)
{
    auto input = handmade::reportInput();
    input.diagnosis.captures[0].speaksAgainst.clear();
    input.diagnosis.captures[0].notTestable.clear();
    EXPECT_THAT(sectionOf(input, 11), HasSubstr("nothing recorded."));
}

TEST(Sections, ARunWithoutLogsHasNoConsole)
{
    auto input = handmade::reportInput();
    input.run.events.clear();
    EXPECT_THAT(report::markdownReport(input), HasSubstr("**Console around the birth:** not recorded."));
}

TEST(Sections, FindingsSayTheirRuleAndWhatCannotBeSeen)
{
    auto input = handmade::reportInput();
    Finding fired {"P12", FindingState::fired, "The loss spikes", "warning", 101, {}, {{"train.log", 7, "loss is 9"}},
        {"warm up"}};
    fired.reason = "the loss is 9 at step 101, limit 4";
    fired.threshold = "loss at least 2 times the mean";
    fired.evidence.push_back({"dump.pt", 0, "absmax 9"});
    const Finding clear {"P2", FindingState::clear, "", "info", {}, {}, {}, {}, "TF32 is on", "", ""};
    const Finding quiet {"P6", FindingState::silenced, "", "info", {}, {}, {}, {}, "a scale", "", ""};
    const Finding unseen {
        "P3", FindingState::notCheckable, "", "info", {}, {}, {}, {}, "no GPU name in the logs", "", ""};
    auto also = unseen;
    also.id = "P99";
    input.diagnosis.findings = {fired, clear, quiet, unseen, also};
    const auto report = report::markdownReport(input);
    EXPECT_THAT(report, HasSubstr("The loss spikes: the loss is 9 at step 101, limit 4 (`train.log:7`"));
    EXPECT_THAT(report, HasSubstr("(`dump.pt` absmax 9)")) << "a dump has no lines";
    EXPECT_THAT(report, HasSubstr("rule: loss at least 2 times the mean; warm up."));
    EXPECT_THAT(report, HasSubstr("from this data: P3, P99 (no GPU name in the logs)."));
    EXPECT_THAT(report, Not(HasSubstr("`P2`")));
    EXPECT_THAT(report, Not(HasSubstr("`P6`"))) << "what was silenced is not told in public";
}
