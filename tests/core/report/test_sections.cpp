// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What each section of the report says when something is missing, unusual or too much.
#include <algorithm>

#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"
#include "handmade.h"

using namespace nanscope;
using testing::HasSubstr;
using testing::Not;

namespace {

using report::ReportSection;

/// Empty where the report has no such section.
std::string sectionOf(
    const report::ReportInput& input, ReportSection section, const report::ReportOptions& options = {})
{
    const auto report = report::markdownReport(input, options);
    const auto begin = report.find("\n**" + std::string(report::title(section)));
    if (begin == std::string::npos) {
        return {};
    }
    const auto end = std::min(report.find("\n**", begin + 1), report.find("\n<", begin));
    return report.substr(begin, std::min(end, report.size()) - begin);
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
    EXPECT_THAT(titleOf(input), HasSubstr("[finite] suspect Newton-Schulz output"));
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
    EXPECT_THAT(titleOf(input), HasSubstr("[finite] suspect"));
    verdict.rule = RuleId::fits;
    EXPECT_EQ(titleOf(input), "# [healthy] finite Newton-Schulz output, shape 1x160x96, bf16, rank 0");
    verdict.rule = RuleId::fitsInPart;
    verdict.kind = "not judged in full";
    EXPECT_THAT(titleOf(input), HasSubstr("# [not judged in full] finite Newton-Schulz output"));
}

TEST(Sections, TitleFollowsWhatIsWrong)
{
    auto input = handmade::reportInput();
    auto& capture = input.run.captures[0];
    Scan scan = handmade::finiteScan(15360, 1, 1);
    scan.posInf = 3;
    capture.output->batches = {scan};
    EXPECT_THAT(titleOf(input), HasSubstr("# [Inf] non-finite Newton-Schulz output"));
    scan.posInf = 0;
    scan.zero = scan.count;
    capture.output->batches = {scan};
    EXPECT_THAT(titleOf(input), HasSubstr("# [zeros] all-zero Newton-Schulz output"));
    auto& verdict = input.diagnosis.captures[0];
    capture.output.reset();
    verdict.role = Role::noOutput;
    verdict.rule = RuleId::callRaised;
    input.diagnosis.captures.resize(1);
    EXPECT_THAT(titleOf(input), HasSubstr("# [exception] Newton-Schulz call that raised"));
    verdict.rule = RuleId::noOutput;
    EXPECT_THAT(titleOf(input), HasSubstr("# [no output] Newton-Schulz input alone"));
}

TEST(Sections, AHealthyCallHasNoVerdictToWeigh)
{
    auto input = handmade::reportInput();
    input.diagnosis.captures.resize(1);
    auto& verdict = input.diagnosis.captures[0];
    verdict.role = Role::healthy;
    verdict.blame = Blame::undecided;
    verdict.rule = RuleId::fits;
    verdict.kind = "healthy";
    verdict.speaksFor.clear();
    verdict.speaksAgainst.clear();
    verdict.notTestable.clear();
    const auto text = sectionOf(input, ReportSection::claim);
    EXPECT_THAT(text, HasSubstr("**healthy**."));
    EXPECT_THAT(text, Not(HasSubstr("against 0")));
}

TEST(Sections, RanksComeFromCapturesAndLogs)
{
    auto input = handmade::reportInput();
    input.run.series[0].rank = 3;
    EXPECT_THAT(sectionOf(input, ReportSection::facts), HasSubstr("ranks seen: 0, 3."));
    input.run.series.clear();
    input.run.captures[0].rank.reset();
    EXPECT_EQ(sectionOf(input, ReportSection::facts), "");
}

TEST(Sections, CallAndTimeLeaveOutWhatIsNotKnown)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::call),
        HasSubstr("; epsilon 1e-08; input 1x160x96 bf16; output 1x160x96 bf16."));
    EXPECT_THAT(
        sectionOf(input, ReportSection::when), HasSubstr("rank 0; pid 7; dumped 2026-11-21 04:13:16 UTC; named in"));
    auto& capture = input.run.captures[0];
    capture.epsilon.reset();
    capture.output.reset();
    capture.pid.reset();
    capture.timestampMs.reset();
    input.run.events.clear();
    EXPECT_THAT(sectionOf(input, ReportSection::call), HasSubstr("; input 1x160x96 bf16."));
    EXPECT_THAT(sectionOf(input, ReportSection::when), HasSubstr("(console); rank 0."));
    EXPECT_EQ(sectionOf(input, ReportSection::output), "");
}

