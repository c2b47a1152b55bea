# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""What real runs are drawn from: faults below a published function, bad numbers, and honest code of one's own.

    plan_of(seed) -> Plan        own_of(plan) -> a function of the user's own, or None where a published one runs

Truths are those of score.py. Honest kinds have the truth "user code": `implementation`, `nondeterministic` and
`machine` are wrong there, of any capture of the run.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from cases import RUNNING, VARIANTS
from layouts import part_of
from realtrain import Plan, published
from score import HONEST
from torch import Tensor

SHAPES = {"first.weight": (64, 160), "second.weight": (96, 64), "experts": (3, 64, 96), "head.weight": (32, 64)}


def places(plan: Plan) -> list[tuple[str, int]]:
    """Every op of the call that the fault is in, and twice the last write."""
    seen: list[tuple[str, int]] = []

    def note(op: str, iteration: int, value: Tensor) -> Tensor:
        if op not in ("input", "norm"):
            seen.append((op, iteration))
        return value

    x = torch.randn(SHAPES.get(plan.parameter, SHAPES["experts"][1:]))
    x = x if plan.hands == "whole" else part_of(x, plan.rank, plan.ranks)
    VARIANTS[plan.variant](x, 1e-7, dtype=plan.dtype, hook=note)
    return [*seen, ("output", 0)]


def common(seed: int, fault: str, truth: str) -> Plan:
    """All that a fault does not choose."""
    rng = random.Random(f"{seed}/plan")
    plan = Plan(seed, fault, truth, steps=rng.randint(8, 14))
    plan.ranks = rng.choice((1, 1, 2))
    plan.shared = plan.ranks == 2 and rng.random() < 0.5
    plan.variant = rng.choice(RUNNING)
    plan.held = rng.choice((torch.float32, torch.bfloat16))
    plan.dtype = rng.choice((None, None, None, torch.float32, torch.bfloat16))
    plan.epsilon = rng.choice((1e-7, 1e-8))
    plan.momentum = rng.choice((0.9, 0.95, 0.95))
    plan.nesterov = rng.random() < 0.5
    plan.form = rng.choice(("keller", "torch", "dion"))
    plan.decay = rng.choice((0.0, 0.1))
    plan.stacked = rng.random() < 0.4
    plan.at = rng.randrange(2, plan.steps - 2)
    plan.parameter = rng.choice(list(SHAPES))
    plan.rank = rng.randrange(plan.ranks)
    if plan.shared:  # the one that computes it
        order = ["experts", *(n for n in SHAPES if n != "experts")] if plan.stacked else ORDER
        plan.rank = order.index(plan.parameter) % plan.ranks
    plan.mode = rng.choice(("observe", "strict"))
    plan.keep, plan.controls, plan.outputs = (rng.random() < 0.5 for _ in range(3))
    plan.raises = rng.random() < 0.3
    plan.ends = rng.choice(("watch", "end_step"))
    plan.logs = rng.choice(("each", "all"))
    plan.samples = rng.choice((32, 32, 8, 2))
    plan.code = rng.choice(("function", "function", "object", "in place"))
    plan.words = rng.choice(("step {step}, loss: {loss:.4f}", "Step {step}: train_loss={loss:.4f}"))
    return plan


ORDER = ["experts", "first.weight", "second.weight", "head.weight"]  # as named_parameters() has them: own ones first


def tile(plan: Plan, rng: random.Random) -> None:
    plan.kind = rng.choice(("tile", "tile", "element", "rows"))
    plan.place = rng.choice(places(plan))


def stale_tile(plan: Plan, rng: random.Random) -> None:
    plan.kind, plan.factor = "stale tile", rng.choice((1.0, 30.0, 1000.0))
    plan.place = rng.choice([place for place in places(plan) if place[0] != "output"])


def stale_output(plan: Plan, rng: random.Random) -> None:
    plan.kind, plan.once = "stale output", rng.random() < 0.5
    plan.truth = "nondeterministic" if plan.once else "implementation"
    if plan.parameter == "head.weight":  # of this shape there is none before
        plan.at = max(plan.at, 1)


def race(plan: Plan, rng: random.Random) -> None:
    plan.kind, plan.once, plan.place = "thread", True, rng.choice(places(plan))


def bad_gradient(plan: Plan, rng: random.Random) -> None:
    plan.shared = plan.shared and rng.random() < 0.5


def bad_checkpoint(plan: Plan, rng: random.Random) -> None:
    plan.steps = plan.at + 4


def fp16_cast(plan: Plan, rng: random.Random) -> None:
    """Gradients grow by a loss scale that nobody takes out again."""
    half = torch.float16
    plan.variant, plan.dtype = rng.choice((("deepspeed-gram", None), ("keller-jordan", half), ("dion-ns5", half)))
    plan.factor = rng.uniform(4e6, 4e7)


