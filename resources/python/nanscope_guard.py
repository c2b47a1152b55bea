# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Keeps the NaN of one rank from ending a training run of many.

    import nanscope_guard

    guard = nanscope_guard.NonFiniteGuard()            # in an optimizer, between Newton-Schulz and the update
    if guard(update, step=step):
        return                                         # on every rank, or on none

    nanscope_guard.protect(optimizer)                  # the same for an optimizer that is not edited

    detector = nanscope_guard.NaNDetector()            # in the training loop, after backward
    if not detector.check_loss(loss, step):
        optimizer.zero_grad()
        if detector.should_rollback:
            break
        continue

    nanscope_guard.any_nonfinite(tensor)               # of any tensor, DTensors of every placement included

One file that needs the standard library and the training's own torch, 2.5 or newer.

A rank that leaves an update out while others make it is worse than the NaN: replicated weights drift apart, sharded ones
are torn, and where the ranks go on to different collectives they wait for ever. So the ranks agree: one byte, the
maximum over a group, once for each call of the guard. That group has to hold every rank that has a replica or a shard of
what is updated, which is not always the group that Newton-Schulz itself works in (dion PR 79: heads that are split, and
batches that FSDP shards, work in none). By default it is all ranks.

The lines that are logged are those of dion PR 79 and of KempnerForge's NaNDetector, so that `nanscope diagnose` reads them.
"""
import contextlib
import dataclasses
import logging
import math
import time

import torch
import torch.distributed as dist

__all__ = ["NaNDetector", "NaNState", "NonFiniteGuard", "any_nonfinite", "protect"]

_log = logging.getLogger("nanscope.guard")


def _is_dtensor(tensor):
    return hasattr(tensor, "placements") and hasattr(tensor, "device_mesh")


def _local_flag(tensor):
    """One byte on the tensor's device: 1 where a value of it is NaN or infinite. Waits for nothing."""
    if tensor.layout != torch.strided:
        tensor = tensor.coalesce().values() if tensor.layout == torch.sparse_coo else tensor.values()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    if tensor.numel() == 0 or not tensor.is_floating_point():
        return torch.zeros((), dtype=torch.uint8, device=tensor.device)
    if tensor.element_size() == 1:
        tensor = tensor.float()  # no float8 has reductions
    # Both carry a NaN on, and allocate nothing of the tensor's size.
    low, high = torch.aminmax(tensor)
    return (~(low.isfinite() & high.isfinite())).to(torch.uint8)


def _logical_flag(tensor):
    """The same of what a DTensor stands for; a collective over its mesh."""
    mesh = tensor.device_mesh
    if mesh.get_coordinate() is None:
        return torch.zeros((), dtype=torch.uint8, device=tensor.to_local().device)
    if any(placement.is_partial() for placement in tensor.placements):
        # Finite parts may add up to infinity, and an infinite one may be no minimum: only the whole tells.
        from torch.distributed.tensor import Replicate

        whole = [Replicate() if placement.is_partial() else placement for placement in tensor.placements]
        tensor = tensor.redistribute(placements=whole)
    flag = _local_flag(tensor.to_local())
    for dimension in range(mesh.ndim):
        dist.all_reduce(flag, op=dist.ReduceOp.MAX, group=mesh.get_group(dimension))
    return flag


@torch.no_grad()
def _flag(tensor):
    tensor = tensor.detach()
    return _logical_flag(tensor) if _is_dtensor(tensor) else _local_flag(tensor)


def _is_distributed():
    return dist.is_available() and dist.is_initialized()


def _rank():
    return dist.get_rank() if _is_distributed() else 0


def _device(group):
    """Where the collectives of a group take place."""
    if not _is_distributed():
        return torch.device("cpu")
    backend = dist.get_backend(group)
    if "nccl" in backend and torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu") if "gloo" in backend else torch.empty(0).device


def _missing_ranks(group, patience=3.0):
    """Ranks that have not come to the same failure some seconds later, as a sentence's end.

    The collectives of the group are of no use by now: each rank leaves a word in the store that the ranks met by.
    """
    try:
        store = dist.distributed_c10d._get_default_store()  # there is no public way to it
        ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
        store.set(f"nanscope_guard/{_rank()}", "here")
        until = time.monotonic() + patience
        missing = ranks
        while missing and time.monotonic() < until:
            time.sleep(0.05)
            missing = [rank for rank in missing if not store.check([f"nanscope_guard/{rank}"])]
    except Exception:  # the store may have ended with its rank; what went wrong is said without it
        return ""
    # A rank that waits for its own time limit has not come to it yet: of those that failed, the last has the shortest list.
    return f"; no word of rank {', '.join(map(str, missing))}" if missing else ""


def _maximum(values, group):
    """All-reduces a small tensor in place."""
    try:
        dist.all_reduce(values, op=dist.ReduceOp.MAX, group=group)
    except RuntimeError as error:
        raise RuntimeError(
            "A rank did not answer while the ranks agreed on whether a value is not finite: it ended, or it asks fewer "
            f"times than this one, rank {_rank()}{_missing_ranks(group)}") from error


