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
            "GPU health check failed on device 3: matmul differs",
            "NVRM: Xid (PCI:0000:3b:00): 48, DBE (double bit error) ECC error", "GPU 5: uncorrectable NVLink error",
            "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"});
}

TEST_F(Signatures, AProbeThatFailsBehindABadAccessNamesNoMachine)
{
    for (const char* line :
        {"GPU health check failed on device 0: CUDA error: an illegal memory access was encountered",
            "GPU health check failed on device 0: CUDA error: device-side assert triggered"}) {
        EXPECT_EQ(only(line).kind, EventKind::other) << line;
    }
}

TEST_F(Signatures, OfInstruments)
{
    expectKind(EventKind::nanLoss,
        {"[hipBLASLt CHECK_NUMERICS] auto-drain on host peek: first NaN observed at sampled matmul call #17, mode=2",
            "[hipBLASLt CHECK_NUMERICS] gemm :- Output D : has_NaN=1 | shape m=64 n=32 k=16 batch=1",
            "#GPU-FPX LOC-EXCEP INFO: in kernel [gemm], NaN found @ a.cu:13 [FP32]",
            "#GPU-FPX-ANA APPEAR : INF appear at the destination  @ a.cu:13 Instruction: MUFU.RCP R0, R10 ; We have",
            "#nixnan: error [NaN,infinity] detected in operand 0 of instruction FADD R1 ; in function f of type f32"});
    expectKind(EventKind::other,
        {"[hipBLASLt CHECK_NUMERICS] handle teardown: matmul calls [3..9] were NOT scanned (scan_every=10)",
            "#nixnan: error [subnormal] detected in instruction FADD R1 ; in function f at line 3 of type f32",
            "#nixnan: error [div0] detected in operand 1 of instruction MUFU.RSQ R5, R0 ; in function f of type f32"});
    expectKind(EventKind::other,
        {"[nanscope capture] no call was seen in 60 optimizer steps: no function that is watched ran, or it ran as a "
         "part"});
    EXPECT_THAT(read("c.log", "[hipBLASLt CHECK_NUMERICS] gemm :- Output D : has_NaN=0 | shape m=1 n=1 k=1\n").events,
        IsEmpty());
}

TEST_F(Signatures, OfAWatchdogThatNamesItsProcessGroup)
{
    const auto event =
        only("[PG ID 1 PG GUID 3(dp) Rank 5] Watchdog caught collective operation timeout: "
             "WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 1");
    EXPECT_EQ(event.kind, EventKind::collective);
    EXPECT_EQ(event.rank, 5);
    EXPECT_EQ(event.facts.collective->sequence, 8);
    EXPECT_EQ(only("[rank13]:[E626 06:24:44.1 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught collective operation "
                   "timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=1")
                  .rank,
        13)
        << "the process, where its group has a rank of its own for it";
}

TEST_F(Signatures, OfXidCodesOnlyThoseOfHardwareNameTheMachine)
{
    for (const int code : {48, 64, 74, 79, 92, 94, 95, 140, 149}) {
        const auto line = "NVRM: Xid (PCI:0000:3b:00): " + std::to_string(code) + ", pid=4242, name=python";
        const auto event = only(line);
        EXPECT_EQ(event.kind, EventKind::machine) << line;
        EXPECT_THAT(event.text, HasSubstr("): " + std::to_string(code) + ","));
    }
    for (const int code : {13, 31, 43, 45, 63, 109, 154, 790, 4}) {
        const auto line = "NVRM: Xid (PCI:0000:3b:00): " + std::to_string(code) + ", pid=79, name=python";
        EXPECT_EQ(only(line).kind, EventKind::other) << line;
    }
}

