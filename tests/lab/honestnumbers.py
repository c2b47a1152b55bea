# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that users wrote or called in their own way: another epsilon, norm, number of steps. The numbers fail, if any."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from cases import EPSILON, FORMAT_NAMES, INF, NAN, OWN_DTYPE, VARIANTS, Case, Made, Other, draw_input, one_matrix
from honestcode import nan_weight
from newton_schulz import GNS, KELLER_JORDAN, POLAR_EXPRESS, POLAR_EXPRESS_2E2, YOU, gram_no_restart_longer, with_safety
from runfaults import another, run_own
from torch import Tensor
from torch_ops import Arithmetic, Step, finish, scaled_first, standard_loop, wide_side_up

Norm = Callable[[Arithmetic, Tensor], Tensor]
# They divide by what the caller passes, and by nothing else.
TAKES_EPSILON = (
    "dion-ns5",
    "dion-ns5-triton",
    "dion-polar-express",
    "dion-polar-express-triton",
    "dion-hybrid",
    "torch-muon",
)
SCHEDULES: dict[str, Sequence[Step]] = {
    "keller-jordan": KELLER_JORDAN,
    "you": YOU,
    "polar-express": POLAR_EXPRESS_2E2,
    "gns": GNS,
}


def written_by_hand(x: Tensor, steps: Sequence[Step], dtype: torch.dtype, norm: Norm) -> Tensor:
    """A published schedule in a loop of the user's own, in the input's dtype."""
    ar = Arithmetic(dtype)
    wide, tall = wide_side_up(x)
    wide = wide.to(dtype)
    wide = standard_loop(ar, ar.divide(wide, norm(ar, wide)), steps, scaled_first, addmm=False)
    return finish(ar, wide, tall, x.dtype).contiguous()


def broken_or_zero(output: Tensor) -> bool:
    return not output.isfinite().all() or not output.any()


def numbers(case: Case, call: Callable[[Tensor], Tensor], name: str, dtype: torch.dtype, detail: str = "") -> Made:
    """A call in which nothing but the numbers can fail."""
    return Made(case.x, call(case.x), name, FORMAT_NAMES[dtype], detail, call=call, also=("numerics",))


def without_epsilon(case: Case) -> Made:
    """The caller's epsilon is zero, or never reaches the function; the dump says so, says another, or nothing."""
    variant, dtype = case.rng.choice(TAKES_EPSILON), case.rng.choice((torch.bfloat16, torch.bfloat16, torch.float16))
    recorded, detail = case.rng.choice(((0.0, "recorded"), (EPSILON, "not passed on"), (None, "not recorded")))

    def call(x: Tensor) -> Tensor:
        return VARIANTS[variant](x, 0.0, dtype=dtype).to(x.dtype).contiguous()

    made = numbers(case, call, variant, dtype, detail)
    made.epsilon = recorded
    return made


def epsilon_zero(case: Case) -> Made | None:
    case.x = torch.zeros_like(case.x)
    return without_epsilon(case)


def idle_experts(case: Case) -> Made | None:
    """A stack of experts of which some got no token: zero, or a momentum that has decayed to almost nothing."""
    count = case.rng.choice((3, 4, 6))
    case.x = draw_input(case.rng, case.spectrum, (count, *case.x.shape[-2:]), case.x.dtype, case.rng.uniform(0.01, 1))
    idle = case.rng.sample(range(count), case.rng.choice((1, 1, 2)))
    case.x[idle] *= case.rng.choice((0.0, 0.0, 1e-9, 1e-30))
    made = without_epsilon(case)
    made.detail += f", {len(idle)} of {count} idle"
    return made


