// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What becomes one event although it is many lines: storms of one line, and tracebacks.
#include <gmock/gmock.h>

#include "core/ingest/log/logbuilder.h"
#include "core/ingest/logimport.h"
#include "core/ingest/text/consoletext.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

class Storms : public LogFolder
{
protected:
    static std::vector<std::int64_t> copies(const ingest::LogContents& log)
    {
        std::vector<std::int64_t> all;
        for (const auto& event : log.events) {
            all.push_back(event.copies);
        }
        return all;
    }

    static std::string assertion(const std::string& prefix, int thread)
    {
        return prefix + "/nccl/Utils.cu:21: checkForNaN: block: [" + std::to_string(thread / 32) + ",0,0], thread: ["
            + std::to_string(thread) + ",0,0] Assertion `!isnan(val)` failed.\n";
    }
};

TEST_F(Storms, ThousandsOfThreadsFailAsOneEventPerRank)
{
    std::string text;
    for (int thread = 0; thread < 3000; ++thread) {
        text += assertion("[rank3]: ", thread) + (thread % 3 == 0 ? assertion("[rank5]: ", thread) : "");
    }
    const auto log = read("console.log", text);
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_THAT(copies(log), ElementsAre(3000, 1000));
    EXPECT_EQ(log.events[0].kind, EventKind::nanLoss);
    EXPECT_EQ(log.events[0].rank, 3);
    EXPECT_EQ(log.events[0].line, 1);
    EXPECT_THAT(log.events[0].text, testing::HasSubstr("thread: [0,0,0]")) << "the first one is kept as it is";
    EXPECT_EQ(log.events[1].rank, 5);
    EXPECT_EQ(log.events[1].line, 2);
}

TEST_F(Storms, TheVerySameLineIsOneEventWhateverStandsBetween)
{
    const auto log = read("console.log",
        "NCCL error: unhandled\nsomething else\nDistBackendError: a\nNCCL error: unhandled\nNCCL error: other\n"
        "NCCL error: unhandled\n");
    EXPECT_THAT(copies(log), ElementsAre(3, 1, 1));
}

TEST_F(Storms, ALoggersTimeInBracketsMakesNoDifference)
{
    const auto log = read(
        "console.log", "[2025-07-13 21:48:34,943] [ERROR] NCCL error\n[2025-07-13 21:48:35,001] [ERROR] NCCL error\n");
    EXPECT_THAT(copies(log), ElementsAre(2));
}