TEST_F(Signatures, CountersAtZeroAndAdviceNameNoMachine)
{
    for (const char* line :
        {"0 uncorrectable ECC errors", "GPU 3: Volatile Uncorrectable ECC errors: 0", "Double Bit ECC errors : 0",
            "If you see Xid 79 in dmesg, contact support", "Uncorrectable volatile = 0, aggregate 0"}) {
        const auto log = read("console.log", std::string(line) + "\n");
        for (const auto& event : log.events) {
            EXPECT_NE(event.kind, EventKind::machine) << line;
        }
    }
    expectKind(EventKind::machine,
        {"10 uncorrectable ECC errors", "Uncorrectable ECC errors: 2", "GPU 0 uncorrectable NVLink error"});
}

TEST_F(Signatures, OfTheInfrastructure)
{
    expectKind(EventKind::infrastructure,
        {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "CUDA error: out of memory",
            "OSError: [Errno 28] No space left on device", "OSError: [Errno 122] Disk quota exceeded",
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "slurmstepd: error: Detected 1 oom-kill event(s)", "Out of memory: Killed process 123 (python)",
            "slurmstepd: error: Detected 2 oom_kill events in StepId=1.0", "python invoked oom-killer: gfp_mask=0x0",
            "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2 GiB", "MemoryError",
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            "OSError: [Errno 12] Cannot allocate memory", "OSError: [Errno 30] Read-only file system: 'ckpt'",
            "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 4096 vs 3990",
            "[titan] 2026-04-21 08:46:29,657 - root - WARNING - 2 CUDA OOM errors thrown.",
            "NVIDIA B200 with CUDA capability sm_100 is not compatible with the current PyTorch installation."});
}

TEST_F(Signatures, OfATrainerThatGivesUp)
{
    expectKind(EventKind::optimizerStop,
        {"[rank 0] ERROR    Too many consecutive NaNs", "Loss is NaN/Inf; training diverged",
            "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
            "llmfoundry.utils.exceptions.LossSpikeError: Training stopped due to a loss spike. The training loss was",
            "HighLossError: Training stopped due to consistently high losses. The training loss exceeded"});
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
    EXPECT_EQ(only("Unexpected result nan on rank 3 at iteration #17 invocation #1 (message='')").rank, 3);
    EXPECT_EQ(only("[rank7]: Rank 3, node n, device 1, iteration 17: Unexpected result nan (message='')").rank, 3)
        << "the line names who, the prefix only who prints";
    EXPECT_EQ(only("Rank 3, node n, device 1, iteration 17: Unexpected result inf (message='')").step, 17);
    EXPECT_EQ(only("Rank 3, node n, device 1, iteration -1: Unexpected result nan (message='')").step, std::nullopt);
    EXPECT_EQ(only("Detected inf/nan during batch_number=12").step, std::nullopt) << "it counts calls of forward";
    expectKind(EventKind::nanLoss,
        {"Detected inf/nan during batch_number=12",
            "[PRECISION] [ERROR] in [device=gpu:0, op=divide, tensor=, dtype=fp32], numel=40, num_nan=0, num_inf=4",
            "Rank 3, node n, device 1, iteration -1: Unexpected result nan (message='')",
            "found NaN/Inf in local forward loss calculation",
            "found NaN/Inf in local grad norm for bucket #2 in backward pass before data-parallel communication",
            "[Megatron-FSDP](check_for_nan_in_grad=True) Detected NaN or Inf in wgrad: module.0",
            "Train loss contains a NaN.", "Train loss loss/train/total contains a NaN.",
            "RuntimeError: The loss returned in `training_step` is nan.", "ValueError: nan loss encountered",
            "FloatingPointError: invalid value (nan) encountered in dot_general",
            "#GPU-FPX LOC-EXCEP INFO: in kernel [k], NaN found @ a.cu:3 [FP32]",
            "#nixnan: error [NaN,infinity] detected in instruction FADD"});
}