TEST(Sections, NoneSaysThatItIsNotRecorded)
{
    for (const auto& input : {handmade::reportInput(), report::ReportInput {}}) {
        EXPECT_THAT(report::markdownReport(input), Not(HasSubstr("not recorded")));
        report::ReportOptions words;
        words.figures = false; // which have a lane for captures without a rank
        EXPECT_THAT(report::htmlReport(input, words), Not(HasSubstr("not recorded")));
    }
}

TEST(Sections, OneScreenIsResultPictureEvidenceAndHowToReproduce)
{
    auto input = handmade::reportInput();
    input.outputTiles = handmade::flatMap(160, 96, 0.25F);
    report::ReportOptions options;
    options.imageStem = "r";
    const auto report = report::markdownReport(input, options);
    const auto screen = report.substr(0, report.find("<details>"));
    EXPECT_LE(std::ranges::count(screen, '\n'), 60);
    std::size_t at = 0;
    for (const auto* part :
        {"**Result.** Verdict: **implementation", "**1,024 NaN in rows 32–63 × columns 64–95; 10 of 16 replays",
            "](r-1.png)", "drag r-1.png", "**Evidence**", "**Reproduce.**", "**Next**"}) {
        const auto found = screen.find(part, at);
        ASSERT_NE(found, std::string::npos) << part << "\n" << screen;
        at = found;
    }
    EXPECT_TRUE(report.ends_with("\n</details>\n"));
}

TEST(Sections, InputStatesItsFactsAndItsFirstBadElement)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(
        sectionOf(input, ReportSection::input), HasSubstr("15,360 elements, finite; absmax 0.25, Frobenius norm 3"));
    EXPECT_THAT(sectionOf(input, ReportSection::input), Not(HasSubstr("first non-finite")));
    auto& scan = input.run.captures[0].input.batches[0];
    scan.posInf = 2;
    scan.firstNonFinite = 97;
    scan.firstClass = ValueClass::posInf;
    EXPECT_THAT(sectionOf(input, ReportSection::input), HasSubstr("2 Inf"));
    EXPECT_THAT(sectionOf(input, ReportSection::input), HasSubstr("first non-finite at [0,1,1]"));
    input.run.captures[0].input.batches.clear();
    EXPECT_THAT(sectionOf(input, ReportSection::input), HasSubstr("not scanned"));
}

TEST(Sections, NanPatternsArePrintedInTheirOwnWidth)
{
    auto input = handmade::reportInput();
    auto& damage = input.diagnosis.captures[0].facts.damage;
    damage.nanBits = {{0x7f80, 5}, {0x1, 2}, {0x2, 1}, {0x3, 1}, {0x4, 1}, {0x5, 1}};
    EXPECT_THAT(sectionOf(input, ReportSection::output),
        HasSubstr("0x7f80 × 5, 0x0001 × 2, 0x0002 × 1, 0x0003 × 1 and 2 more"));
    input.run.captures[0].output->dtype = DType::float32;
    EXPECT_THAT(sectionOf(input, ReportSection::output), HasSubstr("0x00007f80 × 5"));
    damage = {};
    EXPECT_THAT(sectionOf(input, ReportSection::output), Not(HasSubstr("damage")));
}

TEST(Sections, ReplaysOfOtherCapturesAreNotShown)
{
    auto input = handmade::reportInput();
    input.cells[0].capture = "other.pt";
    EXPECT_THAT(sectionOf(input, ReportSection::numbers), Not(HasSubstr("keller-jordan")));
    EXPECT_THAT(sectionOf(input, ReportSection::numbers), HasSubstr("gns-gram"));
    input.diagnosis.captures[0].members.clear();
    EXPECT_EQ(sectionOf(input, ReportSection::numbers), "");
}

TEST(Sections, ACellThatFailedSaysWhyInPlaceOfAnOutcome)
{
    auto input = handmade::reportInput();
    input.cells[0].error = "not enough memory";
    EXPECT_THAT(sectionOf(input, ReportSection::numbers), HasSubstr("| not enough memory |"));
}

