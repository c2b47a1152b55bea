// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What real lines say, and what lines say that only resemble them.
#include <gmock/gmock.h>

#include "core/logtext/eventfacts.h"

namespace nanscope {
namespace {

using logtext::factsIn;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Phrase> phrasesIn(std::string_view line)
{
    return factsIn(line).phrases;
}

TEST(EventFacts, OfALineThatSaysNothing)
{
    EXPECT_EQ(factsIn("NCCL error"), EventFacts());
    EXPECT_EQ(factsIn(""), EventFacts());
}

TEST(EventFacts, OfAnOverflow)
{
    const auto facts =
        factsIn("[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 8");
    EXPECT_THAT(facts.phrases, ElementsAre(Phrase::lossScale, Phrase::namesPrinter, Phrase::updateLeftOut));
    EXPECT_EQ(facts.attemptedScale, 65536);
    EXPECT_EQ(factsIn("[deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 16777216.0, reducing to 8")
                  .attemptedScale,
        16777216);
    EXPECT_THAT(phrasesIn("[deepspeed] OVERFLOW! Rank 0 Skipping step."),
        ElementsAre(Phrase::namesPrinter, Phrase::updateLeftOut))
        << "nothing is scaled there";
    EXPECT_THAT(phrasesIn("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8"),
        ElementsAre(Phrase::lossScale, Phrase::updateLeftOut));
    EXPECT_THAT(phrasesIn("Exception: Current loss scale already at minimum - cannot decrease scale anymore."),
        ElementsAre(Phrase::lossScale, Phrase::lossScaleAtMinimum));
}

TEST(EventFacts, OfAnomalyMode)
{
    const auto found = factsIn("RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.");
    EXPECT_THAT(found.phrases, ElementsAre(Phrase::runtimeError, Phrase::anomalyMode, Phrase::nanInBackward));
    EXPECT_EQ(found.operation, "Sqrt");
    EXPECT_THAT(phrasesIn("a.py:76: UserWarning: Anomaly Detection has been enabled. This mode will increase the"),
        ElementsAre(Phrase::pythonWarning, Phrase::anomalyMode));
    EXPECT_THAT(phrasesIn("Error detected in SqrtBackward0. Traceback of forward call that caused the error:"),
        ElementsAre(Phrase::anomalyMode, Phrase::forwardCall));
    EXPECT_EQ(factsIn("FloatingPointError: invalid value (nan) encountered in jit(sqrt)").operation, "sqrt");
    EXPECT_EQ(factsIn("Function 'a function' returned nan values in its 0th output.").operation, "") << "no name";
}

TEST(EventFacts, OfTheDetector)
{
    const auto facts =
        factsIn("RuntimeError: NaN/Inf loss at step 37 (consecutive=3, total=7, last_good_loss=6.4535 at step 34)");
    EXPECT_THAT(facts.phrases, ElementsAre(Phrase::runtimeError));
    EXPECT_EQ(facts.detector, (NanMessage {37, false, 3, 7, 6.4535, 34}));
    EXPECT_THAT(phrasesIn("NaN/Inf gradient in layers.3 at step 7"), ElementsAre(Phrase::badGradient));
    EXPECT_THAT(phrasesIn("Too many consecutive NaNs - stopping"), ElementsAre(Phrase::tooManyNans));
    EXPECT_FALSE(factsIn("NaN/Inf loss at step 37").detector);
}

TEST(EventFacts, OfDion)
{
    const auto guard = factsIn("normuon.py:318: RuntimeWarning: [NorMuon nan_guard_fallback] non-finite Newton-Schulz "
                               "output detected; skipping update for this step on all ranks (shape=(4, 512, 64)).");
    EXPECT_THAT(guard.phrases, ElementsAre(Phrase::pythonWarning, Phrase::dionGuard, Phrase::updateLeftOut));
    EXPECT_THAT(guard.guarded, ElementsAre(4, 512, 64));
    EXPECT_THAT(factsIn("a call of another kind (shape=(4, 512, 64))").guarded, IsEmpty());
    EXPECT_THAT(phrasesIn("RuntimeError: [dion NaN capture] non-finite output on rank 1; dumped to ./x.pt"),
        ElementsAre(Phrase::runtimeError, Phrase::dionCapture));
}

TEST(EventFacts, OfWhatEndsAProcess)
{
    for (const auto* line : {"slurmstepd: error: Detected 1 oom_kill event in StepId=55.0.",
             "[node12:12345] *** Process received signal ***", "Segmentation fault (core dumped)", "Segmentation fault",
             "/var/spool/slurmd/job1/slurm_script: line 20:  4242 Killed                  python train.py",
             "srun: error: node12: task 3: Out Of Memory", "srun: error: node12: tasks 3-5,7: Killed",
             "Fatal Python error: Segmentation fault", "Killed"}) {
        EXPECT_THAT(phrasesIn(line), ElementsAre(Phrase::processKilled)) << line;
    }
    for (const auto* line : {"a guard against a Segmentation fault in the loader", "Killed 3 stale workers",
             "srun: error: node12: task 3: Exited with exit code 1", "an alarm of an earlier oomkiller"}) {
        EXPECT_THAT(phrasesIn(line), IsEmpty()) << line;
    }
}

TEST(EventFacts, OfRanksThatWaitAndOfThoseThatDidNotCome)
{
    const std::string prefix = "[PG ID 0 PG GUID 0(default_pg) Rank 5] ";
    const std::string group = "PG ID 0 PG GUID 0(default_pg)";
    EXPECT_EQ(
        factsIn(prefix + "Timeout at NCCL work: 811, last enqueued NCCL work: 815, last completed NCCL work: 810.")
            .collective,
        (CollectiveCall {811, {}, group, false}));
    EXPECT_EQ(factsIn(prefix
                  + "Received a dump signal due to a collective timeout from  rank 7 and we will try our best "
                    "to dump the debug info. Last enqueued NCCL work: 810, last completed NCCL work: 810.")
                  .collective,
        (CollectiveCall {810, {}, group, true}));
    EXPECT_FALSE(factsIn(prefix
        + "due to a collective timeout from  rank 7. Last enqueued NCCL work: -1, last completed "
          "NCCL work: -1.")
                     .collective)
        << "the rank did nothing";
    EXPECT_FALSE(
        factsIn(prefix + "NCCL Work update periodically: last enqueued NCCL work: 5, last completed NCCL work: 5.")
            .collective)
        << "all is well";
}

TEST(EventFacts, OfATrainersEnd)
{
    EXPECT_THAT(phrasesIn("Training complete: 100 steps"), ElementsAre(Phrase::trainingComplete));
    EXPECT_THAT(phrasesIn("when Training complete is printed"), IsEmpty());
    EXPECT_THAT(phrasesIn("ValueError: cannot convert float NaN to integer"), ElementsAre(Phrase::noIntegerOfNan));
    EXPECT_THAT(
        phrasesIn("OverflowError: cannot convert float infinity to integer"), ElementsAre(Phrase::noIntegerOfNan));
}

TEST(EventFacts, OfFormatsThatDoNotGoTogether)
{
    for (const auto* line : {"RuntimeError: expected scalar type Half but found Float",
             "RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::Half",
             "RuntimeError: Input type (float) and bias type (c10::Half) should be the same",
             "ValueError: Attempting to unscale FP16 gradients.",
             "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated."}) {
        EXPECT_TRUE(factsIn(line).says(Phrase::mixedFormats)) << line;
    }
}

TEST(EventFacts, OfTheHardwareAsTheDriverWritesThem)
{
    const auto xid = factsIn("[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus.");
    EXPECT_THAT(xid.phrases, ElementsAre(Phrase::writtenByDriver, Phrase::xid)) << "it computes nothing any more";
    EXPECT_EQ(xid.pid, 123);
    EXPECT_THAT(
        phrasesIn("[Sun Nov  1 03:45:43 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus."),
        ElementsAre(Phrase::writtenByDriver, Phrase::xid))
        << "as dmesg -T writes the time";
    EXPECT_THAT(phrasesIn("Nov 22 10:00:01 node7 kernel: [ 12.3] NVRM: Xid (PCI:0000:3b:00): 48, DBE"),
        ElementsAre(Phrase::writtenByDriver, Phrase::xid, Phrase::uncorrectedMemory));
    for (const auto* corrected : {"92, High single-bit ECC error rate", "481, x", "63, Row remapper"}) {
        EXPECT_FALSE(factsIn(std::string("NVRM: Xid (PCI:0000:3b:00): ") + corrected).says(Phrase::uncorrectedMemory))
            << corrected;
    }
    EXPECT_TRUE(factsIn("CUDA error: uncorrectable ECC error encountered").says(Phrase::uncorrectedMemory));
    for (const auto* quoted : {"If you see `NVRM: Xid (PCI:0000:3b:00): 48` in dmesg, replace the card",
             "RuntimeError: CUDA error: uncorrectable ECC error encountered (simulated)"}) {
        EXPECT_FALSE(factsIn(quoted).says(Phrase::writtenByDriver)) << quoted;
    }
}

TEST(EventFacts, OfInstruments)
{
    const auto gemm = factsIn("[hipBLASLt CHECK_NUMERICS] gemm :- Output D : has_NaN=1 | shape m=64 n=32 k=16 batch=1");
    EXPECT_THAT(gemm.phrases, ElementsAre(Phrase::gemmScan));
    EXPECT_EQ(gemm.site, "the output of gemm, m=64 n=32 k=16");
    EXPECT_EQ(factsIn("[hipBLASLt CHECK_NUMERICS] peek: first NaN observed at sampled matmul call #17.").site,
        "matmul call #17");
    EXPECT_THAT(phrasesIn("[hipBLASLt CHECK_NUMERICS] handle teardown: matmul calls [3..9] were NOT scanned (x)"),
        ElementsAre(Phrase::gemmScan, Phrase::notScanned));
    EXPECT_THAT(phrasesIn("[nanscope capture] no call was seen in 8 optimizer steps: no function that is watched ran"),
        ElementsAre(Phrase::dionCapture, Phrase::callsNotSeen));
    EXPECT_THAT(phrasesIn("[rank1]: [nanscope capture] looked at 3 of 12 calls; 9 not looked at (x); 1 bad"),
        ElementsAre(Phrase::dionCapture, Phrase::callsNotSeen));
    EXPECT_THAT(phrasesIn("[nanscope capture] looked at 12 of 12 calls; 2 bad, the first at call 10"),
        ElementsAre(Phrase::dionCapture));
    EXPECT_EQ(
        factsIn("#GPU-FPX LOC-EXCEP INFO: in kernel [gemm], NaN found @ a.cu:13 [FP32]").site, "kernel gemm, a.cu:13");
    EXPECT_EQ(
        factsIn("#GPU-FPX-ANA APPEAR : INF appear at the destination  @ a.cu:13 Instruction: MUFU.RCP R0, R10 ; We")
            .site,
        "MUFU.RCP R0, R10, a.cu:13");
    EXPECT_EQ(
        factsIn("#nixnan: error [NaN] detected in operand 0 of instruction FADD R1, R2 ; in function f of type f32")
            .site,
        "FADD R1, R2 in kernel f");
    EXPECT_EQ(factsIn("first bad value of the forward frames: wo Linear, output").site, "wo Linear, output");
    EXPECT_EQ(factsIn("a line with instruction X in function f").site, "") << "of no instrument";
}

TEST(EventFacts, OfWhatComputeSanitizerReports)
{
    const auto invalid =
        factsIn("compute-sanitizer: Invalid __global__ write of size 2 bytes in kernel f(int) (a.cu:4); x");
    EXPECT_THAT(invalid.phrases, ElementsAre(Phrase::invalidAccess));
    EXPECT_EQ(invalid.site, "f(int) (a.cu:4)");
    EXPECT_THAT(phrasesIn("compute-sanitizer, a warning: Race reported between Read access in kernel XXT_kernel"),
        ElementsAre(Phrase::sharedRace, Phrase::sanitizerWarning, Phrase::newtonSchulzKernel));
    EXPECT_THAT(phrasesIn("compute-sanitizer: Potential invalid __shared__ read of size 4 bytes in kernel f"),
        ElementsAre(Phrase::sharedRace, Phrase::sanitizerWarning));
    EXPECT_THAT(phrasesIn("compute-sanitizer: Invalid __local__ read in kernel f (newton_schulz_triton.py:8)"),
        ElementsAre(Phrase::invalidAccess, Phrase::newtonSchulzKernel));
    EXPECT_THAT(phrasesIn("compute-sanitizer: ERROR SUMMARY: 0 errors"), ElementsAre(Phrase::sanitizerClean));
    EXPECT_THAT(phrasesIn("a line that quotes: compute-sanitizer: Invalid __global__ write"), IsEmpty());
}

TEST(EventFacts, OfTheForwardCallInADetail)
{
    const std::string line = "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.";
    const std::string backward = "  File \"t.py\", line 9, in <module>\n    loss.backward()\n";
    EXPECT_EQ(factsIn(line, backward + "the forward call:\n  File \"m.py\", line 7, in forward\n    y = x.sqrt()").site,
        "File \"m.py\", line 7, in forward");
    EXPECT_EQ(factsIn(line, backward).site, "") << "the frames of the backward call are not those of the forward one";
    EXPECT_EQ(factsIn("ValueError: x", backward + "the forward call:\n  File \"m.py\", line 7").site, "");
}

TEST(EventFacts, OfACollectiveThatDidNotEnd)
{
    const std::string work =
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=811, OpType=ALLREDUCE, NumelIn=1";
    EXPECT_EQ(factsIn("[E1125 ProcessGroupNCCL.cpp:632] [Rank 3] " + work).collective,
        (CollectiveCall {811, "ALLREDUCE", ""}));
    EXPECT_EQ(factsIn("[PG ID 1 PG GUID 3(dp) Rank 3] " + work).collective,
        (CollectiveCall {811, "ALLREDUCE", "PG ID 1 PG GUID 3(dp)"}));
    EXPECT_FALSE(factsIn("Watchdog caught collective operation timeout: a word").collective);
}

TEST(EventFacts, PhrasesHaveNames)
{
    for (int i = 0; i <= static_cast<int>(Phrase::overflowTrace); ++i) {
        const auto phrase = static_cast<Phrase>(i);
        EXPECT_EQ(logtext::parsePhrase(logtext::name(phrase)), phrase);
    }
    EXPECT_EQ(logtext::parsePhrase("a_word_of_a_later_version"), std::nullopt);
}

} // namespace
} // namespace nanscope
