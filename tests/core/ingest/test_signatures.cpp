// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// One line of the real thing for every signature, and lines that only resemble one.
#include <gmock/gmock.h>

#include "logfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Signatures : public LogFolder
{
protected:
    Event only(const std::string& line)
    {
        const auto log = read("console.log", line + "\n");
        EXPECT_THAT(log.events, SizeIs(1)) << line;
        return log.events.empty() ? Event {} : log.events.front();
    }

    void expectKind(EventKind kind, const std::vector<std::string>& lines)
    {
        for (const auto& line : lines) {
            EXPECT_EQ(only(line).kind, kind) << line;
        }
    }
};

TEST_F(Signatures, OfTheMachine)
{
    expectKind(EventKind::machine,
        {"[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
            "kernel: Xid (PCI:0000:3b:00): 94", "Uncorrectable ECC error in GPU 3", "SDCReplayMismatch: step 12",
            "GPU health check failed on device 3: matmul differs"});
}

TEST_F(Signatures, OfTheInfrastructure)
{
    expectKind(EventKind::infrastructure,
        {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "CUDA error: out of memory",
            "OSError: [Errno 28] No space left on device", "OSError: [Errno 122] Disk quota exceeded",
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "slurmstepd: error: Detected 1 oom-kill event(s)", "Out of memory: Killed process 123 (python)"});
}

TEST_F(Signatures, OfATrainerThatGivesUp)
{
    expectKind(EventKind::optimizerStop,
        {"[rank 0] ERROR    Too many consecutive NaNs", "Loss is NaN/Inf; training diverged",
            "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."});
}

TEST_F(Signatures, OfNanWithItsStep)
{
    EXPECT_EQ(only("NaN/Inf loss at step 1000 (consecutive=1)").step, 1000);
    EXPECT_EQ(only("NaN/Inf gradient in layers.3.mlp.fc2 at step 7").step, 7);
    EXPECT_EQ(only("[rank 2] WARNING  NaN/Inf detected on another rank at step 5").rank, std::nullopt);
    expectKind(EventKind::nanLoss,
        {"Function 'MulBackward0' returned nan values in its 0th output.",
            "RuntimeError: The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be "
            "clipped.",
            "ncclDevKernel: checkForNaN: Assertion `!isnan(val)` failed."});
}

TEST_F(Signatures, OfNanInOtherTrainersAndTools)
{
    EXPECT_EQ(only("Unexpected result nan on rank 3 at iteration #17 invocation #1 (message='')").step, 17);
    EXPECT_EQ(only("Rank 3, node n, device 1, iteration 17: Unexpected result inf (message='')").step, 17);
    EXPECT_EQ(only("Rank 3, node n, device 1, iteration -1: Unexpected result nan (message='')").step, std::nullopt);
    EXPECT_EQ(only("Detected inf/nan during batch_number=12").step, 12);
    expectKind(EventKind::nanLoss,
        {"Rank 3, node n, device 1, iteration -1: Unexpected result nan (message='')",
            "found NaN/Inf in local forward loss calculation",
            "found NaN/Inf in local grad norm for bucket #2 in backward pass before data-parallel communication "
            "collective",
            "[Megatron-FSDP](check_for_nan_in_grad=True) Detected NaN or Inf in wgrad: module.0",
            "Train loss contains a NaN.", "Train loss loss/train/total contains a NaN.",
            "RuntimeError: The loss returned in `training_step` is nan.", "ValueError: nan loss encountered",
            "FloatingPointError: invalid value (nan) encountered in dot_general",
            "#GPU-FPX LOC-EXCEP INFO: in kernel [k], NaN found @ a.cu:3 [FP32]",
            "#nixnan: error [NaN,infinity] detected in instruction FADD"});
}