TEST(Sections, FiniteCellsAreOneLine)
{
    auto input = handmade::reportInput();
    auto finite = input.cells[0];
    finite.outcome = Outcome::finite;
    finite.firstNonFinite.reset();
    for (const auto* variant : {"gns-gram", "torch-muon"}) {
        for (const auto precision : {Precision::fp64, Precision::bf16}) {
            finite.variant = variant;
            finite.precision = precision;
            input.cells.push_back(finite);
        }
    }
    finite.variant = "cans";
    input.cells.push_back(finite);
    const auto section = sectionOf(input, ReportSection::numbers);
    EXPECT_THAT(section,
        HasSubstr("\nSwept or replayed for a film: 5 of 6 cells finite: gns-gram, torch-muon (fp64, bf16); cans "
                  "(bf16).\n"));
    EXPECT_THAT(section, HasSubstr("| `keller-jordan` | fp16 |"));
    EXPECT_THAT(section, Not(HasSubstr("| `torch-muon`")));
}

TEST(Sections, WhatSaysNothingOfAFailedReplayIsNotPrinted)
{
    auto input = handmade::reportInput();
    auto& member = input.diagnosis.captures[0].members[0];
    member.finite = 0;
    member.absmaxQ = 0;
    member.headroomBinades = 0;
    EXPECT_THAT(sectionOf(input, ReportSection::numbers), HasSubstr("| 0 of 8 finite | 0 | 5.1 % | – | – |"));
    auto& output = input.run.captures[0].output->batches[0];
    output.nan = output.count;
    output.absmax = 0;
    output.sumSquares = 0;
    const auto section = sectionOf(input, ReportSection::output);
    EXPECT_THAT(section, HasSubstr("15,360 NaN, no finite value; damage"));
    EXPECT_THAT(section, Not(HasSubstr("absmax")));
}

TEST(Sections, WhatWasMeasuredOfTheCaptureStandsWhereItIsNeeded)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::reproduce), HasSubstr("the capture (identity `5f3a`)"));
    EXPECT_THAT(sectionOf(input, ReportSection::input), Not(HasSubstr("sigma max")));
    const std::string digest = "c44369a3b69744ca459616d0745517c900ce2ae0f880e8e82a8eb4a07cb375b6";
    input.measures.sha256 = digest;
    input.measures.sigmaMax = 0.5;
    input.measures.stableRank = 36;
    EXPECT_THAT(sectionOf(input, ReportSection::reproduce), HasSubstr("(SHA-256 `" + digest + "`)"));
    EXPECT_THAT(sectionOf(input, ReportSection::input), HasSubstr("sigma max 0.5, stable rank 36."));
    EXPECT_THAT(report::jsonReport(input), HasSubstr(R"("sha256": ")" + digest + '"'));
}

TEST(Sections, AHealthyCallAndCallsMadeAgainHaveTheirOwn)
{
    auto input = handmade::reportInput();
    EXPECT_EQ(sectionOf(input, ReportSection::control), "");
    EXPECT_EQ(sectionOf(input, ReportSection::retry), "");
    auto& facts = input.diagnosis.captures[0].facts;
    auto& control = facts.control.emplace();
    control.source = "element 1 of this call";
    control.identified.names = {"gns-gram"};
    control.identified.how = IdentifiedBy::fit;
    control.identified.fit = 0.004;
    control.exact = {"gns-gram"};
    EXPECT_THAT(sectionOf(input, ReportSection::control),
        HasSubstr("element 1 of this call went well: gns-gram (off by 0.4 %), bit for bit."));
    facts.calledAgain = {{"a.pt", 3, 2000, true, ""}, {"a.pt", 0, 200, false, "kernels-off"}};
    const auto again = sectionOf(input, ReportSection::retry);
    EXPECT_THAT(again, HasSubstr("- 3 of 2,000 calls with this input were damaged\n"));
    EXPECT_THAT(
        again, HasSubstr("- 0 of 200 calls with this input were damaged, on another GPU, with `kernels-off`\n"));
}

TEST(Sections, TheEnvironmentIsWhatWasRecordedOfIt)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::facts), HasSubstr("`nanscope env --json > env.json`"));
    input.run.settings = {{"packages.torch", "2.11.0", {}, "env.json", 4}, {"optimizer.lr", "0.02", {}, "run.yaml", 1},
        {"gpu.driver", "", {}, "env.json", 9}};
    const auto section = sectionOf(input, ReportSection::facts);
    EXPECT_THAT(section, HasSubstr("- `packages.torch` 2.11.0\n"));
    EXPECT_THAT(section, Not(HasSubstr("lr")));
    EXPECT_THAT(section, Not(HasSubstr("driver")));
    EXPECT_THAT(section, Not(HasSubstr("nanscope env")));
}

