# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""One rank of a real run: a process that trains a tiny model with a Muon of our own, and a fault in its kernel.

`Plan` says what is trained and what goes wrong; train() is that process. Whatever it writes below `run` is what a user
would have; what it notes below `truth` is for the score alone: of each call what went in and came out.
The fault sits in Silicon, out of sight of what is captured, as a kernel's or a card's would.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
from cases import NAN, OWN_DTYPE, VARIANTS, one_matrix, tile_of
from layouts import as_held, change_whole, is_everywhere, local_of, part_of, spread, whole_of
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

HELPER = Path(__file__).resolve().parents[2] / "resources" / "python"
RATE = 0.02


@dataclass
class Plan:
    """What one run is. Steps count updates from 0, over all attempts."""

    seed: int
    fault: str
    truth: str  # as in score.py
    steps: int
    ranks: int = 1
    shared: bool = False  # each matrix is orthogonalised by one rank, which sends it to the others
    variant: str = "keller-jordan"  # of tests/reference, or a name of OWN
    dtype: torch.dtype | None = None  # it computes in; None: its own
    held: torch.dtype = torch.float32  # of what the optimizer hands in
    epsilon: float = 1e-7
    momentum: float = 0.95
    nesterov: bool = True
    form: str = "keller"  # whose order of operations the momentum has
    decay: float = 0.0
    stacked: bool = False  # the experts are parameters of their own, orthogonalised in one call
    samples: int = 32  # in a batch of a rank
    layout: str = "own"  # how ranks hold the model: a whole each and a sum of gradients of their own, ddp or fsdp
    hands: str = "whole"  # what the function is given under fsdp: whole, this rank's block as a tensor, or the dtensor
    code: str = "function"  # or it works in place, or is an object that is called
    # the fault
    at: int = 0
    rank: int = 0
    parameter: str = "first.weight"
    place: tuple[str, int] = ("output", 0)  # op and iteration
    kind: str = ""  # of damage
    once: bool = False
    factor: float = 1.0
    iterations: int = 5  # of torch.optim.Muon
    coefficients: tuple[float, float, float] | None = None  # of it, from that step on
    # how it is captured
    mode: str = "observe"
    keep: bool = False
    controls: bool = False
    outputs: bool = False
    raises: bool = False
    ends: str = "watch"  # watch, end_step or install: who says where a step ends
    told: bool = True  # the helper is told which published function runs
    nothing_else: bool = True
    logs: str = "each"  # a file of each rank, or one of all
    words: str = "step {step}, loss: {loss:.4f}"
    crash: int | None = None  # the step before which all processes are killed; they go on from the last checkpoint
    device: str = "cpu"  # or cuda, which all ranks share

    def precision(self) -> str:
        names = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
        return names[self.dtype or OWN_DTYPE[self.variant]]