TEST_F(Signatures, OfACheckerThatFailedAreNoNan)
{
    expectKind(EventKind::diagnosticFailed,
        {"NotImplementedError: Operator aten._is_any_true.default does not have a sharding strategy registered.",
            "Operator 'aten.is_any_true' does not have a sharding strategy registered."});
    expectKind(EventKind::other,
        {"NotImplementedError: Operator aten.amax.default does not have a sharding strategy registered.",
            "RuntimeError: aten._foreach_mul_.List: got mixed torch.Tensor and DTensor, need to convert all "
            "torch.Tensor to DTensor before calling distributed operators!"});
}

TEST_F(Signatures, OfAnomalyModeThatIsSwitchedOn)
{
    expectKind(EventKind::other,
        {"torch/autograd/anomaly_mode.py:76: UserWarning: Anomaly Detection has been enabled. This mode will increase "
         "the runtime and should only be enabled for debugging."});
}

TEST_F(Signatures, OfStepsThatWereLeftOut)
{
    expectKind(EventKind::skippedStep,
        {"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 8, but hysteresis is 2. Reducing",
            "[deepspeed] OVERFLOW! Rank 0 Skipping step.",
            "[deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 256, reducing to 128.0",
            "[deepspeed] fp16 dynamic loss scale overflow! Skipping step. Attempted loss scale: 8, reducing to 4",
            "Overflow detected. Skipping step. Attempted loss scale: 8, reducing to 4",
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8",
            "| fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 2.0"});
    const std::string guard = "/venv/dion/normuon.py:318: RuntimeWarning: [NorMuon nan_guard_fallback] non-finite "
                              "Newton-Schulz output detected; skipping update for this step on all ranks (shape=(4, "
                              "512, 512)). See microsoft/dion#76.";
    EXPECT_EQ(only(guard).kind, EventKind::skippedStep);
    const auto ours =
        only("[nan_guard_fallback] rank 3: non-finite Newton-Schulz output at step 12; skipping update on all ranks");
    EXPECT_EQ(ours.kind, EventKind::skippedStep);
    EXPECT_EQ(ours.step, 12);
    EXPECT_EQ(only("Grad overflow on iteration: 12").step, 12);
    expectKind(EventKind::other,
        {"Grad overflow on iteration: 12", "Reducing dynamic loss scale from 65536 to 32768.0",
            "Increasing dynamic loss scale from 4 to 8.0",
            "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0"});
}

TEST_F(Signatures, OfSpikesByTheTrainersOwnMonitors)
{
    expectKind(EventKind::lossSpike,
        {"TrainingSpikeException: Training spike detected in batch 7", "Potential loss spike detected. Iteration: 9",
            "Loss spike detected for 10 steps. Try lowering the learning",
            "High losses detected: 6/10 losses above 7.5.", "High losses (3.5) detected.",
            "RuntimeError: found unexpected large grads in bucket #3 in backward pass"});
    EXPECT_EQ(only("Training spike detected in batch 7").step, std::nullopt) << "a batch is no step";
    EXPECT_EQ(only("Potential loss spike detected. Iteration: 9").step, std::nullopt) << "it counts outliers";
    const auto megatron =
        only("Unexpected result 56.25 on rank 5 at iteration #900 invocation #1 (message='Spiky loss')");
    EXPECT_EQ(megatron.kind, EventKind::lossSpike);
    EXPECT_EQ(megatron.step, 900);
    EXPECT_EQ(megatron.rank, 5);
}

TEST_F(Signatures, OfARerunOnlyTheSecondOneNamesTheMachine)
{
    const std::string rank = "Rank 3, node n, device 1, iteration #17: ";
    expectKind(EventKind::machine,
        {rank
                + "Second rerun: unexpected result is not reproducible on a different GPU, therefore was likely "
                  "incorrect (nan != 1.5)",
            rank + "Possible persistent error!!"});
    EXPECT_EQ(only(rank + "Possible persistent error!!").rank, 3);
    expectKind(EventKind::other,
        {rank + "First rerun: unexpected result is not reproducible within the tolerance (1.0 != 2.0)!",
            rank + "First rerun: unexpected result is reproducible", rank + "Possible transient error!!",
            "Second rerun: unexpected result is reproducible on a different GPU, therefore it was likely correct",
            rank + "Correct result (but possible Application error) (Spiky loss)!",
            "Got rescheduled on the same GPU. Need to resume again from the same checkpoint (node: n, gpu: 1)"});
}

