// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/base/text.h"
#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"
#include "core/report/report.h"
#include "handmade.h"

using namespace nanscope;
using testing::HasSubstr;
using testing::Not;

namespace {

std::vector<std::string> lines(const std::string& text)
{
    std::vector<std::string> result;
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        result.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

TileMap damagedMap()
{
    auto map = handmade::flatMap(160, 96, 0.5F);
    for (std::size_t row = 32; row < 64; ++row) {
        for (std::size_t col = 64; col < 96; ++col) {
            map.classes[row * 96 + col] = classNan;
            map.absmax[row * 96 + col] = 0;
        }
    }
    return map;
}

} // namespace

TEST(TileText, EveryClassHasItsOwnMark)
{
    auto map = handmade::flatMap(1, 8, 0);
    map.classes = {classNan, classPosInf, classNegInf, classZero, classNormal, classNormal, classNormal, classNormal};
    map.absmax = {0, 0, 0, 0, 1.0F, 0.4F, 0.2F, 0.01F};
    EXPECT_EQ(report::tileText(map, 64, 6), std::vector<std::string> {"╳▲▼·█▓▒░"});
}

TEST(TileText, OneBadElementIsNeverAveragedAway)
{
    auto map = handmade::flatMap(200, 200, 1);
    map.classes[199 * 200 + 199] |= classNan;
    const auto text = report::tileText(map, 64, 6);
    ASSERT_EQ(text.size(), 6U);
    EXPECT_EQ(textWidth(text[0]), 64U);
    EXPECT_THAT(text[5], HasSubstr("╳"));
    EXPECT_THAT(text[0], Not(HasSubstr("╳")));
}

TEST(TileText, InconsistentMapGivesNothing)
{
    auto map = handmade::flatMap(4, 4, 1);
    map.width = 400;
    EXPECT_TRUE(report::tileText(map, 64, 6).empty());
}

TEST(Explain, IsAboutFifteenLinesOfEightyColumns)
{
    const auto map = damagedMap();
    CaptureVerdict verdict;
    verdict.facts.damage = handmade::birthVerdict().facts.damage;
    const auto text = lines(report::explainText(handmade::birthCapture(), verdict, &map));
    EXPECT_GE(text.size(), 13U);
    EXPECT_LE(text.size(), 18U);
    for (const auto& line : text) {
        EXPECT_LE(textWidth(line), 80U) << line;
    }
}

TEST(Explain, SaysWhatItIsWhatIsWrongAndWhatNext)
{
    const auto map = damagedMap();
    const auto text = report::explainText(handmade::birthCapture(), handmade::birthVerdict(), &map);
    for (const auto* part :
        {"1 matrix of 160 × 96, bf16", "rank 0", "eps 1e-08", "2026-11-21 04:13:16 UTC", "1,024 NaN of 15,360",
            "6.67 %", "[0,32,64]", "rectangle", "finite: absmax 0.25", "╳", "can say", "cannot", "use_triton=False"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(Explain, OneTensorIsOnlyTakenForAnInput)
{
    auto capture = handmade::birthCapture();
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("one Newton-Schulz call, 1 matrix"));
    capture.scene.loneTensor = true;
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("one tensor, taken for what went into"));
}

TEST(Explain, AnInputThatMayBeTheResultTellsNothingOfWhatWentIn)
{
    auto capture = handmade::birthCapture();
    capture.input.batches.front().nan = 1;
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("the input was damaged already"));
    CaptureVerdict verdict;
    verdict.rule = RuleId::inputMayBeResult;
    EXPECT_THAT(report::explainText(capture, verdict, nullptr), Not(HasSubstr("the input was damaged already")));
}

TEST(Explain, DoesNotAskWhatItsSidecarSays)
{
    auto capture = handmade::birthCapture();
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("which function and operation it was"));
    capture.variant = "deepspeed-gram";
    const auto text = report::explainText(capture, {}, nullptr);
    EXPECT_THAT(text, HasSubstr("deepspeed-gram by its sidecar"));
    EXPECT_THAT(text, HasSubstr("which operation it was"));
}

TEST(Explain, SaysWhatAHelperSawAtTheCall)
{
    auto capture = handmade::birthCapture();
    EXPECT_THAT(report::explainText(capture, {}, nullptr), Not(HasSubstr("scene")));
    capture.scene = {"mine:\033ns", {}, 9, 2, true};
    const auto text = report::explainText(capture, {}, nullptr);
    EXPECT_THAT(text, HasSubstr("scene    mine: ns was called."));
    EXPECT_THAT(text, HasSubstr("2 of 9\n         calls failed: no function of its input does that."));
    EXPECT_THAT(text, HasSubstr("Afterwards the input"));
    capture.scene.onCpu = true;
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("mine: ns was called on the CPU."));
    capture.scene = {"", {}, 1, 1, false};
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("1 of 1 call failed."));
    capture.scene = {"", {}, 3, 0, false};
    capture.output->batches = {Scan {.count = 15360}};
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("0 of 3 calls failed."));
}