def drawn(shape: Sequence[int], seed: int) -> Tensor:
    """The same numbers on every device."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), device="cpu")


class Silicon:
    """What the kernels run on. It knows of the fault, and notes what it saw of every call but those made again."""

    def __init__(self, plan: Plan, rank: int) -> None:
        self.plan, self.rank = plan, rank
        self.rng = random.Random(f"{plan.seed}/damage")
        self.here: tuple[int, str] | None = None  # step and parameter of the call that the optimizer is about to make
        self.entered = torch.empty(0)
        self.armed: Tensor | None = None  # the input that the fault belongs to
        self.firing = False
        self.buffers: dict[tuple[int, ...], Tensor] = {}
        self.seen: list[list[object]] = []

    def begin(self, step: int, parameter: str) -> None:
        self.here = (step, parameter)

    def calls(self, whole: Tensor) -> None:
        x = local_of(whole)
        plan, self.entered = self.plan, x.clone()
        if self.here == (plan.at, plan.parameter) and self.rank == plan.rank and plan.kind and self.armed is None:
            self.armed = x.clone()
            self.firing = True
        elif self.armed is not None:
            same = x.shape == self.armed.shape and torch.equal(x, self.armed)
            self.firing = not plan.once and same

    def hook(self, op: str, iteration: int, value: Tensor) -> Tensor:
        plan = self.plan
        if not self.firing or (op, iteration) != tuple(plan.place):
            return value
        changed = value.clone()
        held = local_of(changed)
        one = one_matrix(random.Random(plan.seed), held)
        rows, cols = tile_of(random.Random(plan.seed), held)
        if plan.kind == "thread":  # another stream writes what this one is about to read
            other = threading.Thread(target=one[rows, cols].fill_, args=(NAN,))
            other.start()
            other.join()
        elif plan.kind == "tile":
            one[rows, cols] = NAN
        elif plan.kind == "element":
            one[rows.start, cols.start] = NAN
        elif plan.kind == "rows":
            one[rows] = NAN
        elif plan.kind == "stale tile":
            left = drawn(one.shape, plan.seed).to(one.device) * plan.factor
            one[rows, cols] = left[rows, cols].to(one.dtype)
        return changed

    def ends(self, y: Tensor) -> Tensor:
        if self.firing and self.plan.kind == "stale output" and tuple(y.shape) in self.buffers:
            y = self.buffers[tuple(y.shape)].clone()
        self.buffers[tuple(y.shape)] = y.clone()
        if self.here is not None:
            (goes_in, comes_out) = (t.float().isfinite().flatten(-2).all(-1) for t in (self.entered, local_of(y)))
            if self.plan.hands == "dtensor" and not is_everywhere(bool(goes_in.all())):
                comes_out |= goes_in  # what another rank holds of the input may have come in
            born = bool((goes_in & ~comes_out).any())
            self.seen.append([*self.here, bool(goes_in.all()), born, self.firing])
            self.here = None
        self.firing = False
        return y


UNDERNEATH: ContextVar[Silicon] = ContextVar("silicon")
# Out of sight of what is captured, as a kernel is: the helper takes what lies in torch for code, and looks into no more.
torch.lab_kernel = UNDERNEATH.get  # type: ignore[attr-defined]


def silicon() -> Silicon:
    return UNDERNEATH.get()


def published(plan: Plan) -> Callable[..., Tensor]:
    """Newton-Schulz as a trainer has it, f(X, epsilon)."""
    function, dtype = VARIANTS[plan.variant], plan.dtype

    def newton_schulz(X: Tensor, epsilon: float = 1e-7) -> Tensor:
        torch.lab_kernel().calls(X)
        Y = function(X, epsilon, dtype=dtype, hook=lambda *said: torch.lab_kernel().hook(*said))
        return torch.lab_kernel().ends(Y if dtype is None else Y.to(X.dtype))

    def newton_schulz_(X: Tensor, epsilon: float = 1e-7) -> None:
        X.copy_(newton_schulz(X, epsilon))

    return {"function": newton_schulz, "in place": newton_schulz_, "object": Iteration(newton_schulz)}[plan.code]


class Iteration:
    """As gram-newton-schulz has it: an object that is called."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self.function, self.steps = function, 5

    def __call__(self, X: Tensor, epsilon: float = 1e-7) -> Tensor:
        return self.function(X, epsilon)


def of_torch() -> None:
    """Puts the fault around the function of torch.optim.Muon."""
    module = importlib.import_module("torch.optim._muon")
    original = module._zeropower_via_newtonschulz

    def _zeropower_via_newtonschulz(grad, ns_coefficients, ns_steps, eps):  # type: ignore[no-untyped-def]
        torch.lab_kernel().calls(grad)
        return torch.lab_kernel().ends(torch.lab_kernel().hook("output", 0, original(grad, ns_coefficients, ns_steps, eps)))

    _zeropower_via_newtonschulz.__wrapped__ = original  # type: ignore[attr-defined]
    module._zeropower_via_newtonschulz = _zeropower_via_newtonschulz


def handed(plan: Plan, update: Tensor) -> Tensor:
    """What the function is given of the update of one parameter."""
    if plan.hands == "dtensor":
        return update
    return local_of(update) if plan.hands == "block" else whole_of(update)


