// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/launchlabels.h"
#include "core/ingest/text/linereader.h"
#include "core/ingest/text/metricnames.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;
using testing::ElementsAre;

namespace {

struct Peeled
{
    std::string text;
    std::optional<int> rank;
};

Peeled peel(std::string_view line)
{
    ingest::LineOrigin origin;
    const std::string text(ingest::peelPrefixes(line, origin));
    return {text, origin.rank};
}

std::string strip(std::string_view text)
{
    std::string scratch;
    return std::string(ingest::stripTerminal(text, scratch));
}

std::vector<std::string> linesOf(const std::filesystem::path& path, std::vector<std::int64_t>* numbers = nullptr)
{
    ingest::LineReader reader(std::move(*ingest::openText(path)), 0);
    std::vector<std::string> lines;
    while (const auto line = reader.next()) {
        lines.emplace_back(line->text);
        if (numbers != nullptr) {
            numbers->push_back(line->number);
        }
    }
    return lines;
}

} // namespace

TEST(Prefixes, launchersAndLoggersArePeeled)
{
    struct Case
    {
        const char* line;
        const char* text;
        std::optional<int> rank;
    };
    for (const auto& [line, text, rank] : std::vector<Case> {
             {"[default0]:Step 0: x", "Step 0: x", 0},
             {"[default1]:[rank5]: Traceback", "Traceback", 5},
             {"[default1]:[rank1]:   File \"a\"", "  File \"a\"", 1},
             {"[rank0]:W1121 04:13", "W1121 04:13", 0},
             {"[rank 12] WARNING  NaN/Inf loss", "NaN/Inf loss", 12},
             {"[rank 0] INFO     [step 1] loss=1", "[step 1] loss=1", 0},
             {"[Rank 3] Watchdog caught", "Watchdog caught", 3},
             {"  7: Step 1: a", "Step 1: a", 7},
             {"504: [rank 2] ERROR    x", "x", 2},
             {"[1,3]<stdout>:hello", "hello", 3},
             {"[prterun-node7-2178@1,3]<stderr>: hello", "hello", 3},
             {"[step 5] loss=1", "[step 5] loss=1", std::nullopt},
             {"[dion NaN capture] x", "[dion NaN capture] x", std::nullopt},
             {"[deepspeed] OVERFLOW!", "[deepspeed] OVERFLOW!", std::nullopt},
             {"    return 1", "    return 1", std::nullopt},
             {"[default99999999999999999999]:x", "[default99999999999999999999]:x", std::nullopt},
             {"[", "[", std::nullopt},
             {"[rank", "[rank", std::nullopt},
             {"12", "12", std::nullopt},
             {"", "", std::nullopt},
         }) {
        EXPECT_EQ(peel(line).text, text) << line;
        EXPECT_EQ(peel(line).rank, rank) << line;
    }
}

TEST(TerminalCodes, areRemovedWhereverTheyStand)
{
    EXPECT_EQ(strip("\x1b[36mloss\x1b[0m=\x1b[1m2.34\x1b[0m"), "loss=2.34");
    EXPECT_EQ(strip("\x1b[38;2;180;60;0mstep\x1b[39m"), "step");
    EXPECT_EQ(strip("a\x1b[Kb\x1b]0;title\x07"
                    "c\x1b]8;;x\x1b\\d"),
        "abcd");
    EXPECT_EQ(strip("cut \x1b["), "cut ");
    EXPECT_EQ(strip("cut \x1b"), "cut ");
    EXPECT_EQ(strip(std::string_view("a\0b\0", 4)), "ab");
    EXPECT_EQ(strip("plain"), "plain");
}