TEST(Sections, TheEnvironmentOfManyRanksIsSaidOnceAndWithRanksWhereTheyDiffer)
{
    auto input = handmade::reportInput();
    for (int rank = 0; rank < 3; ++rank) {
        const auto source = "nanscope_run_rank" + std::to_string(rank) + "_pid1_2.json";
        input.run.settings.push_back({"packages.torch", "2.11.0", rank, source, 1});
        input.run.settings.push_back({"gpu.uuid", rank == 2 ? "GPU-b" : "GPU-a", rank, source, 2});
        input.run.settings.push_back({"launch.launcher", "torchrun", rank, source, 3});
        input.run.settings.push_back({"packages.nvidia_cublas", "13.1.0.3", rank, source, 4});
    }
    const auto section = sectionOf(input, ReportSection::facts);
    const auto torch = section.find("`packages.torch` 2.11.0");
    ASSERT_NE(torch, std::string::npos) << section;
    EXPECT_EQ(section.find("packages.torch", torch + 2), std::string::npos) << section;
    EXPECT_THAT(section, HasSubstr("ranks 0, 1"));
    EXPECT_THAT(section, HasSubstr("`gpu.uuid` GPU-b"));
    EXPECT_THAT(section, HasSubstr("`launch.launcher` torchrun"));
    EXPECT_THAT(section, HasSubstr("`packages.nvidia_cublas` 13.1.0.3")) << "no address";
}

TEST(Sections, NothingIsRunAgainOfACaptureWithoutTensors)
{
    auto input = handmade::reportInput();
    input.run.captures[0].scene.withheld = Withheld::byPrivacy;
    const auto section = sectionOf(input, ReportSection::reproduce);
    EXPECT_THAT(section, HasSubstr("PRIVACY=fingerprint"));
    EXPECT_THAT(section, HasSubstr("NANSCOPE_CAPTURE_PRIVACY=rotate"));
    EXPECT_THAT(section, Not(HasSubstr("nanscope sweep")));
    EXPECT_THAT(sectionOf(input, ReportSection::call), HasSubstr("not replayable"));
}

TEST(Sections, ACommandToCopyIsWholeHoweverManyVariantsMayHaveRun)
{
    auto input = handmade::reportInput();
    input.diagnosis.captures[0].variant.names.assign(60, "a-variant-with-a-long-name");
    EXPECT_THAT(sectionOf(input, ReportSection::reproduce), HasSubstr(" --variant all --precision fp64,"));
}

TEST(Sections, ARunWithoutCapturesShowsWhatItsLogsSay)
{
    auto input = handmade::reportInput();
    input.run.captures.clear();
    input.diagnosis.captures.clear();
    input.diagnosis.headline = "loss is NaN at step 6, and no number after it";
    EXPECT_EQ(titleOf(input), "# [NaN] tile: loss is NaN at step 6, and no number after it");
    EXPECT_THAT(sectionOf(input, ReportSection::claim), HasSubstr("no number after it. Without a capture"));
    EXPECT_THAT(sectionOf(input, ReportSection::claim), HasSubstr("`nanscope capture --print`"));
    EXPECT_THAT(sectionOf(input, ReportSection::evidence), HasSubstr("found: Loss is NaN"));
    input.run.series[0].nan = 0;
    EXPECT_EQ(titleOf(input).substr(0, 7), "# [NaN]") << "a dump of a non-finite output is named";
    input.run.events.clear();
    EXPECT_EQ(titleOf(input).substr(0, 7), "# tile:") << "no log tells of a NaN";
    EXPECT_THAT(report::htmlReport(input), HasSubstr("figure-loss"));
}

TEST(Sections, SixtyCellsAreEnough)
{
    auto input = handmade::reportInput();
    input.cells.assign(100, input.cells[0]);
    const auto section = sectionOf(input, ReportSection::numbers);
    std::size_t rows = 0;
    for (auto at = section.find("keller-jordan"); at != std::string::npos; at = section.find("keller-jordan", at + 1)) {
        ++rows;
    }
    EXPECT_EQ(rows, 60U);
}