class Muon(torch.optim.Optimizer):
    """Momentum, Newton-Schulz, decay and step, in the order of KellerJordan's, torch's or dion's optimizer."""

    def __init__(self, model: nn.Module, kernel: Callable[..., Tensor], plan: Plan, rank: int) -> None:
        self.named = dict(model.named_parameters())
        super().__init__(list(self.named.values()), {"momentum": plan.momentum})
        self.kernel, self.plan, self.rank, self.number = kernel, plan, rank, 0

    def update(self, parameter: Tensor) -> Tensor:
        plan, gradient = self.plan, parameter.grad
        assert gradient is not None
        if not plan.momentum:
            return gradient
        state = self.state[parameter]
        buffer = state.setdefault("momentum_buffer", torch.zeros_like(gradient))
        if plan.form == "dion":
            buffer.mul_(plan.momentum).add_(gradient)
            return buffer * plan.momentum + gradient if plan.nesterov else buffer
        buffer.lerp_(gradient, 1 - plan.momentum)
        if not plan.nesterov:
            return buffer
        return gradient.lerp_(buffer, plan.momentum) if plan.form == "keller" else gradient.lerp(buffer, plan.momentum)

    def groups(self) -> Iterator[tuple[str, list[Tensor]]]:
        """Name and parameters of each call."""
        stacked = self.plan.stacked and self.plan.hands != "dtensor"
        stack = [p for name, p in self.named.items() if stacked and name.startswith("experts")]
        if stack:
            yield "experts", stack
        yield from ((n, [p]) for n, p in self.named.items() if not (stacked and n.startswith("experts")))

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        plan = self.plan
        for place, (name, parameters) in enumerate(self.groups()):
            owner = place % plan.ranks if plan.shared else self.rank
            updates = [handed(plan, self.update(parameter).to(plan.held)) for parameter in parameters]
            x = torch.stack(updates) if len(updates) > 1 else updates[0]
            del updates
            if not local_of(x).numel() and plan.hands == "block":
                continue  # of three experts a fourth rank has none
            if owner == self.rank:
                silicon().begin(self.number, name)
                x = x.clone() if plan.code == "in place" else x
                y = self.kernel(x, plan.epsilon)
                y = (x if y is None else y).to(torch.float32)
            else:
                y = torch.empty(x.shape, device=x.device)
            del x
            if plan.shared and plan.ranks > 1:
                dist.broadcast(y, owner)
            for parameter, direction in zip(parameters, y if len(parameters) > 1 else [y], strict=True):
                parameter.mul_(1 - RATE * plan.decay)
                rows, cols = parameter.shape[-2:]
                self.add(parameter, direction, -RATE * max(1, rows / cols) ** 0.5)
        self.number += 1

    def add(self, parameter: Tensor, direction: Tensor, rate: float) -> None:
        if isinstance(direction, DTensor):
            direction = direction.redistribute(placements=parameter.placements).to_local()
        elif self.plan.hands == "whole" and isinstance(parameter, DTensor):
            direction = part_of(direction, self.rank, self.plan.ranks)
        local_of(parameter).add_(direction, alpha=rate)