TEST(Numbers, everySpellingOfNonFiniteIsUnderstood)
{
    for (const auto* text : {"nan", "NaN", "NAN", "-nan", "\"NaN\"", "nan(ind)", " nan", "'nan'"}) {
        const auto value = ingest::parseNumber(text);
        ASSERT_TRUE(value) << text;
        EXPECT_TRUE(std::isnan(*value)) << text;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(ingest::parseNumber("inf"), infinity);
    EXPECT_EQ(ingest::parseNumber("+Infinity"), infinity);
    EXPECT_EQ(ingest::parseNumber("-INF"), -infinity);
    EXPECT_EQ(ingest::parseNumber("\"-Infinity\""), -infinity);
}

TEST(Numbers, finiteOnesAreExact)
{
    EXPECT_EQ(ingest::parseNumber("125,000"), 125000);
    EXPECT_EQ(ingest::parseNumber("4.103157E+01"), 41.03157);
    EXPECT_EQ(ingest::parseNumber("-.5"), -0.5);
    EXPECT_EQ(ingest::parseNumber("+1.5e-3"), 1.5e-3);
    EXPECT_EQ(ingest::parseNumber("87439263494307840.0000"), 87439263494307840.0);
    EXPECT_EQ(ingest::parseNumber("1e999"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(ingest::parseNumber("1e-999"), 0.0);
    EXPECT_EQ(ingest::parseNumber("'0.1778'"), 0.1778);
    for (const auto* text : {"", "-", "nano", "info", "1.2.3", "0:00:28", "1e", "abc", "0x10", "--1", "N/A", "\""}) {
        EXPECT_FALSE(ingest::parseNumber(text)) << text;
    }
}

TEST(Quantities, unitsAreTakenOff)
{
    EXPECT_EQ(ingest::parseQuantity("52.3%"), 52.3);
    EXPECT_EQ(ingest::parseQuantity("1.25s"), 1.25);
    EXPECT_EQ(ingest::parseQuantity("71.2/80GB"), 71.2);
    EXPECT_EQ(ingest::parseQuantity("125,001"), 125001);
    EXPECT_EQ(ingest::parseQuantity("1.5k"), 1500);
    EXPECT_EQ(ingest::parseQuantity("4.1M"), 4.1e6);
    EXPECT_EQ(ingest::parseQuantity("2.00e-04"), 2e-4);
    EXPECT_TRUE(std::isnan(ingest::parseQuantity("nan%").value()));
    EXPECT_TRUE(std::isnan(ingest::parseQuantity("nan").value()));
    EXPECT_EQ(ingest::parseQuantity("infs"), std::numeric_limits<double>::infinity());
    EXPECT_FALSE(ingest::parseQuantity("fast"));
    EXPECT_FALSE(ingest::parseQuantity(""));
}

TEST(Readable, badBytesShowAndCutsKeepCharactersWhole)
{
    EXPECT_EQ(ingest::readable("a\xff\xc3\xa9", 100), "a\\xff\xc3\xa9");
    EXPECT_EQ(ingest::readable("\xc3\xa9\xc3\xa9", 3), "\xc3\xa9");
    EXPECT_EQ(ingest::readable("\xed\xa0\x80", 100), "\\xed\\xa0\\x80") << "a surrogate is no character";
    EXPECT_EQ(ingest::readable("\xc0\xaf", 100), "\\xc0\\xaf") << "an overlong form is no character";
    EXPECT_EQ(ingest::readable("\xe2\x82", 100), "\\xe2\\x82");
    EXPECT_EQ(ingest::readable("\xf0\x9f\x98\x80", 100), "\xf0\x9f\x98\x80");
}

TEST(Aliases, canonicalNamesOfPeers)
{
    EXPECT_EQ(ingest::canonicalName("train/CrossEntropyLoss"), "loss");
    EXPECT_EQ(ingest::canonicalName("lm loss"), "loss");
    EXPECT_EQ(ingest::canonicalName("eval/loss"), "val_loss");
    EXPECT_EQ(ingest::canonicalName("optim/total_grad_norm"), "grad_norm");
    EXPECT_EQ(ingest::canonicalName("tok/s"), "tokens_per_second");
    EXPECT_EQ(ingest::canonicalName("loss/wikipedia"), "loss/wikipedia");
    EXPECT_EQ(ingest::stepPriority("Step"), 1);
    EXPECT_LT(*ingest::stepPriority("global_step"), *ingest::stepPriority("_step"));
    EXPECT_FALSE(ingest::stepPriority("loss"));
}

TEST(LineReader, everyKindOfLineBreakEndsALineAndOnlyNewlinesCount)
{
    const TemporaryFolder folder;
    std::vector<std::int64_t> numbers;
    const auto path = folder.write("a.log", "one\ntwo\r\nbar 1\rbar 2\r\n\n\nlast");
    EXPECT_THAT(linesOf(path, &numbers), ElementsAre("one", "two", "bar 1", "bar 2", "last"));
    EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 3, 6));
}

TEST(LineReader, unfinishedLastLineIsNotCountedAsTaken)
{
    const TemporaryFolder folder;
    ingest::LineReader reader(std::move(*ingest::openText(folder.write("a.log", "one\ntwo"))), 0);
    EXPECT_TRUE(reader.next()->whole);
    EXPECT_FALSE(reader.next()->whole);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.offset(), 4);
    EXPECT_EQ(reader.lines(), 1);
    reader.takeTail();
    EXPECT_EQ(reader.offset(), 7);
}

TEST(LineReader, startInTheMiddleOfALineDropsItsRest)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.log", "one\ntwo more\nthree\n");
    ingest::LineReader reader(std::move(*ingest::openText(path, 7)), 1);
    const auto line = reader.next();
    EXPECT_EQ(line->text, "three");
    EXPECT_EQ(line->number, 3);
}

TEST(LineReader, longLinesAreCutAndTheNextLineIsWhole)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.log", "a\n" + std::string(5 * ingest::longestLine + 17, 'x') + "\nnext\n");
    ingest::LineReader reader(std::move(*ingest::openText(path)), 0);
    EXPECT_EQ(reader.next()->text, "a");
    const auto cut = reader.next();
    EXPECT_TRUE(cut->cut);
    EXPECT_EQ(cut->text.size(), ingest::longestLine);
    EXPECT_EQ(cut->number, 2);
    const auto next = reader.next();
    EXPECT_EQ(next->text, "next");
    EXPECT_EQ(next->number, 3);
    EXPECT_FALSE(reader.next());
}

TEST(LineReader, aHoleOfZerosIsPassedOver)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.log", std::string(3 * ingest::longestLine, '\0') + "after\nnext\n");
    EXPECT_THAT(linesOf(path), ElementsAre("after", "next"));
}

TEST(LineReader, linesAcrossEveryBlockBorderStayWhole)
{
    const TemporaryFolder folder;
    std::string text;
    std::vector<std::string> expected;
    for (int i = 0; i < 60'000; ++i) {
        expected.push_back("line " + std::to_string(i) + std::string(static_cast<std::size_t>(i % 41), '.'));
        text += expected.back() + (i % 3 == 0 ? "\r\n" : i % 3 == 1 ? "\n" : "\r");
    }
    EXPECT_EQ(linesOf(folder.write("a.log", text)), expected);
}