def any_nonfinite(tensor, group=None, across_ranks=False):
    """Whether a value of `tensor` is NaN or infinite.

    tensor        any shape, dtype and device. Of a DTensor, what it stands for is asked: its shards together (Shard), any
                  of its replicas (Replicate), the reduced whole (Partial; this takes the memory of one local tensor). All
                  ranks of its mesh have to call, and all get the same answer.
    across_ranks  of other tensors: whether any rank's is not finite; all ranks of `group` (default: all) have to call.
    """
    flag = _flag(tensor)
    if across_ranks and _is_distributed():
        flag = flag.to(_device(group))
        _maximum(flag, group)
    return bool(flag.item())


class NonFiniteGuard:
    """Lets every rank leave out an update together where the output of one is not finite (dion PR 79).

    In an optimizer, after Newton-Schulz and before anything is changed but the momentum: what is left out then is as if
    the batch had not been. Momentum has taken up a gradient that was finite, and stays.

    Where all ranks orthogonalise equally many matrices, `if guard(update): ...` asks for each. Where they do not, that
    would wait for ever: note() every output, and call agree() once a step on every rank, before any update is made.

    group        every rank that holds a replica or a shard of what is updated; None: all ranks. Not the group that
                 Newton-Schulz works in, where that is smaller.
    check_steps  exchanges the step, too, 24 bytes instead of one, and raises RuntimeError where ranks are at different
                 ones: they have begun to drift.

    skipped  updates left out so far
    local    whether an output of this rank was the reason, the last time
    """

    def __init__(self, group=None, check_steps=False, log=_log):
        self.group = group
        self.check_steps = check_steps
        self.skipped = 0
        self.local = False
        self._log = log
        self._flag = None

    def note(self, *outputs):
        """Remembers whether these are finite, on their device: no exchange and no wait, but for DTensors."""
        for output in outputs:
            flag = _flag(output)
            self._flag = flag if self._flag is None else torch.maximum(self._flag, flag.to(self._flag.device))

    def agree(self, step=None):
        """Whether any rank has noted a value that is not finite since the last time; the same on every rank."""
        device = _device(self.group)
        flag = torch.zeros((), dtype=torch.uint8, device=device) if self._flag is None else self._flag.to(device)
        self._flag = None
        distributed = _is_distributed()
        mine = flag.clone() if distributed else flag
        if distributed and self.check_steps and step is not None:
            flag = self._agree_at(step, flag)
        elif distributed:
            _maximum(flag, self.group)
        if not flag.item():
            self.local = False
            return False
        self.local = bool(mine.item())
        self.skipped += 1
        self._say(step)
        return True

    def __call__(self, *outputs, step=None):
        self.note(*outputs)
        return self.agree(step)

    def _agree_at(self, step, flag):
        values = torch.stack([flag.long(), torch.full_like(flag, step, dtype=torch.long),
                              torch.full_like(flag, -step, dtype=torch.long)])
        _maximum(values, self.group)
        found, last, first = values.tolist()
        if last != -first:
            raise RuntimeError(
                f"Ranks are at different steps, {-first} to {last} (rank {_rank()} at {step}): some have left a step out "
                "that others made. Weights have drifted apart or are torn; go back to a checkpoint")
        return torch.full_like(flag, found)

    def _say(self, step):
        at = "" if step is None else f" at step {step}"
        if self.local:
            self._log.warning("[nan_guard_fallback] rank %d: non-finite Newton-Schulz output%s; skipping update on all "
                              "ranks", _rank(), at)
        elif _rank() == 0:
            self._log.warning("[nan_guard_fallback] non-finite Newton-Schulz output on another rank%s; skipping update on "
                              "all ranks", at)


class _Protection:
    """Puts weights and state back after a step that made a weight of any rank non-finite."""

    def __init__(self, optimizer, guard):
        self.optimizer = optimizer
        self.guard = guard
        self.steps = 0
        self._weights = {}
        self._states = {}

    def _parameters(self):
        return [parameter for group in self.optimizer.param_groups for parameter in group["params"]
                if parameter.grad is not None]

    @torch.no_grad()
    def before(self, *_):
        keep = {parameter: parameter.detach().clone() for parameter in self._parameters()}
        self._weights = keep
        self._states = {
            parameter: {name: value.clone() if torch.is_tensor(value) else value for name, value in
                        self.optimizer.state[parameter].items()}
            for parameter in keep if parameter in self.optimizer.state}

    @torch.no_grad()
    def after(self, *_):
        self.steps += 1
        weights, states = self._weights, self._states
        self._weights, self._states = {}, {}
        self.guard.note(*weights)
        if not self.guard.agree(self.steps):
            return
        if any(any_nonfinite(weight) for weight in weights.values()):
            raise RuntimeError("Weights were not finite before this step already: no step left out mends them; go back to "
                               "a checkpoint")
        for parameter, weight in weights.items():
            parameter.copy_(weight)
            self._restore(parameter, states.get(parameter, {}))

    def _restore(self, parameter, state):
        now = self.optimizer.state[parameter]
        momentum = now.get("momentum_buffer")
        # A momentum that took up a finite gradient stays, as in dion PR 79; another would poison every step to come.
        keeps = torch.is_tensor(momentum) and not any_nonfinite(momentum)
        for name in list(now):
            if name == "momentum_buffer" and keeps:
                continue
            if name not in state:
                del now[name]
            elif torch.is_tensor(now[name]):
                now[name].copy_(state[name])
            else:
                now[name] = state[name]