TEST(Sections, ExpectationFollowsTheReplays)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::reproduce), HasSubstr("# expected: not finite for dion-ns5 in fp16\n"));
    input.diagnosis.captures[0].members.pop_back();
    EXPECT_THAT(sectionOf(input, ReportSection::reproduce),
        HasSubstr("# expected: finite in bf16: arithmetic alone does not explain the fault"));
    input.diagnosis.captures[0].members.clear();
    EXPECT_THAT(sectionOf(input, ReportSection::reproduce), Not(HasSubstr("expected")));
}

TEST(Sections, CommandsToCopyAreQuotedForTheShell)
{
    auto input = handmade::reportInput();
    const std::string hostile = "a b$(rm -rf ~)'c.pt";
    input.run.captures[0].file = hostile;
    input.diagnosis.captures[0].capture = hostile;
    input.run.name = "my run";
    const auto section = sectionOf(input, ReportSection::reproduce);
    EXPECT_THAT(section, HasSubstr("nanscope diagnose 'my run'"));
    EXPECT_THAT(section, HasSubstr(R"(--capture 'a b$(rm -rf ~)'\''c.pt')"));
    EXPECT_THAT(section, HasSubstr("--variant gns-standard,gns-gram --precision fp64"));
}

TEST(Sections, TheFolderOnTheReportersDiskIsShownOnlyUnredacted)
{
    const auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::reproduce), HasSubstr("nanscope diagnose tile\n"));
    EXPECT_THAT(
        sectionOf(input, ReportSection::reproduce, {false}), HasSubstr("nanscope diagnose /home/alice/runs/tile\n"));
}

TEST(Sections, TheQuestionIsAskedBeforeTheExperiment)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::ask), HasSubstr("run 1 h with use"));
    input.diagnosis.captures[0].question = "which function ran?";
    EXPECT_THAT(sectionOf(input, ReportSection::ask), HasSubstr("question: Which function ran?"));
    EXPECT_THAT(sectionOf(input, ReportSection::ask), Not(HasSubstr("run 1 h")));
    input.diagnosis.captures[0].question.clear();
    input.diagnosis.captures[0].next.clear();
    EXPECT_EQ(sectionOf(input, ReportSection::ask), "");
}

TEST(Sections, WhatToDoTonightIsSaidWithoutACheckpointToGoBackToAsWell)
{
    auto input = handmade::reportInput();
    input.diagnosis.rollback.reset();
    EXPECT_THAT(sectionOf(input, ReportSection::ask), Not(HasSubstr("tonight")));
    input.goOn = "iterate in bf16; then go on";
    EXPECT_THAT(sectionOf(input, ReportSection::ask), HasSubstr("tonight: iterate in bf16; then go on"));
    input.diagnosis.rollback = Rollback {};
    input.diagnosis.rollback->tonight = "resume from step 4000";
    EXPECT_THAT(sectionOf(input, ReportSection::ask), HasSubstr("tonight: resume from step 4000"));
    EXPECT_THAT(sectionOf(input, ReportSection::ask), Not(HasSubstr("bf16"))) << "the rollback has the last word";
}

TEST(Sections, TheClaimNamesBirthsOfAnotherCause)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::claim), Not(HasSubstr("also")));
    auto other = input.diagnosis.captures[0];
    other.capture = "it's another.pt";
    other.rank = 3;
    input.diagnosis.captures.push_back(other);
    EXPECT_THAT(sectionOf(input, ReportSection::claim), Not(HasSubstr("also"))) << "of the same cause";
    other.blame = Blame::numerics;
    other.kind = "overflow in the cast";
    other.summary = "the cast to fp16 makes Inf of the largest inputs";
    other.facts.damage = {};
    input.diagnosis.captures.push_back(other);
    const auto one = sectionOf(input, ReportSection::claim);
    EXPECT_THAT(one, HasSubstr("also: another birth, rank 3, "));
    EXPECT_THAT(one, HasSubstr("**numerics (overflow in the cast)**. The cast to fp16 makes Inf of the largest"));
    EXPECT_THAT(one, HasSubstr("For a report about it: `--capture 'it'\\''s another.pt'`"));
    input.diagnosis.captures.push_back(other);
    EXPECT_THAT(sectionOf(input, ReportSection::claim), HasSubstr("also: 2 other births, the first rank 3, "));
    for (const auto rule : {RuleId::staleOutput, RuleId::damagedInput, RuleId::contaminated}) {
        other.rule = rule;
        input.diagnosis.captures.push_back(other);
    }
    EXPECT_THAT(sectionOf(input, ReportSection::claim), HasSubstr("also: births of 1 more verdict"));
    input.diagnosis.captures[0].causedBy = "it's another.pt";
    EXPECT_THAT(sectionOf(input, ReportSection::claim), Not(HasSubstr("'it'\\''s another.pt'")))
        << "it is told as the cause";
}

