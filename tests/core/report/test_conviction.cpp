// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "core/report/document/conviction.h"
#include "core/report/report.h"
#include "handmade.h"

using namespace nanscope;
using report::convictingText;
using testing::HasSubstr;
using testing::Not;

namespace {

CaptureVerdict calmVerdict()
{
    auto verdict = handmade::birthVerdict();
    verdict.members = {
        {"gns-gram", "fp16", 8, 8, 0, 5.1, 0.8, 11, ""}, {"gns-standard", "fp16", 8, 8, 0, 5.1, {}, 14, ""}};
    return verdict;
}

Capture largeInput()
{
    auto capture = handmade::birthCapture();
    capture.input.batches[0].absmax = 80384;
    return capture;
}

} // namespace

TEST(Conviction, MagnitudesBesideTheEndOfAFormatAreWhole)
{
    EXPECT_EQ(report::magnitudeText(80384), "80,384");
    EXPECT_EQ(report::magnitudeText(65504), "65,504");
    EXPECT_EQ(report::magnitudeText(0.2969), "0.2969");
    EXPECT_EQ(report::magnitudeText(3.4e38), "3.4e+38");
}

TEST(Conviction, ATileStandsBesideWhatReplaysGiveThere)
{
    // 65504 / 2^11 is the largest magnitude that the headroom leaves room for.
    EXPECT_EQ(convictingText(handmade::birthCapture(), calmVerdict(), {}),
        "1,024 NaN in rows 32–63 × columns 64–95, where 16 of 16 replays of this input are finite, with no "
        "intermediate value above 31.98; fp16 holds at most 65,504.");
}

TEST(Conviction, OfReplaysThatFailNoLargestMagnitudeIsSaid)
{
    EXPECT_EQ(convictingText(handmade::birthCapture(), handmade::birthVerdict(), {}),
        "1,024 NaN in rows 32–63 × columns 64–95; 10 of 16 replays of this input stay finite.");
}

TEST(Conviction, ForecastsAreNoReplays)
{
    auto verdict = calmVerdict();
    verdict.members[1].roundings = 0;
    verdict.members[1].finite = 0;
    EXPECT_THAT(convictingText(handmade::birthCapture(), verdict, {}), HasSubstr("8 of 8 replays"));
    verdict.members.clear();
    EXPECT_EQ(convictingText(handmade::birthCapture(), verdict, {}), "1,024 NaN in rows 32–63 × columns 64–95.");
}

TEST(Conviction, DamageIsCountedByItsKindsAndPlaced)
{
    auto verdict = calmVerdict();
    verdict.members.clear();
    auto& damage = verdict.facts.damage;
    damage.nan = 1000;
    EXPECT_THAT(convictingText(handmade::birthCapture(), verdict, {}), HasSubstr("1,000 NaN and 24 Inf in rows"));
    damage.nan = 0;
    damage.shape = DamageShape::rows;
    EXPECT_THAT(convictingText(handmade::birthCapture(), verdict, {}), HasSubstr("1,024 Inf in rows 32–63"))
        << "it is all of them";
    damage.shape = DamageShape::scattered;
    damage.count = 1023;
    EXPECT_THAT(
        convictingText(handmade::birthCapture(), verdict, {}), HasSubstr("1,023 Inf in places within rows 32–63"));
    damage.count = 1024;
    damage.shape = DamageShape::wholeElement;
    verdict.facts.inputZero = true;
    EXPECT_EQ(convictingText(handmade::birthCapture(), verdict, {}),
        "1,024 Inf in the whole output, nothing finite, where every value of the input is zero.");
    damage = {};
    EXPECT_EQ(convictingText(handmade::birthCapture(), verdict, {}), "");
}

TEST(Conviction, AnOverflowIsHeldAgainstTheEndOfItsFormat)
{
    auto verdict = calmVerdict();
    verdict.blame = Blame::numerics;
    const report::Overflow inside {"gns-gram", Precision::fp16, 2, OpName::z, 80384, {}};
    EXPECT_EQ(convictingText(handmade::birthCapture(), verdict, inside),
        "Z = bR + cR² of gns-gram reaches 80,384 at step 2; fp16 holds at most 65,504.");
    const report::Overflow cast {"deepspeed-gram", Precision::fp16, 0, OpName::cast, 80384, {}};
    EXPECT_EQ(convictingText(largeInput(), verdict, cast),
        "The input reaches 80,384, and deepspeed-gram casts it to fp16, which holds at most 65,504.");
    const report::Overflow rounded {"gram-no-restart", Precision::fp16, 5, OpName::q, 65472, 912.5};
    EXPECT_EQ(convictingText(handmade::birthCapture(), verdict, rounded),
        "Q of gram-no-restart reaches 65,472 in fp16 at step 5 and overflows, where it is at most 912.5 in fp64; fp16 "
        "holds at most 65,504.");
    verdict.blame = Blame::implementation;
    EXPECT_THAT(convictingText(handmade::birthCapture(), verdict, inside), Not(HasSubstr("80,384")))
        << "it convicts the numbers alone";
}

TEST(Conviction, WhatACastLosesIsSaidWhileTheFunctionIsOpen)
{
    auto verdict = calmVerdict();
    verdict.members[0].castLoses = true;
    verdict.members[0].castsFirst = true;
    const std::string text =
        "The input reaches 80,384; fp16 holds at most 65,504. A cast to fp16 before the norm turns it into Inf.";
    verdict.blame = Blame::undecided;
    EXPECT_EQ(convictingText(largeInput(), verdict, {}), text);
    EXPECT_THAT(convictingText(handmade::birthCapture(), verdict, {}), Not(HasSubstr("cast"))) << "it fits";
    verdict.blame = Blame::implementation;
    EXPECT_THAT(convictingText(largeInput(), verdict, {}), HasSubstr("1,024 NaN"));
    EXPECT_THAT(report::explainText(largeInput(), {}, nullptr), HasSubstr("number   The input reaches 80,384;"));
    EXPECT_THAT(report::explainText(handmade::birthCapture(), {}, nullptr), Not(HasSubstr("number ")));
}

TEST(Conviction, ADamagedInputSaysHowMuchOfItAndWhere)
{
    auto capture = handmade::birthCapture();
    capture.input.batches[0].posInf = 2;
    capture.input.batches[0].firstNonFinite = 97;
    EXPECT_EQ(convictingText(capture, calmVerdict(), {}),
        "2 Inf in the input already, of 15,360 values, the first at [0,1,1].");
    capture.scene.weightsBefore = WeightsBefore {3, 1, "h.3", false};
    EXPECT_EQ(convictingText(capture, calmVerdict(), {}),
        "2 Inf in the input already, of 15,360 values, the first at [0,1,1]. Before the step began, 1 of 3 weights "
        "that calls are made for was not finite, first h.3.");
    capture.scene.weightsBefore->bad = 0;
    auto& known =
        capture.scene.parameters.emplace(ParameterState {1, 1, 1, 0, "", ParameterCoverage {1, 1, false, true}});
    known.momentaBefore = 1;
    EXPECT_THAT(
        convictingText(capture, calmVerdict(), {}), HasSubstr("at [0,1,1]. A gradient was bad before the step"));
    known.badGradients = 0;
    EXPECT_THAT(
        convictingText(capture, calmVerdict(), {}), HasSubstr(" No weight, gradient or momentum of this shape"));
    known.badMomenta = 1;
    EXPECT_THAT(convictingText(capture, calmVerdict(), {}), HasSubstr(" What the optimizer keeps was bad"));
}