def norm_by_hand(case: Case, scale: float) -> Made | None:
    """Squares that are summed in the format of the iteration, which vanish or overflow there."""
    name = case.rng.choice(list(SCHEDULES))
    dtype = case.rng.choice((torch.float16, torch.float16, torch.bfloat16))
    epsilon = case.rng.choice((0.0, 1e-7, 1e-12))

    def norm(ar: Arithmetic, x: Tensor) -> Tensor:
        squares = ar.wide((ar.wide(x) * ar.wide(x)).to(ar.dtype))
        return ar.add(squares.sum((-2, -1), keepdim=True).to(ar.dtype).sqrt(), epsilon)

    def call(x: Tensor) -> Tensor:
        return written_by_hand(x, SCHEDULES[name], dtype, norm)

    case.x = (case.x.double() * (scale / case.x.double().abs().max())).to(case.x.dtype)
    made = numbers(case, call, f"{name} by hand", dtype, f"absmax {scale:.2g}, epsilon {epsilon:g}")
    return made if broken_or_zero(made.output) and case.x.isfinite().all() and case.x.any() else None


def norm_of_faint(case: Case) -> Made | None:
    return norm_by_hand(case, 10 ** case.rng.choice((-30.0, -20.0, -20.0, case.rng.uniform(-24, -4))))


def norm_of_large(case: Case) -> Made | None:
    return norm_by_hand(case, 10 ** case.rng.choice((20.0, case.rng.uniform(0, 3), case.rng.uniform(0, 3))))


def largest_entry(ar: Arithmetic, x: Tensor) -> Tensor:
    return x.abs().amax((-2, -1), keepdim=True)


def largest_row_sum(ar: Arithmetic, x: Tensor) -> Tensor:
    return ar.wide(x).abs().sum(-1, keepdim=True).amax(-2, keepdim=True).to(ar.dtype)


def gershgorin(ar: Arithmetic, x: Tensor) -> Tensor:
    sums = ar.wide(ar.mm(x, x.mT)).abs().sum(-1, keepdim=True).amax(-2, keepdim=True)
    return sums.sqrt().to(ar.dtype)


def one_power_step(ar: Arithmetic, x: Tensor) -> Tensor:
    start = torch.ones(*x.shape[:-2], x.shape[-1], 1) / x.shape[-1] ** 0.5
    return (ar.wide(x) @ start).norm(dim=(-2, -1), keepdim=True).to(ar.dtype)


def another_norm(case: Case) -> Made | None:
    """Divided by another norm than Frobenius': too small by far, or a bound that fits no published scale."""
    norm = case.rng.choice((largest_entry, largest_row_sum, gershgorin, one_power_step))
    steps, name = case.rng.choice(((POLAR_EXPRESS, "polar-express"), (POLAR_EXPRESS_2E2, "polar-express-2e-2")))
    dtype = case.rng.choice((torch.bfloat16, torch.float32))

    def call(x: Tensor) -> Tensor:
        return written_by_hand(x, steps, dtype, norm)

    return numbers(case, call, f"{name} by hand", dtype, norm.__name__)


def unprotected_longer(case: Case) -> Made | None:
    """Polar Express without its safety factor for more steps than five, the last of which repeats."""
    count, factor = case.rng.choice((6, 7, 8, 10)), case.rng.choice((1.0, 1.0, 0.99))
    steps = with_safety([*POLAR_EXPRESS, *POLAR_EXPRESS[-1:] * 2][:count], factor)
    dtype = case.rng.choice((torch.bfloat16, torch.float16))

    def call(x: Tensor) -> Tensor:
        return written_by_hand(x, steps, dtype, lambda ar, y: ar.add(ar.norm(y), 1e-7))

    return numbers(case, call, "polar-express-unprotected", dtype, f"{count} steps, factor {factor:g}")


def naive_gram_longer(case: Case) -> Made | None:
    if case.x.shape[-2] == case.x.shape[-1]:
        return None
    count, dtype = case.rng.choice((6, 7, 8, 10)), case.rng.choice((torch.float16, torch.bfloat16))

    def call(x: Tensor) -> Tensor:
        return gram_no_restart_longer(x, EPSILON, dtype=dtype, steps=count).to(x.dtype).contiguous()

    return numbers(case, call, "gram-no-restart", dtype, f"{count} steps")


