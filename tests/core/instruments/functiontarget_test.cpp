// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions that do what functions must not do, in a Python without torch.
#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "implfixture.h"

namespace nanscope {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::waveInputBatch;

// What it does is told by the number in its first element, so that one function can do all of it, one after the other.
constexpr auto behaviours = R"(
import os, sys, time
def f(X, epsilon):
    what = int(X[0][0])
    if what == 1:
        raise ValueError("no\nsuch thing")
    if what == 2:
        return None
    if what == 3:
        return [row[:-1] for row in X]
    if what == 4:
        sys.exit(7)
    if what == 5:
        os._exit(9)
    if what == 6:
        os.kill(os.getpid(), 11)
    if what == 7:
        time.sleep(3600)
    if what == 8:
        print("x" * 100000)
        os.write(1, b"{\"ok\": true}\n")
        sys.stderr.write("to stderr")
        return sys.stdin.read() and None or [list(row) for row in X]
    if what == 9:
        if os.fork() == 0:
            time.sleep(0.01)
        return [list(row) for row in X]
    if what == 10:
        X[1][2] = 99.0
        return X
    if what == 11:
        return [["a"] * len(X[0]) for row in X]
    if what == 12:
        sys.stderr.write("about to go\n")
        sys.stderr.flush()
        os._exit(1)
    return [[2 * v + epsilon for v in row] for row in X]
)";

class WrongFunctions : public testing::ImplTest
{
protected:
    void SetUp() override
    {
        m_python = testing::firstOf({"/usr/bin/python3", "/usr/local/bin/python3"});
        if (m_python.empty()) {
            GTEST_SKIP() << "there is no python3 on this machine";
        }
        const int torch = std::system((m_python + " -c 'import torch' 2>/dev/null").c_str());
        if (torch == 0) {
            GTEST_SKIP() << "the system's Python has torch: this is about one without";
        }
    }

    static instruments::Matrices telling(int what)
    {
        auto values = testing::waves(12);
        values[0] = what;
        return instruments::packed(DType::float32, {3, 4}, values);
    }
    std::string complaint(instruments::FunctionTarget& target, int what)
    {
        const auto reply = called(target, telling(what));
        EXPECT_FALSE(reply.output) << what;
        return reply.complaint;
    }
    void expectGood(instruments::FunctionTarget& target)
    {
        const auto reply = called(target, telling(0));
        ASSERT_TRUE(reply.output) << reply.complaint;
        EXPECT_NEAR(instruments::valuesOf(*reply.output)[5], 2 * testing::waves(12)[5] + 1e-7, 1e-15);
    }
};

TEST_F(WrongFunctions, EachIsOneSentenceAndTheNextCallWorks)
{
    const auto target = open(write(behaviours) + ":f");
    ASSERT_NE(target, nullptr);
    expectGood(*target);
    EXPECT_EQ(complaint(*target, 1), "the function raised ValueError: no such thing");
    EXPECT_THAT(complaint(*target, 2), HasSubstr("returned a NoneType"));
    EXPECT_THAT(complaint(*target, 3), HasSubstr("another shape"));
    EXPECT_EQ(complaint(*target, 4), "the function called sys.exit(7)");
    expectGood(*target);
    EXPECT_EQ(complaint(*target, 5), "the function's process ended with status 9");
    expectGood(*target);
    EXPECT_EQ(complaint(*target, 6), "the function's process was ended by signal 11 (segmentation fault)");
    expectGood(*target);
    EXPECT_THAT(complaint(*target, 11), HasSubstr("something else than numbers"));
    EXPECT_THAT(complaint(*target, 12), HasSubstr("ended with status 1; its last words: about to go"));
    expectGood(*target);
}

TEST_F(WrongFunctions, WhatItPrintsReadsAndForksDoesNotDisturb)
{
    const auto target = open(write(behaviours) + ":f");
    ASSERT_NE(target, nullptr);
    for (const int what : {8, 9, 8, 9}) {
        const auto input = telling(what);
        const auto reply = called(*target, input);
        ASSERT_TRUE(reply.output) << what << ": " << reply.complaint;
        EXPECT_EQ(instruments::valuesOf(*reply.output), instruments::valuesOf(input)) << what;
        EXPECT_EQ(reply.inputChanged, 0);
        EXPECT_FALSE(reply.sharesStorage);
    }
    expectGood(*target);
}