TEST_F(Storms, WhoItWasMakesADifference)
{
    const auto log = read("console.log",
        "[E Proc.cpp:1] [Rank 2] Watchdog caught collective operation timeout\n"
        "[E Proc.cpp:1] [Rank 3] Watchdog caught collective operation timeout\n"
        "Connection closed by peer [10.0.0.5]:4432\nConnection closed by peer [10.0.0.6]:4432\n"
        "host:12:34 [0] NCCL error\nhost:12:34 [1] NCCL error\n");
    EXPECT_THAT(copies(log), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST_F(Storms, ALineWithAStepOrALossScaleIsAFactOfItsOwn)
{
    const std::string overflow = "[deepspeed] OVERFLOW! Rank 0 Skipping step.\n";
    const std::string scale = "Reducing dynamic loss scale from 8 to 4.0\n";
    const std::string step = "NaN/Inf loss at step 7 (consecutive=1)\n";
    const std::string dump = "[dion NaN capture] output on rank 3, shape (4, 4); dumped to /caps/x.pt\n";
    for (const auto& line : {overflow, scale, step, dump}) {
        const auto log = read("console.log", line + line);
        EXPECT_THAT(copies(log), ElementsAre(1, 1)) << line;
    }
}

TEST_F(Storms, WhatFollowsTheNextStepIsAnotherFact)
{
    const std::string nan = "found NaN/Inf in local forward loss calculation\n";
    const auto log = read("console.log", "step 1, loss: 2.5\n" + nan + nan + "step 2, loss: 2.4\n" + nan);
    EXPECT_THAT(copies(log), ElementsAre(2, 1));
    EXPECT_EQ(log.events[1].line, 5);
}

TEST_F(Storms, AreCountedWholeWhenTheLogIsHandedOverInPieces)
{
    std::string text;
    for (int i = 0; i < 50; ++i) {
        text += "DistBackendError: " + std::to_string(i % 5) + '\n';
    }
    auto log = ingest::openLog(m_folder.write("console.log", text), "console.log");
    ASSERT_TRUE(log);
    std::int64_t lines = 0;
    int pieces = 0;
    while (!(*log)->finished()) {
        const auto piece = (*log)->next(3, {});
        for (const auto& event : piece.events) {
            lines += event.copies;
        }
        ++pieces;
    }
    EXPECT_EQ(lines, 50);
    EXPECT_GT(pieces, 3);
}

TEST_F(Storms, OfManyDifferentLinesForgetAndStayRight)
{
    std::string text;
    for (int i = 0; i < 10'000; ++i) {
        text += "NCCL error " + std::to_string(i) + '\n';
    }
    const auto log = read("console.log", text + text);
    EXPECT_THAT(log.events, SizeIs(20'000)) << "too many to remember";
    EXPECT_THAT(copies(log), Each(1));
}

TEST(Tuples, AreNumbersInBracketsAndNothingElse)
{
    EXPECT_EQ(ingest::withoutTuples("block: [33,0,0], thread: [1, 2]"), "block: [,,], thread: [, ]");
    for (const std::string kept :
        {"[0]", "[Rank 3]", "[10.0.0.5]:1", "[deepspeed]", "[1,2", "[]", "[,]", "1,2]", "["}) {
        EXPECT_EQ(ingest::withoutTuples(kept), kept);
    }
}

class Tracebacks : public LogFolder
{
protected:
    static Event only(const ingest::LogContents& log)
    {
        EXPECT_THAT(log.events, SizeIs(1));
        return log.events.empty() ? Event {} : log.events.front();
    }
};

const std::string start = "Traceback (most recent call last):\n";

TEST_F(Tracebacks, KeepTheirFramesWithoutPrefixesAndUnderlines)
{
    const auto event = only(read("console.log",
        "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"a.py\", line 1, in <module>\n"
        "[rank1]:     opt.step()\n[rank1]:     ~~~~~~~~^^\n[rank1]:   File \"\x1b[35mmuon.py\x1b[0m\", line 9, in "
        "step\n"
        "[rank1]:     raise ValueError(\"bad shape\")\n[rank1]: ValueError: bad shape\n"));
    EXPECT_EQ(event.kind, EventKind::traceback);
    EXPECT_EQ(event.text, "ValueError: bad shape");
    EXPECT_EQ(event.detail,
        "  File \"a.py\", line 1, in <module>\n    opt.step()\n  File \"muon.py\", line 9, in step\n"
        "    raise ValueError(\"bad shape\")");
    EXPECT_EQ(event.line, 7);
}

TEST_F(Tracebacks, OfTwoRanksKeepTheirOwnFrames)
{
    const auto log = read("console.log",
        "[rank0]: Traceback (most recent call last):\n[rank1]: Traceback (most recent call last):\n"
        "[rank0]:   File \"a.py\", line 1, in f\n[rank1]:   File \"b.py\", line 2, in g\n"
        "[rank1]: KeyError: 'b'\n[rank0]: KeyError: 'a'\n");
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].detail, "  File \"b.py\", line 2, in g");
    EXPECT_EQ(log.events[1].detail, "  File \"a.py\", line 1, in f");
}

TEST_F(Tracebacks, ThatAreNamedGiveTheirFramesToThatEvent)
{
    const auto event = only(
        read("console.log", start + "  File \"a.py\", line 1, in f\ntorch.OutOfMemoryError: CUDA out of memory.\n"));
    EXPECT_EQ(event.kind, EventKind::infrastructure);
    EXPECT_EQ(event.detail, "  File \"a.py\", line 1, in f");
}

TEST_F(Tracebacks, OfADumpGoWithTheException)
{
    const auto log = read("console.log",
        start
            + "  File \"a.py\", line 1, in f\nRuntimeError: [dion NaN capture] non-finite Newton-Schulz output on rank "
              "0, "
              "shape (4, 4); dumped to /caps/x.pt\n");
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].kind, EventKind::captureDumped);
    EXPECT_EQ(log.events[0].detail, "");
    EXPECT_EQ(log.events[1].kind, EventKind::traceback);
    EXPECT_EQ(log.events[1].detail, "  File \"a.py\", line 1, in f");
}

TEST_F(Tracebacks, TooLongForOneEventKeepTheInnermostFrames)
{
    std::string text = start;
    for (int i = 0; i < 4000; ++i) {
        text += "  File \"deep.py\", line " + std::to_string(i) + ", in f\n    f(\xff)\n";
    }
    const auto event = only(read("console.log", text + "RecursionError: maximum recursion depth exceeded\n"));
    EXPECT_EQ(event.detail.substr(0, 5), "...\n ");
    EXPECT_TRUE(event.detail.ends_with("line 3999, in f\n    f(\\xff)")) << event.detail;
    EXPECT_LE(event.detail.size(), 4000);
    EXPECT_GT(event.detail.size(), 3900);
}