TEST(Explain, SaysWhatLimitsWhatAHelperSaw)
{
    auto capture = handmade::birthCapture();
    capture.scene.state = OwnState::random;
    capture.scene.notCalledAgain = "the call needs every rank";
    capture.scene.control = "nanscope_control\033.pt";
    const auto text = report::explainText(capture, {}, nullptr);
    EXPECT_THAT(text, HasSubstr("It was not made again: the call needs every rank."));
    EXPECT_THAT(text, HasSubstr("The function draws random"));
    EXPECT_THAT(text, HasSubstr("nanscope_control"));
    EXPECT_THAT(text, Not(HasSubstr("\033")));
    capture.scene = {};
    capture.scene.exception = "ValueError: no";
    capture.output.reset();
    EXPECT_THAT(report::explainText(capture, {}, nullptr), HasSubstr("there is none: the call raised ValueError: no"));
}

TEST(Explain, ShowsWhatIsCountedWhereThereAreNoTensors)
{
    auto capture = handmade::birthCapture();
    capture.scene.withheld = Withheld::byPrivacy;
    capture.scene.singular = SingularValues {0.25, 0.5, 3};
    for (auto& scan : capture.output->batches) {
        scan.firstNonFinite = -1;
    }
    const auto text = report::explainText(capture, {}, nullptr);
    EXPECT_THAT(text, HasSubstr("NaN"));
    EXPECT_THAT(text, Not(HasSubstr("first at"))) << "nobody wrote that down";
    EXPECT_THAT(text, HasSubstr("from 0.25 to 3"));
    EXPECT_THAT(text, HasSubstr("NANSCOPE_CAPTURE_PRIVACY=fingerprint"));
    EXPECT_THAT(text, HasSubstr("NANSCOPE_CAPTURE_PRIVACY=rotate"));
    EXPECT_THAT(text, Not(HasSubstr("sweep"))) << "there is nothing to sweep";
}

TEST(Explain, SaysWhichPlacesThePictureLeavesOpen)
{
    auto verdict = handmade::birthVerdict();
    EXPECT_THAT(report::explainText(handmade::birthCapture(), verdict, nullptr), Not(HasSubstr("spread ")));
    verdict.origins = {{"gns-gram", 5, OpName::update, false}};
    verdict.originsTried = 17;
    const auto text = report::explainText(handmade::birthCapture(), verdict, nullptr);
    EXPECT_THAT(text, HasSubstr("spread   Rectangle: a bad tile in the last write ends like this, or code after"));
}

TEST(Explain, ReadsEachKindOfCaptureDifferently)
{
    auto upstream = handmade::birthCapture();
    upstream.input.batches[0].posInf = 1;
    upstream.input.batches[0].firstNonFinite = 97;
    EXPECT_THAT(report::explainText(upstream, {}, nullptr), HasSubstr("damaged already, first at [0,1,1]"));

    auto victim = handmade::birthCapture();
    victim.input.batches[0].nan = victim.input.batches[0].count;
    victim.input.batches[0].firstNonFinite = 0;
    EXPECT_THAT(report::explainText(victim, {}, nullptr), HasSubstr("victim"));

    auto padding = handmade::birthCapture();
    padding.input.batches[0].zero = padding.input.batches[0].count;
    EXPECT_THAT(report::explainText(padding, {}, nullptr), HasSubstr("zero went in"));

    auto healthy = handmade::birthCapture();
    healthy.output->batches[0] = handmade::finiteScan(15360, 1, 1);
    EXPECT_THAT(report::explainText(healthy, {}, nullptr), HasSubstr("both sides are finite"));
    auto silent = healthy;
    for (auto& batch : silent.output->batches) {
        batch.zero = batch.count;
    }
    EXPECT_THAT(report::explainText(silent, {}, nullptr), HasSubstr("a silent zero"));

    auto bare = handmade::birthCapture();
    bare.output.reset();
    EXPECT_THAT(report::explainText(bare, {}, nullptr), HasSubstr("not in the file"));
}

TEST(Explain, ShowsTheFirstDamagedBatchElement)
{
    auto capture = handmade::birthCapture();
    const auto damaged = capture.output->batches[0];
    capture.output->shape = {3, 160, 96};
    capture.output->batches = {handmade::finiteScan(15360, 1, 1), damaged, damaged};
    EXPECT_EQ(report::shownBatch(capture), 1);
    const auto map = damagedMap();
    EXPECT_THAT(report::explainText(capture, {}, &map), HasSubstr("batch element 1"));
}

TEST(Explain, FileNameCannotDriveTheTerminal)
{
    auto capture = handmade::birthCapture();
    capture.file = "x\x1b[31m\n.pt";
    EXPECT_THAT(report::explainText(capture, {}, nullptr), Not(HasSubstr("\x1b")));
}