TEST_F(WrongFunctions, OneThatNeverReturnsIsKilledWithItsGroup)
{
    const auto target = open(write(behaviours) + ":f", 5);
    ASSERT_NE(target, nullptr);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(complaint(*target, 7), "the function did not return within 5 s and was killed (--timeout)");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    expectGood(*target);
}

TEST_F(WrongFunctions, ACancelEndsACallThatIsUnderWay)
{
    const auto target = open(write(behaviours) + ":f");
    ASSERT_NE(target, nullptr);
    CancelToken cancel;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        cancel.cancel();
    });
    const auto input = telling(7);
    const auto reply = target->call({input, 1e-7}, cancel);
    later.join();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::cancelled);
}

TEST_F(WrongFunctions, WritingIntoTheInputAndReturningItIsSeen)
{
    const auto target = open(write(behaviours) + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = instruments::inputBatchOf(telling(10), 1e-7);
    instruments::Measurement measurement(*target, inputBatch, {});
    const auto answer = instruments::checkInput(measurement);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->changed, 1);
    EXPECT_EQ(*answer->first, (std::vector<std::int64_t> {1, 2}));
    EXPECT_TRUE(answer->sharesStorage);
    EXPECT_THAT(answer->sentence, HasSubstr("1 element has other bits, the first at [1,2]"));
}

TEST_F(WrongFunctions, ABurstGoesOnAfterACallThatFailed)
{
    const auto target = open(write(R"(
calls = 0
def f(X, epsilon):
    global calls
    calls += 1
    if calls == 4:
        raise RuntimeError("the fourth")
    return [[v + (1 if calls == 7 else 0) for v in row] for row in X]
)") + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({3, 4});
    instruments::Measurement measurement(*target, inputBatch, {});
    const auto answer = instruments::repeatBitwise(measurement, 30);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count.calls, 29);
    EXPECT_EQ(answer->count.failed, 1);
    EXPECT_EQ(answer->count.differ, 1);
    EXPECT_THAT(measurement.log().complaints, ::testing::ElementsAre("the function raised RuntimeError: the fourth"));
}

/// Every process of it ends at that call.
std::string dyingAtCall(int call)
{
    return fmt::format("import os\ncalls = 0\ndef f(X, epsilon):\n    global calls\n    calls += 1\n"
                       "    if calls == {}:\n        os.kill(os.getpid(), 11)\n    return [list(row) for row in X]\n",
        call);
}

TEST_F(WrongFunctions, ADeathInABurstCostsThatCall)
{
    const auto target = open(write(dyingAtCall(40)) + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({3, 4});
    instruments::Measurement measurement(*target, inputBatch, {});
    const auto answer =
        instruments::repeatBitwise(measurement, 60); // the 40th call is the 14th of its part, after the one looked at
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count.calls, 59);
    EXPECT_EQ(answer->count.failed, 1);
    EXPECT_THAT(
        measurement.log().complaints, ::testing::Contains(HasSubstr("the outputs of 13 calls that had returned")));
}

TEST_F(WrongFunctions, ThatDieAtTheThirdCallGiveTheOutputsBeforeIt)
{
    const auto target = open(write(dyingAtCall(3)) + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({3, 4});
    instruments::Measurement measurement(*target, inputBatch, {});
    const auto answer = instruments::repeatBitwise(measurement, 20); // one dies, then two of three live
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count.calls, 13);
    EXPECT_EQ(answer->count.failed, 7);
    EXPECT_THAT(answer->sentence, HasSubstr("none of 13 calls differs"));
}