def polar_factor(case: Case) -> Made | None:
    """(X X^T)^(-1/2) X by eigenvectors: of a matrix of low rank an eigenvalue is rounded below zero, and all is NaN."""

    def call(x: Tensor) -> Tensor:
        wide, tall = wide_side_up(x.float())
        values, vectors = torch.linalg.eigh(wide @ wide.mT)
        root = vectors @ torch.diag_embed(values.rsqrt()) @ vectors.mT
        return finish(Arithmetic(torch.float32), root @ wide, tall, x.dtype).contiguous()

    rank = case.rng.choice((2, 4, 8))
    left, right = (draw_input(case.rng, "gaussian", size, torch.float64, 1.0) for size in low_rank(case.x.shape, rank))
    case.x = (left @ right).to(case.x.dtype)
    made = numbers(case, call, "own polar factor", torch.float32, f"rank {rank}")
    made.call = call
    return None if made.output.isfinite().all() else made


def low_rank(shape: torch.Size, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (*shape[:-1], rank), (*shape[:-2], rank, shape[-1])


def retry_in_fp32(case: Case) -> Made | None:
    """A call in fp16 that failed is made again in fp32, with the same input in the same process."""
    made = norm_of_large(case)
    variant = case.rng.choice(list(SCHEDULES)[:1] + [name for name in OWN_DTYPE if name.startswith("emerging")])
    if made is None:
        return None
    again = VARIANTS[variant](made.x, EPSILON, dtype=torch.float32).to(made.x.dtype).contiguous()
    made.others = [Other(made.x, again, later=case.rng.randrange(5, 80))]
    made.detail += f", again {variant}"
    return made if again.isfinite().all() else None


def momentum_dumped(case: Case) -> Made | None:
    """Nesterov's mix of gradient and momentum goes in, the momentum is dumped, and the gradient had a NaN."""
    share = case.rng.choice((0.05, 0.1, 0.3))

    def step(momentum: Tensor, spoilt: bool) -> Tensor:
        fresh = draw_input(case.rng, "gaussian", tuple(momentum.shape), torch.float64, 1.0)
        size = case.rng.choice((0.01, 0.1, 0.3)) * momentum.double().norm() / fresh.norm()
        gradient = (momentum.double() + size * fresh).to(momentum.dtype)
        if spoilt:
            one = one_matrix(case.rng, gradient)
            one[case.rng.randrange(one.shape[0]), case.rng.randrange(one.shape[1])] = case.rng.choice((NAN, INF))
        return run_own(case, momentum.lerp(gradient, share))

    made = Made(case.x, step(case.x, True), detail=f"share {share:g}", call=lambda x: step(x, False))
    made.also = ("upstream",)
    return made


def in_place(case: Case, copied: bool) -> Made | None:
    """The function writes its result over its input, and the dump, made after it, holds that twice."""
    case.x, fails = case.x.clone(), case.rng.choice((True, True, False))
    if fails:
        made = case.rng.choice((unprotected_longer, epsilon_zero, nan_weight))(case)
        if made is None or made.output.isfinite().all():
            return None
    else:
        made = Made(case.x, case.run())
    made.x = made.output.clone() if copied else made.output
    call = made.call or (lambda x: run_own(case, x))
    control = another(case)
    result = call(control)
    made.others = [Other(result.clone() if copied else result, result, later=-700)]
    return made if result.isfinite().all() else None


def in_place_shared(case: Case) -> Made | None:
    return in_place(case, False)


def in_place_copied(case: Case) -> Made | None:
    return in_place(case, True)


# name -> (what makes it, does it need a non-finite output)
NUMBERS: dict[str, tuple[Callable[[Case], Made | None], bool]] = {
    "epsilon of zero": (epsilon_zero, True),
    "idle experts": (idle_experts, True),
    "norm by hand, faint": (norm_of_faint, False),
    "norm by hand, large": (norm_of_large, False),
    "another norm": (another_norm, False),
    "unprotected, more steps": (unprotected_longer, True),
    "naive gram, more steps": (naive_gram_longer, True),
    "polar factor by hand": (polar_factor, True),
    "retry in fp32": (retry_in_fp32, False),
    "momentum dumped": (momentum_dumped, True),
    "in place, shared storage": (in_place_shared, False),
    "in place, cloned": (in_place_copied, False),
}