TEST(Sections, TheCallSaysThatItRanOnTheCpu)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::call), Not(HasSubstr("CPU")));
    input.run.captures[0].scene.onCpu = true;
    EXPECT_THAT(sectionOf(input, ReportSection::call), HasSubstr("it ran on the CPU"));
}

TEST(Sections, ImpactCountsTheLossThatIsNotFinite)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::impact), HasSubstr("is not finite at 1 of 2 points"));
    input.run.series[0].nan = 0;
    EXPECT_THAT(sectionOf(input, ReportSection::impact), Not(HasSubstr("is not finite")));
    input.run.series[0].posInf = 2;
    EXPECT_THAT(sectionOf(input, ReportSection::impact), HasSubstr("is not finite at 2 of 2 points"));
    input.run.series[0].name = "val_loss";
    EXPECT_THAT(sectionOf(input, ReportSection::impact), Not(HasSubstr("is not finite")));
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

TEST(Sections, EvidenceIsForAndAgainstAndWithoutLinesLeftOut)
{
    auto input = handmade::reportInput();
    EXPECT_THAT(sectionOf(input, ReportSection::evidence), HasSubstr("against: not reproduced here"));
    EXPECT_THAT(sectionOf(input, ReportSection::evidence), HasSubstr("neither: 1 point, listed in"));
    EXPECT_THAT(sectionOf(input, ReportSection::limits), HasSubstr("- a race that the capture's own"));
    auto& verdict = input.diagnosis.captures[0];
    verdict.speaksFor.clear();
    verdict.speaksAgainst.clear();
    verdict.notTestable.clear();
    EXPECT_EQ(sectionOf(input, ReportSection::evidence), "");
    EXPECT_EQ(sectionOf(input, ReportSection::limits), "");
}

TEST(Sections, ARunWithoutLogsHasNoConsole)
{
    auto input = handmade::reportInput();
    input.run.events.clear();
    EXPECT_EQ(sectionOf(input, ReportSection::console), "");
}

TEST(Sections, FindingsSayTheirRuleAndWhatCannotBeSeen)
{
    auto input = handmade::reportInput();
    Finding fired {
        "P12", FindingState::fired, "Loss spikes", "warning", 101, {}, {{"train.log", 7, "loss is 9"}}, {"warm up"}};
    fired.reason = "the loss is 9 at step 101, limit 4";
    fired.threshold = "loss at least 2 times the mean";
    fired.evidence.push_back({"dump.pt", 0, "absmax 9"});
    const Finding clear {"P2", FindingState::clear, "", "info", {}, {}, {}, {}, "TF32 is on", "", ""};
    const Finding quiet {"P6", FindingState::silenced, "", "info", {}, {}, {}, {}, "a scale", "", ""};
    const Finding unseen {
        "P3", FindingState::notCheckable, "Slow format", "info", {}, {}, {}, {}, "no GPU name in the logs", "", ""};
    auto also = unseen;
    also.title = "Odd card";
    input.diagnosis.findings = {fired, clear, quiet, unseen, also};
    const auto report = report::markdownReport(input);
    EXPECT_THAT(report, HasSubstr("Loss spikes: the loss is 9 at step 101, limit 4 (`train.log:7`"));
    EXPECT_THAT(report, HasSubstr("(`dump.pt` absmax 9)")) << "a dump has no lines";
    EXPECT_THAT(report, HasSubstr("rule: loss at least 2 times the mean; warm up."));
    EXPECT_THAT(report, HasSubstr("from this data: Slow format, Odd card (no GPU name in the logs)."));
    EXPECT_THAT(report, Not(HasSubstr("`P2`")));
    EXPECT_THAT(report, Not(HasSubstr("`P6`"))) << "what was silenced is not told in public";
}