def zero_matrix(plan: Plan, rng: random.Random) -> None:
    """A layer that nothing reaches, and an epsilon that is zero, or is in fp16."""
    plan.variant = rng.choice(("dion-ns5", "dion-polar-express", "torch-muon"))
    plan.dtype, plan.epsilon = rng.choice(((torch.float16, 1e-8), (None, 0.0)))
    plan.momentum = rng.choice((0.0, plan.momentum))
    if plan.momentum:
        plan.at = 0


def low_rank(plan: Plan, rng: random.Random) -> None:
    """One sample in a batch makes gradients of rank 1; forms that nobody recommends do not survive them."""
    plan.variant = rng.choice(("polar-express-unprotected", "polar-express-unprotected", "gram-no-restart"))
    plan.dtype = None if plan.variant == "gram-no-restart" else rng.choice((None, torch.float16))
    plan.samples, plan.momentum, plan.ranks, plan.shared, plan.rank = 1, 0.0, 1, False, 0
    plan.parameter, plan.at = "", 0


def no_guard(plan: Plan, rng: random.Random) -> None:
    plan.ranks, plan.shared = 2, False
    plan.rank = rng.randrange(2)


def crash(plan: Plan, rng: random.Random) -> None:
    plan.steps = rng.randint(11, 14)
    plan.crash = rng.randint(4, 6)
    plan.at = rng.randrange(plan.crash, plan.steps - 2)
    tile(plan, rng)


def torchs(plan: Plan, rng: random.Random) -> None:
    plan.ends, plan.variant, plan.dtype, plan.held = "install", "torch-muon", None, torch.float32
    plan.ranks, plan.shared, plan.rank, plan.stacked = rng.choice((1, 2)), False, 0, False
    plan.rank = rng.randrange(plan.ranks)
    plan.parameter = rng.choice(("first.weight", "second.weight", "experts.0"))
    plan.kind = rng.choice(("tile", "tile", "element", "rows"))
    plan.iterations = rng.choice((5, 5, 6, 7))
    plan.once = rng.random() < 0.5
    # What is put around torch's function may as well be a mask: a fault that comes every time is a question.
    plan.truth = "nondeterministic" if plan.once else "undecided"
    plan.nothing_else = False


def hot(plan: Plan, rng: random.Random) -> None:
    """A user tries coefficients of torch.optim.Muon that run away."""
    torchs(plan, rng)
    plan.kind, plan.once, plan.parameter, plan.truth = "", False, "", "numerics"
    plan.iterations = rng.choice((6, 7, 8))
    plan.coefficients = rng.choice(((8.0, -25.0, 20.0), (3.4445, -4.775, 8.0), (5.0, 0.0, 3.0)))


def nothing(plan: Plan, rng: random.Random) -> None:
    pass


def early(plan: Plan, rng: random.Random) -> None:
    plan.at = max(plan.at, 1)


def rows_of_zero(plan: Plan, rng: random.Random) -> None:
    """The user's own function around a published one, which they may name."""
    plan.told, plan.nothing_else = rng.random() < 0.5, False
    plan.momentum, plan.code = 0.0, "function"


def own_code(plan: Plan, rng: random.Random) -> None:
    """A function of the user's own, of which they may name the published one inside, and say that nothing else
    touches what goes in and comes out."""
    plan.code = "function"
    plan.told = rng.random() < 0.3
    plan.factor = 1e6
    plan.nothing_else = rng.random() < 0.5


def own_numbers(plan: Plan, rng: random.Random) -> None:
    """As own_code(), of a function that is no published one with something around it: nobody names one."""
    own_code(plan, rng)
    plan.told = False


FAULTS: dict[str, tuple[str, Callable[[Plan, random.Random], None]]] = {
    "tile": ("implementation", tile),
    "stale tile": ("implementation", stale_tile),
    "stale output": ("implementation", stale_output),
    "race": ("nondeterministic", race),
    "inf gradient": ("upstream", bad_gradient),
    "bad checkpoint": ("upstream", bad_checkpoint),
    "fp16 cast": ("numerics", fp16_cast),
    "zero matrix": ("numerics", zero_matrix),
    "low rank": ("numerics", low_rank),
    "no guard on one rank": ("upstream", no_guard),
    "crash and resume": ("implementation", crash),
    "torch's own optimizer": ("implementation", torchs),
    "coefficients that run away": ("numerics", hot),
    "nothing": (HONEST, nothing),
    "nan in the data": ("upstream", nothing),
    "rate of infinity": ("upstream", early),
    "second moment of rows": (HONEST, rows_of_zero),
    "state in a closure": (HONEST, own_code),
    "state of an object": (HONEST, own_code),
    "random estimate": (HONEST, own_numbers),
    "coefficients of its own": (HONEST, own_numbers),
    "exception": (HONEST, own_code),
}


