// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/model/words.h"
#include "handmade.h"

using namespace nanscope;

TEST(Words, CountsHaveThousandsSeparators)
{
    EXPECT_EQ(countText(0), "0");
    EXPECT_EQ(countText(999), "999");
    EXPECT_EQ(countText(15360), "15,360");
    EXPECT_EQ(countText(-1234567), "-1,234,567");
}

TEST(Words, IndexFollowsTheCapturesOwnShape)
{
    using Index = std::vector<std::int64_t>;
    EXPECT_EQ(indexIn({4, 5}, 7), (Index {1, 2}));
    EXPECT_EQ(indexIn({1, 160, 96}, 3136), (Index {0, 32, 64}));
    EXPECT_EQ(indexIn({2, 3, 4, 5}, 25), (Index {1, 1, 0}));
    EXPECT_EQ(indexIn({6}, 4), (Index {0, 4}));
    EXPECT_EQ(indexIn({3, 0}, 1), Index {});
}

TEST(Words, FirstNonFiniteReadsAsInTheTable)
{
    EXPECT_EQ(nonFiniteText({3, OpName::gram, {12, 5}, ValueClass::nan, 384}), "step 3 gram [12,5] 384 NaN");
    EXPECT_EQ(
        nonFiniteText({0, OpName::normalize, {2, 0, 0}, ValueClass::posInf, 65536}), "normalize [2,0,0] 65,536 Inf");
}

TEST(Words, StepSaysBetweenWhichLinesAndHowItIsKnown)
{
    EXPECT_EQ(stepText(handmade::birthVerdict()), "between the log lines of steps 5 and 6 (console)");
    EXPECT_EQ(stepText({}), "step not recorded");
}

TEST(Words, VariantTellsFitRunnerUpAndRatio)
{
    EXPECT_EQ(variantText(handmade::birthVerdict().variant),
        "gns-standard or gns-gram (off by 0.5 %, next dion-ns5 at 9.3 %, ratio 18.6)");
    EXPECT_EQ(variantText({}), "not identified");
    Identification none;
    none.matchesNone = true;
    EXPECT_EQ(variantText(none), "matches no known variant");
}

TEST(Words, SlackIsTheTightestStep)
{
    EXPECT_NEAR(*slackPercent(handmade::failingCell()), (1.05 / 1.04 - 1) * 100, 1e-9);
    EXPECT_FALSE(slackPercent({}));
    auto wide = handmade::failingCell();
    wide.gauges[0].spectralBound = 2;
    EXPECT_FALSE(slackPercent(wide)) << "a bound beyond the limit guarantees nothing";
}

TEST(Words, SentencesBeginAndEndLikeOnes)
{
    EXPECT_EQ(asSentence("each of 2 stays finite"), "Each of 2 stays finite.");
    EXPECT_EQ(asSentence("which one ran?"), "Which one ran?");
    EXPECT_EQ(asSentence(""), "");
}

TEST(Words, ControlCharactersCannotReachATerminal)
{
    EXPECT_EQ(printable("a\x1b[2Jb\r\n\tc\x7f"), "a [2Jb   c ");
    EXPECT_EQ(printable("x\xc2\x9by"), "x y");
    EXPECT_EQ(printable("µ ╳"), "µ ╳");
}

TEST(Words, WhatIsUnseenOrTurnsTheDirectionIsReplaced)
{
    for (const auto* const unseen : {"\u061C", "\u200B", "\u200F", "\u202E", "\u2066", "\u2069", "\u00AD", "\uFEFF",
             "\u3164", "\U000E0041", "\xff", "\xed\xa0\x80", "\xc0\x80"}) {
        EXPECT_EQ(printable(std::string("a") + unseen + "b").substr(0, 4), "a\uFFFD") << unseen;
        EXPECT_EQ(printableLines(unseen), printable(unseen)) << unseen;
    }
    EXPECT_EQ(printable("a\u2028b\u0085c"), "a b c");
    const std::string kept = "Ünïcödé ⚠️ 日本 \U0001F525 a\u0301";
    EXPECT_EQ(printable(kept), kept);
}

TEST(Words, LinesKeepTheirLayoutAndNothingElse)
{
    EXPECT_EQ(printableLines("a\n\tb\r\x1b[2J\u202E"), "a\n\tb  [2J\uFFFD");
}

TEST(Words, JsonIsHarmlessOnATerminalAndKeepsItsContents)
{
    const nlohmann::ordered_json json {{"a\u202E", {"\x1b[2J\n\x7f", "\u0085\u2028", "\U000E0041", "µ╳"}}};
    const auto text = jsonText(json, 2);
    EXPECT_EQ(text, printableLines(text));
    EXPECT_EQ(nlohmann::ordered_json::parse(text), json);
    EXPECT_NE(text.find("\\udb40\\udc41"), std::string::npos) << text;
}

TEST(Words, ANumberIsTheWholeText)
{
    EXPECT_EQ(numberIn<int>("-12"), -12);
    EXPECT_EQ(numberIn<double>("3e-4"), 3e-4);
    for (const auto* text : {"", " 1", "1 ", "1x", "+1", "99999999999"}) {
        EXPECT_EQ(numberIn<int>(text), std::nullopt) << text;
    }
}

TEST(Words, OnlyLettersOfAsciiAreMadeSmall)
{
    EXPECT_EQ(lowered("Loss-AZ[\xC3\x84"), "loss-az[\xC3\x84");
}

TEST(Words, BlanksAndQuotesAreTakenOffBothEnds)
{
    EXPECT_EQ(trimmed(" \ta b\t "), "a b");
    EXPECT_EQ(trimmed(" \t"), "");
    EXPECT_EQ(unquoted("'a'"), "a");
    EXPECT_EQ(unquoted("\"\""), "");
    for (const auto* text : {"'a\"", "'", "a", ""}) {
        EXPECT_EQ(unquoted(text), text);
    }
}

TEST(Words, ClippingCountsCharactersNotBytes)
{
    EXPECT_EQ(clipped("╳╳╳", 3), "╳╳╳");
    EXPECT_EQ(clipped("╳╳╳╳", 3), "╳╳…");
    EXPECT_EQ(textWidth("a╳"), 2U);
}

TEST(Words, AbsurdTimesAreNotRecorded)
{
    EXPECT_EQ(timeText(1795234396390), "2026-11-21 04:13:16 UTC");
    EXPECT_EQ(timeText(9223372036854775807LL), "not recorded");
    EXPECT_EQ(timeText(-1), "not recorded");
}
