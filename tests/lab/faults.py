# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Fault generator: captures whose cause is known, to be judged by Nanscope and scored by score.py.

    python tests/lab/faults.py OUT --seed S --count N

Writes dumps named as the capture wrapper names them, and OUT/labels.json, a list of
    {"file", "truth", "acceptable": [..], "variant", "fault", "format", "spectrum", "shape", "dtype"}

truth        implementation, numerics, upstream, or undecided where the dump cannot show a fault at all
acceptable   verdicts that are right for what the dump shows. `undecided` is among them where a published variant
             blows up on the same input, where the output is finite, and where nothing says which function ran.

Each capture is a case of its own. Captures with a damaged input carry the earliest times, so that a triage over the
whole folder finds no birth before them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

from newton_schulz import (  # noqa: E402
    OWN_DTYPE,
    POLAR_EXPRESS,
    VARIANTS,
    Arithmetic,
    Step,
    polar_express_unprotected_5,
    with_safety,
)

EPSILON = torch.tensor(1e-8).item()
CLOCK_MS = 1795000000000
NAN, INF = float("nan"), float("inf")
SPECTRA = ("gaussian", "log3", "log7", "rank16", "rank1")
SHAPES = ((1, 96, 160), (1, 160, 96), (1, 64, 64), (1, 128, 288), (3, 64, 96), (160, 96), (48, 200))
FORMAT_NAMES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}

# What people run; the two unprotected forms of newton_schulz blow up by themselves and are faults of their own below.
RUNNING = [name for name in VARIANTS if not name.startswith(("polar-express-unprotected", "gram-no"))]

# Schedules that Nanscope does not know: Emerging-Optimizers "cans", the 8 + 2 hybrid, Polar Express as in its paper.
CANS: list[Step] = [
    (8.4703, -25.1081, 18.6293),
    (4.1828, -3.1087, 0.5806),
    (3.9619, -2.9541, 0.5630),
    (3.2866, -2.4647, 0.5074),
    (2.2737, -1.6447, 0.4162),
]
HYBRID: list[Step] = [(3.4445, -4.7750, 2.0315)] * 8 + [(2.0, -1.5, 0.5)] * 2
PAPER: list[Step] = with_safety(POLAR_EXPRESS[:7], 1.01) + POLAR_EXPRESS[7:]


@dataclass
class Case:
    """One call: what goes in, what runs, and the dice."""

    rng: random.Random
    spectrum: str
    x: Tensor
    variant: str
    dtype: torch.dtype

    def run(self, hook: Callable[[str, int, Tensor], Tensor] | None = None) -> Tensor:
        """The output as a dump holds it: in the input's dtype."""
        return VARIANTS[self.variant](self.x, EPSILON, dtype=self.dtype, hook=hook).to(self.x.dtype).contiguous()

    def ops(self) -> list[tuple[str, int]]:
        """Every place inside the iteration where a tile can go bad, in order."""
        seen: list[tuple[str, int]] = []

        def note(op: str, iteration: int, value: Tensor) -> Tensor:
            if op not in ("input", "norm", "output"):
                seen.append((op, iteration))
            return value

        self.run(note)
        return seen

    def run_with(self, place: tuple[str, int], change: Callable[[Tensor], Tensor]) -> Tensor:
        return self.run(lambda op, iteration, value: change(value) if (op, iteration) == place else value)


@dataclass
class Made:
    """A finished fault. `variant` and `format` where they are not the case's own."""

    x: Tensor
    output: Tensor
    variant: str | None = None
    format: str | None = None
    detail: str = ""


def generator(rng: random.Random) -> torch.Generator:
    return torch.Generator().manual_seed(rng.getrandbits(40))


def matrix(rng: random.Random, spectrum: str, rows: int, cols: int) -> Tensor:
    """(rows, cols) fp64 with the named spectrum, largest singular value about 1."""
    dice = generator(rng)
    x = torch.randn(rows, cols, dtype=torch.float64, generator=dice)
    if spectrum == "gaussian":
        return x / (rows**0.5 + cols**0.5)
    u, _, vh = torch.linalg.svd(x, full_matrices=False)
    count = min(rows, cols)
    values = {
        "log3": torch.logspace(0, -3, count),
        "log7": torch.logspace(0, -7, count),
        "rank16": torch.where(torch.arange(count) < 16, 1.0, 0.0),
        "rank1": torch.where(torch.arange(count) < 1, 1.0, 0.0),
    }[spectrum]
    return (u * values.double()) @ vh