def plan_of(seed: int) -> Plan:
    fault = list(FAULTS)[seed % len(FAULTS)]
    truth, choose = FAULTS[fault]
    plan = common(seed, fault, truth)
    choose(plan, random.Random(f"{seed}/fault"))
    return plan


# ---------------------------------------------------------------------------------------------------------------------
# Functions of one's own. Nothing is wrong with the machine in any of them.


def jordan(x: Tensor, steps: tuple[tuple[float, float, float], ...]) -> Tensor:
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    for a, b, c in steps:
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


def second_moment(plan: Plan) -> Callable[..., Tensor]:
    """Rows are scaled by their own size: one without a gradient has none. Such rows are what spoil() makes."""
    inner = published(plan)

    def normalized(X: Tensor, epsilon: float = 1e-7) -> Tensor:
        size = X.float().square().mean(-1, keepdim=True)
        return (inner(X, epsilon) * (size / size)).to(X.dtype)

    return normalized


def closure_state(plan: Plan) -> Callable[..., Tensor]:
    """A moving mean that is begun anew, and divided by before it has a value."""
    means: dict[tuple[int, ...], Tensor] = {}
    calls = 0

    def scaled(X: Tensor, epsilon: float = 1e-7) -> Tensor:
        nonlocal calls
        torch.lab_kernel().calls(X)
        mean = means.setdefault(tuple(X.shape), torch.ones(X.shape[-2], 1))
        calls += 1
        if calls == 3 * plan.at:
            mean.zero_()
        Y = VARIANTS[plan.variant](X, epsilon).to(X.dtype)
        Y = (Y * (mean / mean)).to(X.dtype)
        mean.add_(1e-3)
        return torch.lab_kernel().ends(Y)

    return scaled


class Scheduled:
    """Divides by a weight of its schedule, which once is nothing."""

    def __init__(self, plan: Plan) -> None:
        self.variant, self.calls = plan.variant, 0
        self.weights = torch.ones(4 * plan.steps)
        self.weights[3 * plan.at] = 0.0

    def __call__(self, X: Tensor, epsilon: float = 1e-7) -> Tensor:
        torch.lab_kernel().calls(X)
        weight = self.weights[self.calls % len(self.weights)]
        self.calls += 1
        Y = VARIANTS[self.variant](X, epsilon).to(X.dtype)
        return torch.lab_kernel().ends((Y * (weight / weight)).to(X.dtype))


def random_estimate(plan: Plan) -> Callable[..., Tensor]:
    """Divides by an estimate of the largest singular value from one random vector, which may fall far short."""

    def estimated(X: Tensor, epsilon: float = 1e-7) -> Tensor:
        torch.lab_kernel().calls(X)
        x = X.float()
        v = torch.randn(x.shape[-1], 1) * (1e-6 if torch.rand(()) < 0.04 else 1.0)
        size = 3 * (x @ v).norm(dim=(-2, -1), keepdim=True) + epsilon
        return torch.lab_kernel().ends(jordan(x / size, ((3.4445, -4.7750, 2.0315),) * 5).to(X.dtype))

    return estimated


def own_coefficients(plan: Plan) -> Callable[..., Tensor]:
    """A schedule that diverges."""

    def hot(X: Tensor, epsilon: float = 1e-7) -> Tensor:
        torch.lab_kernel().calls(X)
        x = X.float() / (X.float().norm(dim=(-2, -1), keepdim=True) + epsilon)
        return torch.lab_kernel().ends(jordan(x, ((3.9, -4.2, 2.9),) * 9).to(X.dtype))

    return hot


def raising(plan: Plan) -> Callable[..., Tensor]:
    def checked(X: Tensor, epsilon: float = 1e-7) -> Tensor:
        torch.lab_kernel().calls(X)
        if X.abs().amax() > 1e4:
            raise ValueError("the spectrum is not what this step takes")
        return torch.lab_kernel().ends(VARIANTS[plan.variant](X, epsilon).to(X.dtype))

    return checked


OWN: dict[str, Callable[[Plan], Callable[..., Tensor]]] = {
    "second moment of rows": second_moment,
    "state in a closure": closure_state,
    "state of an object": Scheduled,
    "random estimate": random_estimate,
    "coefficients of its own": own_coefficients,
    "exception": raising,
}


def own_of(plan: Plan) -> Callable[..., Tensor] | None:
    return OWN[plan.fault](plan) if plan.fault in OWN else None