TEST_F(Signatures, OfUpdatesThatATrainerLeavesOut)
{
    expectKind(EventKind::skippedStep,
        {"WARNING: found NaN gradients, skipping optimizer step", "grad norm is inf! Skipping update",
            "Skipping the training step: loss is not finite", "WARN: rank 3 grad_norm is not finite: nan",
            "skipped update, non-finite gradient", "non-finite gradient: the update was skipped",
            "step skipped (grad norm is inf)", "NaN in the loss, skipped this batch"});
    EXPECT_EQ(only("WARN: rank 3 grad_norm is not finite: nan").rank, 3);
    EXPECT_THAT(read("c.log",
                    "skipping step 3, it was done before\ninfo: skipping batch\nskipped steps: 3\n"
                    "step skipped=0 nan=0\nnan: 0, step skipped: 0\n")
                    .events,
        IsEmpty());
    const auto numbered = only("Skipped update at step 12: non-finite gradient");
    EXPECT_EQ(numbered.step, 12);
    EXPECT_TRUE(numbered.says(Phrase::updateLeftOut));
    EXPECT_EQ(
        only("NaN/Inf loss at step 37 (consecutive=1, total=1) - skipping optimizer step").kind, EventKind::nanLoss);
}

TEST_F(Signatures, OfRanksThatWereNotInTheOperation)
{
    const auto event =
        only("[rank5]:[E709 17:05:38.9 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank 1] "
             "Received a dump signal due to a collective timeout from  rank 0 and we will try our best to "
             "dump the debug info. Last enqueued NCCL work: 8, last completed NCCL work: 8.This is");
    EXPECT_EQ(event.kind, EventKind::collective);
    EXPECT_EQ(event.rank, 5);
    EXPECT_EQ(event.facts.collective, (CollectiveCall {8, {}, "PG ID 0 PG GUID 0(default_pg)", true}));
}

TEST_F(Signatures, OfOtherRanksAndOfTheEnd)
{
    expectKind(EventKind::terminated,
        {"Segmentation fault (core dumped)", "[n1:12] *** Process received signal ***", "Fatal Python error: Aborted",
            "/job/slurm_script: line 20:  4242 Killed                  python train.py",
            "srun: error: n1: task 3: Out Of Memory", "srun: error: n1: tasks 0-3: Exited with exit code 1"});
    expectKind(EventKind::collective,
        {"Connection reset by peer", "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
            "ncclSystemError: System call failed", "torch.distributed.DistBackendError: NCCL error",
            "Some NCCL operations have failed or timed out."});
    expectKind(EventKind::terminated,
        {"Sending process 27482 closing signal SIGTERM", "Received SIGUSR1, shutting down",
            "  exitcode  : -15 (pid: 1)", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
            "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026 ***"});
    EXPECT_EQ(only("NCCL health check timed out after 30 s at step 12").step, 12);
    EXPECT_EQ(only("[E ProcessGroupNCCL.cpp:632] [Rank 2] Watchdog caught collective operation timeout: Work").rank, 2);
}

TEST_F(Signatures, OfOrdinaryMilestonesWithTheirStep)
{
    EXPECT_EQ(only("Checkpoint committed: /ckpt/step_900 (step=900)").step, 900);
    EXPECT_EQ(only("Shutdown requested at step 41").step, 41);
    EXPECT_EQ(only("Training complete: 3000 steps in 4 h").step, 3000);
}