def draw_input(rng: random.Random, spectrum: str, shape: tuple[int, ...], dtype: torch.dtype, scale: float) -> Tensor:
    *batch, rows, cols = shape
    count = batch[0] if batch else 1
    x = torch.stack([matrix(rng, spectrum, rows, cols) for _ in range(count)])
    return (scale * x).to(dtype).reshape(shape)


def draw_case(rng: random.Random) -> Case:
    spectrum = rng.choice(SPECTRA)
    dtype = rng.choice([torch.bfloat16] * 6 + [torch.float32] * 2 + [torch.float16])
    x = draw_input(rng, spectrum, rng.choice(SHAPES), dtype, 10 ** rng.uniform(-3, 0.5))
    variant = rng.choice(RUNNING)
    own = OWN_DTYPE[variant]
    compute = rng.choice([own, own, own, torch.float32, torch.bfloat16, torch.float16])
    return Case(rng, spectrum, x, variant, compute)


def tile_of(rng: random.Random, value: Tensor) -> tuple[slice, slice]:
    """An aligned tile, at most half of each side."""
    sides = []
    for size in value.shape[-2:]:
        edge = min(rng.choice((8, 16, 32, 64)), max(size // 2, 1))
        start = edge * rng.randrange(max(size // edge, 1))
        sides.append(slice(start, start + edge))
    return sides[0], sides[1]


def one_matrix(rng: random.Random, value: Tensor) -> Tensor:
    """A view of one element of the batch."""
    return value[rng.randrange(value.shape[0])] if value.ndim == 3 else value


def with_tile(rng: random.Random, value: Tensor, fill: float) -> Tensor:
    changed = value.clone()
    rows, cols = tile_of(rng, value)
    one_matrix(rng, changed)[rows, cols] = fill
    return changed


def words(place: tuple[str, int]) -> str:
    return f"{place[0]} of step {place[1]}"


def nan_tile_inside(case: Case) -> Made | None:
    place = case.rng.choice(case.ops())
    return Made(case.x, case.run_with(place, lambda v: with_tile(case.rng, v, NAN)), detail=words(place))


def nan_tile_last_write(case: Case) -> Made | None:
    return Made(case.x, with_tile(case.rng, case.run(), NAN))


def nan_rows_last_q(case: Case) -> Made | None:
    """A tile of the last factor that multiplies X: whole rows (columns in a tall output)."""
    late = [place for place in case.ops() if place[0] in ("q", "polynomial")]
    return Made(case.x, case.run_with(late[-1], lambda v: with_tile(case.rng, v, NAN)), detail=words(late[-1]))


def single_element(case: Case) -> Made | None:
    output = case.run()
    one = one_matrix(case.rng, output)
    one[case.rng.randrange(one.shape[0]), case.rng.randrange(one.shape[1])] = case.rng.choice((NAN, INF, -INF))
    return Made(case.x, output)


def stale_gram(case: Case) -> Made | None:
    """The first Gram matrix is read before it is finished: part of it is what another call left there."""

    def race(gram: Tensor) -> Tensor:
        left = torch.randn(gram.shape, generator=generator(case.rng)) * case.rng.choice((0.05, 1.0, 30.0))
        changed = gram.clone()
        rows, cols = tile_of(case.rng, gram)
        one_matrix(case.rng, changed)[rows, cols] = one_matrix(case.rng, left)[rows, cols].to(gram.dtype)
        return changed

    place = next(place for place in case.ops() if place[0] == "gram")
    return Made(case.x, case.run_with(place, race), detail=words(place))


def padding_not_zero(case: Case) -> Made | None:
    """A zero matrix of a batch comes back with Inf in eight columns of every second row."""
    rows, cols = case.x.shape[-2:]
    case.x = torch.stack([case.x.reshape(-1, rows, cols)[0], torch.zeros(rows, cols, dtype=case.x.dtype)])
    output = case.run()
    if output[1].any() or output.isnan().any():
        return None
    start = 8 * case.rng.randrange(cols // 8)
    output[1, ::2, start : start + 8] = INF
    return Made(case.x, output)


def zero_tile_last_write(case: Case) -> Made | None:
    healthy_output = case.run()
    output = with_tile(case.rng, healthy_output, 0.0)
    return None if torch.equal(output, healthy_output) else Made(case.x, output)


def fp16_cast_overflow(case: Case) -> Made | None:
    """Finite in bf16, beyond 65504 after a cast that comes before the norm."""
    absmax = case.x.double().abs().max()
    x = (case.x.double() * (case.rng.uniform(7e4, 4e5) / absmax)).bfloat16()
    variant = case.rng.choice(("deepspeed-gram", "deepspeed-gram", "keller-jordan", "dion-ns5"))
    output = VARIANTS[variant](x, EPSILON, dtype=torch.float16).bfloat16().contiguous()
    return Made(x, output, variant, "fp16")


def fp16_norm_overflow(case: Case) -> Made | None:
    """Every element fits fp16, the Frobenius norm does not: the output is silently zero."""
    absmax, norm = case.x.double().abs().max(), case.x.double().norm()
    if norm < 2.5 * absmax:
        return None
    x = (case.x.double() * (5e4 / absmax)).bfloat16()
    output = VARIANTS["deepspeed-gram"](x, EPSILON).bfloat16().contiguous()
    return Made(x, output, "deepspeed-gram", "fp16") if not output.any() else None


def epsilon_underflow(case: Case) -> Made | None:
    """1e-8 is zero in fp16, and so is the norm of a zero matrix: 0/0."""
    rows, cols = case.x.shape[-2:]
    zero = torch.zeros(rows, cols, dtype=case.x.dtype)
    x = torch.stack([case.x.reshape(-1, rows, cols)[0], zero])
    variant = case.rng.choice(("dion-ns5", "dion-polar-express", "torch-muon"))
    output = VARIANTS[variant](x, EPSILON, dtype=torch.float16).to(x.dtype).contiguous()
    return Made(x, output, variant, "fp16") if output[0].isfinite().all() else None


def bad_input(case: Case) -> Made | None:
    """A few elements of one gradient are not finite."""
    x = case.x.clone()
    one = one_matrix(case.rng, x)
    for _ in range(case.rng.choice((1, 1, 3, 20))):
        one[case.rng.randrange(one.shape[0]), case.rng.randrange(one.shape[1])] = case.rng.choice((NAN, INF, -INF))
    case.x = x
    return Made(x, case.run())


def over_the_cliff(case: Case) -> Made | None:
    """Rank-1 input under Polar Express without a safety factor: rounding alone pushes it past the limit."""
    # The scale decides how the norm rounds, and so whether sigma ends above or below one.
    x = draw_input(case.rng, "rank1", tuple(case.x.shape), torch.bfloat16, case.rng.uniform(0.02, 0.2))
    case.spectrum = "rank1"
    dtype = case.rng.choice((torch.bfloat16, torch.float16))
    output = polar_express_unprotected_5(x, EPSILON, dtype=dtype).bfloat16().contiguous()
    return Made(x, output, "polar-express-unprotected-5", FORMAT_NAMES[dtype])


def naive_gram(case: Case) -> Made | None:
    """The Gram form with no restart on a rank-deficient input."""
    if case.x.shape[-2] == case.x.shape[-1]:
        return None
    spectrum = case.rng.choice(("rank1", "rank16", "log7"))
    x = draw_input(case.rng, spectrum, tuple(case.x.shape), torch.bfloat16, case.rng.uniform(0.02, 0.2))
    case.spectrum = spectrum
    return Made(x, VARIANTS["gram-no-restart"](x, EPSILON).contiguous(), "gram-no-restart", "fp16")


def copied_input(case: Case) -> Made | None:
    return Made(case.x, case.x.clone(), "identity", "none")


def foreign(case: Case) -> tuple[Tensor, str]:
    """A healthy output of a function Nanscope does not know."""
    name, steps, dtype = case.rng.choice(
        (
            ("cans", CANS, torch.float32),
            ("hybrid", HYBRID, torch.float32),
            ("hybrid", HYBRID, torch.bfloat16),
            ("polar-express-8-protected", PAPER, torch.float32),
        )
    )
    ar = Arithmetic(dtype)
    x = case.x.to(dtype)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    x = ar.divide(x, ar.scale(1.01, ar.norm(x)))
    for a, b, c in steps:
        gram = ar.mm(x, x.mT)
        x = ar.addmm(x, ar.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).to(case.x.dtype).contiguous(), name


def unknown_healthy(case: Case) -> Made | None:
    output, name = foreign(case)
    return Made(case.x, output, name, "own") if output.isfinite().all() else None


def unknown_damaged(case: Case) -> Made | None:
    output, name = foreign(case)
    return Made(case.x, with_tile(case.rng, output, NAN), name, "own") if output.isfinite().all() else None


def healthy(case: Case) -> Made | None:
    """Nothing happened. A verdict of `implementation` here is the worst answer there is."""
    return Made(case.x, case.run())


# name -> (truth, what makes it, does it need a non-finite output, is `undecided` always right too)
FAULTS: dict[str, tuple[str, Callable[[Case], Made | None], bool, bool]] = {
    "nan tile inside": ("implementation", nan_tile_inside, True, False),
    "nan tile in the last write": ("implementation", nan_tile_last_write, True, False),
    "nan tile in the last factor": ("implementation", nan_rows_last_q, True, False),
    "single element": ("implementation", single_element, True, False),
    "stale gram": ("implementation", stale_gram, False, False),
    "padding not zero": ("implementation", padding_not_zero, True, False),
    "zero tile in the last write": ("implementation", zero_tile_last_write, False, True),
    "unknown variant, nan tile": ("implementation", unknown_damaged, True, True),
    "fp16 cast overflow": ("numerics", fp16_cast_overflow, True, True),
    "fp16 norm overflow": ("numerics", fp16_norm_overflow, False, True),
    "epsilon underflow": ("numerics", epsilon_underflow, True, True),
    "unprotected polar express": ("numerics", over_the_cliff, True, True),
    "naive gram": ("numerics", naive_gram, True, True),
    "bad input": ("upstream", bad_input, True, False),
    "copy of the input": ("undecided", copied_input, False, True),
    "unknown variant, healthy": ("undecided", unknown_healthy, False, True),
    "nothing": ("undecided", healthy, False, True),
}


def blows_up_somewhere(x: Tensor) -> bool:
    """Does any published variant, in its own format, leave the finite numbers on this input, under a few roundings?"""
    shaken = [(x.double() * factor).to(x.dtype) for factor in (1.0, 1.008, 0.992, 1.11, 1.23, 1.37, 1.51, 1.73)]
    variants = {name: f for name, f in VARIANTS.items() if name != "polar-express-unprotected"}
    return any(not f(y, EPSILON).isfinite().all() for f in variants.values() for y in shaken)


def acceptable(truth: str, always_undecided: bool, case: Case, made: Made) -> list[str]:
    """Verdicts that are right for what this dump shows."""
    verdicts = [truth]
    if truth == "implementation":
        finite = made.output.isfinite()
        mute = not finite.all() and not finite.flatten(-2).any(dim=-1).all()
        nothing_to_see = bool(finite.all()) or (mute and case.spectrum == "rank1")
        always_undecided = always_undecided or nothing_to_see or blows_up_somewhere(made.x)
    if always_undecided and "undecided" not in verdicts:
        verdicts.append("undecided")
    return verdicts


def draw(seed: int, index: int) -> tuple[str, Case, Made]:
    """The index-th fault of a seed, redrawn until it shows what its name says."""
    fault = list(FAULTS)[index % len(FAULTS)]
    truth, make, needs_damage, _ = FAULTS[fault]
    for attempt in range(1000):
        case = draw_case(random.Random(f"{seed}/{index}/{attempt}"))
        if not case.run().isfinite().all():
            continue
        made = make(case)
        if made is None or (needs_damage and made.output.isfinite().all()):
            continue
        return fault, case, made
    raise RuntimeError(f"no case of '{fault}' in 1000 draws")


def write(out: Path, index: int, upstream: bool, made: Made) -> str:
    shape = "x".join(str(size) for size in made.x.shape)
    time = CLOCK_MS + 40 * index + (0 if upstream else 10_000_000)
    name = f"dion_nan_capture_rank0_shape{shape}_pid5150_{time}.pt"
    payload = {
        "input": made.x.contiguous(),
        "output": made.output,
        "rank": 0,
        "shape": tuple(made.x.shape),
        "dtype": str(made.x.dtype),
        "epsilon": EPSILON,
    }
    torch.save(payload, out / name)
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=len(FAULTS) * 19)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    if any(options.out.iterdir()):
        sys.exit(f"The folder is not empty; give a new one: {options.out}")
    labels = []
    for index in range(options.count):
        fault, case, made = draw(options.seed, index)
        truth, _, _, undecided = FAULTS[fault]
        labels.append(
            {
                "file": write(options.out, index, truth == "upstream", made),
                "truth": truth,
                "acceptable": acceptable(truth, undecided, case, made),
                "variant": made.variant or case.variant,
                "fault": fault,
                "detail": made.detail,
                "format": made.format or FORMAT_NAMES[case.dtype],
                "spectrum": case.spectrum,
                "shape": list(made.x.shape),
                "dtype": FORMAT_NAMES[made.x.dtype],
            }
        )
    (options.out / "labels.json").write_text(json.dumps(labels, indent=1) + "\n")
    print(f"{len(labels)} captures in {options.out}")


if __name__ == "__main__":
    main()