TEST_F(Tracebacks, OneThatFollowsAnotherNamesIt)
{
    const std::string first = start + "  File \"a.py\", line 13, in f\n    {}['a']\nKeyError: 'a'\n\n";
    const std::string second = "\n\n" + start + "  File \"a.py\", line 15, in f\nRuntimeError: second\n";
    for (const std::string chain : {"During handling of the above exception, another exception occurred:",
             "The above exception was the direct cause of the following exception:"}) {
        auto text = first;
        const auto log = read("console.log", text.append(chain).append(second));
        ASSERT_THAT(log.events, SizeIs(2)) << chain;
        EXPECT_EQ(log.events[0].text, "KeyError: 'a'");
        EXPECT_EQ(log.events[0].detail, "  File \"a.py\", line 13, in f\n    {}['a']");
        EXPECT_EQ(log.events[1].text, "RuntimeError: second");
        EXPECT_EQ(log.events[1].detail, "after KeyError: 'a'\n  File \"a.py\", line 15, in f");
    }
}

TEST_F(Tracebacks, TwoThatOnlyStandBelowEachOtherAreNotChained)
{
    const auto log = read("console.log",
        start + "  File \"a.py\", line 1\nKeyError: 'a'\n" + start
            + "  File \"b.py\", line 2\nKeyError: 'b'\nsaved\nDuring handling of the above exception, another "
              "exception occurred:\n"
            + start + "  File \"c.py\", line 3\nKeyError: 'c'\n");
    ASSERT_THAT(log.events, SizeIs(3));
    EXPECT_EQ(log.events[1].detail, "  File \"b.py\", line 2");
    EXPECT_EQ(log.events[2].detail, "  File \"c.py\", line 3");
}

TEST_F(Tracebacks, OfABackwardPassTellTheForwardCall)
{
    const auto log = read("console.log",
        "/torch/autograd/graph.py:869: UserWarning: Error detected in SqrtBackward0. Traceback of forward call that "
        "caused the error:\n  File \"t.py\", line 8, in <module>\n    fwd(x).backward()\n  File \"t.py\", line 5, in "
        "fwd\n"
        "    y = torch.sqrt(x) * 0\n (Triggered internally at /pytorch/python_anomaly_mode.cpp:122.)\n"
        "  return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass\n"
            + start
            + "  File \"t.py\", line 8, in <module>\n    fwd(x).backward()\n"
              "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.\n"
            + start + "  File \"u.py\", line 1\nKeyError: 'later'\n");
    ASSERT_THAT(log.events, SizeIs(3));
    EXPECT_EQ(log.events[0].kind, EventKind::other);
    EXPECT_EQ(log.events[1].kind, EventKind::nanLoss);
    EXPECT_EQ(log.events[1].detail,
        "  File \"t.py\", line 8, in <module>\n    fwd(x).backward()\nthe forward call:\n  File \"t.py\", line 8, in "
        "<module>\n    fwd(x).backward()\n  File \"t.py\", line 5, in fwd\n    y = torch.sqrt(x) * 0");
    EXPECT_EQ(log.events[2].detail, "  File \"u.py\", line 1");
}

TEST_F(Tracebacks, TheSameOneAgainIsACopyAndOneFromElsewhereIsNot)
{
    const std::string a = start + "  File \"a.py\", line 1\nKeyError: 'a'\n";
    const std::string b = start + "  File \"b.py\", line 1\nKeyError: 'a'\n";
    const auto log = read("console.log", a + b + a);
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].copies, 2);
    EXPECT_EQ(log.events[1].detail, "  File \"b.py\", line 1");
}

TEST_F(Tracebacks, WithoutAnEndAreForgottenAfterTenThousandLines)
{
    std::string text = start;
    for (int i = 0; i < 10'001; ++i) {
        text += "    frame\n";
    }
    const auto log = read("console.log", text + "ValueError: of something else\nNCCL error\n");
    EXPECT_EQ(only(log).kind, EventKind::collective);
}

TEST(ReadableEnd, KeepsWholeLinesAndCharacters)
{
    EXPECT_EQ(ingest::readableEnd("ab\ncd\n\n", 100), "ab\ncd");
    EXPECT_EQ(ingest::readableEnd("first line\nsecond\nthird", 16), "...\nthird");
    EXPECT_EQ(ingest::readableEnd("first line\nsecond\nthird", 17), "...\nsecond\nthird");
    EXPECT_EQ(ingest::readableEnd("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6", 9), "...\n\xc3\xa4\xc3\xb6")
        << "no half character";
    EXPECT_EQ(ingest::readableEnd("", 10), "");
}

} // namespace
} // namespace nanscope