class Model(nn.Module):
    """160 numbers in, 32 out: two layers, three experts of which all are asked, a head."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        torch.manual_seed(plan.seed)
        self.first = nn.Linear(160, 64, bias=False)
        self.second = nn.Linear(64, 96, bias=False)
        three = torch.randn(3, 64, 96) / 10
        if plan.ends == "install" or plan.stacked:
            self.experts = nn.ParameterList(nn.Parameter(one.clone()) for one in three)
        else:
            self.experts = nn.Parameter(three)
        self.head = nn.Linear(64, 32, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.second(self.first(x).relu()).relu()
        return self.head(sum((x @ expert.mT).tanh() for expert in self.experts))


def teach(plan: Plan, step: int, rank: int) -> tuple[Tensor, Tensor]:
    x = drawn((plan.samples, 160), plan.seed * 1_000_003 + step * 101 + rank).to(plan.device)
    return x, torch.tanh(x[:, :32] - x[:, 32:64])


def spoilt(plan: Plan, model: nn.Module) -> list[Tensor]:
    """Parameters whose gradients go wrong."""
    named = model.named_parameters()
    chosen = [p for n, p in named if n == plan.parameter or (plan.parameter == "experts" == n.split(".")[0])]
    return chosen[:1] if plan.fault == "zero matrix" and plan.stacked else chosen


def spoil(plan: Plan, step: int, rank: int, gradient: Tensor) -> None:
    """What goes wrong in the gradient of one of them, before the update of the step."""
    if plan.fault in ("inf gradient", "no guard on one rank") and (step, rank) == (plan.at, plan.rank):
        gradient.view(-1)[random.Random(plan.seed).randrange(gradient.numel())] = math.inf
    if plan.fault == "second moment of rows" and step >= plan.at:
        gradient[..., 5:7, :] = 0
    if plan.fault in ("fp16 cast", "exception") and step >= plan.at:
        gradient.mul_(plan.factor / gradient.abs().max())
    if plan.fault == "zero matrix" and step >= plan.at:
        (gradient[1] if gradient.dim() == 3 else gradient).zero_()


def gather(plan: Plan, model: nn.Module) -> None:
    if plan.ranks > 1 and plan.layout == "own":
        flat = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        dist.all_reduce(flat)
        flat /= plan.ranks
        for p, part in zip(model.parameters(), flat.split([p.numel() for p in model.parameters()]), strict=True):
            assert p.grad is not None
            p.grad.copy_(part.view_as(p))


def bare(function: Callable[..., Tensor], folder: Path, rank: int, raises: bool) -> Callable[..., Tensor]:
    """What dion PR 78 puts around Newton-Schulz: a clone of the input, a look at the output, a dump, an error."""

    def captured(X: Tensor, epsilon: float = 1e-7, **other: object) -> Tensor:
        before = X.detach().clone()
        Y = function(X, epsilon, **other)
        Y = X if Y is None else Y
        if torch.isfinite(Y).all():
            return Y
        folder.mkdir(parents=True, exist_ok=True)
        shape = "x".join(map(str, before.shape))
        path = folder / f"dion_nan_capture_rank{rank}_shape{shape}_pid{os.getpid()}_{int(time.time() * 1000)}.pt"
        dump = {"input": before.cpu(), "output": Y.detach().cpu(), "rank": rank, "shape": tuple(before.shape)}
        torch.save({**dump, "dtype": str(before.dtype), "epsilon": float(epsilon)}, path)
        what = f"non-finite Newton-Schulz output on rank {rank}, shape {tuple(before.shape)}"
        message = f"[dion NaN capture] {what}; dumped to {path}"
        if raises:
            raise RuntimeError(message)
        print(message, file=sys.stderr, flush=True)
        return Y

    return captured


def helper() -> object:
    if str(HELPER) not in sys.path:
        sys.path.insert(0, str(HELPER))
    return importlib.import_module("nanscope_capture")


class Trainer:
    """The run of one rank, in the process that is its own."""

    def __init__(
        self, plan: Plan, run: Path, note: Path, rank: int, wrapper: str, own: Callable[..., Tensor] | None
    ) -> None:
        self.plan, self.run, self.rank, self.wrapper = plan, run, rank, wrapper
        self.capture: object | None = None
        self.note = note
        self.begin = 0
        self.model = Model(plan)
        checkpoint = self.load()
        self.network = spread(self.model, plan.layout, plan.ranks)
        self.number = self.begin  # of the step that is under way
        if plan.layout == "ddp":  # what goes wrong on one rank comes before the sum
            for parameter in spoilt(plan, self.model):
                parameter.register_hook(self.spoilt_here)
        self.optimizer = self.wrapped(own)
        if checkpoint is not None and plan.ends != "install":
            self.take_up(checkpoint["optimizer"])

    def load(self) -> dict[str, object] | None:
        found = sorted((self.run / "checkpoints").glob("step_*.pt"))
        if not found:
            return None
        checkpoint = torch.load(found[-1], weights_only=True)
        self.model.load_state_dict(checkpoint["model"])
        self.begin = checkpoint["step"]
        print(f"resuming from checkpoint {found[-1].name} at step {self.begin}", flush=True)
        return checkpoint

    def take_up(self, kept: dict[str, dict[object, dict[str, Tensor]]]) -> None:
        plan, parameters = self.plan, list(self.model.parameters())
        for place, state in kept["state"].items():
            held = {n: as_held(t, parameters[place], self.rank, plan.ranks) for n, t in state.items()}
            kept["state"][place] = held
        self.optimizer.load_state_dict(kept)
        self.optimizer.number = self.begin

    def save(self, step: int) -> None:
        """Of shards every rank gives its own, and the first writes."""
        plan, folder = self.plan, self.run / "checkpoints"
        if self.rank != 0 and plan.layout != "fsdp":
            return
        model = {name: whole_of(t) for name, t in self.model.state_dict().items()}
        optimizer = self.optimizer.state_dict()
        state = {i: {n: whole_of(t) for n, t in one.items()} for i, one in optimizer["state"].items()}
        if self.rank == 0:
            folder.mkdir(exist_ok=True)
            whole = {"model": model, "optimizer": {**optimizer, "state": state}, "step": step}
            torch.save(whole, folder / f"step_{step:06}.pt")

    def spoilt_here(self, gradient: Tensor) -> Tensor:
        changed = gradient.clone()
        spoil(self.plan, self.number, self.rank, changed)
        return changed

    def spoil(self, step: int) -> None:
        """Of shards the whole goes wrong, as the one who computes it has it."""
        plan = self.plan
        for parameter in () if plan.layout == "ddp" else spoilt(plan, self.model):
            assert parameter.grad is not None
            sharded = plan.layout == "fsdp"
            who = plan.rank if sharded else self.rank
            change_whole(parameter.grad, self.rank, plan.ranks, lambda whole, by=who: spoil(plan, step, by, whole))

    def wrapped(self, own: Callable[..., Tensor] | None) -> torch.optim.Optimizer:
        """The optimizer, with the wrapper around its function."""
        plan, captures = self.plan, self.run / "captures"
        kernel = own or published(plan)
        if plan.ends == "install" and plan.kind:
            of_torch()
        if self.wrapper == "bare":
            if plan.ends == "install":
                module = importlib.import_module("torch.optim._muon")
                inner = module._zeropower_via_newtonschulz
                put = bare(lambda X, epsilon, rest: inner(X, *rest, epsilon), captures, self.rank, plan.raises)
                module._zeropower_via_newtonschulz = lambda grad, c, n, eps: put(grad, eps, rest=(c, n))
                return self.torchs()
            return Muon(self.model, bare(kernel, captures, self.rank, plan.raises), plan, self.rank)
        self.capture = capture = helper()
        capture.configure(on=True, mode=plan.mode, directory=captures, raises=plan.raises, keep=plan.keep)
        capture.configure(controls=plan.controls, outputs=plan.outputs, stale=True, min_free_bytes=0)
        if plan.ends == "install":
            capture.install()
            return self.torchs()
        known = {"variant": plan.variant, "precision": plan.precision()} if plan.told else {}
        kernel = capture.wrap(kernel, nothing_else=plan.nothing_else, **known)
        optimizer = Muon(self.model, kernel, plan, self.rank)
        if plan.ends == "watch":
            # Half of the users do not know that a resumed run could say where it goes on.
            capture.watch(optimizer, self.model, **({"step": self.begin} if plan.seed % 2 else {}))
        elif plan.ends == "end_step":
            capture.begin_step(self.begin)
        return optimizer

    def torchs(self) -> torch.optim.Optimizer:
        plan = self.plan
        named = list(self.model.named_parameters())
        optimizer = torch.optim.Muon(
            [p for _, p in named],
            lr=RATE,
            weight_decay=plan.decay,
            momentum=plan.momentum,
            nesterov=plan.nesterov,
            ns_steps=plan.iterations,
        )
        names = {id(p): name for name, p in named}
        update = importlib.import_module("torch.optim._muon")
        # Only the truth needs to know whose turn it is: the function is asked once for each parameter, in their order.
        inner, order = update._zeropower_via_newtonschulz, [names[id(p)] for _, p in named]
        state = {"calls": 0}

        def counted(grad, *rest):  # type: ignore[no-untyped-def]
            silicon().begin(self.begin + state["calls"] // len(order), order[state["calls"] % len(order)])
            state["calls"] += 1
            if plan.kind:
                return inner(grad, *rest)
            silicon().calls(grad)
            return silicon().ends(inner(grad, *rest))

        update._zeropower_via_newtonschulz = counted
        return optimizer

    def guarded(self) -> bool:
        """Whether this rank leaves out the step because a gradient is not finite."""
        guards = self.plan.fault == "no guard on one rank" and self.rank != self.plan.rank
        return guards and not all(bool(p.grad.isfinite().all()) for p in self.model.parameters() if p.grad is not None)

    def step(self, step: int) -> None:
        plan = self.plan
        x, target = teach(plan, step, self.rank)
        if plan.fault == "nan in the data" and (step, self.rank) == (plan.at, plan.rank):
            x[0, 3] = NAN
        self.number = step
        self.optimizer.zero_grad()
        loss = ((self.network(x) - target) ** 2).mean()
        loss.backward()
        self.spoil(step)
        gather(plan, self.model)
        if plan.fault == "no guard on one rank" and self.guarded():
            self.optimizer.number += 1
            print(f"step {step}: gradients are not finite, skipped", flush=True)
        else:
            if plan.coefficients is not None and step == plan.at:
                for group in self.optimizer.param_groups:
                    group["ns_coefficients"] = plan.coefficients
            self.optimizer.step()
        if self.capture is not None and plan.ends == "end_step":
            self.capture.end_step(step, self.optimizer)
        if plan.fault == "rate of infinity" and step == plan.at - 1:
            with torch.no_grad():
                next(self.model.parameters()).mul_(math.inf)
        if self.rank == 0 or plan.logs == "each":
            print(plan.words.format(step=step, loss=loss.item()), flush=True)

    def go(self) -> None:
        plan = self.plan
        for step in range(self.begin, plan.steps):
            if step == plan.crash and self.begin == 0:
                self.note.write_text(json.dumps(silicon().seen))
                os.kill(os.getpid(), signal.SIGKILL)
            self.step(step)
            if plan.crash is not None and step + 1 == max(plan.crash - 2, 1) and not self.begin:
                self.save(step + 1)


@contextmanager
def output_to(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    sys.stdout = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    yield
    sys.stdout.flush()
    sys.stderr.flush()


def train(plan: Plan, run: Path, truth: Path, rank: int, attempt: int, wrapper: str, own: object = None) -> None:
    """The whole life of one rank in one attempt; ends the process."""
    UNDERNEATH.set(Silicon(plan, rank))
    status = 0
    note = truth / f"rank{rank}_attempt{attempt}.json"
    with output_to(run / ("train.log" if plan.logs == "all" else f"logs/rank_{rank}.log")):
        try:
            torch.set_num_threads(1)
            if plan.device != "cpu":
                torch.set_default_device(plan.device)
            if plan.ranks > 1 or plan.layout != "own":
                store = (truth / f"store{attempt}").as_uri()
                dist.init_process_group("gloo", init_method=store, rank=rank, world_size=plan.ranks)
            Trainer(plan, run, note, rank, wrapper, own).go()  # type: ignore[arg-type]
        except Exception:
            import traceback

            traceback.print_exc()
            status = 1
        note.write_text(json.dumps(silicon().seen))
        with suppress(Exception):
            if wrapper == "helper":
                helper()._at_exit()
    os._exit(status)