TEST_F(Signatures, OfTrainingThatWentOn)
{
    const std::string titan = "[titan] 2026-04-21 08:46:29,657 - root - INFO - ";
    for (const auto& [line, step] : std::vector<std::pair<std::string, std::int64_t>> {
             {"[rank 0] INFO     Resumed from step 900, 7,372,800 tokens seen", 900},
             {"Resuming optimization from step 900", 900},
             {titan + "Resuming RL training from step 900", 900},
             {titan + "Training starts at step 901.", 901},
             {"  Continuing training from global step 900", 900},
             {"  successfully loaded checkpoint from /ckpt [ t 1/2, p 1/1 ] at iteration 900", 900},
             {"2026-01-01\thost:0\ttrainer:836\tINFO\tWill resume training from step 900, epoch 1", 900},
             {"Resuming training from step 900", 900},
         }) {
        const auto event = only(line);
        EXPECT_EQ(event.kind, EventKind::resumed) << line;
        EXPECT_EQ(event.step, step) << line;
    }
    expectKind(EventKind::resumed,
        {"Restored all states from the checkpoint at /ckpt/last.ckpt", "Resuming training from out",
            "INFO:composer.utils.checkpoint:Trainer checkpoint loaded from /ckpt/latest-rank0.pt.",
            "0: INFO    26-08-22 12:00:00.123456 - 0:00:01 - Train state reloaded"});
}

TEST_F(Signatures, AFreshStartIsNoResume)
{
    EXPECT_THAT(read("a.log",
                    "Training starts at step 1\n  successfully loaded checkpoint from /sft [ t 1/1, p 1/1 ] at "
                    "iteration 0\nNo checkpoint found \xe2\x80\x94 starting from scratch\n"
                    "Auto-resume: found latest checkpoint at /ckpt/step_900\n")
                    .events,
        IsEmpty());
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
        "memory.events: oom 0 oom_kill 0\nXid errors are counted by the driver\n"
        "nan_guard_fallback=True\nhigh losses were seen in run 3\nspike detection is on\n"
        "Operator precedence: a sharding strategy was chosen\nmce: [Hardware Error]: corrected, no action required\n"
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

TEST_F(Signatures, TheLineOfOurHelperIsADumpsLine)
{
    const std::string shape = "on rank 1, shape (4, 4); dumped to /tmp/caps/";
    for (const auto* what :
        {"non-finite Newton-Schulz output ", "stale Newton-Schulz output ", "exception in Newton-Schulz "}) {
        const auto event = only("[nanscope capture] " + (what + shape) + "x.pt");
        EXPECT_EQ(event.kind, EventKind::captureDumped) << what;
        EXPECT_EQ(event.capture, "x.pt") << what;
        EXPECT_EQ(event.rank, 1) << what;
    }
    const auto sidecar = only("[nanscope capture] non-finite Newton-Schulz output " + shape + "x.json");
    EXPECT_EQ(sidecar.capture, "x.json") << "a capture without tensors";
    EXPECT_EQ(sidecar.rank, 1);
}

TEST_F(Signatures, WhatOurHelperRaisesIsADumpAndATraceback)
{
    const auto log = read("console.log",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nnanscope_capture.NonFiniteOutput: "
        "[nanscope "
        "capture] non-finite Newton-Schulz output on rank 1, shape (4, 4); dumped to /tmp/x.pt\n");
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].kind, EventKind::captureDumped);
    EXPECT_EQ(log.events[0].capture, "x.pt");
    EXPECT_EQ(log.events[1].kind, EventKind::traceback);
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
        text += "NCCL error " + std::to_string(i) + '\n';
    }
    text += "NVRM: Xid 79\n";
    const auto log = read("console.log", text);
    ASSERT_THAT(log.events, SizeIs(100'001));
    EXPECT_THAT(log.events[99'999].text, HasSubstr("the others were left out"));
    EXPECT_EQ(log.events.back().kind, EventKind::machine) << "each kind has its own count";
}

} // namespace
} // namespace nanscope