def protect(optimizer, guard=None):
    """Guards an optimizer that is not edited: a step that makes a weight of any rank non-finite is undone on all of them.

    Weights and state are as before the step, but for momentum_buffer where it is finite. Takes the memory of another copy
    of weights and state during the step, and the time of two copies; NonFiniteGuard inside the optimizer takes neither.
    All ranks of the guard's group have to step equally often. Returns the guard; RuntimeError where weights were not
    finite before. guard.protection.remove() ends it.
    """
    guard = guard or NonFiniteGuard()
    protection = _Protection(optimizer, guard)
    hooks = contextlib.ExitStack()
    for hook in (optimizer.register_step_pre_hook(protection.before), optimizer.register_step_post_hook(protection.after)):
        hooks.callback(hook.remove)
    protection.remove = hooks.close
    guard.protection = protection
    return guard


@dataclasses.dataclass
class NaNState:
    """What a NaNDetector has seen; the same on every rank."""

    consecutive_nans: int = 0
    total_nans: int = 0
    last_good_loss: float = math.inf
    last_good_step: int = 0
    nan_steps: list = dataclasses.field(default_factory=list)


class NaNDetector:
    """Watches the loss, agrees on it over all ranks, counts, and says when to stop (KempnerForge's interface).

    action           "warn" logs and returns False; "skip" is the same; "raise" raises RuntimeError, on every rank
    max_consecutive  bad steps in a row after which should_rollback is true
    max_history      of state.nan_steps
    group            default: all ranks
    """

    def __init__(self, action="warn", max_consecutive=5, max_history=100, group=None, log=_log):
        if action not in ("warn", "skip", "raise"):
            raise ValueError(f"Invalid NaN action: {action!r} (expected warn/skip/raise)")
        self.action = action
        self.max_consecutive = max_consecutive
        self.max_history = max_history
        self.group = group
        self.state = NaNState()
        self._log = log

    @property
    def should_rollback(self):
        """Too many bad steps in a row: stop, and go back to a checkpoint from before the first of them."""
        return self.state.consecutive_nans >= self.max_consecutive

    def check_loss(self, loss, step):
        """True where the loss of every rank is finite. `loss` is a number, or a tensor of any shape."""
        bad = any_nonfinite(loss) if torch.is_tensor(loss) else not math.isfinite(loss)
        text = f"NaN/Inf loss at step {step}"
        value = float(loss) if not torch.is_tensor(loss) or loss.numel() == 1 else float(loss.float().mean())
        return self._judge(bad, text, step, None if bad else value)

    def check_gradients(self, model, step):
        """True where every gradient of every rank is finite. `model` is a module or an iterable of (name, parameter)."""
        named = model.named_parameters() if hasattr(model, "named_parameters") else model
        bad = None
        for name, parameter in named:
            # All of them, as DTensors ask their mesh in turn.
            if parameter.grad is not None and any_nonfinite(parameter.grad):
                bad = bad or name
        return self._judge(bad is not None, f"NaN/Inf gradient in {bad} at step {step}", step, None)

    def _judge(self, bad, text, step, loss):
        anywhere = bad
        if _is_distributed():
            flag = torch.tensor(int(bad), dtype=torch.uint8, device=_device(self.group))
            _maximum(flag, self.group)
            anywhere = bool(flag.item())
        if not anywhere:
            self.state.consecutive_nans = 0
            self.state.last_good_step = step
            self.state.last_good_loss = self.state.last_good_loss if loss is None else loss
            return True
        self.state.consecutive_nans += 1
        self.state.total_nans += 1
        if len(self.state.nan_steps) < self.max_history:
            self.state.nan_steps.append(step)
        text = text if bad else f"NaN/Inf detected on another rank at step {step}"
        if self.action == "raise":
            raise RuntimeError(text)
        self._log.warning("%s (consecutive: %d, total: %d)", text, self.state.consecutive_nans, self.state.total_nans)
        if self.state.consecutive_nans == self.max_consecutive:
            self._log.error("Too many consecutive NaNs (%d): stop, and go back to a checkpoint from before the first",
                            self.max_consecutive)
        return False

    def state_dict(self):
        """For a checkpoint."""
        return dataclasses.asdict(self.state)

    def load_state_dict(self, state):
        """Takes what state_dict() gave."""
        self.state = NaNState(**state)
