// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/signatures.h"

#include <array>

namespace nanscope::ingest {

namespace {

using enum EventKind;

constexpr std::array table {
    Signature {captureDumped, R"(\[dion NaN capture\] .*dumped to \S)"},

    // A checker that failed, before everything that its message resembles.
    Signature {diagnosticFailed, R"(Operator '?aten\._?is_any_true(?:\.default)?'? does not have a sharding strategy)"},
    Signature {other, R"(Operator '?\w[\w.:]*'? does not have a sharding strategy registered)"},
    Signature {other, R"(got mixed torch\.Tensor and DTensor)"},

    // Counters at zero, and rows set aside after errors that were corrected, are no fault.
    Signature {other, R"((?:^|[:,=] *)0 (?:volatile |aggregate )?(?:[Uu]ncorrectable|[Dd]ouble[- ][Bb]it))"},
    Signature {other, R"((?i:(?:uncorrectable|double[- ]bit)[\w -]*[:=] *0(?:$|[^\d.])))"},

    // Of Xid codes, as the driver writes them, those that stand for memory, bus, links or a GPU that does not start:
    // the others are mostly a program's own fault (13, 31, 43), or follow from one (45).
    Signature {machine,
        R"((?:NVRM: Xid(?: \([^)]*\):)?|Xid \(PCI:[^)]*\):) (?:48|54|64|74|79|92|94|95|121|136|140|143|14[4-9]|150)\b)"},
    Signature {other, R"(NVRM: Xid|\bXid \(PCI:)"},
    Signature {machine, R"([Uu]ncorrectable (?:ECC|NVLink)|[Dd]ouble[- ][Bb]it ECC|SDCReplayMismatch)"},
    Signature {machine, R"(GPU has fallen off the bus|GPU is lost\b)"},
    Signature {machine, R"(GPU health check failed on device \d+)"},

    Signature {infrastructure, R"((?:CUDA|HIP) out of memory|CUDA error: out of memory|OutOfMemoryError)"},
    Signature {infrastructure, R"(CUBLAS_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED: Out of memory|OOM errors thrown)"},
    Signature {infrastructure, R"(\boom[-_]kill event|\boom-kill(?:er|:)|Out of memory: Killed process)"},
    Signature {infrastructure, R"(DefaultCPUAllocator: (?:can't allocate|not enough) memory|Cannot allocate memory)"},
    Signature {infrastructure, R"(^MemoryError\b|std::bad_alloc)"},
    Signature {infrastructure, R"(out of shared memory|insufficient shared memory|\[Errno 24\] Too many open files)"},
    Signature {infrastructure, R"(No space left on device|Disk quota exceeded|Read-only file system)"},
    Signature {infrastructure, R"(\[Errno 5\] Input/output error|\[Errno 116\] Stale file handle)"},
    Signature {infrastructure, R"(inline_container\.cc.*(?:unexpected pos|failed writing file))"},
    Signature {infrastructure, R"(no kernel image is available|is not compatible with the current PyTorch install)"},
    Signature {infrastructure, R"(CUDA driver version is insufficient|unsupported toolchain)"},

    Signature {optimizerStop, R"(Too many consecutive NaNs|Loss is NaN/Inf; training diverged)"},
    Signature {optimizerStop, R"(loss scale already at minimum - cannot decrease scale anymore)"},
    Signature {optimizerStop, R"(Training stopped due to (?:a loss spike|consistently high losses))"},

    // Megatron's reruns: only a result that another GPU does not confirm names the machine.
    Signature {machine, R"((?:Rank (?P<rank>\d+), .*)?Second rerun: .*not reproducible on a different GPU)"},
    Signature {machine, R"((?:Rank (?P<rank>\d+), .*)?Possible persistent error!)"},
    Signature {other, R"(First rerun: unexpected result is (?:not )?reproducible|Possible transient error!)"},
    Signature {other, R"(Second rerun: .*is reproducible on a different GPU|but possible Application error\))"},
    Signature {other, R"(Got rescheduled on the same GPU)"},

    Signature {skippedStep, R"(nan_guard_fallback\].* skipping update)"},

    Signature {nanLoss, R"(NaN/Inf loss at step (?P<step>\d+))"},
    Signature {nanLoss, R"(NaN/Inf detected on another rank at step (?P<step>\d+))"},
    Signature {nanLoss, R"(NaN/Inf gradient in \S+ at step (?P<step>\d+))"},
    Signature {nanLoss, R"(Function '\S+' returned nan values in its \d+th output)"},
    Signature {nanLoss, R"(The total norm .* is non-finite, so it cannot be clipped)"},
    Signature {
        nanLoss, R"(Unexpected result (?:tensor\()?(?:nan|-?inf).* on rank (?P<rank>\d+) at iteration #(?P<step>\d+))"},
    Signature {
        nanLoss, R"(Rank (?P<rank>\d+), .* iteration (?P<step>\d+): Unexpected result (?:tensor\()?(?:nan|-?inf))"},
    Signature {nanLoss, R"(Rank (?P<rank>\d+), .* iteration -1: Unexpected result (?:tensor\()?(?:nan|-?inf))"},
    Signature {nanLoss, R"(found NaN/Inf in local (?:forward loss calculation|grad norm))"},
    Signature {nanLoss, R"(\(check_for_nan_in_grad=True\) Detected NaN or Inf)"},
    Signature {nanLoss, R"(Detected inf/nan during batch_number=\d)"},
    Signature {nanLoss, R"(Train loss (?:\S+ )?contains a NaN)"},
    Signature {nanLoss, R"(The loss returned in `training_step` is (?:tensor\()?(?:nan|-?inf))"},
    Signature {nanLoss, R"(^ValueError: nan loss encountered)"},
    Signature {nanLoss, R"(FloatingPointError: invalid value \((?:nan|inf)\) encountered in)"},
    Signature {nanLoss, R"(\[PRECISION\] \[ERROR\] in \[device=.*op=.*(?:num_nan|num_inf|find_nan|find_inf)=)"},
    Signature {nanLoss, R"(#GPU-FPX LOC-EXCEP INFO: .*\b(?:NaN|INF)\b found)"},
    Signature {nanLoss, R"(#nixnan: error \[.*\] detected in instruction)"},
    Signature {nanLoss, R"(checkForNaN.*Assertion .*isnan.* failed)"},

    // Their lines carry the rank that prints, which is rank 0 whoever overflowed.
    Signature {skippedStep, R"(OVERFLOW! Rank \d+ Skipping step)"},
    Signature {skippedStep, R"(dynamic loss scale overflow! Skipping step|Overflow detected\. Skipping step)"},
    Signature {skippedStep, R"(Gradient overflow\.  ?Skipping step)"},
    Signature {skippedStep, R"(gradient overflow detected, ignoring gradient)"},
    // DeepSpeed says the same step once more as "Skipping step": two skips would be one too many.
    Signature {other, R"(Grad overflow on iteration:? (?P<step>\d+))"},
    Signature {other, R"((?:Reducing|Increasing) dynamic loss scale from \S+ to \d)"},
    // Anomaly mode: an error of any kind in a backward pass, this checker's own among them.
    Signature {other, R"(Error detected in \w+\. (?:Traceback of forward call|No forward pass information))"},
    Signature {other, R"(Detected call of `lr_scheduler\.step\(\)` before `optimizer\.step\(\)`)"},

    Signature {lossSpike, R"(Training spike detected in batch \d)"},
    Signature {lossSpike, R"(Potential loss spike detected\. Iteration: \d|Loss spike detected for \d+ steps)"},
    Signature {lossSpike, R"(High losses (?:\(|detected: \d))"},
    Signature {lossSpike, R"(on rank (?P<rank>\d+) at iteration #(?P<step>\d+) .*\(message='Spiky loss)"},
    Signature {lossSpike, R"(Rank (?P<rank>\d+), .* iteration (?P<step>\d+): Unexpected result .*'Spiky loss)"},
    Signature {lossSpike, R"(found unexpected large grads in bucket)"},

    Signature {collective, R"(Connection (?:closed|reset) by peer)"},
    Signature {collective, R"((?:\[Rank (?P<rank>\d+)\] )?Watchdog caught collective operation timeout)"},
    Signature {collective, R"(NCCL operations have failed or timed out|taking the entire process down)"},
    Signature {collective, R"(NCCL health check (?:timed out|failed)(?:.* at step (?P<step>\d+))?)"},
    Signature {collective, R"(NCCL error|nccl(?:UnhandledCuda|System|Internal|Remote)Error)"},
    Signature {collective, R"(DistBackendError)"},

    Signature {terminated, R"(closing signal SIG(?:TERM|INT))"},
    Signature {terminated, R"(Received SIG(?:TERM|USR1))"},
    Signature {terminated, R"(\bexitcode *: *-?\d+)"},
    Signature {terminated, R"(ChildFailedError|SignalException)"},
    Signature {terminated, R"(slurmstepd: error: .* CANCELLED)"},

    // KempnerForge, nanochat and dion, OLMo-core, Hugging Face, torchtitan, Megatron, Lightning, Composer, lingua,
    // nanoGPT. torchtitan names the first step it will do, the others the last one done.
    Signature {resumed, R"(^Resumed from step (?P<step>\d+))"},
    Signature {resumed, R"(Resuming (?:optimization |RL training )?from step (?P<step>\d+))"},
    Signature {resumed, R"(Will resume training from step (?P<step>\d+))"},
    Signature {resumed, R"(Continuing training from global step (?P<step>\d+))"},
    Signature {resumed, R"(Training starts at step (?P<step>[2-9]\b|\d\d+))"},
    Signature {resumed, R"(successfully loaded checkpoint from .* at iteration (?P<step>[1-9]\d*))"},
    Signature {resumed, R"(Restored all states from the checkpoint at \S|Trainer checkpoint loaded from \S)"},
    Signature {resumed, R"(^Resuming training from (?:step (?P<step>\d+)|\S)|Train state reloaded$)"},

    Signature {other, R"(Checkpoint committed: .*\(step=(?P<step>\d+)\))"},
    Signature {other, R"(^Shutdown requested at step (?P<step>\d+))"},
    Signature {other, R"(^Training complete: (?P<step>\d+) steps)"},
};

} // namespace

std::span<const Signature> signatures()
{
    return table;
}

} // namespace nanscope::ingest