TEST_F(Signatures, OfStepsThatWereLeftOut)
{
    EXPECT_EQ(only("Grad overflow on iteration: 12").step, 12);
    EXPECT_EQ(only("Training spike detected in batch 7").step, 7);
    EXPECT_EQ(only("Potential loss spike detected. Iteration: 9").step, 9);
    expectKind(EventKind::other,
        {"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "[deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 256, reducing to 128.0",
            "[deepspeed] fp16 dynamic loss scale overflow! Skipping step. Attempted loss scale: 8, reducing to 4",
            "Overflow detected. Skipping step.",
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8",
            "Loss spike detected for 10 steps.", "High losses (3.5) detected."});
}

TEST_F(Signatures, OfARerunOnlyTheSecondOneNamesTheMachine)
{
    const std::string rank = "Rank 3, node n, device 1, iteration #17: ";
    expectKind(EventKind::machine,
        {rank
            + "Second rerun: unexpected result is not reproducible on a different GPU, therefore was likely "
              "incorrect"});
    expectKind(EventKind::other,
        {rank + "First rerun: unexpected result is not reproducible within the tolerance (1.0 != 2.0)!",
            rank + "First rerun: unexpected result is reproducible"});
    const auto acquitted = read("a.log",
        rank + "Second rerun: unexpected result is reproducible on a different GPU, therefore it was likely correct\n");
    EXPECT_THAT(acquitted.events, IsEmpty());
}

TEST_F(Signatures, OfOtherRanksAndOfTheEnd)
{
    expectKind(EventKind::collective,
        {"Connection reset by peer", "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
            "ncclSystemError: System call failed", "torch.distributed.DistBackendError: NCCL error",
            "Some NCCL operations have failed or timed out."});
    expectKind(EventKind::terminated,
        {"Sending process 27482 closing signal SIGTERM", "Received SIGUSR1, shutting down",
            "  exitcode  : -15 (pid: 1)", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
            "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026 ***"});
    EXPECT_EQ(only("NCCL health check timed out after 30 s at step 12").step, 12);
}

TEST_F(Signatures, OfOrdinaryMilestonesWithTheirStep)
{
    EXPECT_EQ(only("Checkpoint committed: /ckpt/step_900 (step=900)").step, 900);
    EXPECT_EQ(only("Resumed from step 900").step, 900);
    EXPECT_EQ(only("Shutdown requested at step 41").step, 41);
    EXPECT_EQ(only("Training complete: 3000 steps in 4 h").step, 3000);
    EXPECT_EQ(only("Resumed from step 900").kind, EventKind::other);
}

TEST_F(Signatures, TheMoreTellingOfTwoWins)
{
    EXPECT_EQ(only("DistBackendError: NCCL error: CUDA out of memory").kind, EventKind::infrastructure);
    EXPECT_EQ(only("NCCL error after NVRM: Xid 79").kind, EventKind::machine);
}

TEST_F(Signatures, LinesThatOnlyResembleOneAreSilent)
{
    const auto log = read("console.log",
        "Xid is an event id\nwe ran out of memory of that evening\nexit code 0\nno nan here: nan_count=0\n"
        "He resumed from step 5\nthe loss scale is at minimum\nECC enabled on 8 GPUs\nCUDA memory: 2 GiB\n"
        "checkForNaN is off\nNCCL version 2.21.5+cuda12.4\nWatchdog started\n");
    for (const auto& event : log.events) {
        ADD_FAILURE() << event.text;
    }
}

TEST_F(Signatures, AStepTooLargeForANumberIsNoStep)
{
    const auto event = only("NaN/Inf loss at step 99999999999999999999");
    EXPECT_EQ(event.kind, EventKind::nanLoss);
    EXPECT_FALSE(event.step);
}

TEST_F(Signatures, ATracebackIsOneEventWithItsLastLine)
{
    const auto log = read("console.log",
        "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"a.py\", line 1, in f\n"
        "[rank1]:     opt.step()\n[rank1]: ValueError: bad shape\n[rank1]: ValueError: not part of it\n");
    ASSERT_THAT(log.events, SizeIs(1));
    EXPECT_EQ(log.events[0].kind, EventKind::traceback);
    EXPECT_EQ(log.events[0].text, "ValueError: bad shape");
    EXPECT_EQ(log.events[0].rank, 1);
    EXPECT_EQ(log.events[0].line, 4);
}

TEST_F(Signatures, TracebacksOfTwoRanksMayInterleave)
{
    const auto log = read("console.log",
        "[rank0]: Traceback (most recent call last):\n[rank1]: Traceback (most recent call last):\n"
        "[rank0]:   File \"a.py\", line 1, in f\n[rank1]:   File \"b.py\", line 2, in g\n"
        "[rank1]: KeyError: 'b'\n[rank0]: KeyError: 'a'\n");
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].rank, 1);
    EXPECT_EQ(log.events[0].text, "KeyError: 'b'");
    EXPECT_EQ(log.events[1].rank, 0);
}

TEST_F(Signatures, ATracebackThatIsCutOffSaysNothing)
{
    EXPECT_THAT(
        read("console.log", "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n").events, IsEmpty());
}

TEST_F(Signatures, TheDumpsLineIsReadFromEveryPathStyle)
{
    const std::string start = "[dion NaN capture] non-finite Newton-Schulz output on rank 3, shape (4, 4); dumped to ";
    EXPECT_EQ(only(start + "/tmp/caps/x.pt").capture, "x.pt");
    EXPECT_EQ(only(start + "C:\\caps\\x.pt").capture, "x.pt");
    EXPECT_EQ(only(start + "x.pt  ").capture, "x.pt");
    EXPECT_EQ(only(start + "/caps/a b.pt").capture, "a b.pt");
    EXPECT_EQ(only(start + "/caps/caf\xe9.pt").capture, "caf\\xe9.pt");
    EXPECT_EQ(only(start + "x.pt").rank, 3);
    EXPECT_EQ(only(start + "x.pt").kind, EventKind::captureDumped);
}

TEST_F(Signatures, ADumpsLineThatIsStillBeingWrittenWaits)
{
    const std::string line = "[dion NaN capture] output on rank 3, shape (4, 4); dumped to /tmp/x.p";
    EXPECT_THAT(read("console.log", line).events, IsEmpty());
    EXPECT_THAT(read("console.log", line + "t").events, SizeIs(1));
}

TEST_F(Signatures, TheRankOfAFailedProcessIsThatOfItsBlock)
{
    const auto log = read("console.log",
        "  rank      : 3 (local_rank: 1)\n  exitcode  : 1 (pid: 27482)\n  rank      : 5 (local_rank: 0)\n"
        "  exitcode  : -6 (pid: 27483)\n");
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].rank, 3);
    EXPECT_EQ(log.events[1].rank, 5);
}

TEST_F(Signatures, AHundredThousandOfAKindAreEnough)
{
    std::string text;
    for (int i = 0; i < 100'002; ++i) {
        text += "NCCL error\n";
    }
    text += "NVRM: Xid 79\n";
    const auto log = read("console.log", text);
    ASSERT_THAT(log.events, SizeIs(100'001));
    EXPECT_THAT(log.events[99'999].text, HasSubstr("the others were left out"));
    EXPECT_EQ(log.events.back().kind, EventKind::machine) << "each kind has its own count";
}

} // namespace
} // namespace nanscope