TEST_F(WrongFunctions, ThatDieAtOnceAreGivenUpAndTheCallsNotMadeAreNotCounted)
{
    const auto target = open(write("import os\ncalls = 0\ndef f(X, epsilon):\n    global calls\n    calls += 1\n"
                                   "    if calls == 2 or os.path.exists(__file__ + '.gone'):\n"
                                   "        open(__file__ + '.gone', 'w').close()\n        os._exit(3)\n    return X\n")
        + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({3, 4});
    instruments::Measurement measurement(*target, inputBatch, {});
    const auto answer = instruments::repeatBitwise(measurement, 60);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count.failed, 3);
    EXPECT_EQ(measurement.log().calls, 4);
    EXPECT_EQ(answer->sentence, "the first call gave an output, none of the 3 after it did");
    EXPECT_THAT(
        measurement.log().complaints, ::testing::Contains(HasSubstr("57 of the calls asked for were not made")));
}

TEST_F(WrongFunctions, ThatDifferInTheCalmAreSaidToDifferThere)
{
    const auto target = open(write("calls = 0\ndef f(X, epsilon):\n    global calls\n    calls += 1\n"
                                   "    return [[v + calls for v in row] for row in X]\n")
        + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({3, 4});
    instruments::Measurement measurement(*target, inputBatch, {});
    instruments::StormRequest request;
    request.calls = 10;
    request.processes = 2;
    const auto answer = instruments::storm(measurement, target->choice(), request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    EXPECT_THAT(answer->sentence, HasSubstr("calls in the calm differ from each other already: 9 of 10"));
    EXPECT_THAT(answer->sentence, ::testing::Not(HasSubstr("than in the calm")));
}

TEST_F(WrongFunctions, AStormWithoutTorchRunsWhatItCanAndSaysWhatNot)
{
    const auto target = open(write(behaviours) + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({3, 4});
    instruments::Measurement measurement(*target, inputBatch, {});
    instruments::StormRequest request;
    request.calls = 10;
    request.processes = 2;
    const auto answer = instruments::storm(measurement, target->choice(), request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    ASSERT_EQ(answer->legs.size(), 11);
    EXPECT_EQ(answer->legs[0].count.calls, 10);
    EXPECT_EQ(answer->legs[1].skipped, "this Python has no torch");
    EXPECT_EQ(answer->legs[4].skipped, "on a CPU every op has ended when it returns");
    EXPECT_EQ(answer->legs[7].name, "NCCL traffic beside streams");
    EXPECT_EQ(answer->legs[7].skipped, "it runs on no GPU");
    EXPECT_EQ(answer->legs[8].count.calls, 10);
    EXPECT_EQ(answer->legs[9].name, "2 fresh processes");
    EXPECT_EQ(answer->legs[9].count.calls, 10);
    EXPECT_EQ(answer->legs[9].count.differ, 0);
    EXPECT_THAT(answer->sentence, HasSubstr("not reproduced in this setting"));
}

TEST_F(WrongFunctions, OnesThatCannotBeLoadedAreToldBeforeAnythingRuns)
{
    const auto why = [this](const std::string& function) {
        const auto target = instruments::FunctionTarget::make({function, m_python, "cpu", 60, {}}, {});
        return target ? std::string("it was loaded") : target.error().what;
    };
    const auto file = write("def needs(X, a, b, *, c): return X\nnumber = 3\ndef one(X): return X\n");
    EXPECT_THAT(
        why("no.such.module:f"), AllOf(HasSubstr("ModuleNotFoundError"), EndsWith("; --python names another Python")));
    EXPECT_THAT(why(file + ":g"), AllOf(HasSubstr("there is no g in"), Not(HasSubstr("--python"))));
    EXPECT_THAT(why(file + ":number"), HasSubstr("is a int, which cannot be called"));
    EXPECT_THAT(why(file + ":needs"), HasSubstr(R"(also needs b, c: give them as JSON behind its name, as in)"));
    const auto given = open(file + R"(:needs {"b": 1, "c": [2]})");
    ASSERT_NE(given, nullptr);
    EXPECT_EQ(given->facts().how, R"(f(X, a=epsilon) with {"b": 1, "c": [2]})");
    EXPECT_THAT(why(file + R"(:needs {"b": 1, "d": 2})"), HasSubstr("behind its name: got an unexpected keyword"));
    EXPECT_THAT(why(file + R"(:needs {"X": 1})"), HasSubstr("behind its name: multiple values for argument 'X'"));
    EXPECT_THAT(why(file + ":needs {b}"), HasSubstr("no JSON object of its arguments"));
    const auto target = open(file + ":one");
    ASSERT_NE(target, nullptr);
    EXPECT_EQ(target->facts().how, "f(X), without epsilon");
    const auto ofMuon = open(write("def f(G, steps): return G\ndef g(G, steps, eps): return G\n") + ":f");
    ASSERT_NE(ofMuon, nullptr);
    EXPECT_EQ(ofMuon->facts().how, "f(X, steps=5), without epsilon") << "an epsilon is no number of steps";
}

TEST_F(WrongFunctions, OnesThatRequireAnEpsilonAreNotCalledWithoutOne)
{
    const auto file = write("def keyword(X, *, epsilon): return X\ndef second(X, eps): return X\n"
                            "def only(X, e, /): return X\ndef optional(X, epsilon=1e-7): return X\n"
                            "def none(X): return X\n");
    const auto input = telling(0);
    for (const auto& [function, argument] : {std::pair("keyword", "epsilon"), {"second", "eps"}, {"only", "e"}}) {
        const auto target = open(file + ":" + function);
        ASSERT_NE(target, nullptr);
        const auto reply = target->call({input, std::nullopt}, {});
        ASSERT_FALSE(reply) << function;
        EXPECT_EQ(reply.error().kind, ErrorKind::usage);
        EXPECT_THAT(reply.error().what, HasSubstr(fmt::format("requires an epsilon (its argument {})", argument)));
        EXPECT_THAT(reply.error().what, HasSubstr("--epsilon 1e-7"));
        EXPECT_FALSE(target->burst({input, std::nullopt}, {}, {})) << function;
        EXPECT_TRUE(called(*target, input).output) << "with one it is called";
    }
    for (const auto* function : {"optional", "none"}) {
        const auto target = open(file + ":" + function);
        ASSERT_NE(target, nullptr);
        const auto reply = target->call({input, std::nullopt}, {});
        EXPECT_TRUE(reply && reply->output) << function;
    }
}

TEST_F(WrongFunctions, OnesThatAreCompiledAreCalledThoughNothingIsKnownOfThem)
{
    const auto compiled = open("os:getcwdb");
    ASSERT_NE(compiled, nullptr);
    EXPECT_EQ(compiled->facts().source, "");
    EXPECT_THAT(complaint(*compiled, 0), HasSubstr("the function raised TypeError"));
    const auto object = open(write("class F:\n"
                                   "    def __call__(self, X, epsilon): return [[epsilon for v in r] for r in X]\n"
                                   "    @property\n"
                                   "    def __signature__(self): raise RuntimeError('none')\n"
                                   "f = F()\n")
        + ":f");
    ASSERT_NE(object, nullptr);
    const auto reply = called(*object, telling(0));
    ASSERT_TRUE(reply.output) << reply.complaint;
    EXPECT_EQ(instruments::valuesOf(*reply.output)[0], 1e-7);
}

TEST(Impl, TargetsAreModulesOrFilesWithAFunction)
{
    EXPECT_EQ(*instruments::functionTarget("python:a.b:c"), "a.b:c");
    EXPECT_EQ(*instruments::functionTarget("python:/x/y.py:f.g"), "/x/y.py:f.g");
    for (const auto* wrong : {"a.b:c", "python:", "python:a", "python::f", "python:a:"}) {
        EXPECT_FALSE(instruments::functionTarget(wrong)) << wrong;
    }
}

TEST(Impl, WhatIsShownIsWhatRuns)
{
    EXPECT_THAT(std::string(instruments::harnessSource()), HasSubstr("def answer_to(line, engine, function):"));
    EXPECT_EQ(instruments::harnessCommand({"m:f", "/a b/python", "cpu", 60, {}}),
        "'/a b/python' -u nanscope_impl.py m:f cpu");
}

} // namespace
} // namespace nanscope
